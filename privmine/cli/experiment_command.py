"""`privmine experiment`: pipelines against each other and against exact data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isinf
from pathlib import Path
from typing import Any

import rich_click as click

from privmine.cli.data_options import tell_guesses
from privmine.cli.groups import OpenGroup
from privmine.cli.research import (
    EXACT,
    data_option,
    progress_bar,
    report_failures,
    resumable,
    worker_count,
    workers_option,
)
from privmine.cli.screen import console, print_json, table, text
from privmine.datasets import describe
from privmine.evaluation.cell_runner import CellRunner
from privmine.evaluation.data_sources import data_opener, is_file
from privmine.evaluation.experiment import Experiment
from privmine.evaluation.result_rows import Row, comparable, key_of, metric_words
from privmine.evaluation.results import open_results
from privmine.evaluation.runner import Failure, OpenData, run_cells
from privmine.evaluation.seeds import Cell
from privmine.evaluation.sheets import FORMATS, check_matplotlib, draw_sheets
from privmine.evaluation.summary import compare_pipelines, summarise
from privmine.evaluation.truth import Truth
from privmine.hooks.registry import registry

DEFAULT_METRICS = ("fnr", "re", "coverage")


class SpecOrCommand(OpenGroup):
    """A group whose commands may be left out: `experiment SPEC.toml` is `experiment run SPEC.toml`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` in front of an option or a file."""
        if args and args[0] not in ("-h", "--help") and args[0] not in self.commands and self._is_file(args[0]):
            args.insert(0, "run")
        return super().parse_args(ctx, args)

    def _is_file(self, word: str) -> bool:
        if word.startswith("-") or Path(word).suffix:
            return True
        self.add_plugins()
        return word not in self.commands and Path(word).is_file()


@click.group(cls=SpecOrCommand, within="experiment")
def experiment() -> None:
    """Measure pipelines against exact data, as described in an experiment file.

    `privmine experiment SPEC.toml` runs the file. `privmine experiment paper`, which repeats the experiments of the
    PrivBasis paper, comes with the plugin privmine-paper.

    Uses exact data and simulated noise, so it is for research and not private.

    Example:  privmine experiment figure1.toml --repeats 30
    """


@experiment.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="A .csv file, or a folder for Parquet; runs that it contains are not repeated.  [default: SPEC with .csv]",
)
@workers_option
@data_option
@click.option(
    "--repeats", type=click.IntRange(1), help="How many runs of each combination, instead of the number in the file."
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Which metric to list, by its name in `privmine plugins`; can be repeated.",
)
@click.option("--against", metavar="PIPELINE", help="Compare every other pipeline with this one, in pairs of runs.")
@click.option(
    "--cell",
    type=(str, str, int, str, int),
    metavar="DATA PIPELINE K EPSILON REPEAT",
    help="Make a single run and print its row; nothing is written.",
)
@click.option("--figures", type=click.Path(path_type=Path, file_okay=False), help="Draw figures into this folder.")
@click.option(
    "--figure-format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    default=FORMATS[:1],
    show_default=True,
    help="What figures are saved as; can be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    spec: Path,
    output: Path | None,
    workers: int | None,
    data_dir: Path | None,
    repeats: int | None,
    metrics: tuple[str, ...],
    against: str | None,
    cell: tuple[str, str, int, str, int] | None,
    figures: Path | None,
    formats: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run datasets × pipelines × k × ε × repeats as a TOML file says, and print means with 95 % intervals.

    An interrupted experiment goes on where it stopped when it is started again, and more --repeats add runs.
    Uses exact data and simulated noise, so it is for research and not private.

    Example:  privmine experiment spec.toml --output results.csv --against paper
    """
    described = Experiment.read(spec)
    for metric in metrics:
        registry().extension("metric", metric)  # An unknown name shows before anything runs.
    if repeats is not None:
        described = described.with_repeats(repeats)
    if against is not None:
        described.cell(described.data[0], against, 1, "1", 0)  # An unknown name shows before anything runs.
    if figures is not None:
        check_matplotlib()
    click.echo(EXACT, err=True)
    open_data = data_opener(data_dir, spec.parent, tell_guesses, described.reading)
    target = output or spec.with_suffix(".csv")
    if cell is not None:
        _alone(described, described.cell(*cell), open_data, target, as_json)
        return
    results = open_results(target)
    with progress_bar() as told, resumable(target):
        failures = run_cells(
            described.cells(),
            described.pipelines,
            open_data,
            results,
            workers=worker_count(workers),
            progress=told,
        )
    results.close()
    wanted = {run_of.key for run_of in described.cells()}
    rows = [row for row in results.rows() if key_of(row) in wanted]
    shown = metrics or DEFAULT_METRICS
    drawn: list[Path] = []
    if figures is not None and rows:
        drawn = draw_sheets(rows, figures, _titles(described.data, data_dir), tuple(dict.fromkeys(formats)))
    if as_json:
        print_json(finite(_as_data(rows, shown, against, failures)))
    else:
        _show(rows, shown, against, target, drawn)
    report_failures(failures)


def _alone(described: Experiment, cell: Cell, open_data: OpenData, target: Path, as_json: bool) -> None:
    """One run by itself, beside what the results say of it."""
    recipe = described.pipelines[cell.pipeline]
    runner = CellRunner(
        Truth.mine(open_data(cell.data), cell.k), {cell.pipeline: recipe}, {cell.pipeline: recipe.definition()}
    )
    row = runner.run(cell)
    if as_json:
        print_json(finite(row))
        return
    out = console()
    rows = table("column", "value")
    for name, value in row.items():
        rows.add_row(name, "" if value is None else text(value))
    out.print(rows)
    known = [found for found in open_results(target).rows() if key_of(found) == cell.key] if target.exists() else []
    if known:
        same = comparable(known[0]) == comparable(row)
        out.print(f"\nThe run in {text(target)} is {'the same' if same else '[bold red]ANOTHER[/]'}.")


def _show(rows: list[Row], metrics: Sequence[str], against: str | None, target: Path, drawn: list[Path]) -> None:
    out = console()
    words = metric_words()
    columns = [words[metric] for metric in metrics]
    shown = table("data", "k", "ε", "pipeline", "runs", *columns, right=("k", "ε", "runs", *columns))
    for summary in summarise(rows, metrics):
        shown.add_row(
            text(summary["data"]),
            str(summary["k"]),
            summary["epsilon"],
            text(summary["pipeline"]),
            str(summary["runs"]),
            *(str(summary[metric]) for metric in metrics),
        )
    out.print(shown)
    out.print("\nMeans ± half of the 95 % confidence interval (Student's t).")
    if against is not None:
        out.print(f"\n[bold]Against {text(against)}[/], paired by repeat:\n")
        out.print(_comparisons(rows, metrics, against))
        out.print(
            "\np: two-sided sign-flip permutation test of the mean difference; one p for each row, not corrected."
        )
    out.print(f"[bold]Results:[/] {text(target)}")
    for path in drawn:
        out.print(f"[bold]Figure:[/] {text(path)}")


def _others(rows: list[Row], against: str) -> list[str]:
    return sorted({str(row["pipeline"]) for row in rows} - {against})


def _comparisons(rows: list[Row], metrics: Sequence[str], against: str) -> Any:
    right = ("k", "ε", "pairs", "difference", "p")
    shown = table("pipeline", "data", "k", "ε", "metric", "pairs", "difference", "p", right=right)
    words = metric_words()
    for name in _others(rows, against):
        for metric in metrics:
            for found in compare_pipelines(rows, name, against, metric):
                where = [text(found.where[column]) for column in ("data", "k", "epsilon")]
                shown.add_row(text(name), *where, words[metric], str(found.n), str(found.difference), f"{found.p:.3g}")
    return shown


def _as_data(
    rows: list[Row], metrics: Sequence[str], against: str | None, failures: list[Failure]
) -> dict[str, object]:
    def plain(summary: Row) -> Row:
        means = {metric: summary[metric] for metric in metrics}
        return summary | {
            metric: {"mean": mean.mean, "low": mean.low, "high": mean.high, "n": mean.n}
            for metric, mean in means.items()
        }

    compared = [
        found.where
        | {"pipeline": name, "metric": metric, "n": found.n, "difference": found.difference.mean, "p": found.p}
        for name in (_others(rows, against) if against is not None else [])
        for metric in metrics
        for found in compare_pipelines(rows, name, str(against), metric)
    ]
    return {
        "private": False,
        "summary": [plain(summary) for summary in summarise(rows, metrics)],
        "against": against,
        "comparisons": compared,
        "failures": [{"run": str(failure.cell), "reason": failure.reason} for failure in failures],
    }


def finite(value: Any) -> Any:
    """JSON has no infinity; it becomes a word."""
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return "infinite" if isinstance(value, float) and isinf(value) else value


def _titles(names: Iterable[str], data_dir: Path | None) -> dict[str, str]:
    """What figures call the datasets: by name, with a word where one is a proxy or synthetic."""
    titles = {}
    for name in names:
        info = None if is_file(name) else describe(name, data_dir)
        kind = "" if info is None else " (synthetic)" if info.synthetic else " (proxy)" if info.proxy else ""
        titles[name] = name + kind
    return titles
