"""`privmine rules`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click

from privmine.cli.screen import console, table, text
from privmine.errors import InputError
from privmine.files import spare, written
from privmine.release import Release, load
from privmine.release.display import items_text
from privmine.release.files import check_output
from privmine.release.rules import METRICS, rule_columns, to_csv, to_json

#: How many rules the screen shows; a file has all.
SHOWN = 50
#: What the screen shows of each rule, after the metric that was asked for.
_COLUMNS = ("support", "confidence", "lift")

_WRITERS = {".csv": to_csv, ".json": to_json}

_which = partial(click.option, panel="Which rules")
_result = partial(click.option, panel="The result")


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@_which("--metric", help=f"What decides: {', '.join(METRICS)}.  [default: confidence; support with --support-only]")
@_which(
    "--min-threshold",
    type=float,
    help="The least value of the metric.  [default: 0.8; 0 with --support-only]",
)
@_which("--support-only", is_flag=True, help="Supports alone; works where a subset of an itemset was not released.")
@_which("--downward-closed", is_flag=True, help="Leave out itemsets of which a subset was not released.")
@_result("--output", type=click.Path(path_type=Path), help="Save all rules to a .csv or .json file.")
@_result("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
@_result("--json", "as_json", is_flag=True, help="Print the rules as JSON.")
def rules(
    release: Path,
    metric: str | None,
    min_threshold: float | None,
    support_only: bool,
    downward_closed: bool,
    output: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Show the association rules of RELEASE, a .csv, .json or .parquet file that `privmine mine` saved.

    Rules are arithmetic on what is released already: they touch no data and cost no budget. The metrics are those of
    mlxtend, with its names. Rules need the supports of all subsets, so mine with --downward-closed.

    Example:  privmine rules top100.csv --metric lift --min-threshold 1.2 --output rules.csv
    """
    if support_only and metric not in (None, "support"):
        raise InputError(f"With --support-only nothing but the support is known; drop it, or --metric {metric}.")
    metric = metric or ("support" if support_only else "confidence")
    if min_threshold is None:
        # What mlxtend takes for a confidence hardly any support reaches.
        min_threshold = 0.0 if support_only else 0.8
    if output is not None:
        spare(output, [release])
        check_output(output, overwrite, _WRITERS)
    loaded = load(release)
    loaded = loaded.downward_closed() if downward_closed else loaded
    columns = rule_columns(loaded, metric, min_threshold, support_only)
    if output is not None:
        content = _WRITERS[output.suffix.lower()](loaded, columns).encode()
        try:
            with written(output, public=True) as file:
                file.write(content)
        except OSError as error:
            raise InputError(f"{output} could not be written: {error.strerror}.") from None
    if as_json:
        click.echo(to_json(loaded, columns), nl=False)
        return
    _show(loaded, columns, metric, support_only)
    if output is not None:
        console().print(f"[bold]Saved:[/] {text(output)}")


def _show(release: Release, columns: dict[str, Any], metric: str, support_only: bool) -> None:
    """A table, largest values of the metric first."""
    out = console()
    numbers = [metric] if support_only else list(dict.fromkeys([metric, *_COLUMNS]))
    rows = table("if", "then", *numbers, right=tuple(numbers))
    order = sorted(range(len(columns[metric])), key=lambda row: -columns[metric][row])
    for row in order[:SHOWN]:
        sides = (text(items_text(columns[side][row])) for side in ("antecedents", "consequents"))
        rows.add_row(*sides, *(f"{columns[name][row]:.4f}" for name in numbers))
    count = "1 rule" if len(order) == 1 else f"{len(order):,} rules"
    out.print(f"[bold]{count} of {len(release)} itemsets[/]\n")
    if order:
        out.print(rows)
    if len(order) > SHOWN:
        out.print(f"… {len(order) - SHOWN:,} more; --output FILE or --json gives all.")
    if not order:
        out.print(f"No rule has a {text(metric)} of that much; lower --min-threshold.")
    if not release.receipt.private:
        out.print("[bold red]NOT PRIVATE:[/] of a simulated release, for research only.")
    out.print("Rules cost no budget.")
