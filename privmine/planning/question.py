"""What a plan is asked for, checked and in exact numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import Any

from attrs import frozen

from privmine.errors import InputError
from privmine.exact import exact, whole_number
from privmine.ledger import Ledger
from privmine.ledger.checks import delta_amount, unit_name
from privmine.ledger.entries import TRANSACTION
from privmine.model import BasisSet, itemset_count
from privmine.model.bases import DEFAULT_LIMIT, LONGEST_LIMIT
from privmine.pipeline.request import budget_of, number_of_itemsets
from privmine.privacy.unit import Unit, unit_called

#: The number of items enters by its logarithm only, so that a guess will do.
DEFAULT_ITEMS = 1000
_MOST_ITEMS = 10_000_000
#: The bins of all given bases together.
_MOST_BINS = 2**23


@frozen
class ErrorTarget:
    """A wanted error.

    Attributes:
        error: the largest typical standard error of a count.
        size: for itemsets of this size; None for all sizes.
    """

    error: Fraction
    size: int | None


def numbers_of(k: Any, default: int) -> tuple[int, ...]:
    """The numbers of itemsets that are asked for, each once; a text may list several, such as "20,200"."""
    given = _listed(default if k is None else k)
    found = [_whole_text(one) if isinstance(one, str) else one for one in given]
    if not found:
        raise InputError("No k is given. Name at least one, for example k=100.")
    return tuple(dict.fromkeys(number_of_itemsets(one) for one in found))


def amounts_of(epsilon: Any) -> tuple[Fraction, ...]:
    """The ε that are asked for, each once; a text may list several, such as "0.25,1"."""
    if epsilon is None:
        return ()
    found = tuple(dict.fromkeys(budget_of(one) for one in _listed(epsilon)))
    if not found:
        raise InputError("No ε is given. Name at least one, for example epsilon=1.")
    return found


def delta_of(delta: Any) -> Fraction | None:
    """The δ that pure ε is compared with, if any."""
    return delta_amount(delta, "δ")


def large_delta(delta: Fraction | None, transactions: int | None) -> str | None:
    """What to say of a δ that promises little for so many transactions; None if there is nothing to say."""
    if delta is None or transactions is None or delta * transactions <= 1:
        return None
    return (
        f"This δ is larger than 1 divided by {transactions:,} transactions: publishing a whole transaction, chosen at "
        "random, would be allowed. Choose a far smaller one."
    )


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return list(value) if isinstance(value, Iterable) else [value]


def _whole_text(text: str) -> Any:
    return int(text) if text.isascii() and text.isdigit() else text


def item_count(items: Any) -> int:
    """How many items there are to choose from."""
    count = whole_number(items, "The number of items")
    if count > _MOST_ITEMS:
        raise InputError(f"The number of items must be at most {_MOST_ITEMS:,}. Plan with that number instead.")
    return count


def _called(column: Any) -> Any:
    return unit_called(column) if isinstance(column, str) else column


def unit_of(unit: str | None, max_baskets: Any, merge_by: str | None, ledger: Any, dataset: str | None) -> Unit:
    """Who is to be protected; where several baskets count and nobody is named, whoever the ledger's budget is for."""
    baskets = whole_number(max_baskets, "max_baskets")
    if unit is None and merge_by is None and baskets > 1 and ledger is not None and dataset is not None:
        unit = as_ledger(ledger).budget(dataset).unit
    named = None if unit is None or unit == TRANSACTION else unit_name(_called(unit))
    merged = None if merge_by is None else unit_name(_called(merge_by))
    return Unit.of(named, None if named is None and baskets == 1 else baskets, merged)


def as_ledger(ledger: Any) -> Ledger:
    """The ledger itself, or that at a path."""
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def assumed_lambdas(
    lam: Any, k: int, items: int, max_length: int | None, drawn: tuple[int, int] | None = None
) -> tuple[int, ...]:
    """λ as it was given, else numbers that span what it can be.

    Args:
        lam: λ as it was given, or None.
        k: how many itemsets there are, which have at most k items.
        items: how many items there are.
        max_length: the longest itemset.
        drawn: from where to where the method draws λ, if that is known.
    """
    low, high = drawn or _possible(k, items, max_length)
    if lam is not None:
        given = whole_number(lam, "lam=, the number of items in the top k itemsets,")
        if given > high or (drawn is not None and given < low):
            raise InputError(
                f"λ = {given:,} is impossible: with this k and this number of items it lies between "
                f"{low:,} and {high:,}. Change lam=, k= or items=."
            )
        return (given,)
    # Where one basis no longer holds all items, errors jump.
    middle = (DEFAULT_LIMIT, DEFAULT_LIMIT + 1, round(sqrt(DEFAULT_LIMIT * high)))
    return tuple(sorted({low, high, *(between for between in middle if low < between < high)}))


def _possible(k: int, items: int, max_length: int | None) -> tuple[int, int]:
    """From so few items that they have k itemsets, to k or all that there are."""
    low, high = 1, min(k, items)
    while low < high and itemset_count(low, max_length) < k:
        low += 1
    return low, high


def given_bases(bases: Any, length: Any) -> BasisSet | None:
    """The bases that were given: a basis set, collections of items, or how many there are and how long.

    Of w bases of ℓ items, those itemsets are told of which one basis of ℓ items answers, one for each
    size, since all of a size have the same error; the other bases only take their part of the budget.
    """
    if bases is None:
        if length is not None:
            raise InputError("length= describes bases, but their number is not given. Pass bases= as well.")
        return None
    if isinstance(bases, BasisSet):
        found = bases
    elif isinstance(bases, Iterable) and not isinstance(bases, str | bytes):
        found = _collections(bases)
    else:
        return _alike(bases, length)
    if length is not None:
        raise InputError("The bases themselves were given, so their length is known. Drop length=.")
    _check_bins(sum(2 ** len(basis) for basis in found.bases))
    return found


def _alike(bases: Any, length: Any) -> BasisSet:
    width = whole_number(bases, "bases=, the number of bases,")
    if length is None:
        raise InputError("The error depends on how long the bases are. Pass length= as well.")
    longest = whole_number(length, "length=, the number of items of a basis,")
    if longest > LONGEST_LIMIT:
        raise InputError(f"A basis of {longest:,} items has 2^{longest} bins. Plan with at most {LONGEST_LIMIT} items.")
    _check_bins(2**longest + 2 * (width - 1))
    others = [(longest + other,) for other in range(width - 1)]
    return BasisSet([tuple(range(longest)), *others], [tuple(range(size)) for size in range(1, longest + 1)])


def _collections(bases: Iterable[Any]) -> BasisSet:
    number: dict[Any, int] = {}
    try:
        found = [tuple(number.setdefault(item, len(number)) for item in basis) for basis in bases]
    except TypeError:
        raise InputError("Bases must be collections of items, such as [['bread', 'milk'], ['tea']].") from None
    if not found:
        raise InputError("No basis was given. Leave bases= out, or name at least one.")
    return BasisSet(found)


def _check_bins(bins: int) -> None:
    if bins > _MOST_BINS:
        raise InputError(f"These bases have {bins:,} bins, but a plan can hold {_MOST_BINS:,}. Plan with fewer.")


def target_of(error: Any, size: Any, transactions: int | None) -> ErrorTarget | None:
    """The wanted error, in transactions or as a percentage of them."""
    if error is None:
        if size is not None:
            raise InputError("target_size needs a target error. Pass target_error= as well.")
        return None
    text = str(error).strip()
    if text.endswith("%"):
        if transactions is None:
            raise InputError(
                "The target error is a percentage of the transactions, but their number is not "
                "given. Pass transactions= as well."
            )
        wanted = exact(text[:-1], "The target error") * transactions / 100
    else:
        wanted = exact(error, "The target error must be greater than 0: without any error there is no privacy.")
    if wanted <= 0:
        raise InputError("The target error must be greater than 0; without any error there is no privacy.")
    return ErrorTarget(wanted, None if size is None else whole_number(size, "target_size"))


def whole_or_none(value: Any, what: str) -> int | None:
    """A whole number, where one was given; 88e3 and 88000.0 are whole numbers too."""
    if value is None:
        return None
    if isinstance(value, str | float):
        try:
            number = exact(value, what)
        except InputError:
            number = None
        if number is None or number.denominator != 1:
            raise InputError(f"{what} must be a whole number such as 50000, without commas, not {value!r}.")
        value = int(number)
    return whole_number(value, what)
