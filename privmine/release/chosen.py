"""Intervals for counts that were chosen because they are large.

A release lists the candidates with the largest noisy counts. Near the last place that favours those whose noise
happened to be large. So the noise Z of a listed count is not distributed by its law alone, but by its law given that
c + Z exceeded the cutoff t, the largest noisy count that was not listed. With y the noisy count,

    p(c) = Pr[Z ≥ y − c] / Pr[Z ≥ t − c]

is then evenly distributed for the exact count c, and the c with p(c) between α/2 and 1 − α/2 are an interval that
holds for what was chosen. Just above the cutoff such an interval has no lower end. Therefore noise is also taken to be
within bounds that all candidates together respect with a probability of 1 − β, and the interval is computed given
that as well, at a level so much higher that the promise stays the same.

Where counts are means of beliefs, as `NoisyCounts.believed` says, being among the largest tells nothing more of the
exact count than the belief does, and intervals stay as they are.

Where estimates decide what is listed, instead of the noisy counts, it is not known what the choice tells of the noise.
Then intervals are so wide that they hold whatever the choice was.

Privacy: computed from noisy counts that are paid for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
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
        by_estimates: whether the largest estimates were listed instead of the largest noisy counts; then the cutoff is
            an estimate, too.
        believed: whether counts are means of beliefs, which allow for the choice already.
    """

    candidates: int
    cutoff: float | None = None
    by_estimates: bool = False
    believed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        told = {name: True for name in ("by_estimates", "believed") if getattr(self, name)}
        # Older code reads a third number, which was never known.
        return {"candidates": self.candidates, "cutoff": self.cutoff, "missing": None, **told}


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
    if not selected or release.selection is None or release.selection.cutoff is None or release.selection.believed:
        return down, up
    if release.selection.by_estimates:
        wide = np.array([_whatever_the_choice(law, release, level) for law in laws], dtype=np.float64)
        return wide, wide.copy()
    cutoff, candidates = release.selection.cutoff, release.selection.candidates
    counts = np.array([found.centre for found in release.itemsets], dtype=np.float64)
    for law in set(laws):
        tail = tail_of(law)
        rows = np.array([row for row, of_row in enumerate(laws) if of_row == law])
        rows = rows[affected(counts[rows], tail, cutoff, level)]
        low, high = _known_intervals(tuple(counts[rows].tolist()), law, cutoff, candidates, level)
        down[rows], up[rows] = counts[rows] - low, high - counts[rows]
    return down, up


@lru_cache(maxsize=64)
def _known_intervals(
    counts: tuple[float, ...], law: Any, cutoff: float, candidates: int, level: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals of counts with noise of one law; remembered, since showing a release takes them more than once."""
    return chosen_intervals(np.array(counts, dtype=np.float64), tail_of(law), cutoff, candidates, level)


def chances_of_zero(release: Release) -> FloatArray:
    """For each itemset the probability of a noisy count that large, given that it is listed, if it did not occur.

    Just above the cutoff such a probability is near 1, however large the count is. So it is also bounded by the chance
    that any candidate at all has noise that large; of two ways to judge, each gets a part of the error.
    Where counts are means of beliefs, it is what the belief says, as in the intervals.
    """
    selection = release.selection
    counts = np.array([found.centre for found in release.itemsets], dtype=np.float64)
    tails = [tail_of(found.law or NormalLaw(found.standard_error)) for found in release.itemsets]
    alone = np.array([float(tail.above(count)) for tail, count in zip(tails, counts, strict=True)], dtype=np.float64)
    if selection is None or selection.cutoff is None or selection.believed:
        return alone
    of_any = alone * max(selection.candidates, len(release))
    if selection.by_estimates:
        # Of the candidates this share is listed; why, nobody knows.
        return np.minimum(of_any / max(len(release), 1), 1.0)
    listed = np.array([max(float(tail.above(selection.cutoff)), 1e-300) for tail in tails], dtype=np.float64)
    return np.minimum(np.minimum(alone / listed / (1 - _SHARED), of_any / _SHARED), 1.0)


def _whatever_the_choice(law: Any, release: Release, level: float) -> float:
    """How far noise reaches, such that of the listed intervals `level` hold on average, however they were chosen.

    Of m candidates k are listed, by estimates that may hang together with the noise in any way. With intervals of the
    level 1 − α·k/m for each, at most the share α of the listed ones is expected to miss (Benjamini and Yekutieli 2005).
    """
    assert release.selection is not None
    share = len(release) / max(release.selection.candidates, len(release))
    return max(float(law.half_width(level)), tail_of(law).quantile((1 - level) * share / 2))


def affected(counts: FloatArray, tail: NoiseTail, cutoff: float, level: float) -> Any:
    """The counts whose choice says something about their noise: those that are not far above the cutoff."""
    lowest = counts - tail.quantile((1 - level) / 4)
    return tail.above(lowest - cutoff) > _SURELY * (1 - level)


def chosen_intervals(
    counts: FloatArray, tail: NoiseTail, cutoff: float, candidates: int, level: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals that contain the exact counts of listed itemsets, each with probability `level`; ends may be below 0.

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

    def too_low(exact: FloatArray) -> FloatArray:
        """How often a noisy count may lie too far below an exact one, so that the interval ends before it.

        Just above the cutoff an interval would end below the noisy count itself, which is hard to read. So it never
        ends before the count, and misses at its upper end only exact counts above the noisy one. There are none if the
        exact count is below the cutoff, and few just above it.
        """
        listed = tail.above(np.maximum(cutoff - exact, -bound)) - beyond
        at_count: FloatArray = np.divide(0.5 - beyond, listed, out=np.ones_like(listed), where=listed > 0)
        return np.minimum(np.maximum(1 - at_count, 0.0), part)

    def end(is_below: Callable[[FloatArray], Any]) -> FloatArray:
        low, high = counts - bound, counts + bound
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            below = is_below(middle)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2

    # What the upper end does not use of the error is left to the lower one, so that both together use all of it.
    low = end(lambda exact: rank(exact) < 2 * part - too_low(exact))
    return low, np.maximum(end(lambda exact: rank(exact) < 1 - part), counts)
