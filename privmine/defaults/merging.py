"""What merging two bases costs, for all pairs of bases, kept up to date from one merge to the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privmine.api import FloatArray, IntArray, Itemset
from privmine.defaults.precision import BoolArray, Queries

#: The cost of a merge that must not happen: larger than any sum of costs.
_FORBIDDEN = np.iinfo(np.int64).max
#: How many queries of pairs of bases are looked at together: 4 MB of flags.
_FLAGS = 1 << 22
#: 2^−n by n, faster to look up than to compute.
_HALVINGS = np.ldexp(1.0, -np.arange(64))
#: What a basis holds of a query: its first item only, its second only, or all. Sums of two of them are distinct.
_FIRST, _SECOND, _ALL = np.uint8(1), np.uint8(3), np.uint8(7)
_ONE_EACH, _ALL_TWICE = _FIRST + _SECOND, _ALL + _ALL
#: How many bases are inserted together: more share the overhead, but look at more queries of the others.
_TOGETHER = 8
#: How many columns of the table of costs share a minimum.
_BLOCK = 64


class Merging:
    """The bases, and the costs of all merges of two of them.

    The cost of a merge is the change of Σ 1/S(X), the width apart. It has two parts:

    * The own costs of the two bases: what their queries lose when the basis becomes as long as the union.
      They depend on the length of the union, and on nothing else of the other basis.
    * The shared cost: the rest, which comes from the queries that both bases cover and from those that
      only the union covers. Most pairs of bases have no such query.

    A merge changes S(X) for queries inside the union only. So only bases that have an item of the union get
    new own costs, and only pairs of such bases get a new shared cost.

    Args:
        queries: what the bases answer; their precision is kept up to date too.
        bases: the bases in the order that decides a tie.
        limit: the longest union allowed.
    """

    def __init__(self, queries: Queries, bases: Sequence[Itemset], limit: int) -> None:
        self._queries = queries
        self._limit = limit
        count = len(bases)
        #: Which item (row) is in which basis (column).
        self._holds = np.zeros((len(queries.items), count), dtype=np.bool_)
        for column, basis in enumerate(bases):
            self._holds[:, column] = queries.member(basis)
        self._lengths = self._holds.sum(axis=0)
        self._alive = np.zeros(count, dtype=np.bool_)
        #: The length of the union of two bases, or limit + 1 where they must not be merged.
        self._unions = np.full((count, count), limit + 1, dtype=np.int8)
        #: The own cost of each basis (row) by the length of the union (column); 0 where that is limit + 1.
        self._own = np.zeros((count, limit + 2), dtype=np.int64)
        self._costs = _Costs(count)
        for start in range(0, count, _TOGETHER):
            self._insert(np.arange(start, min(start + _TOGETHER, count)))
        self._costs.find_minima()

    def bases(self) -> list[Itemset]:
        """What the bases are by now."""
        items = np.array(self._queries.items)
        return [tuple(items[member].tolist()) for member in self._holds.T[self._alive]]

    def cheapest(self) -> tuple[int, int, int] | None:
        """The two bases that cost least to merge, and the cost; None if no merge is allowed.

        On a tie the first two win.
        """
        return self._costs.first_minimum(self._queries.rounding)

    def merge(self, one: int, other: int) -> None:
        """Replace basis `one` by its union with basis `other`, which goes."""
        union = self._holds[:, one] | self._holds[:, other]
        inside = np.flatnonzero(union[self._queries.first] & union[self._queries.second])
        sizes = self._queries.sizes[inside]
        change = np.ldexp(1.0, sizes - np.count_nonzero(union))
        for gone in (one, other):
            covers = self._parts(inside)[:, gone] == _ALL
            change -= np.where(covers, np.ldexp(1.0, sizes - self._lengths[gone]), 0.0)
        is_near: BoolArray = np.any(self._holds[union], axis=0)
        is_near[[one, other]] = True  # even if both are empty
        near = np.flatnonzero(is_near)
        before = self._costs.rows(near)
        self._remove(one)
        self._remove(other)
        self._change_precision(inside[change != 0], change[change != 0], near)
        self._holds[:, one] = union
        self._lengths[one] = np.count_nonzero(union)
        self._insert(np.array([one]))
        self._costs.renew_minima(near, before)

    def _remove(self, basis: int) -> None:
        self._holds[:, basis] = False
        self._alive[basis] = False
        self._unions[basis] = self._unions[:, basis] = self._limit + 1
        self._costs.forbid(basis)

    def _insert(self, bases: IntArray) -> None:
        """Compute the costs of merging bases with each other and with those that were inserted before."""
        member: BoolArray = np.any(self._holds[:, bases], axis=1)
        queries = np.flatnonzero(member[self._queries.first] | member[self._queries.second])
        self._own[bases] = self._own_costs(bases, queries)
        common = np.array([self._holds[self._holds[:, basis]].sum(axis=0) for basis in bases.tolist()])
        unions = self._lengths + self._lengths[bases, np.newaxis] - common
        known = np.repeat(self._alive[np.newaxis], len(bases), axis=0)
        known[:, bases] = np.tri(len(bases), k=-1, dtype=np.bool_)
        place, others = np.nonzero(known & (unions <= self._limit))
        ones, unions = bases[place], unions[place, others]
        self._unions[ones, others] = self._unions[others, ones] = unions
        costs = self._own[ones, unions] + self._own[others, unions]
        member[self._queries.first[queries]] = member[self._queries.second[queries]] = True
        is_near: BoolArray = np.any(self._holds[member], axis=0)
        near = np.flatnonzero(is_near[others])
        costs[near] += self._shared_costs(ones[near], others[near], queries)
        self._costs.set(ones, others, costs)
        self._alive[bases] = True

    def _change_precision(self, queries: IntArray, change: FloatArray, near: IntArray) -> None:
        """Change the precision of some queries, and exchange their terms in all costs.

        Args:
            queries: the queries.
            change: what is added to their precisions.
            near: the bases that have an item of such a query.
        """
        before = self._queries.precision.copy()
        self._queries.precision[queries] += change
        own = np.zeros_like(self._own)
        own[near] = self._own_costs(near, queries, before)
        self._own += own
        place, right = np.nonzero(self._unions[near] <= self._limit)
        left = near[place]
        self._costs.add(left, right, own[left, self._unions[left, right]])
        is_near = np.zeros(len(own), dtype=np.bool_)
        is_near[near] = True
        both_near = is_near[right] & (left < right)
        left, right = left[both_near], right[both_near]
        example, like = self._alike(near, left, right, queries)
        shared = self._shared_costs(left[example], right[example], queries, before)
        self._costs.add(left, right, shared[like])

    def _alike(self, near: IntArray, left: IntArray, right: IntArray, queries: IntArray) -> tuple[IntArray, IntArray]:
        """Examples of the pairs of bases that differ in how the queries enter their shared cost.

        That depends on which items of the queries the two hold, on their lengths and on that of the union. Where
        all bases share an item, there are very many pairs and few different ones.

        Returns:
            The places of the examples, and for each pair the number of its example.
        """
        items = np.union1d(self._queries.first[queries], self._queries.second[queries])
        # There are at most 20 items, because they are those of one basis.
        held = (1 << np.arange(len(items))) @ self._holds[np.ix_(items, near)]
        kinds, kind_of_near = np.unique(held * (self._limit + 1) + self._lengths[near], return_inverse=True)
        size = len(kinds) ** 2 * (self._limit + 1)
        if size > len(left):
            return np.arange(len(left)), np.arange(len(left))
        kind = np.zeros(len(self._lengths), dtype=np.int64)
        kind[near] = kind_of_near
        code = (kind[left] * len(kinds) + kind[right]) * (self._limit + 1) + self._unions[left, right]
        last = np.full(size, -1, dtype=np.int64)
        last[code] = np.arange(len(left))
        found = last >= 0
        return last[found], (np.cumsum(found) - 1)[code]

    def _own_costs(self, bases: IntArray, queries: IntArray, before: FloatArray | None = None) -> IntArray:
        """What some of the queries add to the own costs of some bases; with `before`, how that has changed."""
        costs = np.zeros((len(bases), self._limit + 2), dtype=np.int64)
        covers = (self._parts(queries)[:, bases] == _ALL).T.astype(np.int64)
        sizes = self._queries.sizes[queries, np.newaxis]
        gained = np.ldexp(1.0, sizes - np.arange(self._limit + 1))
        for length in np.unique(self._lengths[bases]).tolist():
            rows = np.flatnonzero(self._lengths[bases] == length)
            asked = np.flatnonzero(covers[rows].any(axis=0))
            changes = gained[asked] - np.ldexp(1.0, sizes[asked] - length)
            costs[rows, :-1] = covers[np.ix_(rows, asked)] @ self._cost(queries[asked, np.newaxis], changes, before)
        return costs

    def _shared_costs(
        self, left: IntArray, right: IntArray, queries: IntArray, before: FloatArray | None = None
    ) -> IntArray:
        """The same for the shared cost of each left basis with its right one."""
        costs = np.zeros(len(left), dtype=np.int64)
        parts = self._parts(queries)
        height = max(1, _FLAGS // (len(queries) + 1))
        for start in range(0, len(left), height):
            some = slice(start, start + height)
            held = parts[:, left[some]] + parts[:, right[some]]
            for kind in (_ONE_EACH, _ALL_TWICE):
                row, pair = np.divmod(np.flatnonzero(held == kind), held.shape[1])
                pair += start
                query = queries[row]
                sizes = self._queries.sizes[query]
                gained = _HALVINGS[self._unions[left[pair], right[pair]] - sizes]
                if kind == _ONE_EACH:
                    terms = self._cost(query, gained, before)
                else:
                    by_left, by_right = (_HALVINGS[self._lengths[bases[pair]] - sizes] for bases in (left, right))
                    terms = self._cost(query, gained - by_left - by_right, before)
                    # This query is part of both own costs already.
                    terms -= self._cost(query, gained - by_left, before) + self._cost(query, gained - by_right, before)
                np.add.at(costs, pair, terms)
        return costs

    def _cost(self, queries: IntArray, changes: FloatArray, before: FloatArray | None) -> IntArray:
        """What changes of the queries' precisions cost; with `before`, how much more than at these precisions."""
        costs = self._cost_at(self._queries.precision[queries], changes)
        return costs if before is None else costs - self._cost_at(before[queries], changes)

    def _cost_at(self, precision: FloatArray, changes: FloatArray) -> IntArray:
        return self._queries.fixed(precision + changes) - self._queries.fixed(precision)

    def _parts(self, queries: IntArray) -> NDArray[np.uint8]:
        """What each basis (column) holds of each query (row): 0, or _FIRST, _SECOND, _ALL."""
        first, second = self._holds[self._queries.first[queries]], self._holds[self._queries.second[queries]]
        parts: NDArray[np.uint8] = _FIRST * first + _SECOND * second + (_ALL - _FIRST - _SECOND) * (first & second)
        return parts


class _Costs:
    """A symmetric table of costs. It knows the minimum of each block of columns in each row.

    A full search for the minimum after every change would take longer than all changes together.
    """

    def __init__(self, size: int) -> None:
        blocks = -(-size // _BLOCK)
        self._blocks = np.full((size, blocks, _BLOCK), _FORBIDDEN, dtype=np.int64)
        self._table = self._blocks.reshape(size, blocks * _BLOCK)
        self._minima = np.full((size, blocks), _FORBIDDEN, dtype=np.int64)

    def set(self, rows: IntArray, columns: IntArray, costs: IntArray) -> None:
        """Set some entries, and the entries that mirror them."""
        self._table[rows, columns] = self._table[columns, rows] = costs

    def forbid(self, row: int) -> None:
        """Forbid all merges of a row, and of the column that mirrors it."""
        self._table[row] = self._table[:, row] = _FORBIDDEN

    def add(self, rows: IntArray, columns: IntArray, changes: IntArray) -> None:
        """Add to distinct entries, and to the entries that mirror them."""
        self._table[rows, columns] += changes
        self._table[columns, rows] += changes

    def rows(self, rows: IntArray) -> IntArray:
        """A copy of some rows."""
        return self._table[rows]

    def first_minimum(self, tolerance: int) -> tuple[int, int, int] | None:
        """Row, column and cost of the first entry that exceeds the minimum by the tolerance at most."""
        least = int(self._minima.min(initial=_FORBIDDEN))
        if least == _FORBIDDEN:
            return None
        row = int(np.argmax(self._minima.min(axis=1) <= least + tolerance))
        column = int(np.argmax(self._table[row] <= least + tolerance))
        return row, column, int(self._table[row, column])

    def find_minima(self) -> None:
        """Find the minima of all blocks."""
        self._minima = self._blocks.min(axis=2)

    def renew_minima(self, changed: IntArray, before: IntArray) -> None:
        """Find the minima again after some rows, and the columns that mirror them, have changed.

        Args:
            changed: the rows.
            before: what was in them when the minima were found.
        """
        self._minima[changed] = self._blocks[changed].min(axis=2)
        size = len(self._table)
        before, now, minima = before[:, :size], self._table[changed, :size], self._minima[:, changed // _BLOCK].T
        column, row = np.nonzero((now < minima) | ((before == minima) & (now != before)))
        block = changed[column] // _BLOCK
        self._minima[row, block] = self._blocks[row, block].min(axis=1)
