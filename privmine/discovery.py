"""Which items occur, where that is private: found under noise, before the first stage.

Each transaction adds a weight to each of its items, such that its weights have an L2 norm of at most 1 (the weighted
Gaussian mechanism of Gopi et al. 2020). Noise is added to the weight of every item that occurs, and an item is found if
its noisy weight reaches a threshold.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any, Final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.curator import Access, Measurement, drawn_noise, guarded, whole_numbers
from privmine.model import IntArray, int_array
from privmine.privacy.cost import Charge, Cost
from privmine.privacy.noise import Noise
from privmine.privacy.sensitivity import Sensitivity
from privmine.queries import Query
from privmine.queries.supports import weighted_sensitivity
from privmine.store.abstract import Store

STAGE: Final = "find_items"
COMPONENT: Final = "weighted-gaussian"
#: The part of the budget that finding the items costs. More of it finds rarer items, which are in few of the itemsets
#: that are looked for afterwards.
SHARE: Final = Fraction(1, 10)
#: What a transaction of one item adds to its weight, and the most items that a transaction can have and still count.
#: With more, the threshold would grow for everybody; weights of whole numbers lose nothing to rounding here.
_FULL_WEIGHT: Final = 1 << 12
LONGEST: Final = 1000
#: By the number of its items what a transaction adds to each of them: ⌊4096/√s⌋.
_WEIGHTS: Final = int_array([0, *(isqrt(_FULL_WEIGHT**2 // size) for size in range(1, LONGEST + 1))])


@frozen
class ItemWeights(Query):
    """The weights of the items that occur. No curator answers it, since how many there are is private.

    Attributes:
        size: how many items were found.

    Privacy: a transaction of s items adds ⌊4096/√s⌋ to each of them, and one of more than 1,000 items adds nothing. So
    its weights have an L2 norm of at most 4096, by whole numbers.
    """

    size: int = 0
    weights: IntArray = field(factory=lambda: _WEIGHTS, repr=False, eq=False)

    @property
    def name(self) -> str:
        """What the receipt calls it."""
        return "which items occur, by weights"

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one transaction can move the weights."""
        return weighted_sensitivity(self.weights)

    def evaluate(self, store: Store) -> IntArray:
        """The exact weights of all items."""
        return store.weighted_supports(1, None, self.weights)


@frozen
class Found:
    """The items that were found.

    Attributes:
        positions: where they stand in the store, in increasing order.
        weights: their noisy weights.
        noise: the noise in them.
    """

    positions: IntArray
    weights: NDArray[Any]
    noise: Noise

    def answer(self, order: IntArray) -> Measurement:
        """The noisy weights for later stages, with the items in another order."""
        values = self.weights[np.searchsorted(self.positions, order)]
        return Measurement(ItemWeights(len(order)), values, self.noise, STAGE)


def find_items(access: Access, cost: Cost) -> Found:
    """Find the items whose noisy weight reaches the threshold, for a cost.

    Privacy: the charge comes first. Only items with a positive weight get noise. Let D have one unit more than D₀, and
    let S be the items that have a weight in D and none in D₀. All of S stay unnamed but for a probability of at most
    the definition's part of δ (`Definition.least_weight`). If so, what is named, with its noisy weights, comes from
    noisy weights of the same items in both databases, which differ by at most the sensitivity. What is named of S is
    independent of the rest. Items that are not named are in no answer and in no message.
    """
    query = ItemWeights()
    definition, unit, source = access.definition, access.public.unit, access.noise
    noise = drawn_noise(source, query.sensitivity.times(unit.baskets), cost)
    threshold = definition.least_weight(query.weights.tolist(), noise, unit.baskets)
    access.meter.charge(Charge(STAGE, COMPONENT, query.name, str(noise), cost, noise=noise), cost)

    def found() -> Found:
        exact = whole_numbers(query.evaluate(access.store), access.store.item_count)
        occurring = np.flatnonzero(exact > 0)
        noisy = source.add(exact[occurring], noise)
        if noise.is_discrete:
            noisy = whole_numbers(noisy, len(occurring))
        named = noisy >= threshold
        return Found(occurring[named], noisy[named], noise)

    answer = guarded(query.name, found)
    assert isinstance(answer, Found)
    return answer
