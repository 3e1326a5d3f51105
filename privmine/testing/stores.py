"""`check_store`: does another store count like the one in memory?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.model import Itemset, Itemsets
from privmine.queries.bounded import fair_weights
from privmine.store.abstract import Store
from privmine.store.memory import MemoryStore
from privmine.testing.flaws import Flaw
from privmine.testing.trial_cases import Baskets, odd_cases

#: Makes a store of transactions, each a tuple of items, over a universe of so many items.
StoreMaker: TypeAlias = Callable[[Baskets, int], Store]

_Question: TypeAlias = tuple[str, tuple[Any, ...]]


class FlawedStoreError(AssertionError):
    """A store counts wrongly; the message lists the methods, `flaws` holds them."""

    def __init__(self, flaws: Iterable[Flaw]) -> None:
        self.flaws = tuple(flaws)
        lines = "\n".join(f"  - {flaw}" for flaw in self.flaws)
        super().__init__(f"The store does not count as the store in memory does:\n{lines}")


def check_store(make: StoreMaker, *, seed: int = 0, databases: int | None = None) -> None:
    """Ask a store every possible question, and raise `FlawedStoreError` if an answer is wrong.

    The databases are made up: the odd ones of `odd_cases`, then random ones with long, empty and repeated
    transactions. Each answer is compared with that of the store in memory, and is asked for
    twice: before and after `persist`.

    Args:
        make: makes the store to check, of transactions, each a tuple of items, and the size of their universe.
        seed: makes the random databases and questions.
        databases: how many databases to try, spread over all of them; for a store that takes long to answer. None
            tries all.
    """
    tried = list(_databases(random.Random(seed)))  # noqa: S311 - made-up data
    if databases is not None:
        tried = tried[-1 :: -max(1, len(tried) // databases)][:databases]
    flaws: dict[str, Flaw] = {}
    for name, baskets, items in tried:
        expected, found = _in_memory(baskets, items), make(baskets, items)
        if not isinstance(found, Store):
            raise FlawedStoreError([Flaw("class", f"{type(found).__name__} is not a subclass of Store.")])
        questions = list(_questions(random.Random(seed), items))  # noqa: S311 - made-up questions
        if type(found).restricted is Store.restricted:
            # The default asks the other methods, and would be told whenever one of them is wrong.
            questions = [question for question in questions if question[0] != "restricted"]
        for when in ("", " after persist()"):
            for method, arguments in questions:
                problem = _difference(expected, found, method, arguments)
                if problem:
                    flaws.setdefault(method, Flaw(method, problem + when + ".", name))
            found.persist()
        found.close()
    if flaws:
        raise FlawedStoreError(flaws.values())


def _in_memory(baskets: Baskets, items: int) -> MemoryStore:
    offsets = np.cumsum([0, *map(len, baskets)])
    return MemoryStore.from_rows(offsets, [item for basket in baskets for item in basket], items)


def _databases(generator: random.Random) -> Iterator[tuple[str, Baskets, int]]:
    for case in odd_cases():
        yield case.name, case.baskets, case.items
    for number in range(8):
        items = generator.choice([3, 17, 70])
        sizes = [generator.choice([0, 1, 2, 5, items]) for _ in range(generator.choice([1, 40, 300]))]
        # Items of low number are frequent, and a transaction may list an item twice: it is a set all the same.
        baskets = tuple(tuple(min(int(generator.expovariate(0.2)), items - 1) for _ in range(size)) for size in sizes)
        yield f"random database {number}", baskets, items


def _questions(generator: random.Random, items: int) -> Iterator[_Question]:
    """Every method, with arguments of every kind that it takes."""

    def some(most: int) -> Itemset:
        return tuple(sorted(generator.sample(range(items), generator.randint(0, min(most, items)))))

    itemsets = [(), *(some(4) for _ in range(20)), *[(item,) for item in range(items)][:5]]
    within = some(9)
    # The order of the items decides that of the answer.
    shuffled = tuple(generator.sample(within, len(within)))
    weights = np.array([5, 3, 2, 2, 1], dtype=np.int64)
    yield "count", ()
    yield "item_supports", ()
    yield from (("supports", (asked,)) for asked in ((), itemsets, Itemsets.of(itemsets)))
    yield from (("pair_supports", (asked,)) for asked in ((), within, shuffled))
    yield from (("bin_counts", (asked,)) for asked in ([], [()], [within, some(3), some(6)]))
    states = np.array(sorted({0, 1, *(generator.randrange(1 << len(within)) for _ in range(9))}), dtype=np.int64)
    yield from (("state_counts", (within, asked)) for asked in (states, states[::-1].copy(), states[:0]))
    yield from (("lengths", (asked, cap)) for asked in (None, (), within) for cap in (0, 3, 100))
    for size in (1, 2):
        yield from (("weighted_supports", (size, asked, weights)) for asked in (None, within, shuffled))
    for table in (weights, -weights, fair_weights(2, 1000, len(itemsets)), np.zeros(0, dtype=np.int64)):
        yield "bounded_supports", (itemsets, table)
    yield "bounded_supports", ([], weights)
    pairs = [(one, other) for one in range(min(items, 12)) for other in range(one)]
    yield from (("bounded_supports", (asked, fair_weights(3, 100, 200))) for asked in (pairs, [*pairs, *pairs[:3]]))
    yield from (("held_counts", (asked, cap)) for asked in ([], itemsets, pairs) for cap in (0, 2, 40))
    for contribution in (_spread, _too_much, _failing, _wrong_form, _sparse, _twice):
        yield from (("sum", (contribution, 3, l1, l2)) for l1 in (1, 50) for l2 in (None, 9))
    yield from (("top_itemsets", (n, longest)) for n in (0, 1, 30) for longest in (None, 1, 2))
    yield from (("restricted", (asked,)) for asked in ((), within, shuffled))


def _spread(transaction: Itemset) -> list[int]:
    return [len(transaction), -sum(transaction), 1]


def _too_much(transaction: Itemset) -> list[int]:
    return [10**12, -(10**12), 10**12]


def _failing(transaction: Itemset) -> list[int]:
    return [1, 2, 3 // len(transaction)]


def _wrong_form(transaction: Itemset) -> Any:
    return [1, 2] if len(transaction) % 2 else [1, 2.5, 3]


def _sparse(transaction: Itemset) -> dict[int, int]:
    return {2: len(transaction), 0: -sum(transaction)}


def _twice(transaction: Itemset) -> tuple[list[int], list[int]]:
    return [1, len(transaction) % 3], [5, 7]


def _difference(expected: Store, found: Store, method: str, arguments: tuple[Any, ...]) -> str:
    """How two stores differ in one answer, or nothing."""
    call = f"{method}({', '.join(_shown(argument) for argument in arguments)})"
    wanted = _answer(expected, method, arguments)
    try:
        answer = _answer(found, method, arguments)
    except Exception as error:  # noqa: BLE001 - what another's store raises is its own affair
        return f"{call} raised {type(error).__name__}: {error}"
    try:
        same = _plain(answer) == _plain(wanted)
    except (TypeError, ValueError, AttributeError):
        return f"{call} answered {type(answer).__name__}, not {type(wanted).__name__}"
    if not same:
        return f"{call} answered {_plain(answer)}, not {_plain(wanted)}"
    if isinstance(wanted, np.ndarray) and not isinstance(answer, np.ndarray):
        return f"{call} answered {type(answer).__name__}, not a numpy array"
    if not _is_whole(answer):
        return f"{call} answered with numbers that are not 64-bit integers"
    return ""


def _answer(store: Store, method: str, arguments: tuple[Any, ...]) -> Any:
    """What a store answers; where that is a store, what it counts."""
    answer = getattr(store, method)(*arguments)
    if not isinstance(answer, Store):
        return answer
    first = tuple(range(min(answer.item_count, 6)))
    return [answer.item_count, answer.count(), answer.item_supports(), *answer.bin_counts([first])]


def _plain(answer: Any) -> Any:
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, Itemsets):
        return list(answer)
    return [_plain(part) for part in answer] if isinstance(answer, Sequence) else answer


def _is_whole(answer: Any) -> bool:
    """Whether all arrays of an answer hold 64-bit integers: noise is added to them as they are."""
    if isinstance(answer, np.ndarray):
        array: NDArray[Any] = answer
        return array.dtype == np.int64
    return all(map(_is_whole, answer)) if isinstance(answer, list | tuple) else True


def _shown(argument: Any) -> str:
    text = getattr(argument, "__name__", None) or repr(_plain(argument))
    return text if len(text) <= 60 else f"{text[:57]}…"
