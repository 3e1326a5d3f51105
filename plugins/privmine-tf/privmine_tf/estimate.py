"""A method that needs no number of items."""

from __future__ import annotations

from attrs import frozen

from privmine.api import Estimate, hookimpl


@frozen
class NoLambda:
    """Estimates nothing: truncated frequencies choose itemsets, not items.

    Privacy: looks at no data and costs nothing.
    """

    @hookimpl
    def estimate_lambda(self) -> Estimate:
        """Leave λ open; see `Stages.estimate_lambda`."""
        return Estimate(lam=None)
