"""The only path to the data: it charges, then draws, then answers.

A stage holds a curator scoped to its share of the budget and never a store. This guards against
mistakes, not against malice: Python code in the same process can always reach around it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
from attrs import cmp_using, evolve, field, frozen
from numpy.typing import NDArray

from privmine.errors import BudgetError, ContractError, InputError, QueryError
from privmine.exact import exact
from privmine.model import IntArray, Itemset, Public, read_only
from privmine.noise.protocol import NoiseSource, NoisyTopSource, SetSource, Tail
from privmine.privacy.cost import Charge, Cost, Meter
from privmine.privacy.definition import Definition
from privmine.privacy.noise import Noise
from privmine.privacy.sensitivity import ConeSensitivity, Sensitivity
from privmine.privacy.unit import Unit
from privmine.queries import VERIFIED, Candidate, Query, Scores
from privmine.store.abstract import Store


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


@frozen
class Access:
    """What all the curators of one run share."""

    store: Store = field(repr=False)
    public: Public
    noise: NoiseSource
    meter: Meter
    trusts: Callable[[type], bool] = field(repr=False)
    answers: list[Answer] = field(factory=list, repr=False)
    #: What a user trusts a query by: the name of the distribution that it comes from.
    home: Callable[[type], str] = field(default=lambda cls: cls.__module__, repr=False)
    #: Whether the errors of queries are told: only where the data is made up.
    tells_errors: bool = False

    @property
    def definition(self) -> Definition:
        """The definition of privacy that the budget is counted in."""
        return self.meter.budget.definition


class Curator:
    """A stage's access to the data, within its share of the budget.

    Privacy: every call first charges the run's meter, which refuses what exceeds the share, then
    evaluates the query, draws the noise that the charge pays for, and returns only noisy values.
    If anything fails after the charge, the charge stands.
    """

    __slots__ = ("_access", "_component", "_limit", "_open", "_stage")

    def __init__(self, access: Access, stage: str, component: str, limit: Cost) -> None:
        self._access = access
        self._stage = stage
        self._component = component
        self._limit = limit
        self._open = True

    def __repr__(self) -> str:
        return f"<Curator of {self._stage}, {self.remaining} remaining>"

    @property
    def public(self) -> Public:
        """What is public of the data."""
        return self._access.public

    @property
    def remaining(self) -> Cost:
        """What this stage may still spend."""
        left = self._limit - self._access.meter.spent
        return left if left > 0 else left * 0

    def split(self, **weights: Any) -> dict[str, Cost]:
        """Divide what remains in proportion to the weights; the parts sum to it exactly."""
        parts = {name: exact(weight, f"The weight of {name}") for name, weight in weights.items()}
        if not any(parts.values()) or min(parts.values()) < 0:
            raise InputError("A split needs weights that are not negative and not all zero.")
        return dict(zip(parts, self.remaining.split(parts.values()), strict=True))

    def noise_for(self, query: Query, cost: Cost | None = None) -> Noise:
        """The noise that `measure` would add to each value for this cost. It is public, and asking is free."""
        price = self._price(query, cost)
        return drawn_noise(self._access.noise, unit_sensitivity(query, self.public.unit), price)

    def rate_for(self, query: Query, n: int = 1, cost: Cost | None = None) -> Fraction:
        """The factor r of the weights e^(r·score) with which `choose` would draw n candidates; public and free."""
        sensitivity = unit_sensitivity(query, self.public.unit)
        return self._access.definition.rate_for(sensitivity, self._price(query, cost), n)

    def measure(self, query: Query, cost: Cost | None = None) -> Measurement:
        """Answer a query with noise on every value.

        Args:
            query: what to count.
            cost: what to pay; by default all that remains of the stage's share.
        """
        verified = self._admit(query)
        price = self._price(query, cost)
        source = self._access.noise
        noise = self.noise_for(query, price)
        self._charge(query, str(noise), price, verified, noise)

        def answer_with_noise() -> NDArray[Any]:
            noisy = source.add(whole_numbers(query.evaluate(self._access.store), query.size), noise)
            return whole_numbers(noisy, query.size) if noise.is_discrete else noisy

        values = guarded(query.name, answer_with_noise, self._access.tells_errors)
        answer = Measurement(query, values, noise, self._stage)
        self._access.answers.append(answer)
        return answer

    def choose(self, query: Query, n: int = 1, cost: Cost | None = None) -> Selection:
        """Select n candidates of large score, one after another without replacement.

        Args:
            query: its values are the scores of the candidates.
            n: how many; clamped to the public number of candidates. Choosing none is free.
            cost: what to pay for all n draws together; by default all that remains.
        """
        definition, select = self._access.definition, self._access.noise.select
        return self._choose(query, n, cost, one_by_one("exponential mechanism"), definition.rate_for, select)

    def choose_noisy(self, query: Query, n: int = 1, cost: Cost | None = None) -> Selection:
        """Select the n candidates whose scores are largest after Laplace noise; arguments as for `choose`.

        Only the candidates and their order are told, which is why nothing is paid for the others.
        """
        definition, noise = self._access.definition, self._access.noise
        if not isinstance(noise, NoisyTopSource):
            raise InputError(
                f"The noise source {noise.name!r} has no noisy_top, so it cannot select by noise on every score; "
                "nothing was charged for that. Use another source of noise, or a component that selects by choose."
            )
        told = one_by_one("largest after Laplace noise")
        return self._choose(query, n, cost, told, definition.top_scale_for, noise.noisy_top)

    def choose_set(self, query: Query, n: int = 1, cost: Cost | None = None) -> Selection:
        """Select a set of n candidates in one draw; arguments as for `choose`.

        A set weighs less the larger its gap: the largest score outside less the smallest inside. The chosen
        candidates are in the order of their names, by length and then by items.
        """
        definition, noise = self._access.definition, self._access.noise
        if not isinstance(noise, SetSource):
            raise InputError(
                f"The noise source {noise.name!r} has no select_set, so it cannot draw a set at once; nothing was "
                "charged for that. Use another source of noise, or a component that selects by choose."
            )

        def rate_for(sensitivity: Sensitivity, price: Cost, _: int) -> Fraction:
            return definition.rate_for(sensitivity.of_gap, price, 1)

        told = "exponential mechanism, 1 draw of a set of {}".format
        return self._choose(query, n, cost, told, rate_for, noise.select_set, ordered=True)

    def _choose(
        self,
        query: Query,
        n: int,
        cost: Cost | None,
        mechanism: Callable[[int], str],
        factor_for: Callable[[Sensitivity, Cost, int], Fraction],
        draw: Callable[[IntArray, int, Fraction, Tail | None], IntArray],
        *,
        ordered: bool = False,
    ) -> Selection:
        self._require_query(query)
        n = min(operator.index(n), query.size)
        if n <= 0:
            return Selection(query, (), self._stage)
        verified = self._admit(query)
        price = self._price(query, cost)
        factor = factor_for(unit_sensitivity(query, self.public.unit), price, n)
        self._charge(query, mechanism(n), price, verified)

        def chosen() -> tuple[Candidate, ...]:
            scores = query.scores(self._access.store)
            unlisted = scores.tail.size if scores.tail else 0
            values = whole_numbers(scores.values, query.size - unlisted)
            names = self._names(query, scores, draw(values, n, factor, scores.tail))
            # The order in which a query lists candidates may be that of their scores, which nobody has paid for.
            return tuple(sorted(names, key=_by_name) if ordered else names)

        answer = Selection(query, guarded(query.name, chosen, self._access.tells_errors), self._stage)
        self._access.answers.append(answer)
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
                member = scores.tail_member(self._access.noise.below)
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

    def _admit(self, query: Query) -> bool:
        """Check the query before a charge; whether privmine vouches for its sensitivity."""
        self._require_query(query)
        verified = type(query) in VERIFIED
        if not verified and not self._access.trusts(type(query)):
            raise ContractError(
                f"The query {type(query).__name__} of {type(query).__module__} declares a sensitivity "
                "that privmine cannot verify. Use SumQuery, whose contributions are clipped, or "
                f"trust the distribution that defines the query: trust={{{self._access.home(type(query))!r}}}."
            )
        if not isinstance(query.sensitivity, Sensitivity):
            raise ContractError(
                f"The query {query.name!r} declares {query.sensitivity!r} as its sensitivity. Declare how far one "
                "transaction can move the answer: Sensitivity(l1=…, l2_squared=…, linf=…)."
            )
        if isinstance(query.sensitivity, ConeSensitivity) and not verified:
            raise ContractError(
                f"The query {type(query).__name__} declares that a transaction adds a moment matrix. That is proven "
                "for privmine's own MomentMatrix only, and nothing was charged. Use that query, or declare norms."
            )
        norms = query.sensitivity
        if min(norms.l1, norms.l2_squared, norms.linf) <= 0:
            raise ContractError(
                f"The query {query.name!r} declares a sensitivity of 0, so it needs no data. Do not ask it "
                "where there is nothing to count."
            )
        if norms.linf > norms.l1:
            raise ContractError(
                f"The query {query.name!r} declares that one value moves by {norms.linf} (linf), and all together by "
                f"{norms.l1} (l1), which is less. One of the two is wrong."
            )
        return verified

    def _price(self, query: Query, cost: Cost | None) -> Cost:
        """What to pay: a positive cost of the run's own definition."""
        price = self.remaining if cost is None else cost
        if not isinstance(price, Cost):
            raise ContractError(
                f"A query is paid for with a cost, not with {type(price).__name__}. Pass a part of what is left, for "
                "example curator.remaining / 2, or one of curator.split(items=2, pairs=1)."
            )
        if not price > 0:
            raise BudgetError(
                f"{self._stage} has no budget left for {query.name}; give it a larger share."
                if cost is None
                else f"A query costs more than {price}; pass a positive cost.",
                requested=price,
                remaining=self.remaining,
            )
        return price

    def _charge(self, query: Query, mechanism: str, cost: Cost, verified: bool, noise: Noise | None = None) -> None:
        charge = Charge(self._stage, self._component, query.name, mechanism, cost, verified, noise)
        self._access.meter.charge(charge, self._limit)


def _by_name(candidate: Candidate) -> tuple[int, Itemset]:
    """Where a candidate stands among others, whatever the data: by length, then by items; numbers by size."""
    return (0, (candidate,)) if isinstance(candidate, int) else (len(candidate), candidate)


def one_by_one(mechanism: str) -> Callable[[int], str]:
    """How a charge tells of draws one after another."""
    return lambda n: f"{mechanism}, {n} draw{'s' if n > 1 else ''}"


def unit_sensitivity(query: Query, unit: Unit) -> Sensitivity:
    """How far one unit of protection can move a query's answer: as many transactions as it may have.

    A third party's "monotone" speaks of one transaction at a time; whether two of them pull the same
    way is not known, so with several transactions a unit it is not relied on.
    """
    if unit.baskets == 1:
        return query.sensitivity
    moved = query.sensitivity.times(unit.baskets)
    return moved if type(query) in VERIFIED else evolve(moved, monotone=False)


def drawn_noise(source: NoiseSource, sensitivity: Sensitivity, cost: Cost) -> Noise:
    """The noise that a source adds where an answer costs so much.

    Noise that costs more than what it was asked for is refused, and noise that has no proof; before anything is
    charged.
    """
    definition = cost.definition
    needed = definition.noise_for(sensitivity, cost)
    drawn = source.draws(needed)
    _refuse_floats(source, drawn)
    if drawn not in (needed, needed.continuous):
        worth = definition.cost_of_noise(sensitivity, drawn)
        if worth > definition.cost_of_noise(sensitivity, needed):
            raise ContractError(
                f"The noise source {source.name!r} draws {drawn}, which costs {worth}, where it was asked for "
                f"{needed}, which costs less. Nothing was charged for it. Draw what is asked for."
            )
    return drawn


def check_source(source: object, definition: Definition) -> None:
    """Refuse a source of noise that could not answer a run; before anything is charged."""
    lacking = [name for name in ("draws", "add", "select", "below") if not callable(getattr(source, name, None))]
    lacking += [name for name in ("name", "private") if not hasattr(source, name)]
    if lacking:
        raise InputError(
            f"A noise source needs {', '.join(lacking)}, which {type(source).__name__} does not have. Nothing was "
            "charged. docs/write-a-noise-source.md tells how to write one."
        )
    drawn_noise(cast(NoiseSource, source), Sensitivity(1, 1, 1), definition.cost(1))


def _refuse_floats(source: NoiseSource, noise: Noise) -> None:
    """Refuse a source that calls itself private and draws in floating point; before anything is charged."""
    if source.private and not noise.is_discrete:
        raise ContractError(
            f"The noise source {source.name!r} says that it is private, but it draws {noise.distribution} noise in "
            "floating point, whose last digits betray exact values. Nothing was charged for it. Draw whole numbers."
        )


def guarded(query: str, evaluate: Callable[[], Any], tells_errors: bool = False) -> Any:
    """Evaluate and draw; whatever goes wrong is told without its message, which may hold data.

    Args:
        query: what a receipt calls the query.
        evaluate: what is done.
        tells_errors: raise the error itself; only for data that is made up.
    """
    try:
        return evaluate()
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:  # An exit can hold data as well.
        if tells_errors:
            raise
        interrupted = False
    if interrupted:
        raise KeyboardInterrupt
    # Here, not in the except block: there the original error would be this one's context.
    raise QueryError(
        f"The query {query!r} failed while it was evaluated; the reason is withheld, because it may contain data. To "
        "see it, ask made-up data: privmine.testing.curator_for(baskets, trusted=True).measure(query)."
    )


def close(curator: Curator) -> None:
    """End a curator's life; the pipeline calls it when the stage has returned."""
    curator._open = False  # noqa: SLF001 - not a method, so that a stage does not find it on its curator


def whole_numbers(values: Any, size: int) -> IntArray:
    """Exact answers are integers of the declared number; anything else is the query's fault."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) != size:
        raise ValueError(
            f"The answer must be {size} whole numbers, as declared, not {array.dtype} in the shape {array.shape}."
        )
    if array.dtype == np.uint64 and array.max(initial=np.uint64(0)) > np.iinfo(np.int64).max:
        raise ValueError("The answer has numbers above the largest 64-bit integer.")
    return array.astype(np.int64, copy=False)
