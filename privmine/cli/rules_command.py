"""`privmine rules`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import rich_click as click

from privmine.cli.screen import console, print_whole, table, text
from privmine.errors import InputError
from privmine.files import spare, written
from privmine.release import Release, load
from privmine.release.display import items_text
from privmine.release.release_files import check_output
from privmine.release.rules import METRICS, RuleList, Wanted, list_rules
from privmine.release.rules.certainty import WITH_INTERVALS
from privmine.release.rules.listing import DEFAULT_THRESHOLD, words
from privmine.release.rules.rule_files import to_csv, to_json, to_xlsx

#: How many rules the screen shows; a file has all.
SHOWN = 50
#: What the screen shows of each rule, after the metric that was asked for.
_COLUMNS = ("support", "confidence", "lift")

_WRITERS: dict[str, Callable[[Release, RuleList], bytes]] = {
    ".csv": lambda release, found: to_csv(release, found).encode(),
    ".json": lambda release, found: to_json(release, found).encode(),
    ".xlsx": to_xlsx,
}

_which = partial(click.option, panel="Which rules")
_result = partial(click.option, panel="The result")


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@_which(
    "--metric", help=f"Which metric decides: {', '.join(METRICS)}.  [default: confidence; support with --support-only]"
)
@_which(
    "--min-threshold",
    type=float,
    help="The least value of the metric.  [default: none; 0.8 with --unrefined, 0 with --support-only]",
)
@_which("--antecedent", multiple=True, metavar="ITEM", help="Only rules with this item on the left; may be repeated.")
@_which("--consequent", multiple=True, metavar="ITEM", help="Only rules with this item on the right; may be repeated.")
@_which("--prune", is_flag=True, help="Leave out rules that add nothing to a rule with fewer items on the left.")
@_which(
    "--unrefined",
    is_flag=True,
    help="All rules with mlxtend's values, also those that noise alone explains and values that cannot be.",
)
@_which("--support-only", is_flag=True, help="Supports alone; works where a subset of an itemset was not released.")
@_which("--downward-closed", is_flag=True, help="Leave out itemsets of which a subset was not released.")
@_result("--output", "-o", type=click.Path(path_type=Path), help="Save all rules to a .csv, .json or .xlsx file.")
@_result("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
@_result("--json", "as_json", is_flag=True, help="Print the rules as JSON.")
def rules(
    release: Path,
    metric: str | None,
    min_threshold: float | None,
    antecedent: tuple[str, ...],
    consequent: tuple[str, ...],
    prune: bool,
    unrefined: bool,
    support_only: bool,
    downward_closed: bool,
    output: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Show the association rules of RELEASE, a file that `privmine mine` saved.

    Rules are arithmetic on what is released already: they touch no data and cost no budget. The metrics are those of
    mlxtend, with its names, and with intervals that say what the noise leaves open. Rules that noise alone explains are
    left out, and privmine prints how many. Rules need the supports of all subsets, so mine with --downward-closed.

    Example:  privmine rules top100.csv --consequent "whole milk" --output rules.csv
    """
    if support_only and metric not in (None, "support"):
        raise InputError(f"With --support-only only the support is known. Drop it, or --metric {metric}.")
    if support_only and min_threshold is None:
        min_threshold = 0.0  # What mlxtend takes for a confidence hardly any support reaches.
    wanted = Wanted(
        metric=metric or ("support" if support_only else "confidence"),
        min_threshold=min_threshold,
        support_only=support_only,
        refined=not unrefined,
        antecedent=antecedent,
        consequent=consequent,
        prune=prune,
    )
    if output is not None:
        spare(output, [release])
        check_output(output, overwrite, _WRITERS)
    loaded = load(release)
    loaded = loaded.downward_closed() if downward_closed else loaded
    found = list_rules(loaded, wanted)
    if output is not None:
        content = _WRITERS[output.suffix.lower()](loaded, found)
        try:
            with written(output, public=True) as file:
                file.write(content)
        except OSError as error:
            raise InputError(f"{output} could not be written: {error.strerror}.") from None
    if as_json:
        click.echo(to_json(loaded, found), nl=False)
        return
    _show(loaded, found, wanted)
    if output is not None:
        console().print(f"[bold]Saved:[/] {text(output)}")


def _show(release: Release, found: RuleList, wanted: Wanted) -> None:
    """A table, largest values of the metric first."""
    out = console()
    columns, metric = found.columns, wanted.decides
    numbers = [metric] if wanted.support_only else list(dict.fromkeys([metric, *_COLUMNS]))
    rows = table("if", "then", *numbers, right=tuple(numbers))
    order = sorted(range(len(found)), key=lambda row: -columns[metric][row])
    # An interval of the support would make the table too wide; files have it.
    ranged = {metric, *WITH_INTERVALS[1:]}
    for row in order[:SHOWN]:
        sides = (text(items_text(columns[side][row])) for side in ("antecedents", "consequents"))
        rows.add_row(*sides, *(_cell(found, name, row, ranged) for name in numbers))
    count = "1 rule" if len(order) == 1 else f"{len(order):,} rules"
    out.print(f"[bold]{count} of {len(release):,} itemset{'' if len(release) == 1 else 's'}[/]\n")
    if order:
        print_whole(rows, *numbers)
    if len(order) > SHOWN:
        out.print(f"… {len(order) - SHOWN:,} more; use --output FILE or --json to get all.")
    if not order:
        out.print(_why_none(found, wanted))
    for sentence in words(release, found):
        out.print(text(sentence.replace("The columns _low and _high", "In brackets")))
    for sentence in _how_to_see_more(found, wanted):
        out.print(sentence)
    out.print(text(release.verdict.lines(release)[0]))
    if not release.receipt.private:
        out.print("[bold red]NOT PRIVATE:[/] of a simulated release, for research only.")
    out.print("Rules cost no budget.")


def _how_to_see_more(found: RuleList, wanted: Wanted) -> list[str]:
    """Which options list the rules that are not shown; --unrefined has mlxtend's threshold, and needs all subsets."""
    if not wanted.refined and not wanted.support_only and wanted.min_threshold is None:
        return [
            f"Only rules with a {wanted.metric} of at least {DEFAULT_THRESHOLD} are listed, as in mlxtend. "
            "--min-threshold 0 lists more."
        ]
    if not found.left_out.near_zero and not found.left_out.by_chance:
        return []
    closed = " --downward-closed" if found.left_out.incomplete else ""
    threshold = " --min-threshold 0" if wanted.min_threshold is None else ""
    return [f"--unrefined{closed}{threshold} shows rules that noise may explain, too."]


def _cell(found: RuleList, name: str, row: int, ranged: set[str]) -> str:
    """A value, with its interval where it has one that is to be shown."""
    value = f"{found.columns[name][row]:.4f}"
    if name not in ranged or f"{name}_low" not in found.columns:
        return value
    low, high = (found.columns[f"{name}_{end}"][row] for end in ("low", "high"))
    digits = 4 if name == "support" else 2
    return f"{value} {text(f'[{low:.{digits}f} to {high:.{digits}f}]')}"


def _why_none(found: RuleList, wanted: Wanted) -> str:
    """Why no rule is shown: the first of noise, templates and threshold that leaves none."""
    if found.left_out.total and not found.found:
        return "No rule is clearly more than chance. A release with fewer itemsets or a larger ε would show more."
    if found.found or wanted.support_only:
        if wanted.antecedent or wanted.consequent:
            return "No rule has these items on that side and reaches the threshold."
        return f"No rule has a {text(wanted.decides)} of that much. Lower --min-threshold."
    return "There are no rules: no released itemset has two items or more."
