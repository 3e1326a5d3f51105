"""What is believed of counts after noisy looks at them: log-posteriors on a grid of multiples of θ̂.

Rows are candidates, columns the points of the grid. Everything here is a pure function of noisy numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from attrs import field, frozen

from privmine.api import FloatArray, IntArray

_POINTS = 120
#: Multiples of θ̂, evenly spaced on a logarithmic scale; far beyond 1, since θ̂ may be much too small.
GRID: FloatArray = np.exp(np.linspace(log(0.04), log(400.0), _POINTS))
_LOG_GRID = np.log(GRID)
#: What a count beyond reach of the bound on it loses: as good as impossible.
IMPOSSIBLE = -1e5
#: Probabilities below this one count as this one, so that odds stay finite.
_LEAST = 1e-300
#: The most that the exponent of a prior is changed by.
_MOST_TILT = 4.0


def log_prior(alphas: FloatArray) -> FloatArray:
    """c^−α for each α: rare itemsets are many."""
    return -alphas[:, None] * _LOG_GRID


def log_likelihood(
    values: FloatArray, scale: FloatArray | float, kept: float, misjudged: float, theta: float
) -> FloatArray:
    """Of noisy values with Laplace noise, that count a share `kept` of each itemset, itself off by `misjudged`."""
    counts = GRID * theta
    spread = np.sqrt(np.asarray(scale)[..., None] ** 2 + (misjudged * kept * counts) ** 2 / 2)
    return -np.abs(values[:, None] - kept * counts) / spread - np.log(spread)


def normalised(logs: FloatArray) -> FloatArray:
    """Probabilities, summing to 1 in each row."""
    shares: FloatArray = logs - logs.max(axis=1, keepdims=True, initial=-np.inf)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def log_odds(shares: FloatArray, multiple: float) -> FloatArray:
    """Of a count of at least this multiple of θ̂ against a smaller one, from probabilities on the grid."""
    place = min(max(int(np.searchsorted(GRID, multiple)), 1), _POINTS - 1)
    below, above = shares[:, :place].sum(axis=1), shares[:, place:].sum(axis=1)
    odds: FloatArray = np.log(np.maximum(above, _LEAST)) - np.log(np.maximum(below, _LEAST))
    return odds


def probability(odds: FloatArray) -> FloatArray:
    """From log-odds."""
    chances: FloatArray = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
    return chances


def quantile_of(shares: FloatArray, level: float) -> FloatArray:
    """The grid points that the counts do not exceed with this probability, as multiples of θ̂."""
    below = np.cumsum(shares, axis=1)
    places: IntArray = np.minimum((below < level).sum(axis=1), _POINTS - 1)
    return np.take(GRID, places)


def expected_multiple(shares: FloatArray, k: int, low: float, high: float) -> float:
    """The multiple of θ̂ that k counts are expected to reach, within bounds."""
    reached = np.cumsum(shares.sum(axis=0)[::-1])[::-1]
    place = min(int((reached >= k).sum()), _POINTS - 1)
    return float(min(max(GRID[place], low), high))


def tilted(logs: FloatArray, multiple: float, wanted: float) -> FloatArray:
    """The log-posteriors under a flatter prior: so flat that `wanted` counts are expected to reach this multiple of θ̂.

    Where noise drowns all looks the prior alone would speak, and it says that counts are small. But k itemsets
    reach the k-th support, and most of them are among the candidates.
    """
    place = min(max(int(np.searchsorted(GRID, multiple)), 1), _POINTS - 1)

    def falls_short(change: float) -> bool:
        return float(normalised(logs + change * _LOG_GRID)[:, place:].sum()) < wanted

    if not falls_short(0.0):
        return logs
    low, high = 0.0, _MOST_TILT
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if falls_short(middle) else (low, middle)
    return logs + high * _LOG_GRID


@frozen(eq=False)
class CredibleLaw:
    """Beliefs about a count, as the law of the error of the number that is released for it.

    Attributes:
        values: what the count can be.
        stories: the probabilities of the values, a row a story; an interval is to hold under each of them.
        released: the number that is released.
        stretch: what all widths are multiplied by.
    """

    values: FloatArray = field(repr=False)
    stories: FloatArray = field(repr=False)
    released: float
    stretch: float = 1.0

    def half_widths(self, levels: Sequence[float]) -> FloatArray:
        """For each level the least distance that the count is within, with a probability of at least this level."""
        distances = np.abs(self.values - self.released)
        order = np.argsort(distances, kind="stable")
        below = np.cumsum(self.stories[:, order], axis=1)
        places = np.max([np.searchsorted(story, levels) for story in below], axis=0)
        return np.asarray(self.stretch * distances[order[np.minimum(places, len(order) - 1)]])

    def half_width(self, level: float) -> float:
        """The same for one level."""
        return float(self.half_widths([level])[0])
