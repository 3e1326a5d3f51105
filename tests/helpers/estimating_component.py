"""A component whose estimates are made from the counts of PrivBasis."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from privmine.api import BasisSet, Curator, FloatArray, NoisyCounts, hookimpl
from privmine.defaults.reconstruct import BasisFrequencies


@frozen
class Estimating:
    """Counts as PrivBasis does, and shows estimates beside the counts.

    Privacy: as for the basis frequencies.
    """

    estimates: Callable[[NoisyCounts], FloatArray]

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure, then estimate."""
        counts = BasisFrequencies().reconstruct_counts(basis, curator)
        return evolve(counts, estimates=self.estimates(counts))
