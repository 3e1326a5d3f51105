"""Itemsets: sorted tuples of positions in the universe, one by one or many in two flat arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, count, pairwise
from math import comb
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.errors import ContractError
from privmine.model.numbers import IntArray, int_array, read_only, same_array

Itemset: TypeAlias = tuple[int, ...]
_WHOLE, _TUPLE = frozenset([int]), frozenset([tuple])


def _items(values: Iterable[int]) -> tuple[int, ...]:
    found = tuple(values)
    # Python takes True for 1, so that a mask would pass for the items 0 and 1.
    if bool in map(type, found):
        raise ContractError(
            "Items must be positions in the universe, not True or False. Convert a mask with np.flatnonzero."
        )
    return tuple(map(operator.index, found))


def _is_plain(items: tuple[int, ...]) -> bool:
    """Whether they are Python's own whole numbers, and rise."""
    return set(map(type, items)) <= _WHOLE and all(map(operator.lt, items, items[1:]))


def _are_plain(itemsets: tuple[Any, ...]) -> bool:
    """Whether all are tuples of Python's own whole numbers that rise: looked at together, since there may be many."""
    if not set(map(type, itemsets)) <= _TUPLE:
        return False
    members = list(chain.from_iterable(itemsets))
    if not set(map(type, members)) <= _WHOLE:
        return False
    # From the last of an itemset to the first of the next one they need not rise.
    starts = set(accumulate(map(len, itemsets)))
    return starts.issuperset(compress(count(1), map(operator.ge, members, members[1:])))


def itemset(items: Iterable[int]) -> Itemset:
    """Bring items into the one form that an itemset has: a sorted tuple without repetition."""
    # Most are in this form already, and there may be very many of them.
    if isinstance(items, tuple) and _is_plain(items):
        return tuple(items)
    return tuple(sorted(set(_items(items))))


def optional_itemset(items: Iterable[int] | None) -> Itemset | None:
    """An itemset in its one form, or None as it is."""
    return None if items is None else itemset(items)


def itemset_tuple(values: Iterable[Iterable[int]]) -> tuple[Itemset, ...]:
    """Many itemsets, each in its one form."""
    found: tuple[Any, ...] = tuple(values)
    return found if _are_plain(found) else tuple(itemset(value) for value in found)


def optional_itemset_tuple(values: Iterable[Iterable[int]] | None) -> tuple[Itemset, ...] | None:
    """Many itemsets, each in its one form, or None as it is."""
    return None if values is None else itemset_tuple(values)


def _members(values: Any) -> NDArray[np.int32]:
    return read_only(np.array(values, dtype=np.int32))


@frozen
class Itemsets(Sequence[Itemset]):
    """Many itemsets in two flat arrays: the members one after another, and where each itemset starts."""

    members: NDArray[np.int32] = field(converter=_members, eq=same_array, repr=False)
    offsets: IntArray = field(converter=int_array, eq=same_array, repr=False)

    @classmethod
    def of(cls, itemsets: Iterable[Iterable[int]]) -> Itemsets:
        """Collect itemsets given one by one."""
        rows = [itemset(row) for row in itemsets]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return cls([item for row in rows for item in row], offsets)

    @property
    def lengths(self) -> IntArray:
        """The size of each itemset."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index = int(index) % len(self)
        return tuple(self.members[self.offsets[index] : self.offsets[index + 1]].tolist())

    def __iter__(self) -> Iterator[Itemset]:
        members = self.members.tolist()
        bounds = self.offsets.tolist()
        for start, stop in pairwise(bounds):
            yield tuple(members[start:stop])


def itemset_count(items: int, max_length: int | None = None) -> int:
    """How many nonempty itemsets so many items have, of at most this length."""
    if max_length is None or max_length >= items:
        return int(2**items) - 1
    return sum(comb(items, length) for length in range(1, max_length + 1))
