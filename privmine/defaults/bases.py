"""The greedy steps of the paper's Algorithm 2 as pure functions: merging and dissolving.

What they start from (cliques, groups of three) and the error variance that they lower are in
`privmine.bases`. With the *precision* S(X) = Σ 2^(|X|−|B|) over the bases that contain X,
EV(X) = w²/S(X): the width enters as one common factor, and changing a basis changes S only for the
queries that it covers. Both greedy loops below rest on this.

Nothing here looks at data, and no result depends on the order of the arguments' elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.api import DEFAULT_LIMIT, FloatArray, IntArray, Itemset, in_order

BoolArray: TypeAlias = NDArray[np.bool_]

#: The cost of a merge that must not happen: larger than any sum of costs.
_FORBIDDEN = np.iinfo(np.int64).max
#: 2^−n by n, faster to look up than to compute.
_HALVINGS = np.ldexp(1.0, -np.arange(64))


def merge_bases(
    cliques: Iterable[Itemset],
    triples: Iterable[Itemset],
    items: Iterable[int],
    pairs: Iterable[Itemset],
    limit: int = DEFAULT_LIMIT,
) -> list[Itemset]:
    """Merge bases of B₁ while that lowers the average error variance (Alg. 2, l. 4).

    Each step replaces the two bases whose union leaves the smallest average EV over all items and
    pairs, the bases of B₂ counting towards the width. Unions longer than the limit are not allowed.
    On a tie the first two bases win, in the order by length, then items; a union takes the place of
    the earlier one. As in the paper, a basis that a union happens to contain stays a basis of its
    own, a second measurement of its itemsets, until merging the two pays.

    Args:
        cliques: B₁, no basis longer than the limit.
        triples: B₂, which this step leaves alone.
        items: F. Items and pairs that no basis covers are left out of the average.
        pairs: P.
        limit: the longest union allowed.

    Returns:
        The merged B₁.
    """
    *_, merged = _merge_steps(in_order(cliques), list(triples), items, pairs, limit)
    return merged


def _merge_steps(
    cliques: list[Itemset],
    triples: Sequence[Itemset],
    items: Iterable[int],
    pairs: Iterable[Itemset],
    limit: int,
) -> Iterator[list[Itemset]]:
    """B₁ at the outset and after each merge."""
    yield cliques
    queries = _Queries([*cliques, *triples], items, pairs, limit)
    merging = _Merging(queries, cliques, limit)
    width = len(cliques) + len(triples)
    while merging.costs.size:
        least = merging.costs.min()
        if least == _FORBIDDEN:
            return
        # The costs are in row-major order of the two bases, so the first one wins a tie.
        best = int(np.argmax(merging.costs <= least + queries.rounding))
        one, other = divmod(best, len(merging.costs))
        before = queries.total()
        if not queries.is_reduction(width, before, before + int(merging.costs[one, other])):
            return
        merging.merge(one, other)
        width -= 1
        yield merging.bases()


def dissolve_triples(
    cliques: Iterable[Itemset],
    triples: Iterable[Itemset],
    items: Iterable[int],
    pairs: Iterable[Itemset],
    limit: int = DEFAULT_LIMIT,
) -> list[Itemset]:
    """Dissolve bases of B₂ into the smallest other bases while that lowers the average EV (Alg. 2, l. 5).

    The paper leaves open how the items move. Here the items of a dissolved basis go one by one, in
    item order, each to the basis that is the smallest at that moment, so they spread; on a tie to the
    first one, B₁ before B₂, each in the order by length, then items, that it has at the outset. A basis
    of B₂ that received items is still one of B₂ and may be dissolved later. Where no basis has room
    within the limit, nothing is dissolved. Of equally good ones the first basis of B₂ is dissolved.

    Args:
        cliques: B₁, as merging left it.
        triples: B₂.
        items: F. Items and pairs that no basis covers are left out of the average.
        pairs: P.
        limit: the longest basis allowed.

    Returns:
        B₁ ∪ B₂: what is left of the bases, with the items that moved.
    """
    *_, bases = _dissolve_steps(in_order(cliques), in_order(triples), items, pairs, limit)
    return bases


def _dissolve_steps(
    cliques: list[Itemset],
    triples: list[Itemset],
    items: Iterable[int],
    pairs: Iterable[Itemset],
    limit: int,
) -> Iterator[list[Itemset]]:
    """B₁ ∪ B₂ at the outset and after each basis that was dissolved."""
    bases = [*cliques, *triples]
    yield bases
    queries = _Queries(bases, items, pairs, limit)
    while True:
        before, width = queries.total(), len(bases)
        lengths = np.array([len(basis) for basis in bases])
        best: tuple[int, dict[int, Itemset], FloatArray] | None = None
        for position in range(len(cliques), width):
            moved = _dissolved(bases, lengths, position, limit)
            if moved is None:
                continue
            # The emptied basis answers no query any more, which is what its row of zeros says.
            answers = queries.answers([*(bases[other] for other in moved), *moved.values()])
            precision = queries.precision + (answers[len(moved) :] - answers[: len(moved)]).sum(axis=0)
            if not precision.all():
                continue  # a pair inside the basis would lose its only cover
            after = int(queries.fixed(precision).sum())
            if best is None or after < best[0] - queries.rounding:
                best = after, moved, precision
        if best is None or not queries.is_reduction(width, before, best[0]):
            return
        _, moved, queries.precision = best
        emptied, *_ = moved
        bases = [moved.get(place, basis) for place, basis in enumerate(bases) if place != emptied]
        yield bases


def _dissolved(bases: Sequence[Itemset], lengths: IntArray, position: int, limit: int) -> dict[int, Itemset] | None:
    """What changes if one of the bases is emptied into the smallest others, or None if they have no room."""
    moved: dict[int, Itemset] = {position: ()}
    lengths = lengths.copy()
    lengths[position] = limit  # It has no room for its own items.
    for item in bases[position]:
        smallest = int(np.argmin(lengths))
        if lengths[smallest] >= limit:
            return None
        moved[smallest] = tuple(sorted({*moved.get(smallest, bases[smallest]), item}))
        lengths[smallest] = len(moved[smallest])
    return moved


class _Queries:
    """The items of F and pairs of P, and the precision with which a basis set answers each of them.

    Precisions are sums of a few powers of two, so floats hold them exactly. Their reciprocals, which
    EV sums up, are rounded to fixed point: integer sums do not depend on the order of their terms, and
    updating them does not drift. Two sums that differ by no more than their rounding count as a tie, so
    that ties are broken by public order and not by the last bit of 1/3.
    """

    def __init__(self, bases: Sequence[Itemset], items: Iterable[int], pairs: Iterable[Itemset], limit: int) -> None:
        queries = sorted({(item, item) for item in items} | {(min(pair), max(pair)) for pair in pairs})
        self.items = sorted({item for row in (*bases, *queries) for item in row})
        self._number = {item: position for position, item in enumerate(self.items)}
        ends = np.array([[self._number[item] for item in query] for query in queries], dtype=np.int64)
        self.first, self.second = ends.reshape(-1, 2).T
        #: 1 for an item, 2 for a pair.
        self.sizes = 1 + (self.first != self.second).astype(np.int64)
        covered = self.answers(bases).any(axis=0)
        self.first, self.second, self.sizes = self.first[covered], self.second[covered], self.sizes[covered]
        self.precision: FloatArray = self.answers(bases).sum(axis=0)
        # A reciprocal is less than 2^limit; leave room for the sum of all of them.
        self._scale = 2.0 ** (62 - limit - len(self.first).bit_length())
        #: How much rounding can shift one sum over all queries against another: half a unit a term in each.
        self.rounding = len(self.first)

    def membership(self, bases: Sequence[Itemset]) -> BoolArray:
        """Which basis (row) contains which item (column)."""
        member = np.zeros((len(bases), len(self.items)), dtype=np.bool_)
        for row, basis in enumerate(bases):
            member[row, [self._number[item] for item in basis]] = True
        return member

    def answers(self, bases: Sequence[Itemset]) -> FloatArray:
        """The precision with which each basis alone (row) answers each query (column)."""
        return self.answers_of(self.membership(bases))

    def answers_of(self, member: BoolArray) -> FloatArray:
        """The same for bases given by their membership."""
        covered = member[:, self.first] & member[:, self.second]
        lengths = member.sum(axis=1)[:, np.newaxis]
        return np.where(covered, np.ldexp(1.0, self.sizes - lengths), 0.0)

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


class _Merging:
    """The costs of all merges of two bases, kept up to date from one merge to the next.

    The cost of a merge is the change of Σ 1/S(X), the width apart. It involves only the queries that the
    union covers; but another merge changes S(X) for some of these too. So after a merge, exactly the
    terms of the queries whose precision changed are exchanged in the costs of all pairs of bases.
    """

    def __init__(self, queries: _Queries, bases: Sequence[Itemset], limit: int) -> None:
        self._queries = queries
        self._limit = limit
        self._member = queries.membership(bases)
        self._answers = queries.answers(bases)
        self._alive = np.ones(len(bases), dtype=np.bool_)
        self._unions = np.zeros((len(bases), len(bases)), dtype=np.int64)
        #: The cost of merging two bases, in the upper triangle; `_FORBIDDEN` everywhere else.
        self.costs = np.full((len(bases), len(bases)), _FORBIDDEN, dtype=np.int64)
        for row in range(len(bases)):
            self._evaluate(row, np.arange(row + 1, len(bases)))

    def bases(self) -> list[Itemset]:
        """What the bases are by now."""
        items = np.array(self._queries.items)
        return [tuple(items[row].tolist()) for row in self._member[self._alive]]

    def merge(self, one: int, other: int) -> None:
        """Replace basis `one` by its union with basis `other`, which goes."""
        queries = self._queries
        union = self._member[one] | self._member[other]
        answer = queries.answers_of(union[np.newaxis])[0]
        change = answer - self._answers[one] - self._answers[other]
        changed = np.flatnonzero(change)

        self.costs[[one, other], :] = _FORBIDDEN
        self.costs[:, [one, other]] = _FORBIDDEN
        touched = (self._member & union).any(axis=1)
        left, right = np.nonzero((self.costs != _FORBIDDEN) & (touched[:, np.newaxis] | touched))
        terms = self._terms(left, right, changed)
        stale = terms.cost(queries)
        queries.precision = queries.precision + change
        self.costs[left, right] += terms.cost(queries) - stale

        self._member[one], self._answers[one] = union, answer
        self._alive[other] = False
        self._evaluate(one, np.flatnonzero(self._alive))

    def _evaluate(self, basis: int, others: IntArray) -> None:
        """Compute the costs of merging a basis with each of the others from scratch."""
        unions = (self._member[others] | self._member[basis]).sum(axis=1)
        allowed = (unions <= self._limit) & (others != basis)
        others, unions = others[allowed], unions[allowed]
        left, right = np.minimum(basis, others), np.maximum(basis, others)
        self._unions[left, right] = unions
        everything = np.arange(len(self._queries.first))
        self.costs[left, right] = self._terms(left, right, everything).cost(self._queries)

    def _terms(self, left: IntArray, right: IntArray, columns: IntArray) -> _Terms:
        """What merging each left with its right basis does to the precision of some of the queries."""
        queries = self._queries
        has_first = self._member[:, queries.first[columns]]
        has_second = self._member[:, queries.second[columns]]
        covered = (has_first[left] | has_first[right]) & (has_second[left] | has_second[right])
        merge, column = np.nonzero(covered)
        query = columns[column]
        left, right = left[merge], right[merge]
        change = _HALVINGS[self._unions[left, right] - queries.sizes[query]]
        change -= self._answers[left, query]
        change -= self._answers[right, query]
        return _Terms(np.cumsum(covered.sum(axis=1)), query, change)


class _Terms:
    """The queries that each of several merges would cover, and the change of their precisions.

    Args:
        ends: for each merge, where its queries end in the other two arrays.
        query: the queries, merge by merge.
        change: what the merge would add to the precision.
    """

    def __init__(self, ends: IntArray, query: IntArray, change: FloatArray) -> None:
        self._ends = ends
        self._query = query
        self._change = change

    def cost(self, queries: _Queries) -> IntArray:
        """What each merge would add to the sum of EV at w = 1, given the precisions as they are now."""
        now = queries.fixed(queries.precision)
        terms = queries.fixed(queries.precision[self._query] + self._change) - now[self._query]
        sums: IntArray = np.concatenate([[0], np.cumsum(terms)])[np.concatenate([[0], self._ends])]
        return sums[1:] - sums[:-1]
