"""The contracts of a stage: right components pass, and each kind of broken one is told what is wrong with it."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from attrs import define, field, frozen
from honest_component import FEW, TELLING, Asks, Honest, NoHook, selected

from privmine.api import (
    Curator,
    Elements,
    IntArray,
    Query,
    Request,
    Sensitivity,
    Store,
    SumQuery,
    Supports,
    hookimpl,
)
from privmine.privacy import DiscreteLaplace
from privmine.testing import (
    FlawedComponentError,
    check_component,
    find_flaws,
    parametrize_components,
)


@frozen
class Overspends(Honest):
    """Spends its share twice.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose twice at full price."""
        share = curator.remaining
        selected(request, curator, 1, share)
        return Elements(selected(request, curator, 1, share))


@frozen
class Peeks(Honest):
    """Takes the store from the curator.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Look."""
        return Elements([int(np.argmax(curator._access.store.item_supports()))] if request.k else [])


@frozen
class PeeksAndHidesIt(Honest):
    """Takes the store and swallows what comes of it.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Look, and carry on."""
        with suppress(Exception):
            curator._access.store.count()
        return Elements(selected(request, curator))


@frozen
class DrawsOnItsOwn(Honest):
    """Takes the noise source from the curator.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Draw."""
        curator._access.noise.add(np.zeros(1, dtype=np.int64), DiscreteLaplace(1))
        return Elements(())


@frozen
class MakesItsOwnCurator(Honest):
    """Gives itself a larger share.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose with a curator whose limit is the whole budget."""
        return Elements(selected(request, Curator(curator._access, "select_elements", "own", request.budget)))


@frozen
class ResetsTheMeter(Honest):
    """Forgets what was spent.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose for free."""
        found = selected(request, curator)
        curator._access.meter.spent *= 0
        return Elements(found)


class Leak(Query):
    """A query that remembers exact answers."""

    seen: IntArray = np.zeros(0, dtype=np.int64)

    def __init__(self, items: int) -> None:
        self.size_ = items

    name = property(lambda self: "leak")  # type: ignore[assignment]
    size = property(lambda self: self.size_)  # type: ignore[assignment]
    sensitivity = property(lambda self: Sensitivity(self.size_, self.size_, 1, monotone=True))  # type: ignore[assignment]

    def evaluate(self, store: Store) -> IntArray:
        """Count, and remember."""
        Leak.seen = store.item_supports()
        return Leak.seen


@frozen
class UsesExactAnswers(Asks):
    """Lets its own query smuggle exact counts out.

    Privacy: none.
    """

    def asked(self, request: Request, curator: Curator) -> list[int]:
        """Choose by what the query saw."""
        curator.measure(Leak(len(request.public.universe)))
        return [int(np.argmax(Leak.seen))]


@frozen
class AsksByExactAnswers(Asks):
    """Decides by exact counts what to ask next.

    Privacy: none.
    """

    def asked(self, request: Request, curator: Curator) -> list[int]:
        """Measure one itemset, or two where the data is large."""
        share = curator.remaining / 2
        curator.measure(Leak(len(request.public.universe)), share)
        curator.measure(Supports([(0,)] if Leak.seen.sum() % 2 else [(0,), ()]), share)
        return []


@frozen
class ReturnsNone(Honest):
    """Returns nothing.

    Privacy: looks at nothing.
    """

    @hookimpl
    def select_elements(self) -> None:
        """Forget the return."""


@frozen
class ReturnsAList(Honest):
    """Returns a plain list.

    Privacy: looks at nothing.
    """

    @hookimpl
    def select_elements(self) -> list[int]:
        """Return the wrong type."""
        return [0]


@frozen
class OutsideTheUniverse(Honest):
    """Counts items from 1.

    Privacy: looks at nothing.
    """

    @hookimpl
    def select_elements(self, request: Request) -> Elements:
        """Name the item after the last."""
        return Elements([len(request.public.universe)])


@frozen
class Fails(Honest):
    """Has no answer where there are no items.

    Privacy: as usual.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Take the first of what may be none."""
        return Elements([selected(request, curator)[0]])


@frozen
class Unpicklable(Honest):
    """Holds a function.

    Privacy: as usual.
    """

    key: Callable[[int], int] = field(default=lambda item: item)


@frozen
class Random(Honest):
    """Shuffles what it found.

    Privacy: as usual.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose, in an order of its own."""
        return Elements(sorted(selected(request, curator, 6), key=lambda _: random.random()))  # noqa: S311


@define
class NotFrozen:
    """Can be changed.

    Privacy: as usual.
    """

    items: int = 2

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose."""
        return Elements(selected(request, curator, self.items))


@frozen
class KeepsState(Honest):
    """Remembers earlier runs.

    Privacy: as usual.
    """

    memory: list[Elements] = field(factory=list, repr=False)

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose, and remember."""
        self.memory.append(Elements(selected(request, curator)))
        return self.memory[-1]


@frozen
class ShowsState(KeepsState):
    """Remembers earlier runs where everybody can see it.

    Privacy: as usual.
    """

    memory: list[Elements] = field(factory=list)


@frozen
class TalkativeElements(Elements):
    """Shows more than it compares."""

    def __repr__(self) -> str:
        return f"<{Leak.seen}>"


@frozen
class TalksInItsResult(Honest):
    """Returns a result whose repr holds exact counts.

    Privacy: none.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Return nothing but a repr."""
        if request.k:
            curator.measure(Leak(len(request.public.universe)))
        return TalkativeElements(())


def number_of_the_second(transaction: tuple[int, ...]) -> list[int]:
    """Forgets that there may be no second item."""
    return [transaction[1]]


@frozen
class FailsInItsSum(Honest):
    """Asks for a sum that fails on short transactions.

    Privacy: contributions are clipped.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Ask, and return nothing."""
        if request.k:
            curator.measure(SumQuery(number_of_the_second, dimension=1, l1=1, label="seconds"))
        return Elements(())


@frozen
class SaysNothing(Honest):
    """Does not say why it is private."""


@frozen
class MisspeltArgument(Honest):
    """Takes an argument that its stage does not have.

    Privacy: looks at nothing.
    """

    @hookimpl
    def select_elements(self, requets: Request) -> Elements:
        """Never called."""
        return Elements(())


@pytest.mark.parametrize(
    ("mutant", "contract", "words"),
    [
        (Overspends, "charges", "it overspends: ε = 0.5 was requested for supports of"),
        (Peeks, "data", "it reads the data outside the curator (store.item_supports)"),
        (PeeksAndHidesIt, "data", "it reads the data outside the curator (store.count)"),
        (DrawsOnItsOwn, "charges", "noise was drawn for 1 value, but no query was asked"),
        (MakesItsOwnCurator, "data", "it reads the data outside the curator"),
        (ResetsTheMeter, "charges", "the meter says ε = 1, but the charges sum to ε = 1.5"),
        (UsesExactAnswers, "data", "its result changes with the data although all noisy answers are the same"),
        (AsksByExactAnswers, "data", "it asks other questions of other data"),
        (ReturnsNone, "result", "it returned NoneType, not Elements"),
        (ReturnsAList, "result", "it returned list, not Elements"),
        (OutsideTheUniverse, "result", "it names an item outside the universe of"),
        (Fails, "total", "it returned no result: IndexError: tuple index out of range"),
        (FailsInItsSum, "sum", "fails, here for the transaction (0,) (IndexError: tuple index out of range)"),
        (Unpicklable, "pickle", "it cannot be pickled"),
        (Random, "deterministic", "the same seed gives another result"),
        (NotFrozen, "frozen", "its attributes can be set. Decorate NotFrozen with attrs.frozen"),
        (KeepsState, "state", "a run changes it"),
        (ShowsState, "repr", "its repr changes in a run"),
        (TalksInItsResult, "repr", "the repr of its result changes with the data"),
        (SaysNothing, "documented", "the docstring of SaysNothing has no `Privacy:` paragraph"),
        (MisspeltArgument, "component", "requets"),
        (NoHook, "component", "is never called. Add the decorator @hookimpl"),
    ],
)
def test_broken_component_is_told_its_flaw(mutant: type, contract: str, words: str) -> None:
    """Each mistake breaks one contract, whose message says what happened."""
    with pytest.raises(FlawedComponentError) as caught:
        check_component(mutant(), "select_elements", cases=TELLING)
    assert str(caught.value).startswith(f"select_elements={mutant.__name__} breaks the contracts of its stage:\n")
    assert [flaw.contract for flaw in caught.value.flaws] == [contract]
    assert words in caught.value.flaws[0].sentence


def test_honest_component_passes() -> None:
    """The component that the mutants are made from breaks nothing."""
    check_component(Honest())


@parametrize_components("privmine")
def test_shipped_component_keeps_its_contracts(component: Any) -> None:
    """Every component that privmine ships passes, in three lines of test."""
    check_component(component)


def test_class_may_stand_for_the_component() -> None:
    """A class whose parameters have defaults is tried with them."""
    check_component(Honest, cases=FEW)


def test_flaw_tells_where_and_how_often() -> None:
    """A flaw names the first database that shows it and counts the others."""
    (flaw,) = find_flaws(ReturnsNone(), cases=TELLING)
    assert str(flaw) == (
        "result: it returned NoneType, not Elements. "
        f"[on: no transactions (5 items, 0 transactions, k = 3, ε = 1) and {len(TELLING) - 1} more]"
    )
