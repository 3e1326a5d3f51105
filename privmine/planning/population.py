"""The baskets that a plan is simulated on: public ones of the asked size, or made-up ones.

Privacy: a simulation counts its baskets exactly, and a plan shows what it counts. So nothing private may come in here.
A release and a dataset of the catalogue are public already; any other baskets are read only where the user says that
they are public.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from privmine.datasets import describe, open_dataset, repeated, zipf
from privmine.datasets.opening import catalogue
from privmine.datasets.repeated import RepeatedStore
from privmine.errors import DataError, InputError
from privmine.io import read
from privmine.model import Universe
from privmine.planning.resembling import baskets_like, may_lack_longer
from privmine.privacy.unit import Unit
from privmine.release import Release, load
from privmine.store.abstract import Store
from privmine.store.memory import MemoryStore
from privmine.store.rows import Rows
from privmine.store.shelf import Shelf
from privmine.store.transactions import Transactions

#: More baskets than this are made by repeating: the time of a simulation must not grow with the data.
MOST_ROWS = 100_000
#: A plan for more would count beyond what any store holds.
MOST_TRANSACTIONS = 10**12
#: What is assumed where nothing like the data is known.
ASSUMED_LENGTH = 5.0
ASSUMED_EXPONENT = 0.7
_MOST_ASSUMED_ROWS = 30_000
#: A file that may be a release is tried as one up to this size.
_LARGEST_RELEASE = 64 << 20
_RELEASE_ENDINGS = (".csv", ".json", ".parquet", ".xlsx")
#: How the receipt of a release tells the size of the universe.
_UNIVERSE = re.compile(r"of the ([\d,]+) items")
#: Where fewer than one of so many rows are in a clear order, noise has spread the supports.
_CLEAR_PART = 4
_SEED = 2012


@frozen(eq=False)
class Population:
    """Baskets to simulate on.

    Attributes:
        baskets: the baskets, whose items are their positions in the universe.
        words: what they are, as part of a sentence.
        notes: what a reader must know of them.
        others: baskets of the same size that agree as well with what is known, and differ most in the rest; None where
            there are none.
    """

    baskets: Transactions
    words: str
    notes: tuple[str, ...] = ()
    others: Transactions | None = None


def population_of(like: Any, *, is_public: bool, transactions: int | None, items: int | None, unit: Unit) -> Population:
    """Make the baskets.

    Args:
        like: a release or its file, the name of a public dataset, baskets or their file; None for made-up baskets.
        is_public: whether the user says that the baskets are public.
        transactions: how many baskets there are to be; None for as many as `like` has.
        items: how many items there are to be at least; None for as many as `like` has.
        unit: who would be protected.
    """
    if transactions is not None and transactions > MOST_TRANSACTIONS:
        raise InputError(f"The number of transactions must be at most {MOST_TRANSACTIONS:,}. Plan with that number.")
    source = as_release(like)
    if source is None and like is None:
        found = _assumed(transactions, items)
    elif isinstance(source, Release):
        found = _of_release(source, transactions, items)
    else:
        found = _of_baskets(like, is_public, transactions)
    both = (found.baskets, found.others)
    baskets, others = (None if one is None else evolve(_with_items(one, items), unit=unit) for one in both)
    assert baskets is not None
    return evolve(found, baskets=baskets, others=others)


def as_release(like: Any) -> Release | None:
    """A release, where one is given or the file of one; else None."""
    if isinstance(like, Release):
        return like
    if not isinstance(like, str | PathLike) or _is_name(like):
        return None
    path = Path(like)
    if not path.exists():
        names = ", ".join(sorted(catalogue()))
        raise InputError(
            f"There is no file {str(like)!r}, and no dataset of that name. Name the file of an earlier release, or a "
            f"public dataset: {names}."
        )
    if path.suffix.lower() not in _RELEASE_ENDINGS or path.stat().st_size > _LARGEST_RELEASE:
        return None
    try:
        return load(path)
    except DataError as error:
        if "newer privmine" in str(error):
            raise
        return None


def _is_name(like: Any) -> bool:
    return isinstance(like, str) and like.lower() in {name.lower() for name in catalogue()}


def _of_baskets(like: Any, is_public: bool, transactions: int | None) -> Population:
    if _is_name(like):
        told = describe(like)
        baskets, words, notes = open_dataset(like), f"the public dataset {told.name}", _proxy(told)
    elif not is_public:
        what = (
            f"{str(like)!r} is not a release that privmine saved"
            if isinstance(like, str | PathLike)
            else ("like= was given baskets, not a release")
        )
        raise InputError(
            f"{what}, so that it would be read as transactions, without noise, and the plan would show what it counts. "
            "Never do this with private data. If everybody may see these transactions, say so: like_is_public=True."
        )
    else:
        baskets = like if isinstance(like, Transactions) else _read(like)
        if baskets.universe.private:
            raise InputError("The items of like= are private, so that it is not public. Choose something public.")
        words, notes = "the baskets that you said are public", ()
    count = baskets.store.count()
    if not count or not len(baskets.universe):
        raise InputError("The baskets of like= are empty, so that nothing can be learnt from them. Choose others.")
    wanted = count if transactions is None else transactions
    scaled = "" if wanted == count else f", scaled from {count:,} to {wanted:,} transactions"
    return Population(resampled(baskets, wanted), words + scaled, notes)


def _proxy(told: Any) -> tuple[str, ...]:
    return (told.proxy,) if getattr(told, "proxy", None) else ()


def _read(like: Any) -> Transactions:
    baskets: Transactions = read(like)
    return baskets


def _of_release(release: Release, transactions: int | None, items: int | None) -> Population:
    known = items or _universe_size(release)
    made = baskets_like(release, known, transactions)
    wanted = round(release.total) if transactions is None else transactions
    notes = [
        f"Baskets were made up that have the {made.used:,} of {len(release):,} supports that noise does not explain. "
        "They lack what that release missed, so that more may be missed than is told here."
    ]
    others = None
    if may_lack_longer(release) and any(len(found.items) > 1 for found in release):
        others = resampled(baskets_like(release, known, transactions, together=True).baskets, wanted)
        notes.append(
            "That release may not have counted three or more items whose pairs it lists. One end of a range assumes "
            "that such items occur together as often as their pairs make likely, the other as often as the rarest pair."
        )
    if (clear := release.verdict.clear_order) < len(release) / _CLEAR_PART:
        notes.append(
            f"From rank {clear + 1} on the order of that release is a matter of chance: noise has spread its supports, "
            "so that itemsets look easier to tell apart than they are, and more may be missed."
        )
    if known is None:
        notes.append(
            f"The release does not tell how many items there are to choose from. {len(made.baskets.universe):,} are "
            "assumed: pass items= if you know better."
        )
    if not release.receipt.private:
        notes.append(
            "That release is a simulation, not a private release: do not pass on what it tells of private data."
        )
    words = f"an earlier release of {len(release):,} itemset{'' if len(release) == 1 else 's'}"
    return Population(resampled(made.baskets, wanted), words, tuple(notes), others)


def _universe_size(release: Release) -> int | None:
    for note in release.receipt.notes:
        if found := _UNIVERSE.search(note):
            return int(found[1].replace(",", ""))
    return None


def _assumed(transactions: int | None, items: int | None) -> Population:
    if transactions is None:
        raise InputError(
            "How much is found depends on how many transactions there are. Pass transactions=, for example "
            "transactions=50000, or like= with an earlier release or a public dataset."
        )
    count = items or 1000
    rows = min(transactions, _MOST_ASSUMED_ROWS)
    length = min(ASSUMED_LENGTH, max(1.0, count / 2))
    baskets = zipf(rows, items=count, mean_length=length, exponent=ASSUMED_EXPONENT)
    words = f"made-up baskets of {length:g} items on average out of {count:,}, bought independently"
    note = (
        "The sizes alone do not tell how often things are bought together. Name something public that is like your "
        "data for a better answer: like='retail', or an earlier release."
    )
    return Population(resampled(baskets, transactions), words, (note,))


def resampled(baskets: Transactions, wanted: int) -> Transactions:
    """About so many baskets: a random part, or all of them several times over; the same ones every time."""
    store, times = _once(baskets)
    rows = getattr(store, "rows", None)
    if not isinstance(rows, Rows):
        raise InputError("A plan can only be made like baskets in memory or on disk. Read them with pm.read first.")
    if wanted != times * rows.count or rows.count > MOST_ROWS:
        times = -(-wanted // min(rows.count, MOST_ROWS))
        part = max(round(wanted / times), 1)
        # A generator whose numbers are the same in every version of numpy; nothing here is protected by chance.
        order = np.sort(np.random.RandomState(_SEED).permutation(rows.count)[:part])
        rows = rows.in_order(order, Shelf())
    count = len(baskets.universe)
    return repeated(Transactions(Universe.of(np.arange(count)), MemoryStore(rows, count)), times)


def _once(baskets: Transactions) -> tuple[Store, int]:
    """The store that has each basket once, and how often each is there."""
    store = baskets.store
    return (store.store, store.times) if isinstance(store, RepeatedStore) else (store, 1)


def _with_items(baskets: Transactions, items: int | None) -> Transactions:
    """The baskets over a larger universe, whose further items never occur."""
    if items is None or items <= len(baskets.universe):
        return baskets
    store, times = _once(baskets)
    assert isinstance(store, MemoryStore)
    return repeated(Transactions(Universe.of(np.arange(items)), MemoryStore(store.rows, items)), times)
