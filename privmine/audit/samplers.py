"""Check charges against OpenDP's prices for the same noise, and that no scale is rounded down.

The curator computes scales and rates from budgets in fractions; OpenDP computes budgets from scales in floats,
rounding up. The two were written by different people, so where they agree, both are right or both are
wrong in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
from attrs import frozen
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace, make_noisy_top_k
from opendp.measures import max_divergence
from opendp.metrics import l1_distance, linf_distance
from opendp.mod import enable_features

from privmine.audit.cases import make_database
from privmine.audit.outcomes import MakeNoise, Outcome
from privmine.audit.recording import RecordingNoise
from privmine.audit.statistical import ERROR_RATE, Bound, lower_bounds
from privmine.audit.trace import Trace
from privmine.curator import Access, Curator
from privmine.errors import InputError
from privmine.model import Public
from privmine.noise import secure
from privmine.noise.protocol import NoiseSource, NoisyTopSource, SetSource
from privmine.privacy.cost import Meter
from privmine.privacy.definition import PureDP
from privmine.privacy.guarantee import at_epsilon
from privmine.privacy.noise import DiscreteElliptope, DiscreteLaplace, Noise
from privmine.privacy.unit import Unit
from privmine.queries import BinCounts, ItemSupports, Query, RankGap, WeightedSupports

#: Charge and privacy map may differ by so much, relatively: OpenDP computes in floats, and rounds up.
TOLERANCE = 1e-12
#: Budgets that floats hold exactly, that they do not, and that are very small or large.
BUDGETS = tuple(Fraction(text) for text in ("1", "1/10", "1/3", "7/11", "1/1000000", "9999/7", "10000"))

#: So many values at once take the sampler for long arrays.
_MANY = secure.LONGEST_FOR_OPENDP + 1

_ROWS = [(0, 1, 2), (0, 1), (3,), ()]
_ITEMS = 4
# Sensitivities that are 1, larger, and no power of 2; selections that are monotone and that are not.
_QUERIES: tuple[Query, ...] = (
    BinCounts(((0, 1),)),
    BinCounts(((0,), (1, 2), (3,))),
    ItemSupports(_ITEMS),
    WeightedSupports(1, _ITEMS, [0, 60, 30, 20, 15]),
    RankGap(3, 1, 4),
)
#: One transaction, and a customer whose transactions count up to three times.
_UNITS = (Unit(), Unit("customer", baskets=3))


@frozen
class SamplerCheck:
    """One mechanism at one budget.

    Attributes:
        mechanism: what was asked of the curator.
        charged: what the curator charged.
        opendp: what OpenDP says that noise of this scale costs.
        scale: the scale that the curator asked for, exactly.
        drawn: the scale that the sampler was given.
    """

    mechanism: str
    charged: Fraction
    opendp: float
    scale: Fraction
    drawn: Fraction

    @property
    def agrees(self) -> bool:
        """Whether the privacy map gives the charge, up to the rounding of floats."""
        return abs(Fraction(self.opendp) / self.charged - 1) <= TOLERANCE

    @property
    def noisy_enough(self) -> bool:
        """Whether the sampler's scale is not below the exact one."""
        return self.drawn >= self.scale

    @property
    def ok(self) -> bool:
        """Whether both hold."""
        return self.agrees and self.noisy_enough

    def __str__(self) -> str:
        return (
            f"{self.mechanism} for {at_epsilon(self.charged)}: OpenDP says {self.opendp!r}, "
            f"scale {self.drawn} drawn, {self.scale} asked for"
        )


def sampler_checks() -> list[SamplerCheck]:
    """Every mechanism of the curator, for several sensitivities and budgets."""
    return [
        *(_laplace_check(query, epsilon, unit) for query, epsilon, unit in product(_QUERIES, BUDGETS, _UNITS)),
        *(
            _selection_check(query, draws, epsilon, unit, noisy)
            for query, draws, epsilon, unit, noisy in product(_QUERIES, (1, 3), BUDGETS, _UNITS, (False, True))
        ),
        *(_set_check(query, epsilon, unit) for query, epsilon, unit in product(_QUERIES, BUDGETS, _UNITS)),
    ]


def _asked(ask: Callable[[Curator], object], epsilon: Fraction, unit: Unit) -> tuple[Fraction, Fraction]:
    """What the curator charges for a question, and the scale or rate that it draws with."""
    database = make_database(_ROWS, _ITEMS)
    trace = Trace()
    meter = Meter(PureDP().budget(epsilon))
    noise = RecordingNoise(trace, 0)
    access = Access(database.store, Public(database.universe, unit=unit), noise, meter, lambda cls: False)
    ask(Curator(access, "reconstruct_counts", "audit", meter.budget))
    (call,) = trace.calls
    return meter.spent.amount, call.factor.scale if isinstance(call.factor, Noise) else call.factor


def _laplace_check(query: Query, epsilon: Fraction, unit: Unit) -> SamplerCheck:
    charged, scale = _asked(lambda curator: curator.measure(query), epsilon, unit)
    moved = query.sensitivity.l1 * unit.baskets
    drawn = scale_handed_to_opendp(scale)
    enable_features("contrib")
    measurement: Any = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), drawn)
    return SamplerCheck(
        f"measure, L1 = {moved}",
        charged,
        measurement.map(int(moved)),
        moved / epsilon,
        Fraction(drawn),
    )


def scale_handed_to_opendp(scale: Fraction) -> float:
    """The float that the exact sampler makes of a scale."""
    with _measurements_noted() as seen:
        secure.SecureNoise().laplace(np.zeros(1, dtype=np.int64), scale)
    return seen[-1]


@contextmanager
def _measurements_noted() -> Iterator[list[float]]:
    """Record the scales that the sampler uses, while it draws as usual."""
    seen: list[float] = []
    original: Any = secure._laplace_measurement  # noqa: SLF001 - there is no other place to see it

    def noted(scale: float) -> Any:
        seen.append(scale)
        return original(scale)

    secure._laplace_measurement = noted  # noqa: SLF001
    try:
        yield seen
    finally:
        secure._laplace_measurement = original  # noqa: SLF001


def _selection_check(query: Query, draws: int, epsilon: Fraction, unit: Unit, noisy: bool) -> SamplerCheck:
    """A selection against OpenDP's noisy top k, whose privacy map is the one of peeling and of noise on the scores."""
    if noisy:
        charged, scale = _asked(lambda curator: curator.choose_noisy(query, draws), epsilon, unit)
    else:
        charged, rate = _asked(lambda curator: curator.choose(query, draws), epsilon, unit)
        scale = 1 / rate
    declared = query.sensitivity
    moved = declared.linf * unit.baskets
    kind = "monotone" if declared.monotone else "not monotone"
    return SamplerCheck(
        f"{'choose_noisy' if noisy else 'choose'}, {draws} draws, L∞ = {moved}, {kind}",
        charged,
        _top_price(draws, scale, moved, declared.monotone),
        draws * moved * (1 if declared.monotone else 2) / epsilon,
        scale,
    )


def _set_check(query: Query, epsilon: Fraction, unit: Unit) -> SamplerCheck:
    """A draw of a set against OpenDP's choice of one from scores that move as the gaps of sets do: either way."""
    charged, rate = _asked(lambda curator: curator.choose_set(query, 2), epsilon, unit)
    moved = query.sensitivity.linf * unit.baskets * (1 if query.sensitivity.monotone else 2)
    return SamplerCheck(
        f"choose_set, gaps move by {moved}",
        charged,
        _top_price(1, 1 / rate, moved, False),
        2 * moved / epsilon,
        1 / rate,
    )


def _top_price(draws: int, scale: Fraction, moved: Fraction, monotone: bool) -> float:
    """What OpenDP says that the largest of noisy scores cost."""
    enable_features("contrib")
    measurement: Any = make_noisy_top_k(
        vector_domain(atom_domain(T="i64")),
        linf_distance(T="i64", monotonic=monotone),
        max_divergence(),
        k=draws,
        scale=secure.rounded_up(scale),
    )
    price: float = measurement.map(int(moved))
    return price


@frozen
class SourceSample:
    """Draws from a source of noise alone, on both sides of a difference of 1 for which ε = 1 is paid.

    Scores are such that the choice which a neighbour favours is rare, but not so rare without enough noise
    that no run shows it: there the bound comes close to ε, also if the source selects too sharply.
    """

    kind: str
    noise: MakeNoise

    def __call__(self, side: int, count: int, seed: int) -> list[Outcome]:
        """The outcomes of so many draws."""
        source = self.noise(seed)
        return [{self.kind: {"answer": answer}} for answer in islice(_DRAWS[self.kind](source, side), count)]


#: What a difference of 1 needs for ε = 1.
_NOISE = DiscreteLaplace(1)
_CONE_NOISE = DiscreteElliptope(1, 2)
_MOMENTS = "measure moments"


def _measured(source: NoiseSource, value: int) -> Iterator[float]:
    while True:
        yield float(source.add(np.array([value]), source.draws(_NOISE))[0])


def _measured_many(source: NoiseSource, value: int) -> Iterator[float]:
    """The noise of the values of an array is independent, so that each is a draw of its own."""
    while True:
        yield from map(float, source.add(np.full(_MANY, value), source.draws(_NOISE)))


def _measured_moments(source: NoiseSource, value: int) -> Iterator[float]:
    """The moments of a constant and one item, with or without a transaction that has it.

    What is told is by how much the answer, less that transaction, lies in the cone: the event that it does is e times
    as likely with the transaction as without it, exactly.
    """
    while True:
        total, item = source.add(np.array([value, value]), source.draws(_CONE_NOISE)).tolist()
        yield float(total - 1 - abs(item - 1))


def _chosen(source: NoiseSource, score: int) -> Iterator[int]:
    while True:
        yield int(source.select(np.array([score, 1, 1]), 1, Fraction(1))[0])


def _chosen_noisily(source: NoiseSource, score: int) -> Iterator[int]:
    assert isinstance(source, NoisyTopSource)
    while True:
        yield int(source.noisy_top(np.array([score, 1, 1]), 1, Fraction(1))[0])


def _chosen_as_set(source: NoiseSource, score: int) -> Iterator[int]:
    """Two sets of one, whose gaps move in opposite directions."""
    assert isinstance(source, SetSource)
    while True:
        yield int(source.select_set(np.array([0, score]), 1, Fraction(1, 2))[0])


_DRAWS: dict[str, Callable[[NoiseSource, int], Iterator[float]]] = {
    "measure": _measured,
    f"measure {_MANY:,} values": _measured_many,
    _MOMENTS: _measured_moments,
    "choose": _chosen,
    "choose_noisy": _chosen_noisily,
    "choose_set": _chosen_as_set,
}


def source_bounds(
    noise: MakeNoise,
    *,
    samples: int = 20_000,
    error_rate: float = ERROR_RATE,
    seed: int = 0,
    workers: Executor | None = None,
) -> tuple[Bound, ...]:
    """Sample a source of noise on its own: each way to draw from it, with a claim of ε = 1.

    Args:
        noise: makes the source from a seed.
        samples: how many draws on each side.
        error_rate: the probability that any of the bounds is wrong, at most.
        seed: makes the draws, where they can be seeded.
        workers: draws batches side by side.
    """
    kinds = [kind for kind in _DRAWS if _can_draw(noise(seed), kind)]
    return tuple(
        bound
        for kind in kinds
        for bound in lower_bounds(
            SourceSample(kind, noise),
            {kind: Fraction(1)},
            samples=samples,
            error_rate=error_rate / len(kinds),
            seed=seed,
            workers=workers,
        )
    )


def _can_draw(source: NoiseSource, kind: str) -> bool:
    """Not every source can select by noise on every score, draw sets, or has noise for moments."""
    if kind == "choose_noisy":
        return isinstance(source, NoisyTopSource)
    if kind == "choose_set":
        return isinstance(source, SetSource)
    if kind == _MOMENTS:
        try:
            next(_measured_moments(source, 0))
        except InputError:
            return False
    return True
