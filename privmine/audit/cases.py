"""Neighbouring databases to audit on, made up by a plain generator that needs nothing but a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, islice
from random import Random
from typing import Any, TypeAlias

from attrs import field, frozen
from attrs.converters import optional

from privmine.exact import exact
from privmine.store.transactions import Transactions

#: A transaction as a user brings it: items in any order, perhaps more than once.
Row: TypeAlias = tuple[int, ...]
#: Makes a database of a case's rows over a universe of so many items; a store of one's own is audited by another.
MakeDatabase: TypeAlias = Callable[[Sequence[Any], int], Transactions]

#: Budgets at which answers are nearly random, useful, and nearly exact: each takes other paths through the code.
BUDGETS = ("1/100", "1/10", "1", "10", "100")
#: The longest itemset to release, mostly none in particular.
LENGTHS = (None, None, None, 1, 2, 3)
#: So many equal transactions are written one by one.
_WRITTEN_OUT = 3


def _row(values: Any) -> Row:
    return tuple(int(value) for value in values)


def _rows(values: Any) -> tuple[Row, ...]:
    return tuple(_row(value) for value in values)


def make_database(rows: Sequence[Row], items: int) -> Transactions:
    """A database in memory over the public items 0 … items − 1."""
    return Transactions.from_lists(rows, items=range(items))


@frozen(kw_only=True)
class Asked:
    """What is asked of the two databases of a case, and which of them is the recorded one.

    Attributes:
        k: how many itemsets are asked for, or at most, where a frequency is.
        epsilon: the budget of the run.
        delta: its δ; None for pure ε.
        theta: the frequency that itemsets must have; None where k says what is asked for.
        max_length: the longest itemset to release.
        removed: whether the run is recorded on the larger database and replayed on the smaller one.
        seed: makes the noise of the recorded run, and the order of transactions where they are shuffled.
    """

    k: int = 3
    epsilon: Fraction = field(default=Fraction(1), converter=exact)
    delta: Fraction | None = field(default=None, converter=optional(exact))
    theta: Fraction | None = field(default=None, converter=optional(exact))
    max_length: int | None = None
    removed: bool = False
    seed: int = 0

    @property
    def request(self) -> dict[str, Any]:
        """What is asked, as arguments of `Pipeline.run`."""
        asked = {name: getattr(self, name) for name in ("k", "epsilon", "delta", "max_length")}
        return asked if self.theta is None else asked | {"k": None, "theta": self.theta, "k_max": self.k}


@frozen
class Case(Asked):
    """Two neighbouring databases, and what is asked of both.

    Attributes:
        items: the size of the public universe.
        transactions: the smaller database.
        extra: the transaction that the larger one has besides.
        place: where it stands there.
        reordered: whether the larger database has the other transactions in reverse order; order is
            no part of a database, so nothing may depend on it.
    """

    items: int
    transactions: tuple[Row, ...] = field(converter=_rows)
    extra: Row = field(converter=_row)
    place: int = 0
    reordered: bool = False

    @property
    def larger(self) -> tuple[Row, ...]:
        """The database with the extra transaction."""
        others = self.transactions[::-1] if self.reordered else self.transactions
        return (*others[: self.place], self.extra, *others[self.place :])

    @property
    def databases(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The database of the recorded run, and its neighbour."""
        return (self.larger, self.transactions) if self.removed else (self.transactions, self.larger)

    def code(self) -> str:
        """The case as Python code, without default values."""
        parts = [f"items={self.items}", f"transactions={rows_code(self.transactions)}", f"extra={self.extra}"]
        plain = {"max_length": None, "place": 0, "reordered": False, "removed": False, "seed": 0}
        return f"Case({', '.join([*parts, *plain_code(self, plain)])})"


def rows_code(rows: Sequence[Row]) -> str:
    """Transactions as Python code; a run of equal ones is written as one times their number."""
    runs = [(row, len(list(same))) for row, same in groupby(rows)]
    parts = (f"*[{row}] * {count}" if count > _WRITTEN_OUT else ", ".join([str(row)] * count) for row, count in runs)
    return f"[{', '.join(parts)}]"


def plain_code(case: Any, plain: Mapping[str, Any]) -> Iterator[str]:
    """The request as Python arguments. `plain` has the defaults of further fields, which are left out."""
    yield f"k={case.k}"
    yield f"epsilon={str(case.epsilon)!r}"
    if case.delta is not None:
        yield f"delta={str(case.delta)!r}"
    if case.theta is not None:
        yield f"theta={str(case.theta)!r}"
    yield from (f"{name}={getattr(case, name)!r}" for name, value in plain.items() if getattr(case, name) != value)


def generated_cases(seed: int = 0) -> Iterator[Case]:
    """An endless stream of cases, the same for the same seed; every kind of neighbour comes in turn."""
    random = Random(seed)  # noqa: S311 - it makes up test data; no release depends on it
    while True:
        for make in KINDS:
            yield make(random)


def some_cases(count: int, seed: int = 0) -> list[Case]:
    """The first cases of the stream."""
    return list(islice(generated_cases(seed), count))


def random_row(random: Random, items: int, size: int | None = None) -> Row:
    """A transaction of any items."""
    size = random.randint(0, items) if size is None else min(size, items)
    return tuple(sorted(random.sample(range(items), size)))


def random_database(random: Random, items: int, largest: int = 12) -> tuple[Row, ...]:
    """Some transactions, or none."""
    return tuple(random_row(random, items) for _ in range(random.randint(0, largest)))


def some_k(random: Random, items: int) -> int:
    """How many itemsets to ask for; sometimes so few that most items are in none of them."""
    return random.randint(1, 2) if random.random() < 0.2 else random.randint(1, 2 * items + 2)


def _case(random: Random, items: int, transactions: Sequence[Row], extra: Row, k: int | None = None) -> Case:
    """Fill in what is asked, and how the neighbour is written down."""
    return Case(
        items=items,
        transactions=tuple(transactions),
        extra=extra,
        k=some_k(random, items) if k is None else k,
        epsilon=Fraction(random.choice(BUDGETS)),
        max_length=random.choice(LENGTHS),
        place=random.randint(0, len(transactions)),
        reordered=random.random() < 0.25,
        removed=random.random() < 0.5,
        seed=random.getrandbits(32),
    )


def _any(random: Random) -> Case:
    items = random.randint(2, 8)
    return _case(random, items, random_database(random, items), random_row(random, items))


def _empty_transaction(random: Random) -> Case:
    items = random.randint(1, 6)
    return _case(random, items, random_database(random, items), ())


def _all_items(random: Random) -> Case:
    items = random.randint(2, 8)
    return _case(random, items, random_database(random, items), tuple(range(items)))


def _duplicates(random: Random) -> Case:
    items = random.randint(1, 6)
    extra = tuple(random.choice(range(items)) for _ in range(random.randint(2, 2 * items)))
    return _case(random, items, random_database(random, items), (*extra, extra[0]))


def _around_a_length(random: Random) -> Case:
    """Transactions of m items, and one of m + 1: where a limit on the length sets in."""
    items = random.randint(3, 9)
    length = random.randint(1, items - 1)
    rows = [random_row(random, items, length + random.randint(-1, 1)) for _ in range(random.randint(0, 8))]
    return _case(random, items, rows, random_row(random, items, length + random.randint(0, 1)))


def _tie(random: Random) -> Case:
    """Two items of equal support, of which the extra transaction has one: it decides who is the k-th."""
    items = random.randint(2, 6)
    rows = list(random_database(random, items, 8))
    first, second = random.sample(range(items), 2)
    lead = sum(first in row for row in rows) - sum(second in row for row in rows)
    rows.extend([(second,)] * lead if lead > 0 else [(first,)] * -lead)
    random.shuffle(rows)
    above = sum(sum(item in row for row in rows) > sum(first in row for row in rows) for item in range(items))
    return _case(random, items, rows, (second,), k=above + 1)


def _empty_database(random: Random) -> Case:
    items = random.randint(0, 5)
    return _case(random, items, (), random_row(random, items))


def _single_item(random: Random) -> Case:
    return _case(random, 1, random_database(random, 1), random_row(random, 1))


def _crowd(random: Random) -> Case:
    """The same few transactions many times, as in real data: scores that do not grow in proportion show here."""
    items = random.randint(1, 6)
    some = [random_row(random, items) for _ in range(random.randint(1, 3))]
    rows = [row for row in some for _ in range(random.choice((10, 30, 100, 300)))]
    return _case(random, items, rows, random.choice((random_row(random, items), *some)))


def _some_more_items(random: Random) -> Case:
    """About as many items as one basis holds."""
    items = random.randint(9, 13)
    return _case(random, items, random_database(random, items), random_row(random, items))


def _many_items(random: Random) -> Case:
    """So many items that one basis cannot hold them and pairs are selected."""
    items = random.randint(13, 24)
    rows = [random_row(random, items, random.randint(0, items // 2)) for _ in range(random.randint(0, 12))]
    return _case(random, items, rows, random_row(random, items), k=random.randint(12, 60))


#: Every kind of neighbour, each drawn in turn.
KINDS = (
    _any,
    _empty_transaction,
    _all_items,
    _duplicates,
    _around_a_length,
    _tie,
    _empty_database,
    _single_item,
    _crowd,
    _some_more_items,
    _many_items,
)
