"""The values that pass between the stages: frozen, converted at the edge, free of transactions.

Inside the engine an item is its index in the public universe and an itemset is a sorted tuple of
such indices. Labels appear when data is read and when a release is shown, nowhere in between.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, isfinite
from typing import Any, Protocol, TypeAlias

import numpy as np
from attrs import cmp_using, field, frozen
from numpy.typing import NDArray

from privmine.errors import ContractError, InputError

Itemset: TypeAlias = tuple[int, ...]
IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

#: The five stages, in the order in which a run calls them.
STAGES = (
    "allocate_budget",
    "estimate_lambda",
    "select_elements",
    "construct_basis",
    "reconstruct_counts",
)
#: The stages that are given a curator, and so can have a share of the budget.
DATA_STAGES = ("estimate_lambda", "select_elements", "reconstruct_counts")


#: What a message calls a number whose name it does not know.
A_NUMBER = "The number"


def exact(value: Any, what: str = A_NUMBER) -> Fraction:
    """Turn a number into the fraction that its decimal text means: 0.1 is 1/10, not its binary neighbour."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise InputError(f"{what} must be a number, not {value!r}.")
    if isinstance(value, float) and not isfinite(value):
        raise InputError(f"{what} must be finite, not {value!r}.")
    text = str(value).strip().lower()
    # An exponent of nine digits is a number of a billion digits; writing it out would take for ever.
    digits, _, exponent = text.partition("e")
    if len(digits) > 1000 or len(exponent.lstrip("+-0")) > 3:
        raise InputError(f"{what} has too many digits; write a number such as 0.5 or 1/3.")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{what} must be a number such as 0.5 or 1/3, not {value!r}.") from None


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array through which nobody can write."""
    view = array.view()
    view.flags.writeable = False
    return view


def itemset(items: Iterable[int]) -> Itemset:
    """Bring items into the one form that an itemset has: a sorted tuple without repetition."""
    return tuple(sorted(set(_items(items))))


def int_array(values: Any) -> IntArray:
    """A read-only copy as 64-bit integers."""
    return read_only(np.array(values, dtype=np.int64))


def float_array(values: Any) -> FloatArray:
    """A read-only copy as 64-bit floats."""
    return read_only(np.array(values, dtype=np.float64))


def _members(values: Any) -> NDArray[np.int32]:
    return read_only(np.array(values, dtype=np.int32))


def _items(values: Iterable[int]) -> tuple[int, ...]:
    found = tuple(values)
    # Python takes True for 1, so that a mask would pass for the items 0 and 1.
    if bool in map(type, found):
        raise ContractError("Items are positions in the universe, not True or False; np.flatnonzero converts a mask.")
    return tuple(map(operator.index, found))


def _amount(value: Any) -> float:
    if isinstance(value, bool):
        raise ContractError(f"A number of transactions is a number, not {value!r}.")
    return float(value)


def _amounts(values: Any) -> FloatArray:
    if np.asarray(values).dtype.kind == "b":
        raise ContractError("Counts and standard errors are numbers, not True or False.")
    return float_array(values)


def _positions(values: Any) -> IntArray:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ContractError(f"The positions of laws are whole numbers, not {array.dtype}.")
    return int_array(array)


def _optional_itemsets(values: Iterable[Iterable[int]] | None) -> tuple[Itemset, ...] | None:
    return None if values is None else itemset_tuple(values)


_same_array = cmp_using(eq=np.array_equal)


def optional_itemset(items: Iterable[int] | None) -> Itemset | None:
    """An itemset in its one form, or None as it is."""
    return None if items is None else itemset(items)


def itemset_tuple(values: Iterable[Iterable[int]]) -> tuple[Itemset, ...]:
    """Many itemsets, each in its one form."""
    return tuple(itemset(value) for value in values)


def text_tuple(values: Iterable[str]) -> tuple[str, ...]:
    """Sentences as a tuple; one text is refused, because it would become a tuple of letters."""
    found = tuple(values)
    if isinstance(values, str) or not all(isinstance(text, str) for text in found):
        raise ContractError("Sentences such as notes are a list of texts; put a single one into a list.")
    return found


@frozen
class Universe:
    """The public set of items, in the public order that breaks ties.

    Attributes:
        labels: what users call the items; their position is the item's index.
        given: whether the user named the universe. If it was taken from the data, the receipt says so.
    """

    labels: NDArray[Any] = field(eq=_same_array, repr=False)
    given: bool = True

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, labels: Sequence[Any] | NDArray[Any], *, given: bool = True) -> Universe:
        """Make a universe in the order of the labels; a repeated label is refused."""
        array = _label_array(labels)
        if array.dtype == object and not all(_is_writable(label) for label in array.tolist()):
            raise InputError("An item label holds a lone surrogate, which no file can hold; rename that item.")
        if _has_repetition(array):
            raise InputError("The item universe names an item more than once; every item must be listed exactly once.")
        return cls(read_only(array), given)

    def named(self, items: Itemset) -> tuple[Any, ...]:
        """The labels of an itemset, as plain Python values."""
        return tuple(self.labels[list(items)].tolist())

    def itemset_count(self, max_length: int | None = None) -> int:
        """How many nonempty itemsets there are, of at most this length."""
        return itemset_count(len(self), max_length)


def itemset_count(items: int, max_length: int | None = None) -> int:
    """How many nonempty itemsets so many items have, of at most this length."""
    if max_length is None or max_length >= items:
        return int(2**items) - 1
    return sum(comb(items, length) for length in range(1, max_length + 1))


def _is_writable(label: str) -> bool:
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


@frozen
class Unit:
    """Who is protected: whose data may come or go without changing an outcome's probability much.

    Attributes:
        name: "transaction", or the column that tells whose a transaction is, such as "customer_id".
        baskets: the most transactions that one unit has in the data; noise grows with it.
        merged: whether all that a unit has was merged into one transaction.
    """

    name: str = "transaction"
    baskets: int = 1
    merged: bool = False

    def __attrs_post_init__(self) -> None:
        # The scale of all noise is a multiple of it, so that a fraction or a 0 here would protect nobody.
        whole = isinstance(self.baskets, int) and not isinstance(self.baskets, bool)
        if not whole or self.baskets < 1 or (self.merged and self.baskets > 1):
            raise InputError(
                f"A unit of protection counts with a whole number of transactions, at least 1 and just 1 if they are "
                f"merged, not {self.baskets!r}."
            )

    @property
    def is_transaction(self) -> bool:
        """Whether each transaction is protected on its own, whoever it belongs to."""
        return self == Unit()


def _pairs(options: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict(options).items())


@frozen
class Origin:
    """How data was read: names of files and columns, never anything that is in them.

    Attributes:
        layout: how it lies there, such as "long"; empty where the data was not read but made.
        source: what it was read from.
        guessed: the options of `read` that would have said what was guessed.
        assumes: what the way in takes for granted, as sentences for the receipt.
        columns: which column of a table is used as what: the transaction, the item, the unit.
        reference: what the user wrote to name the source: a path, a pattern, or a query with its database. The ledger
            compares it; it is not shown.
    """

    layout: str = ""
    source: str = ""
    guessed: tuple[tuple[str, str], ...] = field(default={}, converter=_pairs)
    assumes: tuple[str, ...] = field(default=(), converter=text_tuple)
    columns: tuple[tuple[str, str], ...] = field(default={}, converter=_pairs)
    reference: str = field(default="", repr=False)

    @property
    def guess(self) -> str:
        """What was guessed, in the words of `read`; empty if nothing was."""
        return ", ".join(f"{option}={value!r}" for option, value in self.guessed)

    def __str__(self) -> str:
        return f"{self.layout} layout of {self.source}" + (f" (guessed: {self.guess})" if self.guessed else "")


@frozen
class Public:
    """What anybody may know of the data: all that a stage without a curator has to go by.

    Attributes:
        universe: the item universe.
        unit: what one unit of protection is.
        n: the number of transactions, where the user declared it public, else None.
        origin: how the data was read.
    """

    universe: Universe
    unit: Unit = Unit()
    n: int | None = None
    origin: Origin = Origin()


@frozen
class Request:
    """What the user asked for.

    Attributes:
        k: how many itemsets to release, clamped to the number of itemsets that exist.
        requested: k as it was asked for.
        epsilon: the privacy budget of the whole run.
        public: what is public of the data.
        max_length: the longest itemset to release, or None.
    """

    k: int
    requested: int
    epsilon: Fraction
    public: Public
    max_length: int | None = None


def _share(value: Any) -> Fraction:
    share = exact(value, "A share of the budget")
    if share < 0:
        raise InputError(f"A share of the budget must not be negative, not {share}.")
    return share


@frozen
class BudgetPlan:
    """How the budget is divided: a share of 1 for each stage that may look at data.

    What a stage leaves unspent goes to the next one, and reconstruction has all that remains.
    """

    estimate_lambda: Fraction = field(default=Fraction(0), converter=_share)
    select_elements: Fraction = field(default=Fraction(0), converter=_share)
    reconstruct_counts: Fraction = field(default=Fraction(0), converter=_share)

    def __attrs_post_init__(self) -> None:
        total = self.estimate_lambda + self.select_elements + self.reconstruct_counts
        if total > 1:
            raise InputError(f"The shares of the budget sum to {total}, which exceeds 1; lower at least one of them.")

    def limits(self) -> dict[str, Fraction]:
        """For each stage, what the run may have spent in all when the stage has ended."""
        selected = self.estimate_lambda + self.select_elements
        return {
            "estimate_lambda": self.estimate_lambda,
            "select_elements": selected,
            "reconstruct_counts": Fraction(1),
        }


@frozen
class Estimate:
    """What λ estimation found: the number of items to select, and a noisy support threshold if there is one."""

    lam: int | None = None
    theta: float | None = None


@frozen
class Elements:
    """The items and the itemsets that selection found worth covering, most promising first."""

    items: tuple[int, ...] = field(converter=_items)
    itemsets: tuple[Itemset, ...] = field(default=(), converter=itemset_tuple)


@frozen
class BasisSet:
    """The bases to measure, and which itemsets to report of them.

    Attributes:
        bases: sets of items; the transactions are counted by their intersection with each.
        candidates: the itemsets that may be released, or None for all subsets of the bases.
        notes: sentences for the receipt, such as what a basis set does not cover.
    """

    bases: tuple[Itemset, ...] = field(converter=itemset_tuple)
    candidates: tuple[Itemset, ...] | None = field(default=None, converter=_optional_itemsets)
    notes: tuple[str, ...] = field(default=(), converter=text_tuple)

    @property
    def width(self) -> int:
        """The number of bases, w in the paper."""
        return len(self.bases)

    @property
    def length(self) -> int:
        """The size of the largest basis, ℓ in the paper."""
        return max((len(basis) for basis in self.bases), default=0)


@frozen
class Itemsets(Sequence[Itemset]):
    """Many itemsets in two flat arrays: the members one after another, and where each itemset starts."""

    members: NDArray[np.int32] = field(converter=_members, eq=_same_array, repr=False)
    offsets: IntArray = field(converter=int_array, eq=_same_array, repr=False)

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


def _laws(values: Iterable[NoiseLaw]) -> tuple[NoiseLaw, ...]:
    return tuple(values)


def _as_itemsets(value: Any) -> Itemsets:
    return value if isinstance(value, Itemsets) else Itemsets.of(value)


class NoiseLaw(Protocol):
    """The distribution of the noise in a count, symmetric about zero; `NoiseSum` is one."""

    def half_width(self, level: float) -> float:
        """The least h such that the noise lies within ±h with a probability of at least `level`."""


@frozen
class NoisyCounts:
    """The noisy supports of all candidates, and the noisy number of transactions.

    Attributes:
        itemsets: the candidates; an `Itemsets` or any collection of itemsets.
        counts: the noisy support of each.
        standard_errors: the standard deviation of the noise in each count.
        total: the noisy number of transactions, which frequencies are computed with.
        total_error: its standard deviation.
        laws: the distributions that occur as the noise of a count, each once.
        law_of: for each count the position of its distribution in `laws`. A component that does not
            know how its noise is distributed leaves both empty; intervals are then normal ones.
        total_law: the distribution of the noise in the total, if it is known.
    """

    itemsets: Itemsets = field(converter=_as_itemsets)
    counts: FloatArray = field(converter=_amounts, eq=_same_array, repr=False)
    standard_errors: FloatArray = field(converter=_amounts, eq=_same_array, repr=False)
    total: float = field(converter=_amount)
    total_error: float = field(converter=_amount)
    laws: tuple[NoiseLaw, ...] = field(default=(), converter=_laws)
    law_of: IntArray = field(factory=tuple, converter=_positions, eq=_same_array, repr=False)
    total_law: NoiseLaw | None = None

    def __attrs_post_init__(self) -> None:
        if not len(self.itemsets) == len(self.counts) == len(self.standard_errors):
            raise ContractError(
                f"NoisyCounts needs one count and one standard error an itemset; there are "
                f"{len(self.itemsets)} itemsets, {len(self.counts)} counts and "
                f"{len(self.standard_errors)} standard errors."
            )
        known = self.law_of.min(initial=0) >= 0 and self.law_of.max(initial=-1) < len(self.laws)
        if len(self.law_of) not in (0, len(self.itemsets)) or not known:
            raise ContractError(
                f"NoisyCounts needs the position of a law for each of its {len(self.itemsets)} itemsets, or none "
                f"at all; there are {len(self.law_of)} positions, and {len(self.laws)} laws."
            )

    def top(self, k: int, max_length: int | None = None) -> list[int]:
        """Positions of the k largest counts; ties go to the shorter, then to the public item order.

        The empty itemset is never among them (Alg. 1, l. 27 would admit it; see docs/paper.md).
        """
        lengths = self.itemsets.lengths
        eligible = lengths > 0
        if max_length is not None:
            eligible &= lengths <= max_length
        positions = np.flatnonzero(eligible)
        if 0 < k < len(positions):
            counts = self.counts[positions]
            threshold = np.partition(counts, len(counts) - k)[len(counts) - k]
            positions = positions[counts >= threshold]
        ranked = sorted(
            positions.tolist(),
            key=lambda position: (-self.counts[position], lengths[position], self.itemsets[position]),
        )
        return ranked[:k]
