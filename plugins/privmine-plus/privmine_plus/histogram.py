"""What transactions hold of the candidates, from a noisy histogram; and what a bound would lose of it.

T is the number of candidates that a transaction contains. With a bound m it adds min(1, m/T) to each of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from attrs import field, frozen

from privmine.api import FloatArray, IntArray

#: Where the ranges of T begin; beyond 4 they grow by about 1.4.
EDGES = (0, 1, 2, 3, 4, 6, 9, 13, 18, 26, 37, 52, 74, 105, 148, 210, 296, 418, 592, 836, 1182, 1672)
#: The bounds to choose from.
BOUNDS = (*range(1, 9), 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256)
#: A count is clear where it is so many scales of its noise.
_CLEAR = 2.0
#: What is left of a count in the next range, where noise hides it.
_FADING = 0.3


def edges_for(most: int) -> tuple[int, ...]:
    """The ranges that T can fall into where there are so many candidates."""
    return tuple(edge for edge in EDGES if edge <= max(most, 1))


def _middles(edges: tuple[int, ...]) -> FloatArray:
    last = edges[-1] * (1.2 if edges[-1] > 4 else 1.0)
    return np.array([*((low + high - 1) / 2 for low, high in pairwise(edges)), last])


def _falling(values: FloatArray) -> FloatArray:
    """The falling sequence that is nearest to noisy values: neighbours that rise become their mean."""
    blocks: list[tuple[float, int]] = []
    for value in values.tolist():
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            (one, few), (other, more) = blocks[-2:]
            blocks[-2:] = [((one * few + other * more) / (few + more), few + more)]
    return np.concatenate([np.full(size, value) for value, size in blocks])


def _tail(values: FloatArray, scale: float) -> FloatArray:
    """From the largest count on: falling, and where it drowns in the noise, by a fixed factor from range to range."""
    counts = np.maximum(_falling(values), 0.0)
    drowned = np.flatnonzero(counts[1:] < _CLEAR * scale)
    if len(drowned):
        last = int(drowned[0])
        counts[last + 1 :] = counts[last] * _FADING ** np.arange(1, len(counts) - last)
    return counts


@frozen(eq=False)
class Holdings:
    """How many transactions hold how many candidates, cleaned of noise.

    Attributes:
        held: a typical T of each range.
        counts: how many transactions are in it.
    """

    held: FloatArray = field(repr=False)
    counts: FloatArray = field(repr=False)

    @classmethod
    def cleaned(cls, edges: tuple[int, ...], noisy: FloatArray, scale: float) -> Holdings:
        """Believe that counts rise to one peak and fall after it, and fade where noise hides them."""
        counts = np.zeros(len(edges))
        if len(edges) > 1:
            peak = 1 + int(np.argmax(noisy[1:]))
            counts[peak:] = _tail(noisy[peak:], scale)
            counts[1 : peak + 1] = _tail(noisy[peak:0:-1], scale)[::-1]
        return cls(_middles(edges), counts)

    def kept_by(self, bounds: IntArray, power: float = 1.0) -> FloatArray:
        """For each bound on what a transaction adds the share of a count that it keeps; see `kept`.

        Args:
            bounds: the bounds.
            power: of m/T, what a transaction adds to each of T candidates.
        """
        return self._kept(np.minimum(1.0, (bounds[:, None] / np.maximum(self.held, 1.0)) ** power))

    def kept(self, weights: IntArray) -> float:
        """The share of all occurrences that is kept with a table of weights: what a transaction adds, by T."""
        table = np.append(weights, 0) / max(int(weights[1:2].sum()), 1)
        return float(self._kept(np.interp(self.held, np.arange(len(table)), table)[None, :])[0])

    def _kept(self, weights: FloatArray) -> FloatArray:
        occurrences = self.counts * np.where(self.held >= 1, self.held, 0.0)
        total = float(occurrences.sum())
        return np.asarray(np.maximum(weights @ occurrences / total, 0.02)) if total > 0 else np.ones(len(weights))


def misjudged(kept: Any) -> Any:
    """By how much a count may be off, relatively, since transactions that hold it differ from all others."""
    lost = 1 - kept
    return 0.5 * lost + 0.04 * lost / kept


def best_bound(holdings: Holdings, theta: float, scale: float, most: int, power: float = 1.0) -> tuple[int, float]:
    """The bound of least squared error for a count of about θ, and that error.

    Args:
        holdings: what transactions hold.
        theta: the size of the counts that matter.
        scale: the scale of the noise for a bound of 1.
        most: the number of candidates: no larger bound is needed.
        power: of the bound, with which the noise grows, and of m/T, what a transaction adds to each of T candidates.
    """
    bounds = np.unique(np.minimum(BOUNDS, max(most, 1)))
    kept = holdings.kept_by(bounds, power)
    errors = 2 * (bounds**power * scale / kept) ** 2 + (misjudged(kept) * theta) ** 2
    best = int(np.argmin(errors))
    return int(bounds[best]), float(errors[best])
