"""What is wrong with one run in itself: unpaid noise, too little noise, too much spent."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from privmine.audit.comparing import same
from privmine.audit.findings import Finding
from privmine.audit.trace import Call, Trace
from privmine.model import STAGES, BudgetPlan
from privmine.privacy.cost import UNSPENT, Cost
from privmine.privacy.definition import Definition
from privmine.privacy.noise import Noise
from privmine.privacy.sensitivity import Sensitivity
from privmine.release import Release


def accounting(trace: Trace) -> Iterator[Finding]:
    """What is wrong with a run in itself: unpaid noise, too little noise, too much spent."""
    plan = trace.result("allocate_budget")
    limits = plan.limits() if isinstance(plan, BudgetPlan) else {}
    spent = settled = trace.budget * 0
    exceeded = False
    for call in trace.calls:
        spent += call.charged
        if call.stage not in STAGES:
            settled = spent  # What the engine asks itself comes first, and the stages share the rest.
        yield from _price(call)
        limit = settled + limits.get(call.stage, Fraction(1)) * (trace.budget - settled)
        if spent > limit and not exceeded:
            exceeded = True  # What was spent too much stays so; later stages are not to blame.
            yield Finding(
                "budget", call.stage, f"{spent} was spent by the end of this stage, but the plan allows {limit}"
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
        yield Finding("unpaid", call.stage, f"noise was drawn for {values}, but no query was asked")
        return
    if isinstance(call.charged, int) or call.charged <= 0:
        yield Finding("unpaid", call.stage, f"the noise of {call.query.name!r} was drawn before it was charged")
        return
    if call.misnamed:
        told = f"{call.query.name!r} was answered with other candidates than were drawn"
        yield Finding("candidates", call.stage, told)
    if call.uneven:
        told = f"{call.query.name!r} does not draw all unlisted candidates equally often"
        yield Finding("candidates", call.stage, told)
    price = _price_of(call, call.sensitivity, call.charged.definition)
    if price > call.charged:
        told = f"{call.query.name!r} was answered with noise that costs {price}, but {call.charged} was charged"
        yield Finding("scale", call.stage, told)


def _price_of(call: Call, sensitivity: Sensitivity, definition: Definition) -> Cost:
    """What the noise that was drawn costs."""
    if isinstance(call.factor, Noise):
        return definition.cost_of_noise(sensitivity, call.factor)
    if call.kind == "choose_set":
        return definition.cost_of_draws(sensitivity.of_gap, call.factor, 1)
    price = definition.cost_of_draws if call.kind == "choose" else definition.cost_of_top
    return price(sensitivity, call.factor, call.draws)


def _receipt(trace: Trace, release: Release, spent: Cost) -> Iterator[Finding]:
    receipt = release.receipt
    if receipt.cost > trace.budget or receipt.spent > receipt.cost:
        yield Finding(
            "budget",
            "",
            f"the receipt claims {receipt.cost}, its charges sum to {receipt.spent}, and the budget was {trace.budget}",
        )
    stated, asked = receipt.guarantee, trace.asked
    if asked is not None and (stated.epsilon > asked.epsilon or (stated.delta or 0) > (asked.delta or 0)):
        yield Finding("budget", "", f"the receipt guarantees {stated}, but {asked} was asked for")
    # More may be charged than is drawn for: a query that fails stays charged.
    listed = trace.budget * 0 + sum(charge.cost for charge in receipt.charges if charge.mechanism != UNSPENT)
    if listed < spent:
        yield Finding("budget", "", f"the receipt lists charges of {listed}, but noise for {spent} was drawn")
