"""A run without data: the real components, made-up baskets, and noise that is planned but not drawn.

What a run is charged, how large its noise is and which standard errors it states do not depend on the data
for components that say so in advance. So a plan is made by running them on a dozen made-up baskets, and it
cannot disagree with the run that it plans. Where stated errors do change with the answers, they are not
known in advance, and `UnplannableError` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb, log
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from privmine.curator import Access, Answer, Selection
from privmine.errors import ContractError, InputError, PrivmineError, StageError
from privmine.model import BasisSet, BudgetPlan, Elements, Estimate, IntArray, NoisyCounts, Request
from privmine.noise.laws import NoiseSum
from privmine.noise.protocol import Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.pipeline.request import Wish
from privmine.pipeline.run import Run
from privmine.planning.patterns import arrangements
from privmine.privacy.cost import Meter
from privmine.privacy.noise import Laplace, Noise
from privmine.privacy.unit import Unit
from privmine.queries import RankGap
from privmine.store.transactions import Transactions

#: How sure "can be told apart" is: 19 times out of 20.
LEVEL = 0.95
_ODDS = 19
_MADE_UP_ITEMS = 12
#: So large that a choice takes what scores best, and leaves ties to chance.
_SURE = Fraction(10**9)


class UnplannableError(PrivmineError):
    """The errors of a component cannot be known before the data is looked at; the message says why."""


@frozen
class Choice:
    """What a selection can tell apart.

    Attributes:
        lam: the λ that was assumed, if the method has one.
        query: what is chosen from, as the receipt calls it.
        draws: how many are chosen.
        candidates: of how many.
        gap: two candidates whose supports differ by so much are put in the right order 19 times out of 20.
        lead: one whose support exceeds those of all that are not chosen by so much is put before all of
            them 19 times out of 20. If they never occur, this is the smallest support that is safely found.
    """

    lam: int | None
    query: str
    draws: int
    candidates: int
    gap: float
    lead: float


class _Rehearsed:
    """A source of noise that adds none: it draws what scores best, and notes what a choice could tell apart.

    It says that it draws the noise of a release; what it answers is made up anyway.
    """

    name = "rehearsal without data"
    private = True

    def __init__(self, shift: int = 0) -> None:
        self._random = SimulatedNoise(0)
        self._shift = shift
        self.noted: list[tuple[int, int, float, float]] = []

    def draws(self, noise: Noise) -> Noise:
        return noise

    def add(self, values: IntArray, noise: Noise) -> NDArray[Any]:
        made_up: NDArray[Any] = np.asarray(values) + self._shift * (1 + np.arange(len(values)) % 7)
        return made_up

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        # Of two candidates with a gap g the better one is drawn first with odds e^(rate·g), whatever the others
        # do; of one with a lead g over m others, it is drawn before all of them with odds e^(rate·g)/m.
        rest = _candidates(scores, tail) - n
        self._note(scores, n, tail, log(_ODDS) / rate, log(_ODDS * rest) / rate if rest else 0.0)
        return self._random.select(scores, n, _SURE, tail)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        rest = _candidates(scores, tail) - n
        two = NoiseSum(Laplace(scale), [(2, 1.0)])
        # One-sided, so twice the probability; the bound for m others is the sum of m probabilities.
        gap, lead = (two.half_width(1 - 2 * (1 - LEVEL) / max(others, 1)) for others in (1, rest))
        self._note(scores, n, tail, gap, lead if rest else 0.0)
        return self._random.noisy_top(scores, n, 1 / _SURE, tail)

    def select_set(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        # A set with the gap g is drawn with odds of at most e^(−rate·g) against the best one, for each set there is.
        candidates = _candidates(scores, tail)
        lead = (log(_ODDS) + log(comb(candidates, n))) / rate if n < candidates else 0.0
        self._note(scores, n, tail, lead, lead)
        return self._random.select_set(scores, n, _SURE, tail)

    def below(self, bound: int) -> int:
        return self._random.below(bound)

    def _note(self, scores: IntArray, n: int, tail: Tail | None, gap: float, lead: float) -> None:
        self.noted.append((n, _candidates(scores, tail), float(gap), float(lead)))


def _candidates(scores: IntArray, tail: Tail | None) -> int:
    return len(scores) + (tail.size if tail else 0)


@frozen
class Selected:
    """A rehearsal up to the selection.

    Attributes:
        request: what was asked for.
        lam: the λ that was assumed; None where the method estimates none.
        plan: the shares of the budget.
        elements: what was chosen.
        choices: what the choice could tell apart.
        meter: what was charged.
        answers: what was answered.
    """

    request: Request
    lam: int | None
    plan: BudgetPlan
    elements: Elements
    choices: tuple[Choice, ...]
    meter: Meter
    answers: tuple[Answer, ...]


@frozen
class Rehearsal:
    """A pipeline that runs without data.

    Attributes:
        pipeline: the components.
        baskets: the made-up baskets; their universe has the planned size.
        k: how many itemsets are to be released.
        max_length: the longest of them.
        delta: the δ of (ε, δ)-differential privacy; None for pure ε.
    """

    pipeline: Pipeline
    baskets: Transactions
    k: int
    max_length: int | None
    delta: Fraction | None = None

    def request(self, epsilon: Fraction) -> Request:
        """What would be asked for; refuses what a run would refuse."""
        return Wish(self.k, epsilon, delta=self.delta, max_length=self.max_length).request(self.baskets)

    def lambda_range(self, epsilon: Fraction) -> tuple[int, int] | None:
        """From where to where the pipeline draws λ; None where it draws none, or not by the gap between ranks."""
        run = self.pipeline.prepare(self.request(epsilon))
        try:
            plan = run.plan()
            access = run.access(self.baskets.store, _Rehearsed(), _trusts_all)
            run.stage("estimate_lambda", plan, access)
        except PrivmineError as error:
            raise InputError(_failure(error)) from error
        asked = [answer.query for answer in access.answers if isinstance(answer.query, RankGap)]
        return (asked[0].low, asked[0].high) if asked else None

    def select(self, epsilon: Fraction, lam: int) -> Selected:
        """Run the first three stages, with λ as assumed."""
        run = self.pipeline.prepare(self.request(epsilon))
        noise = _Rehearsed()
        try:
            plan = run.plan()
            access = run.access(self.baskets.store, noise, _trusts_all)
            estimate: Estimate = run.stage("estimate_lambda", plan, access)
            if estimate.lam is not None and run.meter.spent:  # What cost nothing is public, and stays.
                estimate = evolve(estimate, lam=lam)
            noise.noted.clear()
            earlier = len(access.answers)
            elements = run.stage("select_elements", plan, access, estimate=estimate)
        except PrivmineError as error:
            raise InputError(_failure(error)) from error
        names = [answer.query.name for answer in access.answers[earlier:] if isinstance(answer, Selection)]
        choices = [Choice(estimate.lam, name, *noted) for name, noted in zip(names, noise.noted, strict=False)]
        return Selected(run.request, estimate.lam, plan, elements, tuple(choices), run.meter, tuple(access.answers))

    def bases(self, selected: Selected) -> Iterator[tuple[str, BasisSet]]:
        """The bases that the pipeline builds, for each pattern that the chosen pairs may have."""
        run = self.pipeline.prepare(selected.request)
        access = _access(run, self.baskets, selected, _Rehearsed())
        for pattern, elements in arrangements(selected.elements):
            try:
                yield pattern, run.stage("construct_basis", selected.plan, access, elements=elements)
            except PrivmineError as error:
                raise InputError(_failure(error)) from error

    def counts(self, selected: Selected, basis: BasisSet, shift: int = 0) -> NoisyCounts:
        """What the last stage makes of the bases; `shift` makes the answers others, the noise being the same."""
        request, baskets = selected.request, self.baskets
        largest = max((item for found in basis.bases for item in found), default=-1)
        if largest >= len(baskets.universe):
            # Given bases may have more items than were planned with, which only the selection asks for.
            baskets = made_up_baskets(largest + 1, baskets.unit)
            request = evolve(request, public=evolve(request.public, universe=baskets.universe))
        run = self.pipeline.prepare(request)
        run.meter = _copy(selected.meter)
        access = _access(run, baskets, selected, _Rehearsed(shift))
        try:
            counts = run.stage("reconstruct_counts", selected.plan, access, basis=basis)
        except PrivmineError as error:
            raise UnplannableError(_failure(error)) from error
        assert isinstance(counts, NoisyCounts)
        return counts

    def check_errors(self, selected: Selected, basis: BasisSet) -> None:
        """Make sure that the stated errors are the same whatever the answers are."""
        one, other = (self.counts(selected, basis, shift) for shift in (0, 1000))
        if not np.array_equal(one.standard_errors, other.standard_errors):
            part = self.pipeline.parts["reconstruct_counts"]
            raise UnplannableError(f"The standard errors of {part} depend on the data, so no plan can know them.")


def made_up_baskets(items: int, unit: Unit) -> Transactions:
    """A dozen baskets, each one item larger than the one before, over a universe of so many items."""
    lengths = np.arange(min(items, _MADE_UP_ITEMS) + 1)
    members = np.concatenate([np.arange(length) for length in lengths])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return evolve(Transactions.from_rows(offsets, members, np.arange(items)), unit=unit)


def _access(run: Run, baskets: Transactions, selected: Selected, noise: _Rehearsed) -> Access:
    return evolve(run.access(baskets.store, noise, _trusts_all), answers=list(selected.answers))


def _trusts_all(_: type) -> bool:
    return True  # There is no data that a wrong sensitivity could harm.


def _copy(meter: Meter) -> Meter:
    copy = Meter(meter.budget)
    copy.charges, copy.spent = meter.charges, meter.spent
    return copy


def _failure(error: PrivmineError) -> str:
    """What went wrong, without the engine's words on charges: nothing is charged here."""
    if isinstance(error, StageError):
        reason = str(error.__cause__).rstrip(".")
        return f"{error.stage}={error.component} from {error.distribution} cannot be planned without data: {reason}."
    return error.flaw if isinstance(error, ContractError) else str(error)
