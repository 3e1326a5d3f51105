"""The only path to the data: it charges, then draws, then answers.

A stage holds a curator scoped to its share of the budget and never a store. This guards against
mistakes, not against malice: Python code in the same process can always reach around it.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from attrs import cmp_using, evolve, field, frozen
from numpy.typing import NDArray

from privmine.errors import BudgetError, ContractError, InputError, QueryError
from privmine.model import IntArray, Public, Unit, exact, read_only
from privmine.noise.protocol import NoiseSource, NoisyTopSource, Tail
from privmine.privacy import Charge, Noise, PureDP, Sensitivity, amount
from privmine.queries import VERIFIED, Candidate, Query, Scores
from privmine.store.protocol import Store


@frozen
class Measurement:
    """A noisy answer: what was asked, the noisy values, the noise in them, and the stage that paid."""

    query: Query
    values: NDArray[Any] = field(converter=read_only, eq=cmp_using(eq=np.array_equal))
    noise: Noise
    stage: str


@frozen
class Selection:
    """What a noisy selection chose, best first by the order of the draws."""

    query: Query
    chosen: tuple[Candidate, ...]
    stage: str


Answer: TypeAlias = Measurement | Selection


class Meter:
    """Counts what one run has spent; there is no way to pay back."""

    def __init__(self, epsilon: Fraction) -> None:
        self.epsilon = epsilon
        self.charges: tuple[Charge, ...] = ()
        self.spent = Fraction(0)
        self._lock = threading.Lock()

    def charge(self, charge: Charge, limit: Fraction) -> None:
        """Record a charge, unless it would take the run's spending past the limit."""
        with self._lock:  # A stage may ask from several threads.
            remaining = min(limit, self.epsilon) - self.spent
            if charge.epsilon <= remaining:
                self.spent += charge.epsilon
                self.charges += (charge,)
                return
        raise BudgetError(
            f"ε = {amount(charge.epsilon)} was requested for {charge.query}, but ε = {amount(remaining)} "
            f"is left for {charge.stage}; ask for less, or give the stage a larger share.",
            requested=charge.epsilon,
            remaining=remaining,
        )


@frozen
class Desk:
    """What all the curators of one run share."""

    store: Store = field(repr=False)
    public: Public
    noise: NoiseSource
    definition: PureDP
    meter: Meter
    trusts: Callable[[type], bool] = field(repr=False)
    answers: list[Answer] = field(factory=list, repr=False)


class Curator:
    """A stage's access to the data, within its share of the budget.

    Privacy: every call first charges the run's meter, which refuses what exceeds the share, then
    evaluates the query, draws the noise that the charge pays for, and returns only noisy values.
    If anything fails after the charge, the charge stands.
    """

    __slots__ = ("_component", "_desk", "_limit", "_open", "_stage")

    def __init__(self, desk: Desk, stage: str, component: str, limit: Fraction) -> None:
        self._desk = desk
        self._stage = stage
        self._component = component
        self._limit = limit
        self._open = True

    def __repr__(self) -> str:
        return f"<Curator of {self._stage}, ε = {amount(self.remaining)} remaining>"

    @property
    def public(self) -> Public:
        """What is public of the data."""
        return self._desk.public

    @property
    def remaining(self) -> Fraction:
        """What this stage may still spend."""
        return max(Fraction(0), self._limit - self._desk.meter.spent)

    def split(self, **weights: Any) -> dict[str, Fraction]:
        """Divide what remains in proportion to the weights; the parts sum to it exactly."""
        parts = {name: exact(weight, f"The weight of {name}") for name, weight in weights.items()}
        total = sum(parts.values(), Fraction(0))
        if total <= 0 or min(parts.values()) < 0:
            raise InputError("A split needs weights that are not negative and not all zero.")
        return {name: self.remaining * part / total for name, part in parts.items()}

    def measure(self, query: Query, epsilon: Fraction | None = None) -> Measurement:
        """Answer a query with noise on every value.

        Args:
            query: what to count.
            epsilon: what to pay; by default all that remains of the stage's share.
        """
        epsilon, verified = self._admit(query, epsilon)
        scale = self._desk.definition.scale(unit_sensitivity(query, self.public.unit), epsilon)
        noise = Noise("discrete laplace" if self._desk.noise.private else "laplace", scale)
        self._charge(query, f"{noise.distribution} of scale {amount(scale)}", epsilon, verified)

        def answer_with_noise() -> NDArray[Any]:
            values = _whole_numbers(query.evaluate(self._desk.store), query.size)
            noisy = self._desk.noise.laplace(values, scale)
            if self._desk.noise.private:
                _whole_numbers(noisy, query.size)
            return noisy

        answer = Measurement(query, self._guarded(query, answer_with_noise), noise, self._stage)
        self._desk.answers.append(answer)
        return answer

    def choose(self, query: Query, n: int = 1, epsilon: Fraction | None = None) -> Selection:
        """Select n candidates of large score, one after another without replacement.

        Args:
            query: its values are the scores of the candidates.
            n: how many; clamped to the public number of candidates. Choosing none is free.
            epsilon: what to pay for all n draws together; by default all that remains.
        """
        noise = self._desk.noise

        def draw(scores: IntArray, count: int, price: Fraction, tail: Tail | None) -> IntArray:
            rate = self._desk.definition.rate(unit_sensitivity(query, self.public.unit), price, count)
            return noise.select(scores, count, rate, tail)

        return self._choose(query, n, epsilon, "exponential mechanism", draw)

    def choose_noisy(self, query: Query, n: int = 1, epsilon: Fraction | None = None) -> Selection:
        """Select the n candidates whose scores are largest after Laplace noise; arguments as for `choose`.

        Only the candidates and their order are told, which is why nothing is paid for the others.
        """
        noise = self._desk.noise
        if not isinstance(noise, NoisyTopSource):
            raise InputError(
                f"The noise source {noise.name!r} has no noisy_top, so it cannot select by noise on every score; "
                "nothing was charged for that. Use another source of noise, or a component that selects by choose."
            )

        def draw(scores: IntArray, count: int, price: Fraction, tail: Tail | None) -> IntArray:
            scale = self._desk.definition.top_scale(unit_sensitivity(query, self.public.unit), price, count)
            return noise.noisy_top(scores, count, scale, tail)

        return self._choose(query, n, epsilon, "largest after Laplace noise", draw)

    def _choose(
        self,
        query: Query,
        n: int,
        epsilon: Fraction | None,
        mechanism: str,
        draw: Callable[[IntArray, int, Fraction, Tail | None], IntArray],
    ) -> Selection:
        self._require_query(query)
        n = min(operator.index(n), query.size)
        if n <= 0:
            return Selection(query, (), self._stage)
        price, verified = self._admit(query, epsilon)
        draws = "1 draw" if n == 1 else f"{n} draws"
        self._charge(query, f"{mechanism}, {draws}", price, verified)

        def chosen() -> tuple[Candidate, ...]:
            scores = query.scores(self._desk.store)
            unlisted = scores.tail.size if scores.tail else 0
            values = _whole_numbers(scores.values, query.size - unlisted)
            return tuple(self._names(query, scores, draw(values, n, price, scores.tail)))

        answer = Selection(query, self._guarded(query, chosen), self._stage)
        self._desk.answers.append(answer)
        return answer

    def _names(self, query: Query, scores: Scores, drawn: IntArray) -> list[Candidate]:
        """Name the drawn candidates; members of the tail are drawn here, uniformly among those left."""
        listed = len(scores.values)
        names = [scores.candidate(index) if index < listed else None for index in drawn.tolist()]
        if scores.tail_member is None:
            return [name for name in names if name is not None]
        taken = {scores.candidate(index) for index in range(listed)}
        for position, name in enumerate(names):
            while name is None:
                member = scores.tail_member(self._desk.noise.below)
                if member not in taken:
                    names[position] = name = member
                    taken.add(member)
        return [name for name in names if name is not None]

    def _require_query(self, query: object) -> None:
        if not self._open:
            raise ContractError(
                f"The curator of {self._stage}, given to {self._component}, was used after its stage had ended; "
                "a component may use its curator only while its stage runs."
            )
        if not isinstance(query, Query):
            raise ContractError(f"A curator answers a Query, not {type(query).__name__}.")

    def _admit(self, query: Query, epsilon: Fraction | None) -> tuple[Fraction, bool]:
        """Check all that can be checked before a charge; the price, and whether privmine vouches for the query."""
        self._require_query(query)
        verified = type(query) in VERIFIED
        if not verified and not self._desk.trusts(type(query)):
            raise ContractError(
                f"The query {type(query).__name__} of {type(query).__module__} declares a sensitivity that privmine "
                "cannot verify. Use SumQuery, whose contributions are clipped, or name the distribution that "
                "defines it as trusted: trust={...} in Python, --trust DIST on the command line."
            )
        if query.sensitivity.l1 <= 0 or query.sensitivity.linf <= 0:
            raise ContractError(f"The query {query.name!r} declares a sensitivity of 0, so it needs no data.")
        price = self.remaining if epsilon is None else exact(epsilon, "ε")
        if price <= 0:
            raise BudgetError(
                f"{self._stage} has no budget left for {query.name}; give it a larger share."
                if epsilon is None
                else f"A query costs more than ε = {amount(price)}; pass a positive ε.",
                requested=price,
                remaining=self.remaining,
            )
        return price, verified

    def _charge(self, query: Query, mechanism: str, epsilon: Fraction, verified: bool) -> None:
        charge = Charge(self._stage, self._component, query.name, mechanism, epsilon, verified)
        self._desk.meter.charge(charge, self._limit)

    def _guarded(self, query: Query, evaluate: Callable[[], Any]) -> Any:
        """Evaluate and draw; whatever goes wrong is told without its message, which may hold data."""
        try:
            return evaluate()
        except KeyboardInterrupt:
            interrupted = True
        except BaseException:  # noqa: BLE001 - an exit can hold data as well
            interrupted = False
        if interrupted:
            raise KeyboardInterrupt
        # Here, not in the except block: there the original error would be this one's context.
        raise QueryError(
            f"The query {query.name!r} failed while it was evaluated; the reason is withheld, because it may "
            "contain data. Run the query on made-up data to see it."
        )


def unit_sensitivity(query: Query, unit: Unit) -> Sensitivity:
    """How far one unit of protection can move a query's answer: as many transactions as it may have.

    A third party's "monotone" speaks of one transaction at a time; whether two of them pull the same
    way is not known, so with several transactions a unit it is not relied on.
    """
    if unit.baskets == 1:
        return query.sensitivity
    moved = query.sensitivity.times(unit.baskets)
    return moved if type(query) in VERIFIED else evolve(moved, monotone=False)


def close(curator: Curator) -> None:
    """End a curator's life; the pipeline calls it when the stage has returned."""
    curator._open = False  # noqa: SLF001 - not a method, so that a stage does not find it on its curator


def _whole_numbers(values: Any, size: int) -> IntArray:
    """Exact answers are integers of the declared number; anything else is the query's fault."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) != size:
        raise ValueError
    if array.dtype == np.uint64 and array.max(initial=np.uint64(0)) > np.iinfo(np.int64).max:
        raise ValueError
    return array.astype(np.int64, copy=False)
