"""aol-like: synthetic transactions with the frequent items and pairs of the AOL keyword data.

The AOL search log was withdrawn, and should be: it is people's searches. What was published of it is the
supports of its frequent itemsets. From these, data is generated that poses a miner the same task: each
frequent item has its published support exactly, each pair of frequency 0.012 or more too, pairs down to
0.005 up to chance, and all else is a tail of rare items that makes up the number of items and the mean
length. It is synthetic: no transaction is anybody's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.api import InputError, IntArray, Itemset, Universe
from privmine.datasets import StableRandom, Transactions, transactions_of_keys
from privmine_paper.planting import Activity, Partner, draw_distinct, plant
from privmine_paper.published import PublishedItemsets, read_published
from privmine_paper.tail import tail_supports


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
    seed: int = 2012

    def generate(self, published: PublishedItemsets) -> Transactions:
        """Generate the transactions, the same for the same arguments on every platform.

        Published items keep their numbers, and no transaction is empty.
        """
        supports = {found[0]: support for found, support in published.of_length(1).items()}
        self._check(supports)
        random = StableRandom(self.seed)
        activity = Activity.drawn(random, self.transactions)
        planted = self._plant_all(random, activity, supports, published.of_length(2))

        labels = _labels(list(supports), self.items)
        bits = len(labels).bit_length()
        keys = [(rows << bits) | np.searchsorted(labels, item) for item, rows in planted.items()]
        occupied = np.zeros(self.transactions, dtype=np.bool_)
        for rows in planted.values():
            occupied[rows] = True
        del planted

        rare = np.flatnonzero(_outside(np.searchsorted(labels, list(supports)), len(labels)))
        missing = round(self.mean_length * self.transactions) - sum(supports.values())
        tail = np.repeat(rare, tail_supports(len(rare), missing, len(supports), min(supports.values())))
        rows = activity.draw_rows(random, len(tail))
        # Whoever searched, searched for something: a transaction without frequent items has a rare one.
        vacant = np.flatnonzero(~occupied)[: len(tail)]
        rows[np.arange(len(vacant)) * len(tail) // max(len(vacant), 1)] = vacant
        keys.append((rows << bits) | tail)
        return transactions_of_keys(Universe.of(labels), np.concatenate(keys), self.transactions, bits)

    def _check(self, supports: Mapping[int, int]) -> None:
        if not supports:
            raise InputError("The published itemsets list no item; at least one is needed.")
        if max(supports.values()) > self.transactions or min(supports.values()) < 1:
            raise InputError(f"A published support lies outside 1 … {self.transactions}, the number of transactions.")
        if min(supports) < 0:
            raise InputError("A published item has a negative number.")
        if self.items < len(supports):
            raise InputError(f"{len(supports)} items are published; there cannot be only {self.items} in all.")

    def _plant_all(
        self, random: StableRandom, activity: Activity, supports: Mapping[int, int], pairs: Mapping[Itemset, int]
    ) -> dict[int, IntArray]:
        """The transactions of each published item, which come by falling support."""
        rank = {item: position for position, item in enumerate(supports)}
        earlier: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for pair, support in pairs.items():
            if support >= self.fitted_frequency * self.transactions:
                first, second = sorted(pair, key=rank.__getitem__)
                earlier[second].append((first, support))
        planted: dict[int, IntArray] = {}
        for item, support in supports.items():
            partners = [
                Partner(planted[other], both, both >= self.exact_frequency * self.transactions)
                for other, both in earlier[item]
            ]
            # Without partners, and where hardly a transaction is certain to have it, activity alone decides.
            simple = not partners and support * 50 < self.transactions
            planted[item] = (
                draw_distinct(random, activity, support) if simple else plant(random, activity, support, partners)
            )
        return planted


def _labels(published: list[int], count: int) -> IntArray:
    """So many item numbers in increasing order: the published ones, and the smallest others."""
    numbers = np.array(published, dtype=np.int64)
    others = np.flatnonzero(_outside(numbers[numbers < count], count))[: count - len(published)]
    return np.sort(np.concatenate([others, numbers]))


def _outside(numbers: IntArray, count: int) -> NDArray[np.bool_]:
    """Which of 0 … count − 1 are not among the numbers; setdiff1d takes seconds for millions."""
    outside = np.ones(count, dtype=np.bool_)
    outside[numbers] = False
    return outside


def aol_like(published: Path) -> Transactions:
    """The dataset aol-like.

    Args:
        published: the file of published itemsets.
    """
    return AolLike().generate(read_published(published))
