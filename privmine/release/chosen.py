"""Intervals for counts that were chosen because they are large.

A release lists the candidates with the largest noisy counts. Near the last place that favours those whose noise
happened to be large. So the noise Z of a listed count is not distributed by its law alone, but by its law given that
c + Z exceeded the cutoff t, the largest noisy count that was not listed. With y the noisy count,

    p(c) = Pr[Z ≥ y − c] / Pr[Z ≥ t − c]

is then evenly distributed for the exact count c, and the c with p(c) between α/2 and 1 − α/2 are an interval that
holds for what was chosen. Just above the cutoff such an interval has no lower end. Therefore noise is also taken to be
within bounds that all candidates together respect with a probability of 1 − β, and the interval is computed given
that as well, at a level so much higher that the promise stays the same.

Privacy: computed from noisy counts that are paid for.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from privmine.model import FloatArray
from privmine.release.intervals import Interval, NormalLaw
from privmine.release.tails import NoiseTail, tail_of

if TYPE_CHECKING:
    from privmine.release.release import Release

#: β as a part of α: how much of the error goes into the bounds for all candidates.
_SHARED = 0.1
#: Being chosen tells nothing of a count that would have been listed with all but this part of the error.
_SURELY = 1e-3
_ROUNDS = 45


@frozen
class Chosen:
    """How the itemsets of a release were chosen among all that were counted.

    Attributes:
        candidates: how many itemsets were counted, and could have been listed.
        cutoff: the largest noisy count that was not listed; None where all were.
        missing: how many of the k most frequent candidates are expected to be missing; None where that is not known.
    """

    candidates: int
    cutoff: float | None = None
    missing: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"candidates": self.candidates, "cutoff": self.cutoff, "missing": self.missing}


def intervals_of(release: Release, level: float, *, selected: bool) -> list[Interval]:
    """See `Release.intervals`."""
    most = release.total if release.receipt.n_public else inf
    down, up = reaches(release, level, selected=selected)
    counts = np.array([found.centre for found in release.itemsets], dtype=np.float64)
    return [
        Interval(*(min(max(end, 0.0), most) for end in ends))
        for ends in zip((counts - down).tolist(), (counts + up).tolist(), strict=True)
    ]


def reaches(release: Release, level: float, *, selected: bool = True) -> tuple[FloatArray, FloatArray]:
    """How far each exact count may lie below and above the noisy one."""
    laws = [found.law or NormalLaw(found.standard_error) for found in release.itemsets]
    down = np.array([law.half_width(level) for law in laws], dtype=np.float64)
    up = down.copy()
    if not selected or release.selection is None or release.selection.cutoff is None:
        return down, up
    cutoff, candidates = release.selection.cutoff, release.selection.candidates
    counts = np.array([found.centre for found in release.itemsets], dtype=np.float64)
    for law in set(laws):
        tail = tail_of(law)
        rows = np.array([row for row, of_row in enumerate(laws) if of_row == law])
        rows = rows[affected(counts[rows], tail, cutoff, level)]
        low, high = chosen_intervals(counts[rows], tail, cutoff, candidates, level)
        down[rows], up[rows] = counts[rows] - low, high - counts[rows]
    return down, up


def affected(counts: FloatArray, tail: NoiseTail, cutoff: float, level: float) -> Any:
    """The counts whose choice says something about their noise: those that are not far above the cutoff."""
    lowest = counts - tail.quantile((1 - level) / 4)
    return tail.above(lowest - cutoff) > _SURELY * (1 - level)


def chosen_intervals(
    counts: FloatArray, tail: NoiseTail, cutoff: float, candidates: int, level: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals that contain the exact counts of listed itemsets, each with the probability `level`; ends may be negative.

    Args:
        counts: noisy counts with noise of the same law.
        tail: the tail of that law.
        cutoff: the largest noisy count that was not listed.
        candidates: how many itemsets could have been listed.
        level: the level of the intervals.
    """
    miss = 1 - level
    shared = _SHARED * miss
    bound = tail.quantile(shared / (2 * max(candidates, 1)))
    part = (miss - shared) / (1 - shared) / 2
    beyond = tail.above(bound)

    def rank(exact: FloatArray) -> FloatArray:
        """p(exact), given that noise is within the bounds."""
        inside = tail.above(counts - exact) - beyond
        listed = tail.above(np.maximum(cutoff - exact, -bound)) - beyond
        return np.divide(inside, listed, out=np.zeros_like(inside), where=listed > 0)

    def end(wanted: FloatArray | float) -> FloatArray:
        low, high = counts - bound, counts + bound
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            below = rank(middle) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2

    # Just above the cutoff an interval would end below the noisy count itself. That is hard to read, and of the last
    # row the noisy count is nearest to the cutoff by definition. So it ends at the count, where it hardly ever misses,
    # and all of the error is left to the lower end.
    high = end(1 - part)
    return end(np.where(high < counts, 2 * part, part)), np.maximum(high, counts)
