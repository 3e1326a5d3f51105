"""A plan in words and tables, for the screen and for `print`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from privmine.exact import amount
from privmine.planning.patterns import AS_GIVEN
from privmine.planning.plan_result import Plan, Shape
from privmine.planning.question import large_delta
from privmine.planning.rehearsal import Choice
from privmine.planning.sizes import SizeRange
from privmine.privacy.guarantee import Guarantee

#: Longer itemsets are rarely among the top ones; the JSON has them all.
SHOWN_SIZES = 5
_SIZES_OVER_EPSILON = 3
_MEANING = (
    '"Standard error" is that of a typical itemset of that size, "at most" that of any itemset. A '
    "count is clearly above 0 if its 95 % interval excludes 0."
)


@frozen
class TextTable:
    """A heading, column names, rows of text, and sentences that explain them."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def headline(plan: Plan) -> str:
    """What was planned for."""
    return f"{plan.method}, k = {plan.k:,}, {plan.guarantee}"


def facts(plan: Plan) -> list[str]:
    """What the plan was made from, and whom it is about."""
    about = "" if plan.transactions is None else f" about {many(plan.transactions, 'transaction')},"
    lams = plan.lams
    if not lams:
        lam = ""
    elif len(lams) == 1:
        lam = f", λ = {items(lams[0])} in the top itemsets"
    else:
        lam = f", λ from {lams[0]} to {lams[-1]} (narrow it down with lam=)"
    return [f"Assumes:{about} {items(plan.items)} to choose from{lam}", f"Protects: {plan.unit.whom}"]


def tables(plan: Plan) -> list[TextTable]:
    """All that there is to show."""
    made = [budget_table(plan)] if plan.shares else []
    if plan.pure is not None and (compared := definition_rows(plan, plan.pure)):
        made.append(TextTable("With and without δ", ("what", "pure ε", str(plan.guarantee)), tuple(compared)))
    if plan.sizes:
        made.append(size_table(plan))
    if plan.choices:
        made.append(choice_table(plan))
    if plan.points:
        made.append(epsilon_table(plan))
    return made


def budget_table(plan: Plan) -> TextTable:
    """How the budget is divided."""
    rows = [(share.stage, share.component, share.cost.number) for share in plan.shares]
    notes = ["What a stage does not spend goes to the next stage."]
    symbol = plan.shares[0].cost.definition.symbol
    return TextTable("The budget", ("stage", "component", symbol), tuple(rows), tuple(notes))


def size_table(plan: Plan) -> TextTable:
    """How exact counts are, by itemset size."""
    columns = ["itemsets of", "standard error", "at most", "clearly above 0 at"]
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
    return TextTable("A count", tuple(columns), tuple(rows), (_shape_note(plan), _MEANING))


def _shape_note(plan: Plan) -> str:
    """What the errors depend on."""
    best, worst = min(plan.shapes, key=_first_error), max(plan.shapes, key=_first_error)
    if best.pattern == AS_GIVEN:
        if best.basis.candidates is None:
            return f"For the given bases: {bases(best)}."
        return (
            f"For {bases(best)}, for itemsets in one basis of {items(best.basis.length)}. Itemsets in "
            "shorter bases, or in several bases, are more exact."
        )
    if best.basis.candidates is not None:
        return f"Each of {len(best.basis.candidates):,} itemsets is counted separately."
    if best == worst:
        return f"For {bases(best)}."
    tried = f"{len(plan.shapes)} sets of bases were tried"
    return (
        f"From {bases(best)}{_why(best, plan)} to {bases(worst)}{_why(worst, plan)}; {tried}. The data decides which."
    )


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


def choice_table(plan: Plan) -> TextTable:
    """What the selection can tell apart."""
    rows = [
        (*([str(choice.lam)] if len(plan.lams) > 1 else []), f"{choice.draws:,} of {big(choice.candidates)}",
         number(choice.lead), number(choice.gap))
        for choice in plan.choices
    ]  # fmt: skip
    columns = [*(["λ"] if len(plan.lams) > 1 else []), "chosen", "found from", "in order from a gap of"]
    notes = [
        "Found from: an item or pair in at least this many transactions is found in 19 of 20 runs, if the others "
        "never occur. Less frequent ones may be missed."
    ]
    return TextTable("The choice", tuple(columns), tuple(rows), tuple(notes))


def definition_rows(plan: Plan, pure: Plan) -> list[tuple[str, str, str]]:
    """What counts and choices are worth at pure ε and with a δ."""
    rows = [
        (f"standard error, {items(size)}", error_span(one), error_span(other))
        for size, one, other in _same_sizes(plan, pure)[:SHOWN_SIZES]
    ]
    if plan.choices and pure.choices:
        rows.append(("found from", found_from(pure.choices), found_from(plan.choices)))
    return rows


def better_definition(plan: Plan, pure: Plan) -> str:
    """Which definition of privacy is better without knowing the data, in one sentence."""
    counts = [
        ratio
        for _, one, other in _same_sizes(plan, pure)
        for ratio in (other.low / one.low, other.high / one.high)
        if one.low > 0
    ]
    choices = [one.lead / other.lead for one, other in zip(plan.choices, pure.choices, strict=False) if other.lead > 0]
    if not counts and not choices:
        return "Definition: which is better depends on the data. Pass transactions= or like= to simulate both."
    told = [f"{_times(counts)} times the error in counts"] if counts else []
    told += [f"{_times(choices)} times the support from which an item or pair is found"] if choices else []
    ratios = [*counts, *choices]
    if max(ratios) <= 1:
        words = "a δ is better here"
    elif min(ratios) >= 1:
        words = "pure ε is better here"
    else:
        words = "which is better depends on the data, and transactions= or like= simulates both"
    return f"Definition: {words}; with the δ there is {' and '.join(told)}."


def _same_sizes(plan: Plan, pure: Plan) -> list[tuple[int, SizeRange, SizeRange]]:
    """The sizes that both have: at pure ε, and with the δ."""
    relaxed = {found.size: found for found in plan.sizes}
    return [(found.size, found, relaxed[found.size]) for found in pure.sizes if found.size in relaxed]


def _times(ratios: Sequence[float]) -> str:
    low, high = f"{min(ratios):.2g}", f"{max(ratios):.2g}"
    return low if low == high else f"{low} – {high}"


def epsilon_table(plan: Plan) -> TextTable:
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
    return TextTable("Over ε", columns, tuple(rows))


def error_span(found: SizeRange | None) -> str:
    """The typical errors, if there are any."""
    return "" if found is None else span(found.low, found.high)


def found_from(choices: Iterable[Choice]) -> str:
    """The least and the largest of the supports from which on choices find safely."""
    leads = [choice.lead for choice in choices]
    return span(min(leads), max(leads))


def answers(plan: Plan) -> list[str]:
    """The ε for a wanted error, and what the ledger says."""
    sentences = [] if plan.pure is None else [better_definition(plan, plan.pure)]
    if warning := large_delta(plan.delta, plan.transactions):
        sentences.append(f"Delta: {warning}")
    if plan.unknown:
        sentences.append(f"Errors: {plan.unknown}")
    if plan.target is not None and plan.target_epsilon is not None:
        what = "all sizes" if plan.target.size is None else f"itemsets of {items(plan.target.size)}"
        sentences.append(
            f"Target: {Guarantee(plan.target_epsilon, plan.delta)}{_or_pure(plan)} makes the standard error at most "
            f"{number(float(plan.target.error))} for {what}, with any of the bases that were tried"
        )
    if plan.remaining is not None:
        spent = Guarantee(plan.epsilon, plan.delta)
        sentences.append(f"Ledger: {Guarantee(plan.remaining)} would remain for {plan.dataset} after {spent}")
    return sentences


def _or_pure(plan: Plan) -> str:
    """The pure ε that makes the same error, where both are asked for."""
    found = None if plan.pure is None else plan.pure.target_epsilon
    return "" if found is None else f", or pure {Guarantee(found)},"


def items(count: int) -> str:
    """A number of items, in words."""
    return many(count, "item")


def many(count: int, noun: str) -> str:
    """A number with its noun, which is plural unless the number is 1."""
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


def lines(plan: Plan, *, advice: bool = True) -> list[str]:
    """The whole plan as plain text, with the advice first, if there is any and it is asked for."""
    made = [] if plan.advice is None or not advice else [*str(plan.advice).splitlines(), ""]
    made += [f"Plan: {headline(plan)}", *facts(plan)]
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
