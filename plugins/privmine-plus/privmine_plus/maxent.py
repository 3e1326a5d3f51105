"""A model of how items occur together, fitted to moments of pairs: each item is a logistic regression on those before.

States are rows of ±1, one column an item: 1 where a transaction has the item. The model is built item by item. The
states of the first items are known with their weights; the next item gets a regression on them that has the wanted
moments with each of them, and splits each state in two. With exact moments that is close to the distribution of maximum
entropy with these moments, and it can be computed for 30 items, where all 2^30 states cannot be listed: of the states
as many are kept as `limit` says, the light ones by a systematic sample.

Everything here is post-processing of noisy numbers, and deterministic.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen

from privmine.api import FloatArray

_ITERATIONS = 18
_CONVERGED = 1e-6
# What a state must weigh to be kept: less changes no count that matters.
_NEGLIGIBLE = 1e-9


@frozen(eq=False)
class States:
    """A weighted set of states: a distribution over which of the items a transaction has.

    Attributes:
        signs: a row a state, of 1 and −1.
        weights: they sum to 1.
    """

    signs: FloatArray
    weights: FloatArray

    def moments(self) -> FloatArray:
        """The mean of x·xᵀ, x being 1 and then the signs."""
        rows = np.concatenate([np.ones((len(self.signs), 1)), self.signs], axis=1)
        return (rows * self.weights[:, None]).T @ rows


def fitted_states(means: FloatArray, ridge: FloatArray, limit: int) -> States:
    """The states of the sequential model that has, up to the ridge, these moments.

    Args:
        means: the wanted mean of x·xᵀ; items in the order in which they are to be added.
        ridge: the penalty of each regression weight: [i, j] of that of item i on item j, [i, 0] of its constant.
        limit: how many states to keep.
    """
    signs, weights = np.ones((1, 1)), np.ones(1)
    for item in range(1, len(means)):
        wanted = np.clip(means[item, :item], -1, 1)
        slopes = _regression(signs, weights, wanted, ridge[item, :item])
        present = 1 / (1 + np.exp(-2 * np.clip(signs @ slopes, -40, 40)))
        column = np.ones((len(signs), 1))
        signs = np.concatenate([np.hstack([signs, column]), np.hstack([signs, -column])])
        weights = np.concatenate([weights * present, weights * (1 - present)])
        kept = weights > _NEGLIGIBLE
        signs, weights = signs[kept], weights[kept] / weights[kept].sum()
        if len(weights) > limit:
            kept, weights = thinned(weights, limit)
            signs = signs[kept]
    return States(signs[:, 1:], weights)


def _regression(signs: FloatArray, weights: FloatArray, wanted: FloatArray, ridge: FloatArray) -> FloatArray:
    """The slopes s with E[x·tanh(x·s)] + ridge·s = wanted: Newton's method, damped where a step does not help.

    That is the minimum of the convex function E[ln 2cosh(x·s)] − wanted·s + ½·ridge·s².
    """
    slopes = np.zeros(len(wanted))
    slopes[0] = np.arctanh(np.clip(wanted[0], -0.99, 0.99))
    value, scores = _objective(slopes, signs, weights, wanted, ridge)
    damping = 0.0
    unit = np.eye(len(wanted))
    for _ in range(_ITERATIONS):
        means = np.tanh(scores)
        gradient = signs.T @ (weights * means) - wanted + ridge * slopes
        curvature = (signs * (weights * (1 - means * means))[:, None]).T @ signs
        while True:
            step = np.linalg.solve(curvature + (ridge + damping + 1e-10) * unit, gradient)
            if gradient @ step < _CONVERGED:
                return np.asarray(slopes - step)
            if damping > 1e3:
                return slopes
            tried, tried_scores = _objective(slopes - step, signs, weights, wanted, ridge)
            if tried < value:
                break
            damping = max(5 * damping, 1e-4)
        slopes, value, scores = slopes - step, tried, tried_scores
        damping = damping / 10 if damping > 1e-6 else 0.0
    return slopes


def _objective(
    slopes: FloatArray, signs: FloatArray, weights: FloatArray, wanted: FloatArray, ridge: FloatArray
) -> tuple[float, FloatArray]:
    scores = signs @ slopes
    size = np.abs(scores)
    value = weights @ (size + np.log1p(np.exp(-2 * size))) - wanted @ slopes + 0.5 * (ridge * slopes) @ slopes
    return float(value), scores


def thinned(weights: FloatArray, limit: int) -> tuple[np.ndarray, FloatArray]:
    """Which of many weights to keep, and their new weights: heavy ones as they are, light ones all with one weight.

    The light ones are a systematic sample in the order in which they stand, so that neighbours stand for each other.
    A weight is heavy if it is at least the weight that the kept light ones get.
    """
    falling = np.argsort(-weights, kind="stable")
    rest = weights.sum() - np.concatenate([[0.0], np.cumsum(weights[falling])])[:limit]
    common = rest / (limit - np.arange(limit))
    heavy_count = int(np.argmax(weights[falling[:limit]] < common))
    share = common[heavy_count]
    light = np.sort(falling[heavy_count:])
    marks = np.floor(np.cumsum(weights[light]) / share + 0.5)
    picked = light[np.diff(marks, prepend=0.0) > 0]
    kept = np.concatenate([falling[:heavy_count], picked])
    chosen = np.concatenate([weights[falling[:heavy_count]], np.full(len(picked), share)])
    return kept, chosen / chosen.sum()
