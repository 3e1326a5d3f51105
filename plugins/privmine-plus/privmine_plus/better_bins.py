"""More from the bins of bases than their sums: least squares, unequal budgets, bins that are cut to their total."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen

from privmine.api import BasisSet, BinCounts, Curator, FloatArray, Itemset, NoisyCounts, Request, hookimpl, itemset
from privmine_plus.bins import superset_sums
from privmine_plus.budget import growth
from privmine_plus.walsh import SumLaw, WalshEstimates, least_squares, norm_cut, subsets

#: Roots become fractions of at most this denominator.
_DENOMINATOR = 10_000


@frozen
class WalshLeastSquares:
    """Counts bins as PrivBasis does, and adds them up by least squares over all bases.

    PrivBasis weighs for each itemset only the bases that contain all of it. Here every basis tells what it knows: a
    pair is better known if other bases tell its items or the number of transactions.

    Privacy: one Laplace measurement of `BinCounts`, whose L1 norm is the number of bases, with all that is left of the
    budget. The rest is post-processing.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure and solve; see `Stages.reconstruct_counts`."""
        bases, bins, variances = _equal_bins(basis, curator)
        return _counts(basis, least_squares(bases, bins, variances))


@frozen
class UnequalBudgets:
    """Counts the bins of each basis with a budget of its own, and adds them up by least squares.

    A basis of ℓ items has the error variance V = Σ 2^(ℓ−|X|) over its items and pairs X. Budgets in proportion to V^⅓
    make the sum of V/ε² over the bases least: long bases get more than short ones. With a δ it is that of V/ρ, and
    budgets are in proportion to √V.

    Privacy: a Laplace measurement of `BinCounts` for each basis, of which a transaction moves one bin by 1. The budgets
    follow from the lengths of the bases, which are no data, and sum to what is left.
    """

    @hookimpl
    def reconstruct_counts(self, request: Request, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure and solve; see `Stages.reconstruct_counts`."""
        bases, power = basis.bases or ((),), growth(request)
        weights = {f"basis_{place}": budget_weight(len(found), power) for place, found in enumerate(bases)}
        shares = curator.split(**weights)
        answers = [
            curator.measure(BinCounts([found]), cost) for found, cost in zip(bases, shares.values(), strict=True)
        ]
        bins = [np.asarray(answer.values, dtype=np.float64) for answer in answers]
        return _counts(basis, least_squares(bases, bins, [answer.noise.variance for answer in answers]))


@frozen
class NormCut:
    """Counts bins as PrivBasis does, and shows counts of bins that were cut: none negative, no more than there are.

    Most bins of a long basis are empty, and noise makes half of them positive. The largest bins are kept until they
    make up the number of transactions, and the others become 0. Counts are then biased, so that they are reported as
    estimates; intervals are those of the least-squares counts.

    Privacy: one Laplace measurement of `BinCounts`, whose L1 norm is the number of bases, with all that is left of the
    budget. The rest is post-processing.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure, cut and add up; see `Stages.reconstruct_counts`."""
        bases, bins, variances = _equal_bins(basis, curator)
        found = least_squares(bases, bins, variances)
        precisions: dict[Itemset, float] = {}
        weighted: dict[Itemset, float] = {}
        for members, counts in zip(bases, bins, strict=True):
            cut = superset_sums(norm_cut(counts, found.counts[()]))
            for named, value in zip(subsets(members), cut.tolist(), strict=True):
                precision = 2.0 ** (len(named) - len(members))
                precisions[named] = precisions.get(named, 0.0) + precision
                weighted[named] = weighted.get(named, 0.0) + precision * value
        return _counts(basis, found, {named: weighted[named] / precisions[named] for named in weighted})


def budget_weight(length: int, power: float = 1.0) -> Fraction:
    """V^⅓ of a basis of so many items, as a fraction; √V where noise falls with the root of a budget."""
    wanted = 2.0**length * (length / 2 + length * (length - 1) / 8) if length else 1.0
    return Fraction(wanted ** (1 / (1 + 2 * power))).limit_denominator(_DENOMINATOR)


def _equal_bins(basis: BasisSet, curator: Curator) -> tuple[tuple[Itemset, ...], list[FloatArray], list[float]]:
    """The bases, their noisy bins, and the variance of these."""
    bases = basis.bases or ((),)
    answer = curator.measure(BinCounts(bases))
    query = answer.query
    assert isinstance(query, BinCounts)
    bins = [np.asarray(values, dtype=np.float64) for values in query.by_basis(answer.values)]
    return bases, bins, [answer.noise.variance] * len(bases)


def _counts(basis: BasisSet, found: WalshEstimates, estimates: dict[Itemset, float] | None = None) -> NoisyCounts:
    """All counts but that of the empty itemset, or those of the candidates, with the laws of their noise."""
    wanted = None if basis.candidates is None else {itemset(candidate) for candidate in basis.candidates}
    named = [subset for subset in found.counts if subset and (wanted is None or subset in wanted)]
    errors = [found.variances[subset] ** 0.5 for subset in named]
    different = sorted(set(errors))
    place = {error: number for number, error in enumerate(different)}
    total_error = found.variances[()] ** 0.5
    return NoisyCounts(
        itemsets=named,
        counts=[found.counts[subset] for subset in named],
        standard_errors=errors,
        total=found.counts[()],
        total_error=total_error,
        laws=[SumLaw(error) for error in different],
        law_of=np.array([place[error] for error in errors], dtype=np.int64),
        total_law=SumLaw(total_error),
        estimates=[] if estimates is None else [estimates[subset] for subset in named],
    )
