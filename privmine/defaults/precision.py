"""The precision with which a basis set answers the items and pairs that its error variance averages over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.api import FloatArray, IntArray, Itemset

BoolArray: TypeAlias = NDArray[np.bool_]


class Queries:
    """The items of F and pairs of P, and the precision with which a basis set answers each of them.

    Precisions are sums of a few powers of two, so floats hold them exactly. Their reciprocals, which
    EV sums up, are rounded to fixed point: integer sums do not depend on the order of their terms, and
    updating them does not drift. Two sums that differ by no more than their rounding count as a tie, so
    that ties are broken by public order and not by the last bit of 1/3.

    Args:
        bases: the basis set.
        items: F. Items and pairs that no basis covers are left out.
        pairs: P.
        limit: the longest basis allowed.
    """

    def __init__(self, bases: Sequence[Itemset], items: Iterable[int], pairs: Iterable[Itemset], limit: int) -> None:
        queries = sorted({(item, item) for item in items} | {(min(pair), max(pair)) for pair in pairs})
        self.items = sorted({item for row in (*bases, *queries) for item in row})
        self._number = {item: position for position, item in enumerate(self.items)}
        ends = np.array([[self._number[item] for item in query] for query in queries], dtype=np.int64)
        #: The two items of each query, by their positions in `items`; they are the same where it is one item.
        self.first, self.second = ends.reshape(-1, 2).T
        #: 1 for an item, 2 for a pair.
        self.sizes = 1 + (self.first != self.second).astype(np.int64)
        self.precision: FloatArray = np.zeros(len(queries))
        for basis in bases:
            self.precision += self.answer(basis)
        covered = self.precision > 0
        self.first, self.second, self.sizes = self.first[covered], self.second[covered], self.sizes[covered]
        self.precision = self.precision[covered]
        # A reciprocal is less than 2^limit; leave room for the sum of all of them.
        self._scale = 2.0 ** (62 - limit - len(self.first).bit_length())
        #: How much rounding can shift one sum over all queries against another: half a unit a term in each.
        self.rounding = len(self.first)

    def member(self, basis: Itemset) -> BoolArray:
        """Which items are in a basis."""
        member = np.zeros(len(self.items), dtype=np.bool_)
        member[[self._number[item] for item in basis]] = True
        return member

    def answer(self, basis: Itemset) -> FloatArray:
        """The precision with which a basis alone answers each query."""
        return self.answer_of(self.member(basis))

    def answer_of(self, member: BoolArray) -> FloatArray:
        """The same for a basis given by its members."""
        covered = member[self.first] & member[self.second]
        return np.where(covered, np.ldexp(1.0, self.sizes - np.count_nonzero(member)), 0.0)

    def fixed(self, precision: FloatArray) -> IntArray:
        """The reciprocals in fixed point."""
        return np.rint(self._scale / precision).astype(np.int64)

    def total(self) -> int:
        """The sum of EV over all queries at w = 1, in fixed point."""
        return int(self.fixed(self.precision).sum())

    def is_reduction(self, width: int, before: int, after: int) -> bool:
        """Whether one basis less, and this change of the sum at w = 1, lowers EV by more than rounding can."""
        wide, narrow = width**2, (width - 1) ** 2
        return narrow * (after + self.rounding) < wide * (before - self.rounding)

    def lonely_items(self, bases: Iterable[Itemset]) -> set[int]:
        """The items that are in one basis only and in no query but their own."""
        holders = Counter(item for basis in bases for item in basis)
        single = self.first == self.second
        with_own_query = set(self.first[single].tolist())
        with_pair = {*self.first[~single].tolist(), *self.second[~single].tolist()}
        return {self.items[number] for number in with_own_query - with_pair if holders[self.items[number]] == 1}
