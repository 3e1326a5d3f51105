"""`privmine plan`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from privmine.cli.pipeline_options import pipeline_options, pipeline_spec
from privmine.cli.plot_command import check_new_picture
from privmine.cli.screen import activity, console, fail, print_json, table, text
from privmine.cli.spelling import in_shell
from privmine.pipeline import Pipeline
from privmine.planning import Plan
from privmine.planning import plan as make_plan
from privmine.planning.advice import Advice
from privmine.planning.plan_plot import save
from privmine.planning.plan_text import answers, facts, headline, tables
from privmine.planning.planner import DEFAULT_K
from privmine.planning.question import DEFAULT_ITEMS

_COLUMNS = (
    "Missed: the share of the k most frequent itemsets, ± two standard errors of the simulations. Off by: the typical "
    "error of a count, in transactions. Found from: of the itemsets that are as frequent, 95 % are found."
)

_wish = partial(click.option, panel="What to release")
_public = partial(click.option, panel="What is public, or assumed")
_unit = partial(click.option, panel="Who is protected: one transaction, unless another unit is named")
_answer = partial(click.option, panel="What else to show")


@click.command()
@_wish(
    "--k", "-k", "k", metavar="K[,K…]", help=f"How many itemsets to release; several: 20,200.  [default: {DEFAULT_K}]"
)
@_wish("--epsilon", "-e", metavar="ε[,ε…]", help="The privacy budget ε of the release; several: 0.25,1.")
@_wish("--delta", help="Compare (ε, δ)-differential privacy with this δ, for example 1e-6, with pure ε.")
@pipeline_options
@_public(
    "--transactions",
    metavar="N",
    help="About how many transactions there are; then errors are also shown as frequencies.",
)
@_public(
    "--items",
    type=int,
    help=f"About how many items there are to choose from.  [default: {DEFAULT_ITEMS}, or as many as --like has]",
)
@_public(
    "--like",
    metavar="RELEASE|NAME",
    help="Simulate on something PUBLIC that is like your data, scaled to its size: the file of an earlier release, or "
    "a dataset of `privmine datasets` such as retail. Never your private data: it would be read without noise.",
)
@_public(
    "--like-is-public",
    is_flag=True,
    help="Say that --like is a file of transactions that everybody may see; without this it is refused.",
)
@_public("--lam", type=int, help="λ: how many items the top k itemsets consist of.  [default: all possible values]")
@_public("--bases", type=int, help="Count with this many bases of --length items, as a receipt lists them.")
@_public("--length", type=int, help="How many items a basis has.")
@_wish("--max-length", type=int, help="The longest itemset to release.")
@_unit(
    "--unit", help="Who is protected, such as customer_id.  [default: as the release of --like; else each transaction]"
)
@_unit("--max-baskets", type=int, default=1, show_default=True, help="How many transactions of one unit count at most.")
@_unit("--merge-by", help="Protect one unit by merging its transactions into one.")
@_answer(
    "--target-error", metavar="ERROR", help="Find the ε for this standard error: a count, or a percentage such as 0.1%."
)
@_answer("--target-size", type=int, help="The itemset size of that error.  [default: all sizes]")
@_answer(
    "--wanted",
    metavar="SENTENCE",
    help='Find the ε for what you want to learn: "tell 2 % from 3 %" or "find everything above 2 %".',
)
@_answer("--runs", type=int, help="How often to simulate each question.  [default: until the answer is known well]")
@_answer("--ledger", metavar="FILE", help="Show what this ledger would have left.")
@_answer("--dataset", help="The name of the data in the ledger.")
@_answer("--plot", "picture", type=click.Path(path_type=Path), help="Draw errors over ε: .png, .svg or .pdf.")
@_answer("--force", "overwrite", is_flag=True, help="Replace the picture if it exists.")
@_answer("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(
    method: str | None,
    file: Path | None,
    settings: tuple[str, ...],
    picture: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what a release would find and how exact it would be, before anything is spent.

    No private data is read: a plan needs only what is public, and what you assume. With --like, --wanted, several k
    or ε, or --transactions alone, it simulates the methods that are installed, and tells in a sentence each what would
    be found, what is noise and which k is sensible. With --lam it tells the standard errors of counts by itemset
    size and how the budget is divided, and, for a wanted error, the ε that it takes.

    Example:  privmine plan --k 20,200 --epsilon 1 --transactions 5000 --like retail

    Another:  privmine plan --like may.csv --wanted "find everything above 2 %"
    """
    spec = pipeline_spec(method, file, settings)
    chosen = method is not None or file is not None or bool(settings)
    if picture is not None:
        like = options["like"]
        check_new_picture(picture, [] if like is None else [Path(like)], overwrite)
    with activity("Planning …") as tell:
        made = make_plan(pipeline=Pipeline.from_spec(spec) if chosen else None, tell=tell, **options)
    if as_json:
        print_json(made.to_dict())
    else:
        show(console(), made)
    if picture is not None:
        save(made, picture)
        if not as_json:
            _statement(console(), f"Saved: {picture}")
    if made.refusal is not None:
        fail(made.refusal, 2)


def show(out: Console, plan: Plan) -> None:
    """The plan as tables, or as advice where that was asked for."""
    if plan.advice is not None:
        show_advice(out, plan.advice)
        _show_answers(out, plan)
        return
    out.print(f"[bold]Plan:[/] {text(headline(plan))}; nothing is read, drawn or charged")
    for line in facts(plan):
        _statement(out, line)
    for made in tables(plan):
        right = tuple(column for column in made.columns if column not in ("stage", "component", "itemsets of", "what"))
        rows = table(*made.columns, right=right)
        for row in made.rows:
            rows.add_row(*map(text, row))
        out.print(f"\n[bold]{made.heading}[/]")
        out.print(rows)
        for note in made.notes:
            out.print(text(note), style="dim")
    _show_answers(out, plan)


def show_advice(out: Console, advice: Advice) -> None:
    """One sentence for each k and ε, what is sensible, and the figures below."""
    for line in advice.sentences():
        _statement(out, line)
    columns, rows = advice.table()
    shown = table(*columns, right=tuple(name for name in columns if name != "method"))
    for row in rows:
        shown.add_row(*map(text, row))
    out.print()
    if rows:
        out.print(shown)
        out.print(text(_COLUMNS), style="dim")
    out.print(text(f"Simulated on {advice.basis()}. Nothing private is read, and nothing is charged."), style="dim")
    for note in advice.notes:
        out.print(text(in_shell(note)), style="dim")


def _show_answers(out: Console, plan: Plan) -> None:
    found = [line for line in answers(plan) if plan.advice is None or not line.startswith("Errors:")]
    if found:
        out.print()
    for line in found:
        _statement(out, line)


def _statement(out: Console, line: str) -> None:
    subject, _, rest = in_shell(line).partition(":")
    out.print(f"[bold]{text(subject)}:[/]{text(rest)}")
