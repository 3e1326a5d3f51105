"""`privmine plan`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from privmine.cli.pipeline_options import pipeline_options, pipeline_spec
from privmine.cli.screen import console, fail, print_json, progress, table, text
from privmine.cli.spelling import in_shell
from privmine.pipeline import Pipeline
from privmine.planning import Plan
from privmine.planning import plan as make_plan
from privmine.planning.plan_plot import save
from privmine.planning.plan_text import answers, facts, headline, tables
from privmine.planning.planner import DEFAULT_K
from privmine.planning.question import DEFAULT_ITEMS
from privmine.release.plots.pictures import check_picture

_wish = partial(click.option, panel="What to release")
_public = partial(click.option, panel="What is public, or assumed")
_unit = partial(click.option, panel="Who is protected: one transaction, unless another unit is named")
_answer = partial(click.option, panel="What else to show")


@click.command()
@_wish("--k", "-k", "k", type=int, default=DEFAULT_K, show_default=True, help="How many itemsets to release.")
@_wish("--epsilon", "-e", help="The privacy budget ε of the release.")
@pipeline_options
@_public(
    "--transactions",
    metavar="N",
    help="About how many transactions there are; then errors are also shown as frequencies.",
)
@_public(
    "--items", type=int, default=DEFAULT_ITEMS, show_default=True, help="About how many items there are to choose from."
)
@_public("--lam", type=int, help="λ: how many items the top k itemsets consist of.  [default: all possible values]")
@_public("--bases", type=int, help="Count with this many bases of --length items, as a receipt lists them.")
@_public("--length", type=int, help="How many items a basis has.")
@_wish("--max-length", type=int, help="The longest itemset to release.")
@_unit("--unit", help="Who is protected, such as customer_id.  [default: each transaction]")
@_unit("--max-baskets", type=int, default=1, show_default=True, help="How many transactions of one unit count at most.")
@_unit("--merge-by", help="Protect one unit by merging its transactions into one.")
@_answer(
    "--target-error", metavar="ERROR", help="Find the ε for this standard error: a count, or a percentage such as 0.1%."
)
@_answer("--target-size", type=int, help="The itemset size of that error.  [default: all sizes]")
@_answer("--ledger", type=click.Path(path_type=Path), help="Show what this ledger would have left.")
@_answer("--dataset", help="The name of the data in the ledger.")
@_answer("--plot", "picture", type=click.Path(path_type=Path), help="Draw errors over ε: .png, .svg or .pdf.")
@_answer("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(
    method: str | None,
    file: Path | None,
    settings: tuple[str, ...],
    picture: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how exact a release would be and how it would spend its budget, before anything is spent.

    No data is read: a plan needs only what is public, and what you assume. It tells the standard errors
    of counts by itemset size, what can be told from noise, the same over a range of ε, and, for a wanted
    error, the ε that it takes.

    Example:  privmine plan --k 100 --epsilon 1 --transactions 88000 --items 16470 --lam 38
    """
    pipeline = Pipeline.from_spec(pipeline_spec(method, file, settings))
    if picture is not None:
        check_picture(picture)
    with progress("Planning …"):
        made = make_plan(pipeline=pipeline, **options)
    if picture is not None:
        save(made, picture)
    if as_json:
        print_json(made.to_dict())
    else:
        show(console(), made, picture)
    if made.refusal is not None:
        fail(made.refusal, 2)


def show(out: Console, plan: Plan, picture: Path | None = None) -> None:
    """The plan as tables."""
    out.print(f"[bold]Plan:[/] {text(headline(plan))}; nothing is read, drawn or charged")
    for line in facts(plan):
        _statement(out, line)
    for made in tables(plan):
        right = tuple(column for column in made.columns if column not in ("stage", "component", "itemsets of"))
        rows = table(*made.columns, right=right)
        for row in made.rows:
            rows.add_row(*map(text, row))
        out.print(f"\n[bold]{made.heading}[/]")
        out.print(rows)
        for note in made.notes:
            out.print(text(note), style="dim")
    found = answers(plan)
    if found or picture is not None:
        out.print()
    for line in found:
        _statement(out, line)
    if picture is not None:
        _statement(out, f"Saved: {picture}")


def _statement(out: Console, line: str) -> None:
    subject, _, rest = in_shell(line).partition(":")
    out.print(f"[bold]{text(subject)}:[/]{text(rest)}")
