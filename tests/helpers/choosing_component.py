"""A component that chooses items by whichever query it is given."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from privmine.api import Curator, Elements, Query, Request, hookimpl


@frozen
class ChoosesBy:
    """Chooses n items.

    Attributes:
        query: makes the query for so many items.
        n: how many to choose.
    """

    query: Callable[[int], Query]
    n: int

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose."""
        chosen = curator.choose(self.query(len(request.public.universe)), self.n).chosen
        return Elements([item for (item,) in chosen])  # type: ignore[misc]
