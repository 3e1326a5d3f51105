"""Whether charges agree with what OpenDP says of the same noise, and whether scales are ever rounded down.

The curator computes scales and rates from budgets in fractions; OpenDP computes budgets from scales in floats,
rounding up. The two were written by different people, so where they agree, both are right or both are
wrong in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from attrs import frozen
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace, make_noisy_top_k
from opendp.measures import max_divergence
from opendp.metrics import l1_distance, linf_distance
from opendp.mod import enable_features

from privmine.audit.cases import make_database
from privmine.audit.outcomes import MakeNoise
from privmine.audit.recording import RecordingNoise, Trace
from privmine.audit.statistical import Bound, mechanism_bound
from privmine.curator import Curator, Desk, Meter
from privmine.model import Public
from privmine.noise import secure
from privmine.privacy import PureDP
from privmine.queries import BinCounts, ItemSupports, Query, RankGap, WeightedSupports

#: Charge and privacy map may differ by so much, relatively: OpenDP computes in floats, and rounds up.
TOLERANCE = 1e-12
#: Budgets that floats hold exactly, that they do not, and that are very small or large.
BUDGETS = tuple(Fraction(text) for text in ("1", "1/10", "1/3", "7/11", "1/1000000", "9999/7", "10000"))

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
            f"{self.mechanism} for ε = {self.charged}: OpenDP says {self.opendp!r}, "
            f"scale {self.drawn} drawn, {self.scale} asked for"
        )


def sampler_checks() -> list[SamplerCheck]:
    """Every mechanism of the curator, for several sensitivities and budgets."""
    return [
        *(_laplace_check(query, epsilon) for query, epsilon in product(_QUERIES, BUDGETS)),
        *(
            _selection_check(query, draws, epsilon, noisy)
            for query, draws, epsilon, noisy in product(_QUERIES, (1, 3), BUDGETS, (False, True))
        ),
    ]


def _asked(ask: Callable[[Curator], object], epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """What the curator charges for a question, and the scale or rate that it draws with."""
    database = make_database(_ROWS, _ITEMS)
    trace = Trace()
    meter = Meter(epsilon)
    noise = RecordingNoise(trace, 0)
    desk = Desk(database.store, Public(database.universe), noise, PureDP(), meter, lambda cls: False)
    ask(Curator(desk, "reconstruct_counts", "audit", epsilon))
    (call,) = trace.calls
    return meter.spent, call.factor


def _laplace_check(query: Query, epsilon: Fraction) -> SamplerCheck:
    charged, scale = _asked(lambda curator: curator.measure(query), epsilon)
    drawn = scale_handed_to_opendp(scale)
    enable_features("contrib")
    measurement: Any = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), drawn)
    return SamplerCheck(
        f"measure, L1 = {query.sensitivity.l1}",
        charged,
        measurement.map(int(query.sensitivity.l1)),
        query.sensitivity.l1 / epsilon,
        Fraction(drawn),
    )


def scale_handed_to_opendp(scale: Fraction) -> float:
    """The float that the exact sampler makes of a scale."""
    with _measurements_noted() as seen:
        secure.SecureNoise().laplace(np.zeros(1, dtype=np.int64), scale)
    return seen[-1]


@contextmanager
def _measurements_noted() -> Iterator[list[float]]:
    """Note the scales of the measurements that the sampler makes, while it draws as usual."""
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


def _selection_check(query: Query, draws: int, epsilon: Fraction, noisy: bool) -> SamplerCheck:
    """A selection against OpenDP's noisy top k, whose privacy map is the one of peeling and of noise on the scores."""
    if noisy:
        charged, scale = _asked(lambda curator: curator.choose_noisy(query, draws), epsilon)
    else:
        charged, rate = _asked(lambda curator: curator.choose(query, draws), epsilon)
        scale = 1 / rate
    declared = query.sensitivity
    enable_features("contrib")
    measurement: Any = make_noisy_top_k(
        vector_domain(atom_domain(T="i64")),
        linf_distance(T="i64", monotonic=declared.monotone),
        max_divergence(),
        k=draws,
        scale=secure.rounded_up(scale),
    )
    kind = "monotone" if declared.monotone else "not monotone"
    return SamplerCheck(
        f"{'choose_noisy' if noisy else 'choose'}, {draws} draws, L∞ = {declared.linf}, {kind}",
        charged,
        measurement.map(int(declared.linf)),
        draws * declared.linf * (1 if declared.monotone else 2) / epsilon,
        scale,
    )


def source_bounds(noise: MakeNoise, *, samples: int = 20_000, seed: int = 0) -> tuple[Bound, Bound]:
    """Sample a source of noise on its own: a measurement and a selection, each with a claim of ε = 1.

    Scores are such that the choice which a neighbour favours is rare: there the bound comes close to ε.
    """
    source = noise(seed)
    one = Fraction(1)

    def measurement(value: int, _: np.random.Generator) -> float:
        return float(source.laplace(np.array([value]), one)[0])

    def selection(score: int, _: np.random.Generator) -> int:
        return int(source.select(np.array([score, 3, 3]), 1, one)[0])

    return (
        mechanism_bound(measurement, 0, 1, 1, samples=samples, seed=seed),
        mechanism_bound(selection, 0, 1, 1, samples=samples, seed=seed),
    )
