"""aol-like: synthetic transactions with the frequent items and pairs of the AOL keyword data.

The AOL search log was withdrawn, and should be: it is people's searches. What was published of it is the
supports of its frequent itemsets. From these, data is generated that poses a miner the same task: each
frequent item has its published support exactly, each pair of frequency 0.012 or more too, pairs down to
0.005 up to chance, and all else is a tail of rare items that makes up the number of items and the mean
length. It is synthetic: no transaction is anybody's.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from attrs import field, frozen

from privmine.datasets.planting import Partner, draw_distinct, plant
from privmine.datasets.published import PublishedItemsets
from privmine.datasets.words import Words, exponential_table
from privmine.errors import InputError
from privmine.model import FloatArray, IntArray, Universe
from privmine.store.rows import Rows

_QUANTILES = 1 << 14


@frozen
class AolLike:
    """What the generated data is to be like; the defaults are those of the AOL data.

    Attributes:
        transactions: how many there are.
        items: how many items occur.
        mean_length: of the transactions.
        exact_frequency: published pairs from this frequency on have exactly their published supports.
        fitted_frequency: pairs from this frequency on have them up to chance.
        seed: another one gives other data of the same kind.
    """

    transactions: int = 647_377
    items: int = 2_290_685
    mean_length: float = 34.0
    exact_frequency: float = 0.012
    fitted_frequency: float = 0.005
    seed: int = field(default=2012, kw_only=True)

    def generate(self, published: PublishedItemsets) -> tuple[Universe, Rows]:
        """Generate the transactions, the same for the same arguments on every platform.

        Returns:
            The universe, in which published items keep their numbers, and the transactions, each row
            strictly increasing.
        """
        supports = {found[0]: support for found, support in published.of_length(1).items()}
        self._check(supports)
        words = Words(self.seed)
        activity = self._activity(words)
        planted = self._planted(words, activity, published, supports)
        labels = _labels(supports, self.items)
        held = [np.searchsorted(labels, item) | (rows << 32 >> 32 << _bits(labels)) for item, rows in planted.items()]
        rare = np.setdiff1d(np.arange(len(labels)), np.searchsorted(labels, list(supports)))
        occupied = np.unique(np.concatenate([*planted.values(), np.zeros(0, dtype=np.int64)]))
        missing = round(self.mean_length * self.transactions) - sum(supports.values())
        tail = tail_supports(len(rare), missing, len(supports), min(supports.values(), default=1))
        rows = self._tail_rows(words, np.cumsum(activity), occupied, int(tail.sum()))
        held.append(np.repeat(rare, tail) | (rows << _bits(labels)))
        return Universe.of(labels), _as_rows(np.concatenate(held), self.transactions, _bits(labels))
