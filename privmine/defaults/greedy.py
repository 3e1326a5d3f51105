"""The greedy steps of the paper's Algorithm 2 as pure functions: merging and dissolving.

What they start from (cliques, groups of three) and the error variance that they lower are in
`privmine.model.bases`. With the *precision* S(X) = Σ 2^(|X|−|B|) over the bases that contain X,
EV(X) = w²/S(X): the width enters as one common factor, and changing a basis changes S only for the
queries that it covers. Both greedy loops below rest on this.

Nothing here looks at data, and no result depends on the order of the arguments' elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from privmine.api import DEFAULT_LIMIT, FloatArray, IntArray, Itemset, in_order
from privmine.defaults.merging import Merging
from privmine.defaults.precision import Queries


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
    *_, merging = _merge_steps(in_order(cliques), list(triples), items, pairs, limit)
    return merging.bases()


def _merge_steps(
    cliques: Sequence[Itemset],
    triples: Sequence[Itemset],
    items: Iterable[int],
    pairs: Iterable[Itemset],
    limit: int,
) -> Iterator[Merging]:
    """B₁ at the outset and after each merge; always the same object."""
    queries = Queries([*cliques, *triples], items, pairs, limit)
    merging = Merging(queries, cliques, limit)
    width = len(cliques) + len(triples)
    yield merging
    while (cheapest := merging.cheapest()) is not None:
        one, other, cost = cheapest
        before = queries.total()
        if not queries.is_reduction(width, before, before + cost):
            return
        merging.merge(one, other)
        width -= 1
        yield merging


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
    queries = Queries(bases, items, pairs, limit)
    lonely = queries.lonely_items(bases)
    while True:
        before, width = queries.total(), len(bases)
        lengths = np.array([len(basis) for basis in bases], dtype=np.int64)
        best: tuple[int, dict[int, Itemset], FloatArray] | None = None
        for position in _different(bases, len(cliques), lengths, lonely):
            moved = _dissolved(bases, lengths, position, limit)
            if moved is None:
                continue
            precision = queries.precision.copy()
            for place, basis in moved.items():
                # The emptied basis answers no query any more.
                precision += queries.answer(basis) - queries.answer(bases[place])
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


def _different(bases: Sequence[Itemset], start: int, lengths: IntArray, lonely: set[int]) -> Iterator[int]:
    """The positions from `start` on; of bases that are equally good to dissolve only the first.

    Bases of one length whose items are all lonely are equally good, since their items move to the same bases,
    the smallest ones. Only a basis that is one of the smallest itself has to move its items elsewhere.
    """
    most = int(lengths[start:].max(initial=0))
    smallest = set(np.argsort(lengths, kind="stable")[: most + 1].tolist())
    seen = set()
    for position in range(start, len(bases)):
        if position not in smallest and lonely.issuperset(bases[position]):
            if len(bases[position]) in seen:
                continue
            seen.add(len(bases[position]))
        yield position


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
