"""A look: a bounded measurement of many candidates, after a histogram of what transactions hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from attrs import evolve, field, frozen

from privmine.api import (
    Answer,
    BoundedSupports,
    Curator,
    FloatArray,
    HeldHistogram,
    IntArray,
    Itemset,
    Measurement,
    Request,
    WeightedSupports,
    fair_weights,
)
from privmine_plus.budget import HISTOGRAM_SHARE, growth, price, scale_at, scale_of
from privmine_plus.histogram import Holdings, best_bound, edges_for, misjudged

#: What a transaction adds that counts in full: weights are whole numbers, and rounding them down must cost little.
UNIT = 1000
#: The table of weights ends here; a transaction that holds more candidates adds nothing.
_LONGEST = 20_000
#: A look is good enough once the error of a count of θ̂ is so much of it.
_GOOD_ENOUGH = 0.15
#: The shares to choose from, as steps from the least to the cap.
_LEAST, _STEPS = 0.05, 12


@frozen(eq=False)
class Look:
    """Noisy counts of candidates, each too small by about the same factor.

    Attributes:
        itemsets: the candidates; None for all items of the universe.
        values: the noisy counts of what was kept.
        scale: the scale of the noise in them.
        kept: the share of all occurrences that was kept, as the histogram tells.
    """

    itemsets: tuple[Itemset, ...] | None = field(repr=False)
    values: FloatArray = field(repr=False)
    scale: float
    kept: float

    def taken(self, places: IntArray) -> Look:
        """Only some of the candidates."""
        assert self.itemsets is not None
        return evolve(
            self, itemsets=tuple(self.itemsets[place] for place in places.tolist()), values=self.values[places]
        )

    @property
    def misjudged(self) -> float:
        """By how much a count may be off, relatively, for other reasons than noise."""
        return misjudged(self.kept)

    @property
    def counts(self) -> FloatArray:
        """The noisy counts, corrected for what was lost."""
        return self.values / self.kept

    @property
    def variances(self) -> FloatArray:
        """The expected squared errors of `counts`."""
        return 2 * (self.scale / self.kept) ** 2 + (self.misjudged * np.maximum(self.counts, 0.0)) ** 2


def looks_of(answers: Iterable[Answer]) -> list[Look]:
    """All looks among the noisy answers of a run."""
    found = []
    holdings: Holdings | None = None
    for answer in answers:
        if not isinstance(answer, Measurement):
            continue
        query = answer.query
        if isinstance(query, HeldHistogram):
            holdings = Holdings.cleaned(query.edges, answer.values, scale_of(answer.noise))
        elif holdings is not None and isinstance(query, BoundedSupports | WeightedSupports):
            itemsets = query.itemsets if isinstance(query, BoundedSupports) else None
            scale = scale_of(answer.noise) / UNIT
            kept = holdings.kept(query.weights)
            found.append(Look(itemsets, answer.values / UNIT, scale, kept))
            holdings = None
    return found


def look(
    request: Request,
    curator: Curator,
    itemsets: Sequence[Itemset] | None,
    theta: float,
    cap: Fraction,
    least: Fraction | None = None,
    histogram: Fraction = HISTOGRAM_SHARE,
) -> Look:
    """Measure candidates with the least share, from `least` to `cap`, that is good enough for counts of θ.

    Privacy: the histogram moves by 1. A transaction adds weights[T] to each of the T candidates that it contains. In
    pure ε T·weights[T] is at most the bound, with a δ T·weights[T]² is: the query computes its norms from the table.
    The bound and the share are chosen by noisy answers.
    """
    most = len(request.public.universe) if itemsets is None else len(itemsets)
    counted = HeldHistogram(edges_for(most), itemsets)
    held = curator.measure(counted, price(request, histogram))
    holdings = Holdings.cleaned(counted.edges, held.values, scale_of(held.noise))
    power = growth(request)
    steps = np.geomspace(float(least or cap * Fraction(_LEAST).limit_denominator(100)), float(cap), _STEPS)
    for step in steps:
        share = min(Fraction(f"{step:.4f}"), cap)
        bound, error = best_bound(holdings, theta, scale_at(request, share), most, power)
        if error <= 2 * (_GOOD_ENOUGH * theta) ** 2:
            break
    weights = weights_for(bound, min(max(most, 1), _LONGEST), power)
    query = WeightedSupports(1, most, weights) if itemsets is None else BoundedSupports(itemsets, weights)
    answer = curator.measure(query, price(request, share))
    return looks_of([held, answer])[0]


def weights_for(bound: int, longest: int, power: float) -> IntArray:
    """What a transaction adds to each of T candidates that it contains, for T up to `longest`: UNIT·min(1, m/T)^power.

    Args:
        bound: m. A transaction adds at most UNIT·m in the L1 norm for a power of 1, UNIT·√m in the L2 norm for ½.
        longest: the largest T that has a weight.
        power: 1 or ½; see `growth`.
    """
    if power == 1:
        return fair_weights(bound, UNIT, longest)
    parts = np.minimum(1.0, bound / np.maximum(np.arange(longest + 1), 1))
    # Whichever way the last digit of a power is rounded, the query counts the norms of the table itself.
    return np.floor(UNIT * parts**power).astype(np.int64)
