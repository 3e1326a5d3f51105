"""Counts of a model of pairs, which is fitted to the noisy moments of some items."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen

from privmine.api import (
    Answer,
    BasisSet,
    BinCounts,
    Cost,
    Curator,
    Itemset,
    Measurement,
    MomentMatrix,
    NoisyCounts,
    Request,
    Supports,
    hookimpl,
    itemset,
)
from privmine_plus.bin_estimates import estimates
from privmine_plus.bins_and_model import joined_counts
from privmine_plus.budget import TOTAL_SHARE, affordable, price, scale_at
from privmine_plus.cover import Cover, best_cover
from privmine_plus.pair_model import FEW_STATES, STATES, PairModel
from privmine_plus.regime import MOST_ITEMS

#: Bins may follow where what is left buys noise of a scale below this part of the transactions.
_MANY = 1 / 20_000
#: About so many bases; their noise grows with their number, less so with a δ.
_USUAL_BASES = 5
#: The part of what is left that then goes to the moments.
_MOMENTS_PART = Fraction(25, 100)
#: Bins are counted where they promise errors below this part of the k-th support.
_PRECISE = 0.3
#: So many times k of the model's itemsets are covered by bases.
_COVERED = 1.2
#: Where bins are too noisy to count by, this part of what is left tells how far the model is off, by so many bases.
_CHECK_PART, _CHECK_BASES = Fraction(15, 100), 3
#: What the intervals rest on, for the receipt.
NOTES = (
    "Counts come from a model that was fitted to noisy counts of items and pairs. The intervals of items and pairs "
    "follow from the noise. The intervals of longer itemsets also allow for an error of the model: 0.4 % of "
    "√(c·(N − c)) for each item beyond the second. They can be too narrow if triples do not follow from pairs. "
    "Where bins were counted as well, a count is that of the bins, or the mean of both, weighted by precision. The "
    "error of the model is then estimated from its distance to the bins.",
)


def items_of(basis: BasisSet) -> Itemset:
    """The items of the bases, in public order: those of the first bases, where there are more than a model can have."""
    items: dict[int, None] = {}
    for found in basis.bases:
        items.update(dict.fromkeys(item for item in found if len(items) < MOST_ITEMS or item in items))
    return itemset(list(items)[:MOST_ITEMS])


def combined(estimates: list[tuple[float, float]]) -> tuple[float, float]:
    """The mean of estimates (value, variance), weighted by inverse variance, and its variance."""
    exactly = [(value, 0.0) for value, variance in estimates if variance == 0]
    if exactly:
        return exactly[0]
    precision = sum(1 / variance for _, variance in estimates)
    return sum(value / variance for value, variance in estimates) / precision, 1 / precision


def known_totals(request: Request, answers: tuple[Answer, ...]) -> list[tuple[float, float]]:
    """What is known of the number of transactions before the moments are measured: (value, variance)."""
    if request.public.n is not None:
        return [(float(request.public.n), 0.0)]
    return [
        (float(answer.values[0]), answer.noise.variance)
        for answer in answers
        if isinstance(answer, Measurement) and isinstance(answer.query, Supports) and answer.query.itemsets == ((),)
    ]


@frozen
class PairMoments:
    """Measures the moments of pairs, fits a model to them, and releases what is frequent in the model.

    Where there are many transactions for the budget, the model's own error would outweigh noise. There the model only
    says which itemsets matter; bases cover these, and their bins are counted, if that promises small errors. If it does
    not, a few bins tell how far the model is off, so that its intervals are wide enough.

    Bias: counts are those of a model. They are drawn towards independent items by as much as noise hides how items
    depend on each other, and those of three items and more are right only as far as pairs tell them. Where bins were
    counted the model has a small weight, as far as the bins agree with it.

    Privacy: one or two measurements of `MomentMatrix`, whose noise has the shape of the cone that moments lie in, and
    at most one of bins (`BinCounts`), with all that is left of the budget. Which items and bases they measure, and
    which of these there are, follows from earlier noisy answers. Where no earlier stage measured the number of
    transactions, a Laplace measurement does.
    """

    @hookimpl
    def reconstruct_counts(
        self, request: Request, basis: BasisSet, curator: Curator, answers: tuple[Answer, ...]
    ) -> NoisyCounts:
        """Measure and fit; see `Stages.reconstruct_counts`."""
        from threadpoolctl import threadpool_limits  # Only here: commands that fit no model start without it.

        # With more threads numpy's BLAS would add up in an order that depends on how many cores there are, and its
        # threads would wait for each other longer than they compute.
        with threadpool_limits(limits=1, user_api="blas"):
            return self._measured_and_fitted(request, basis, curator, answers)

    def _measured_and_fitted(
        self, request: Request, basis: BasisSet, curator: Curator, answers: tuple[Answer, ...]
    ) -> NoisyCounts:
        items = items_of(basis)
        totals = known_totals(request, answers)
        if not totals:
            share = min(TOTAL_SHARE, affordable(request, curator) / 10)
            totals = known_totals(request, (curator.measure(Supports([()]), price(request, share)),))
        left = affordable(request, curator)
        noise = scale_at(request, left, _USUAL_BASES) / _USUAL_BASES if left else np.inf
        if not items or basis.candidates is not None or noise > _MANY * totals[0][0]:
            return _wanted_counts(request, basis, fitted(items, totals, [_moments(items, curator)]))
        first = _moments(items, curator, price(request, left * _MOMENTS_PART))
        model = fitted(items, totals, [first], FEW_STATES)
        longest = request.max_length
        found = model.top(round(_COVERED * request.k), longest)
        # As for noise that grows with the number of bases: long bases tell of itemsets that the model does not suggest.
        cover = best_cover(found)
        if cover.bases and _precise(request, curator, model.supports(found[: request.k])[-1], cover):
            return joined_counts(model, estimates(curator.measure(BinCounts(cover.bases))), found, request.k, longest)
        if not cover.bases:
            return _wanted_counts(request, basis, fitted(items, totals, [first, _moments(items, curator)]))
        second = _moments(items, curator, price(request, affordable(request, curator) * (1 - _CHECK_PART)))
        model = fitted(items, totals, [first, second])
        checked = estimates(curator.measure(BinCounts(telling(cover.bases, found))))
        return joined_counts(model, checked, model.top(request.k, longest), request.k, longest)


def telling(bases: tuple[Itemset, ...], itemsets: list[Itemset]) -> tuple[Itemset, ...]:
    """The few bases that contain most of the itemsets; of equals the first."""
    wanted = [frozenset(found) for found in itemsets]
    contained = [sum(found.issubset(basis) for found in wanted) for basis in bases]
    order = sorted(range(len(bases)), key=lambda place: (-contained[place], place))
    return tuple(bases[place] for place in sorted(order[:_CHECK_BASES]))


def _precise(request: Request, curator: Curator, support: float, cover: Cover) -> bool:
    """Whether the bins of a cover promise errors of its itemsets that are small against the k-th support."""
    scale = scale_at(request, affordable(request, curator), len(cover.bases))
    return 2 * scale**2 * cover.variance < (_PRECISE * support) ** 2


def _moments(items: Itemset, curator: Curator, cost: Cost | None = None) -> Measurement:
    return curator.measure(MomentMatrix(items), cost)


def fitted(
    items: Itemset, totals: list[tuple[float, float]], answers: list[Measurement], limit: int = STATES
) -> PairModel:
    """The model of moments that were measured once or several times, which count by their precision."""
    precisions = np.array([1 / answer.noise.variance for answer in answers])
    matrices = np.array([MomentMatrix(items).matrix(answer.values) for answer in answers], dtype=float)
    moments = np.tensordot(precisions, matrices, 1) / precisions.sum()
    diagonals = [
        (float(matrix[0, 0]), answer.noise.diagonal_variance) for matrix, answer in zip(matrices, answers, strict=True)
    ]
    return PairModel.of(items, moments, 1 / float(precisions.sum()), combined([*totals, *diagonals]), limit)


def _wanted_counts(request: Request, basis: BasisSet, model: PairModel) -> NoisyCounts:
    """The model's counts of the candidates, or of what is most frequent in it."""
    if basis.candidates is None:
        return model.counts(model.top(request.k, request.max_length))
    return model.counts([found for found in map(itemset, basis.candidates) if found and set(model.items) >= set(found)])
