"""What is wrong with one run in itself: unpaid noise, too little noise, too much spent."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from privmine.audit.comparing import same
from privmine.audit.findings import Finding
from privmine.audit.trace import Call, Trace
from privmine.model import BudgetPlan
from privmine.privacy import UNSPENT, amount
from privmine.release import Release


def accounting(trace: Trace) -> Iterator[Finding]:
    """What is wrong with a run in itself: unpaid noise, too little noise, too much spent."""
    plan = trace.result("allocate_budget")
    limits = plan.limits() if isinstance(plan, BudgetPlan) else {}
    spent = Fraction(0)
    exceeded = False
    for call in trace.calls:
        spent += call.charged
        yield from _price(call)
        limit = limits.get(call.stage, Fraction(1)) * trace.epsilon
        if spent > limit and not exceeded:
            exceeded = True  # What was spent too much stays so; later stages are not to blame.
            yield Finding(
                "budget",
                call.stage,
                f"ε = {amount(spent)} was spent by then, of the {amount(limit)} that the plan allows",
            )
    if trace.release is not None:
        yield from _receipt(trace, trace.release, spent)
    for result in trace.results:
        if not same(result.value, result.copy):
            yield Finding("tampering", result.stage, "the result is not what the stage returned")


def _price(call: Call) -> Iterator[Finding]:
    """Whether the noise of one call is what its charge pays for."""
    if call.query is None or call.sensitivity is None:
        values = "1 value" if call.size == 1 else f"{call.size} values"
        yield Finding("unpaid", call.stage, f"noise was drawn for {values} that no query was asked for")
        return
    if call.charged <= 0:
        yield Finding("unpaid", call.stage, f"the noise of {call.query.name!r} was drawn before it was charged")
        return
    if call.misnamed:
        told = f"{call.query.name!r} was answered with other candidates than were drawn"
        yield Finding("candidates", call.stage, told)
    if call.uneven:
        told = f"{call.query.name!r} does not draw all candidates of its tail equally often"
        yield Finding("candidates", call.stage, told)
    sides = 1 if call.sensitivity.monotone else 2
    moves = call.sensitivity.l1 if call.kind == "measure" else call.draws * call.sensitivity.linf * sides
    # The rate of an exponential selection is the inverse of a scale.
    scale = 1 / call.factor if call.kind == "choose" else call.factor
    if scale < moves / call.charged:
        yield Finding(
            "scale",
            call.stage,
            f"{call.query.name!r} was answered with noise of scale {amount(scale)}; "
            f"ε = {amount(call.charged)} asks for {amount(moves / call.charged)}",
        )


def _receipt(trace: Trace, release: Release, spent: Fraction) -> Iterator[Finding]:
    receipt = release.receipt
    if receipt.epsilon > trace.epsilon or receipt.spent > receipt.epsilon:
        yield Finding(
            "budget",
            "",
            f"the receipt claims ε = {amount(receipt.epsilon)} and lists charges of {amount(receipt.spent)}; "
            f"ε = {amount(trace.epsilon)} was given",
        )
    # More may be charged than is drawn for: a query that fails stays charged.
    listed = sum((charge.epsilon for charge in receipt.charges if charge.mechanism != UNSPENT), Fraction(0))
    if listed < spent:
        yield Finding(
            "budget", "", f"the receipt lists charges of ε = {amount(listed)}, but {amount(spent)} was drawn for"
        )
