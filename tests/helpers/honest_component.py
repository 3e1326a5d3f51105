"""A component that keeps its contracts, for broken ones to start from, and the cases that show what is broken."""

from __future__ import annotations

from fractions import Fraction

from attrs import frozen

from privmine.api import Curator, Elements, ItemSupports, Request, hookimpl
from privmine.testing import odd_cases, random_case

FEW = [odd_cases()[0], random_case(3, k=12)]
#: Where each mutant shows: nothing to count, no items at all, and enough of both.
TELLING = [odd_cases()[0], odd_cases()[2], random_case(3, k=12), random_case(4, items=16, k=30)]


def selected(request: Request, curator: Curator, n: int = 2, epsilon: Fraction | None = None) -> tuple[int, ...]:
    """What an honest selection of n items answers."""
    chosen = curator.choose(ItemSupports(len(request.public.universe)), n, epsilon)
    return tuple(item for (item,) in chosen.chosen)  # type: ignore[misc]


@frozen
class Honest:
    """Selects two items.

    Privacy: two draws of the exponential mechanism on supports.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose."""
        return Elements(selected(request, curator))


@frozen
class Asks(Honest):
    """Selects by answers, where k allows any.

    Privacy: of what `asked` does.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Ask."""
        return Elements(self.asked(request, curator) if request.k else ())

    def asked(self, request: Request, curator: Curator) -> list[int]:
        """The items that the answers speak for."""
        raise NotImplementedError


@frozen
class NoHook:
    """Lacks the decorator.

    Privacy: looks at nothing.
    """

    def select_elements(self) -> Elements:
        """Never called."""
        return Elements(())
