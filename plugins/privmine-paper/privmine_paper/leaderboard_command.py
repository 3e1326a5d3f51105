"""`privmine leaderboard`: every method on every dataset, as a page with tables and figures."""

from __future__ import annotations

from pathlib import Path

import rich_click as click
from rich.progress import TimeRemainingColumn

from privmine.api import DataError, InputError
from privmine.cli.research import EXACT, data_option, resumable
from privmine.cli.screen import bar, console, text
from privmine.datasets import describe
from privmine.evaluation import Recipe, check_matplotlib, data_opener, method_names
from privmine_paper.leaderboard_page import draw_leaderboard, leaderboard_page
from privmine_paper.leaderboard_runs import run_all, wanted_keys
from privmine_paper.page_options import page_options

#: What is at hand where the benchmark data is; kosarak and pumsb_star may be proxies.
DATA = (
    "retail",
    "mushroom",
    "kosarak",
    "online-retail",
    "BMS-WebView-2",
    "groceries",
    "msnbc",
    "covtype",
    "pumsb_star",
    "pumsb_star_first4334",
)
EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1")


@click.command()
@data_option
@click.option("--runs", type=click.IntRange(1), default=10, show_default=True, help="How many runs of each cell.")
@click.option("--k", "ks", type=click.IntRange(1), multiple=True, help="k; may be repeated.  [default: 100]")
@click.option("--only", multiple=True, metavar="DATASET", help="Only this dataset; may be repeated.")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this method; may be repeated.")
@page_options("leaderboard.md", "leaderboard.csv")
def leaderboard(
    data_dir: Path | None,
    runs: int,
    ks: tuple[int, ...],
    only: tuple[str, ...],
    methods: tuple[str, ...],
    output: Path,
    results_path: Path,
) -> None:
    """Run every method on every dataset, and write a page of misses, errors, coverage and time.

    Tells the ε that a small share of misses needs, misses and errors at several ε, how often intervals hold, and time.
    Uses exact data and simulated noise, so it is for research and not private.

    Example:  privmine leaderboard --data DIR --runs 30
    """
    check_matplotlib()
    for name in methods:
        Recipe(name).make()  # A method that is missing shows before anything runs.
    names = _present(only or DATA, data_dir, bool(only))
    if not names:
        raise InputError("None of the datasets is at hand. Say where they are: --data DIR, or PRIVMINE_DATA.")
    click.echo(EXACT, err=True)
    keys = list(wanted_keys(names, ks or (100,), EPSILONS, methods or method_names(), runs))
    with bar(TimeRemainingColumn()) as update, resumable(results_path):

        def told(done: int, total: int) -> None:
            if update is not None:
                update(completed=done, total=total)

        found = run_all(keys, data_opener(data_dir), results_path, told)
    figures = output / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    drawn = draw_leaderboard(found, figures)
    proxies = {name: describe(name, data_dir).proxy for name in names}
    page = output / "leaderboard.md"
    page.write_text(leaderboard_page(found, drawn, proxies), encoding="utf-8")
    console().print(f"[bold]Page:[/] {text(page)}\n[bold]Results:[/] {text(results_path)}")


def _present(names: tuple[str, ...], data_dir: Path | None, required: bool) -> list[str]:
    """The datasets that are at hand; one that was asked for by name must be."""
    found = []
    for name in names:
        if describe(name, data_dir).status != "missing":
            found.append(name)
        elif required:
            raise DataError(f"The dataset {name} is not at hand; say where it is with --data.")
    return found
