"""Bases that keep w²·2^ℓ small, the largest variance that any count can have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen

from privmine.api import Elements, Itemset, average_error_variance, balanced_groups, groups_of_three, in_order
from privmine_bases.cliques import CliqueBasis, Cliques
from privmine_bases.coverage import pairs_of


def worst_variance(bases: Sequence[Itemset]) -> int:
    """w²·2^ℓ, which bounds the variance of every count, in units of one bin's noise at w = 1."""
    return len(bases) ** 2 << max(map(len, bases), default=0)


def pack(cliques: Iterable[Itemset], lonely: Iterable[int], length: int) -> list[Itemset]:
    """Join bases until no two fit into `length` items, then fill the room that is left with lonely items.

    Args:
        cliques: bases, none longer than `length`.
        lonely: items that go anywhere; each to what is the shortest basis by then, on a tie to the first.
        length: the longest basis allowed.
    """
    bases = [list(basis) for basis in merge_within(cliques, length)]
    waiting = sorted(lonely)
    while waiting and bases:
        shortest = min(bases, key=len)
        if len(shortest) >= length:
            break
        shortest.append(waiting.pop(0))
    return in_order([*(tuple(sorted(basis)) for basis in bases), *balanced_groups(waiting, length)])


def merge_within(bases: Iterable[Itemset], length: int) -> list[Itemset]:
    """Merge, while any two bases fit into `length` items, the two that share most items.

    Among pairs that share equally many the longest union comes first, since what fits best leaves
    the least room unused; then the order of the bases decides.
    """
    ordered = in_order(bases)
    items = sorted({item for basis in ordered for item in basis})
    member = np.array([[item in basis for item in items] for basis in map(set, ordered)], dtype=np.int64)
    member = member.reshape(len(ordered), len(items))
    alive = np.ones(len(ordered), dtype=np.bool_)
    shared = member @ member.T
    while True:
        sizes = member.sum(axis=1)
        unions = sizes[:, np.newaxis] + sizes - shared
        allowed = np.triu((unions <= length) & alive & alive[:, np.newaxis], k=1)
        if not allowed.any():
            break
        # Lexicographic in one number: a union has at most `length` items.
        merit = np.where(allowed, shared * (length + 1) + unions, -1)
        one, other = divmod(int(merit.argmax()), len(ordered))
        member[one] |= member[other]
        alive[other] = False
        shared[one] = shared[:, one] = member @ member[one]
    names = np.array(items, dtype=np.int64)
    return [tuple(names[row == 1].tolist()) for row in member[alive]]


def least_worst_bases(
    cliques: Sequence[Itemset], lonely: Sequence[int], pairs: set[Itemset], limit: int
) -> list[Itemset]:
    """The basis set of least w²·2^ℓ among the cliques as they are and what packing gives at each length.

    One more item doubles 2^ℓ, which a single merge repays only at w ≤ 3, so that a greedy search
    over merges alone would stop at once. Hence the length is fixed first, and each length is tried.
    Of equally good basis sets the one of least average error variance wins, then the first.
    """
    longest = max(map(len, cliques), default=1)
    choices = [[*cliques, *groups_of_three(lonely, limit)]]
    choices += (pack(cliques, lonely, length) for length in range(longest, limit + 1))
    queries = sorted({(item,) for basis in choices[0] for item in basis} | pairs)
    return min(choices, key=lambda bases: (worst_variance(bases), average_error_variance(bases, queries)))


@frozen
class WorstCaseBasis(CliqueBasis):
    """Merges cliques such that w²·2^ℓ is small, the largest variance that any count can have.

    Covers what `cliques` covers, with a bound on the variance that is never larger. For every length
    from that of the longest clique to `max_length` it merges cliques while two fit, those that share
    most items first, fills what room is left with the items that have no pair, and keeps the best
    of these basis sets.

    Privacy: this stage has no curator and never sees data. It post-processes what selection has
    already paid for, and its notes tell sizes of cliques of selected pairs only.
    """

    def arranged(self, found: Cliques, elements: Elements) -> list[Itemset]:
        """The bases that are made of the cliques: merged at the best length."""
        return least_worst_bases(found.bases, found.lonely, pairs_of(elements), self.max_length)
