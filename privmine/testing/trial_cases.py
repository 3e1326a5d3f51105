"""Made-up databases on which a component is tried: the odd ones by name, and small random ones."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from attrs import field, frozen

from privmine.exact import exact
from privmine.pipeline.request import LARGEST_EPSILON, SMALLEST_EPSILON
from privmine.privacy.guarantee import at_epsilon
from privmine.store.transactions import Transactions

Baskets: TypeAlias = tuple[tuple[int, ...], ...]


def _baskets(rows: Iterable[Iterable[int]]) -> Baskets:
    return tuple(tuple(row) for row in rows)


@frozen
class TrialCase:
    """A database and what is asked of it.

    Attributes:
        name: what messages call it.
        baskets: the transactions; the items are the numbers from 0 to items − 1.
        items: the size of the public universe.
        k: how many itemsets to release.
        epsilon: the budget.
        max_length: the longest itemset to release, or None.
        n_public: whether the number of transactions is declared public.
    """

    name: str
    baskets: Baskets = field(converter=_baskets, repr=False)
    items: int
    k: int = 3
    epsilon: Fraction = field(default=Fraction(1), converter=exact)
    max_length: int | None = None
    n_public: bool = False

    def __str__(self) -> str:
        sizes = f"{self.items} items, {len(self.baskets)} transactions, k = {self.k}"
        return f"{self.name} ({sizes}, {at_epsilon(self.epsilon)})"

    def transactions(self, baskets: Baskets | None = None) -> Transactions:
        """The database, or another one over the same universe."""
        return Transactions.from_lists(self.baskets if baskets is None else baskets, items=range(self.items))

    def request(self) -> dict[str, Any]:
        """The question, as `Pipeline.run` takes it."""
        return {name: getattr(self, name) for name in ("k", "epsilon", "max_length", "n_public")}

    def other_databases(self) -> list[Baskets]:
        """Databases that look the same from outside: a neighbour, and one that shares nothing with this one.

        Where the noisy answers stay the same, nothing that a component returns may tell them apart.
        """
        everything = tuple(range(self.items))
        unlike = tuple(tuple(item for item in everything if item not in basket) for basket in self.baskets)
        if self.n_public:  # The number of transactions is part of the question then.
            return [unlike]
        return [(*self.baskets, everything), (*unlike, *[everything] * 9)]


def random_case(seed: int, *, items: int = 6, transactions: int = 40, **options: Any) -> TrialCase:
    """A database in which low-numbered items are frequent and high-numbered ones rare; the same for the same seed."""
    generator = random.Random(seed)  # noqa: S311 - made-up data
    baskets = [
        [item for item in range(items) if generator.random() < 0.8 / (1 + item / 3)] for _ in range(transactions)
    ]
    return TrialCase(f"random database {seed}", baskets, items, **options)


def odd_cases() -> list[TrialCase]:
    """The databases that mechanisms tend to forget."""
    return [
        TrialCase("no transactions", [], items=5),
        TrialCase("no transactions and no items", [], items=0),
        TrialCase("no items", [(), (), ()], items=0),
        TrialCase("one item", [(0,), (), (0,)], items=1, k=1),
        TrialCase("one item that never occurs", [(), ()], items=1),
        TrialCase("empty transactions only", [()] * 7, items=4),
        TrialCase("all transactions identical", [(0, 2, 3)] * 9, items=5, k=7),
        TrialCase("one transaction with every item", [range(6)], items=6, k=5),
        TrialCase("every item alone", [(item,) for item in range(6)], items=6, k=6),
        TrialCase("k = 1", [(0, 1), (0,), (1, 2)], items=4, k=1),
        TrialCase("k larger than the number of itemsets", [(0, 1), (1, 2)], items=3, k=1000),
        TrialCase("itemsets of one item only", [(0, 1, 2), (0, 1), (3,)], items=5, k=4, max_length=1),
        TrialCase("the number of transactions is public", [(0, 1), (0,), ()], items=3, n_public=True),
        random_case(1, k=8, epsilon=SMALLEST_EPSILON),
        random_case(2, k=8, epsilon=LARGEST_EPSILON),
        random_case(3, k=12),
        random_case(4, items=24, transactions=60, k=50, epsilon=20),
    ]
