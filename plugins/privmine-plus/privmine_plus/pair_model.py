"""The pair model with its total and its noise."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from privmine.api import FloatArray, Itemset, NoisyCounts, itemset
from privmine_plus.maxent import States, fitted_states
from privmine_plus.model_errors import OWN_ERROR, STRETCH, noise_errors, own_spread
from privmine_plus.model_top import top_itemsets, weights_of

#: How many states of the items the model keeps; and if it need only tell what is to be counted.
STATES, FEW_STATES = 2048, 1024


@frozen(eq=False)
class PairModel:
    """A model of how some items occur together.

    Attributes:
        items: in the order of the states' columns.
        states: the model.
        total: the number of transactions.
        total_variance: its variance.
        deviation: the standard deviation of the noise in a moment, divided by the total.
    """

    items: Itemset
    states: States
    total: float
    total_variance: float
    deviation: float

    @classmethod
    def of(
        cls, items: Itemset, moments: FloatArray, variance: float, total: tuple[float, float], limit: int = STATES
    ) -> PairModel:
        """Fit the model to noisy moments of items; more frequent ones come first."""
        count = max(total[0], 1.0)
        means = moments / count
        order = np.concatenate([[0], 1 + np.argsort(-means[0, 1:], kind="stable")])
        deviation = float(np.sqrt(variance)) / count
        ridge = np.full_like(means, deviation**2)
        states = fitted_states(means[np.ix_(order, order)], ridge, limit)
        return cls(tuple(items[place - 1] for place in order[1:].tolist()), states, count, total[1], deviation)

    def top(self, k: int, max_length: int | None) -> list[Itemset]:
        """The k itemsets that are most frequent in the model, by falling counts."""
        found = top_itemsets(self.states.signs > 0, self.states.weights, k, max_length)
        return [itemset(self.items[place] for place in places) for places in found]

    def supports(self, itemsets: list[Itemset]) -> FloatArray:
        """The model's counts."""
        return weights_of(self.states.signs > 0, self.states.weights, self._places(itemsets)) * self.total

    def noise_variances(self, itemsets: list[Itemset]) -> FloatArray:
        """The variances of counts by noise in the moments and in the total."""
        places = self._places(itemsets)
        noise, growth = noise_errors(self.states, places, self.deviation, self.deviation**2)
        return np.asarray((noise * self.total) ** 2 + growth**2 * self.total_variance)

    def counts(self, itemsets: list[Itemset]) -> NoisyCounts:
        """The model's counts with their standard deviations."""
        counts = self.supports(itemsets)
        own = OWN_ERROR**2 * own_spread(counts, itemsets, self.total)
        errors = STRETCH * np.sqrt(self.noise_variances(itemsets) + own)
        return NoisyCounts(itemsets, counts, errors, self.total, float(np.sqrt(self.total_variance)))

    def _places(self, itemsets: list[Itemset]) -> list[Itemset]:
        column = {item: place for place, item in enumerate(self.items)}
        return [tuple(sorted(column[item] for item in found)) for found in itemsets]
