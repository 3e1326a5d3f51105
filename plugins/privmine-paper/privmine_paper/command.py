"""`privmine experiment paper`: the experiments of the PrivBasis paper, done again."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.api import DataError, InputError
from privmine.cli.research import (
    EXACT,
    data_option,
    progress_bar,
    report_failures,
    resumable,
    worker_count,
    workers_option,
)
from privmine.cli.screen import console, text
from privmine.datasets import describe
from privmine.evaluation import data_opener
from privmine_paper import plan
from privmine_paper.page_options import page_options
from privmine_paper.reproduce import reproduce


@click.command()
@data_option
@click.option("--repeats", type=click.IntRange(1), help="How many runs of each cell.  [default: 30; with --quick 3]")
@page_options("results.md", "paper-results.csv", folder=True)
@click.option("--only", multiple=True, metavar="DATASET", help="Only this dataset's figure; may be repeated.")
@click.option("--quick", is_flag=True, help="Three runs a cell, as the paper made, and without AOL.")
@workers_option
def paper(
    data_dir: Path | None,
    repeats: int | None,
    output: Path,
    results_path: Path,
    only: tuple[str, ...],
    quick: bool,
    workers: int | None,
) -> None:
    """Repeat the paper's experiments: Table 2, Figures 1 to 5, and its statements, as a page with figures.

    PrivBasis and TF (m = 1, 2, 3) on the five datasets; about half an hour on two processors for 30 runs a cell.
    Uses exact data and simulated noise, so it is for research and not private.

    Example:  privmine experiment paper --data DIR --repeats 30
    """
    if quick and plan.PANELS[-1].data in only:
        raise InputError("--quick leaves out AOL. Drop --quick, or use --repeats 3 instead.")
    panels = plan.chosen_panels(only, (plan.PANELS[-1].data,) if quick else ())
    known = {panel.data: describe(panel.data, data_dir) for panel in panels}
    for name, info in known.items():
        if info.status == "missing":
            raise DataError(
                f"The dataset {name} is not at hand. Name its folder with --data, or choose other datasets with --only."
            )
    click.echo(EXACT, err=True)
    with progress_bar() as told, resumable(results_path):
        done = reproduce(
            panels,
            repeats or (plan.QUICK_REPEATS if quick else plan.REPEATS),
            output,
            results_path,
            data_opener(data_dir),
            lambda name: known[name].proxy or known[name].synthetic,
            workers=worker_count(workers),
            progress=told,
        )
    out = console()
    for statement in done.statements:
        style = {"holds": "green", "does not hold": "yellow"}.get(statement.verdict, "dim")
        out.print(f"[{style}]{statement.verdict:<13}[/] {text(statement.quote)}")
    out.print(f"\n[bold]Page:[/] {text(done.page)}\n[bold]Results:[/] {text(results_path)}")
    report_failures(done.failures)
