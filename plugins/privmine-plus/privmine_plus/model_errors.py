"""How far counts of the pair model are off: by noise of the moments, and by the model's own error."""

from __future__ import annotations

import numpy as np

from privmine.api import FloatArray, Itemset
from privmine_plus.maxent import States
from privmine_plus.model_top import containing

#: What a pair model is off by itself, for each item beyond a pair: this part of √(c·(N − c)); an assumption.
OWN_ERROR = 0.004
#: What a standard deviation is stretched by: the model's itemsets were picked by the same noise that their counts have,
#: and noise moves counts by more than to first order.
STRETCH = 1.2
#: Pairs and items are measured, so that there only the ridge makes the model differ from them.
_LEAST_LENGTH = 0.1
#: Where items always occur together, C is singular; a ridge above what rounding adds to it lets it be inverted.
_LEAST_RIDGE = 1e-10


def noise_errors(states: States, itemsets: list[Itemset], noise: float, ridge: float) -> tuple[FloatArray, FloatArray]:
    """To first order: how noisy moments and a noisy total change the model's counts.

    Let C be the covariance matrix of the products of signs. A small change d of the wanted means changes the parameters
    of a model of maximum entropy by (C + ridge)⁻¹·d, and the probability of an itemset by its covariance with the
    products times that. The noise of different moments is uncorrelated. A mean is a moment divided by the total. So a
    total that is larger by 1 adds the probability to a count, and takes away what smaller means take.

    Args:
        states: the model.
        itemsets: positions of items in the states.
        noise: the standard deviation of the noise in a mean of products.
        ridge: the penalty that the model was fitted with.

    Returns:
        The standard deviation of the probability of each itemset for moments with noise, and by how much its count
        grows with the total.
    """
    first, second = np.triu_indices(states.signs.shape[1], 1)
    products = np.hstack([states.signs, states.signs[:, first] * states.signs[:, second]])
    scaled = products * np.sqrt(states.weights)[:, None]
    means = products.T @ states.weights
    covariance = scaled.T @ scaled - np.outer(means, means)
    contained = containing(states.signs > 0, itemsets) * np.sqrt(states.weights)
    probabilities = contained @ np.sqrt(states.weights)
    with_itemset = contained @ scaled - np.outer(probabilities, means)
    gradients = np.linalg.solve(covariance + max(ridge, _LEAST_RIDGE) * np.eye(len(means)), with_itemset.T)
    return noise * np.sqrt((gradients**2).sum(axis=0)), probabilities - means @ gradients


def own_spread(counts: FloatArray, itemsets: list[Itemset], total: float) -> FloatArray:
    """What the variance of the model's own error is a multiple of: pairs do not tell all about longer itemsets."""
    inside = np.clip(counts, 1.0, max(total - 1.0, 1.0))
    beyond = np.array([max(len(itemset) - 2, _LEAST_LENGTH) for itemset in itemsets])
    return np.asarray(inside * np.maximum(total - inside, 1.0) * beyond)
