"""The public set of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.errors import InputError
from privmine.model.itemsets import Itemset, itemset_count
from privmine.model.numbers import read_only, same_array

Private: TypeAlias = Literal["private"]
#: What a user writes instead of a universe: which items occur is private, and a run must find them under noise.
PRIVATE: Final[Private] = "private"


@frozen
class Universe:
    """The public set of items, in the public order that breaks ties.

    Attributes:
        labels: what users call the items; their position is the item's index.
        given: whether the user named the universe. If it was taken from the data, the receipt says so.
        private: whether it is not public which items occur. Before a run has found some, there are no labels.
    """

    labels: NDArray[Any] = field(eq=same_array, repr=False)
    given: bool = True
    private: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, labels: Sequence[Any] | NDArray[Any], *, given: bool = True) -> Universe:
        """Make a universe in the order of the labels; a repeated label is refused."""
        array = _label_array(labels)
        if array.dtype == object and not all(is_writable(label) for label in array.tolist()):
            raise InputError("An item label contains a lone surrogate, which no file can hold. Rename that item.")
        if _has_repetition(array):
            raise InputError("The item universe names an item more than once. List every item exactly once.")
        return cls(read_only(array), given)

    @classmethod
    def unknown(cls) -> Universe:
        """The universe of data whose items are private, before a run has found any."""
        return cls(read_only(np.zeros(0, dtype=np.int64)), given=False, private=True)

    def named(self, items: Itemset) -> tuple[Any, ...]:
        """The labels of an itemset, as plain Python values."""
        return tuple(self.labels[list(items)].tolist())

    def itemset_count(self, max_length: int | None = None) -> int:
        """How many nonempty itemsets there are, of at most this length."""
        return itemset_count(len(self), max_length)


def is_writable(label: str) -> bool:
    """Whether a file can hold the label, which it cannot if there is a lone surrogate in it."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_repetition(labels: NDArray[Any]) -> bool:
    if labels.dtype.kind != "i":
        return len(set(labels.tolist())) != len(labels)
    ordered = np.sort(labels)  # np.unique hashes, which takes seconds on millions of items
    return bool((ordered[1:] == ordered[:-1]).any())


def _label_array(labels: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Integers stay integers, everything else becomes text, so that labels sort and compare."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    values = list(labels)
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values) and all(
        -(2**63) <= value < 2**63 for value in values
    ):
        return np.array(values, dtype=np.int64)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [str(value) for value in values]
    return texts
