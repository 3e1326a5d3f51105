"""The noisy support of each candidate, counted on its own."""

from __future__ import annotations

from math import sqrt

from attrs import frozen

from privmine.api import BasisSet, Curator, NoiseSum, NoisyCounts, Supports, hookimpl


@frozen
class DirectSupports:
    """Counts each candidate with noise, and with them the transactions. Without candidates: the bases.

    Privacy: one Laplace measurement of k supports and that of the empty itemset, which is the number
    of transactions N. A transaction moves each of the k + 1 by at most 1, so L1 = k + 1. The paper
    counts k of them and takes N as known; here N is private, and frequencies need it.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure the supports; see `Stages.reconstruct_counts`."""
        named = basis.bases if basis.candidates is None else basis.candidates
        itemsets = tuple(dict.fromkeys(candidate for candidate in named if candidate))
        answer = curator.measure(Supports((*itemsets, ())))
        error = sqrt(answer.noise.variance)
        law = NoiseSum(answer.noise, [(1, 1.0)])
        return NoisyCounts(
            itemsets=itemsets,
            counts=answer.values[:-1],
            standard_errors=[error] * len(itemsets),
            total=answer.values[-1],
            total_error=error,
            laws=[law],
            law_of=[0] * len(itemsets),
            total_law=law,
            joint="independent",
        )
