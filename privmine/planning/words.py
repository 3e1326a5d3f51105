"""A plan in words and tables, for the screen and for `print`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from privmine.model import Unit
from privmine.planning.model import Plan, Shape
from privmine.planning.patterns import AS_GIVEN
from privmine.planning.rehearsal import Choice
from privmine.planning.sizes import SizeRange
from privmine.privacy import amount

#: Longer itemsets are rarely among the top ones; the JSON has them all.
SHOWN_SIZES = 5
_SIZES_OVER_EPSILON = 3
_MEANING = (
    "Standard error: typical of a size; at most: of any itemset. Told from noise: a 95 % interval excludes 0, "
    "for a typical itemset."
)


@frozen
class Table:
    """A heading, column names, rows of text, and sentences that explain them."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def headline(plan: Plan) -> str:
    """What was planned for."""
    return f"{plan.method}, k = {plan.k:,}, ε = {amount(plan.epsilon)}"


def facts(plan: Plan) -> list[str]:
    """What the plan was made from, and whom it is about."""
    about = "" if plan.transactions is None else f" about {many(plan.transactions, 'transaction')},"
    lams = plan.lams
    if not lams:
        lam = ""
    elif len(lams) == 1:
        lam = f", λ = {items(lams[0])} in the top itemsets"
    else:
        lam = f", λ from {lams[0]} to {lams[-1]} (narrow it down by --lam)"
    return [f"Assumes:{about} {items(plan.items)} to choose from{lam}", f"Protects: {protected(plan.unit)}"]


def protected(unit: Unit) -> str:
    """Who is protected."""
    if unit.is_transaction:
        return "one transaction, not one customer"
    if unit.merged:
        return f"one {unit.name}, whose transactions are merged into one"
    counted = "one transaction" if unit.baskets == 1 else f"up to {unit.baskets} transactions"
    return f"one {unit.name}, of whom {counted} {'is' if unit.baskets == 1 else 'are'} counted"


def tables(plan: Plan) -> list[Table]:
    """All that there is to show."""
    made = [budget_table(plan)]
    if plan.sizes:
        made.append(size_table(plan))
    if plan.choices:
        made.append(choice_table(plan))
    if plan.points:
        made.append(epsilon_table(plan))
    return made


def budget_table(plan: Plan) -> Table:
    """How the budget is divided."""
    rows = [(share.stage, share.component, amount(share.epsilon)) for share in plan.shares]
    notes = ["What a stage leaves of its share goes to the next one."]
    return Table("The budget", ("stage", "component", "ε"), tuple(rows), tuple(notes))


def size_table(plan: Plan) -> Table:
    """How exact counts are, by itemset size."""
    columns = ["itemsets of", "standard error", "at most", "told from noise at"]
    if plan.transactions is not None:
        columns.append("error ÷ transactions")
    rows = []
    for found in plan.sizes[:SHOWN_SIZES]:
        row = [
            items(found.size),
            span(found.low, found.high),
            number(found.most),
            span(found.told_low, found.told_high),
        ]
        if plan.transactions is not None:
            low, high = (percent(100 * error / plan.transactions) for error in (found.low, found.high))
            row.append(f"{low if low == high else f'{low} – {high}'} %")
        rows.append(tuple(row))
    return Table("A count", tuple(columns), tuple(rows), (_shape_note(plan), _MEANING))


def _shape_note(plan: Plan) -> str:
    """What the errors depend on."""
    best, worst = min(plan.shapes, key=_first_error), max(plan.shapes, key=_first_error)
    if best.pattern == AS_GIVEN:
        if best.basis.candidates is None:
            return f"For the given bases: {bases(best)}."
        return (
            f"For {bases(best)}, of an itemset that one basis of {items(best.basis.length)} answers; "
            "shorter bases, or several of them, answer more exactly."
        )
    if best.basis.candidates is not None:
        return f"Each of {len(best.basis.candidates):,} itemsets is counted by itself."
    if best == worst:
        return f"For {bases(best)}."
    tried = f"{len(plan.shapes)} sets of bases were tried"
    return f"From {bases(best)}{_why(best, plan)} to {bases(worst)}{_why(worst, plan)}; {tried}, the data decides."


def _first_error(shape: Shape) -> float:
    return shape.sizes[0].typical


def _why(shape: Shape, plan: Plan) -> str:
    reasons = [f"λ = {shape.lam}"] if len(plan.lams) > 1 else []
    if shape.pattern:
        reasons.append(f"frequent pairs: {shape.pattern}")
    return f" ({', '.join(reasons)})" if reasons else ""


def bases(shape: Shape) -> str:
    """A basis set by its width and length."""
    width, length = shape.basis.width, shape.basis.length
    return f"one basis of {items(length)}" if width == 1 else f"{width} bases of up to {items(length)}"


def choice_table(plan: Plan) -> Table:
    """What the selection can tell apart."""
    rows = [
        (*([str(choice.lam)] if len(plan.lams) > 1 else []), f"{choice.draws:,} of {big(choice.candidates)}",
         number(choice.lead), number(choice.gap))
        for choice in plan.choices
    ]  # fmt: skip
    columns = [*(["λ"] if len(plan.lams) > 1 else []), "chosen", "found from", "in order from a gap of"]
    notes = [
        "Found from: what is so far above all that is not chosen is chosen 19 times out of 20; where that never "
        "occurs, this is a support. What is less frequent may be missed."
    ]
    return Table("The choice", tuple(columns), tuple(rows), tuple(notes))


def epsilon_table(plan: Plan) -> Table:
    """Standard errors over ε."""
    sizes = [found.size for found in plan.sizes[:_SIZES_OVER_EPSILON]]
    choices = bool(plan.choices)
    rows = []
    for point in plan.points:
        errors = {found.size: found for found in point.sizes}
        mark = "▸ " if point.epsilon == plan.epsilon else ""
        row = [mark + amount(point.epsilon), *(error_span(errors.get(size)) for size in sizes)]
        if choices:
            row.append(found_from(point.choices))
        rows.append(tuple(row))
    columns = ("ε", *(f"± {items(size)}" for size in sizes), *(["found from"] if choices else []))
    return Table("Over ε", columns, tuple(rows))


def error_span(found: SizeRange | None) -> str:
    """The typical errors, if there are any."""
    return "" if found is None else span(found.low, found.high)


def found_from(choices: Iterable[Choice]) -> str:
    """The least and the largest of the supports from which on choices find safely."""
    leads = [choice.lead for choice in choices]
    return span(min(leads), max(leads))


def answers(plan: Plan) -> list[str]:
    """The ε for a wanted error, and what the ledger says."""
    sentences = []
    if plan.unknown:
        sentences.append(f"Errors: {plan.unknown}")
    if plan.target is not None and plan.target_epsilon is not None:
        what = "all sizes" if plan.target.size is None else f"itemsets of {items(plan.target.size)}"
        sentences.append(
            f"Target: ε = {amount(plan.target_epsilon)} makes the standard error at most "
            f"{number(float(plan.target.error))} for {what}, with any of the bases that were tried"
        )
    if plan.remaining is not None:
        sentences.append(f"Ledger: ε = {amount(plan.remaining)} would remain for {plan.dataset}")
    return sentences


def items(count: int) -> str:
    """So many items."""
    return many(count, "item")


def many(count: int, noun: str) -> str:
    """So many of something."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def number(value: float) -> str:
    """A count, with no more digits than it deserves."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.2g}"


def big(value: int) -> str:
    """A number of candidates, which may be astronomic."""
    return f"{value:,}" if value < 10**9 else f"10^{len(str(value)) - 1}"


def percent(value: float) -> str:
    """A percentage to two digits."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:#.2g}"


def span(low: float, high: float) -> str:
    """A range, or one number if both ends read the same."""
    return number(low) if number(low) == number(high) else f"{number(low)} – {number(high)}"


def lines(plan: Plan) -> list[str]:
    """The whole plan as plain text."""
    made = [f"Plan: {headline(plan)}", *facts(plan)]
    for table in tables(plan):
        made += ["", table.heading, *_aligned([table.columns, *table.rows]), *table.notes]
    found = answers(plan)
    refusal = [] if plan.refusal is None else [f"Ledger: {plan.refusal}"]
    return made + ([""] if found or refusal else []) + found + refusal


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
