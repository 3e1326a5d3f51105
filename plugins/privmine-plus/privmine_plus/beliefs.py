"""What is believed of the candidates of sparse data, from all looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from attrs import evolve, field, frozen

from privmine.api import Answer, FloatArray, IntArray, Itemset, Request
from privmine_plus.looks import Look, looks_of
from privmine_plus.posterior import (
    GRID,
    IMPOSSIBLE,
    expected_multiple,
    log_likelihood,
    log_odds,
    log_prior,
    normalised,
    probability,
    quantile_of,
)
from privmine_plus.regime import Threshold

#: Priors c^−α of items, of pairs, of pairs that independence predicts, and of longer itemsets.
ITEM_PRIOR, PAIR_PRIOR, PREDICTED_PRIOR, LONG_PRIOR = 1.0, 1.5, 1.0, 0.7
#: An item is kept if it reaches θ̂ with this probability; at most so many times k items, or times √k if that is more.
_ITEM_CHANCE, _MOST_BY_K, _MOST_BY_ROOT = 0.01, 5, 80
#: A candidate that reaches θ̂ with less than this probability is dropped.
_KEEP = 0.003
#: And of the pairs of a kind at most so many times k are kept.
_MOST_HOPEFUL = 4
#: By how much a guess at a count is off: the scale of the Laplace law of its logarithm.
_GUESS = 0.35
#: What is decided: candidates that reach the threshold with less, or with more, than this probability.
_DECIDED = 0.01


@frozen(eq=False)
class Beliefs:
    """Candidates, and what is believed of their counts.

    Attributes:
        threshold: θ̂ and N̂.
        itemsets: the candidates.
        logs: the log-posterior of each, on the grid of multiples of θ̂.
        counts: the mean of all looks at each, by inverse variance.
        variances: the expected squared errors of those.
    """

    threshold: Threshold
    itemsets: tuple[Itemset, ...] = field(repr=False)
    logs: FloatArray = field(repr=False)
    counts: FloatArray = field(repr=False)
    variances: FloatArray = field(repr=False)

    @cached_property
    def shares(self) -> FloatArray:
        """The probability of each point of the grid, a row a candidate."""
        return normalised(self.logs)

    @property
    def likely_multiple(self) -> float:
        """The part of θ̂ that a count must reach to be likely: less where θ̂ itself is uncertain."""
        return max(0.5, 1 - self.threshold.theta_scale / self.threshold.theta)

    def chances(self) -> FloatArray:
        """The probability of each to reach θ̂, give or take its noise."""
        return probability(log_odds(self.shares, self.likely_multiple))

    def means(self) -> FloatArray:
        """The posterior mean of each count."""
        return self.shares @ GRID * self.threshold.theta

    def bounds(self) -> FloatArray:
        """What the counts hardly exceed."""
        return quantile_of(self.shares, 0.95) * self.threshold.theta

    def taken(self, places: IntArray) -> Beliefs:
        """Only some of the candidates."""
        return evolve(
            self,
            itemsets=tuple(self.itemsets[place] for place in places.tolist()),
            logs=self.logs[places],
            counts=self.counts[places],
            variances=self.variances[places],
        )

    def kept(self) -> Beliefs:
        """Without those that hardly reach θ̂."""
        return self.taken(np.flatnonzero(self.chances() >= _KEEP))

    def joined(self, other: Beliefs) -> Beliefs:
        """These candidates, then the others."""
        return evolve(
            self,
            itemsets=(*self.itemsets, *other.itemsets),
            logs=np.concatenate([self.logs, other.logs]),
            counts=np.concatenate([self.counts, other.counts]),
            variances=np.concatenate([self.variances, other.variances]),
        )

    def updated(self, look: Look, places: IntArray) -> Beliefs:
        """After one more look at the candidates at these places, in the look's order."""
        logs, counts, variances = self.logs.copy(), self.counts.copy(), self.variances.copy()
        theta = self.threshold.theta
        logs[places] += log_likelihood(look.values, look.scale, look.kept, look.misjudged, theta)
        old, new = 1 / variances[places], 1 / look.variances
        counts[places] = (counts[places] * old + look.counts * new) / (old + new)
        variances[places] = 1 / (old + new)
        return evolve(self, logs=logs, counts=counts, variances=variances)

    def cut(self, k: int) -> float:
        """The multiple of θ̂ that k of the candidates are expected to reach."""
        doubt = 2 * self.threshold.theta_scale / self.threshold.theta
        return expected_multiple(self.shares, k, max(0.3, 1 - doubt), 1 + doubt)

    def odds(self, k: int) -> FloatArray:
        """The log-odds of each to be among the first k."""
        return log_odds(self.shares, self.cut(k))

    def ranking(self, k: int) -> IntArray:
        """All candidates, most likely to be among the first k first; ties by length, then item order."""
        return in_public_order(self.itemsets, self.odds(k), self.counts)

    def undecided(self, k: int) -> IntArray:
        """Those of which it is not clear whether they are among the first k; at least a few."""
        odds = self.odds(k)
        chances = probability(odds)
        open_ = np.flatnonzero((chances > _DECIDED) & (chances < 1 - _DECIDED))
        if len(open_) < 8:
            few = in_public_order(self.itemsets, -np.abs(odds), self.counts)[: max(8, k // 10)]
            open_ = np.sort(few)
        return open_


def in_public_order(itemsets: Sequence[Itemset], *keys: FloatArray) -> IntArray:
    """Places by falling keys, the first key first; ties by length, then item order, never by the data's order."""
    order = sorted(range(len(itemsets)), key=lambda place: (len(itemsets[place]), itemsets[place]))
    places = np.array(order, dtype=np.int64)
    for key in reversed(keys):
        places = places[np.argsort(-key[places], kind="stable")]
    return places


def beliefs_after(threshold: Threshold, look: Look, alphas: FloatArray) -> Beliefs:
    """What is believed after a first look, with a prior c^−α for each candidate."""
    logs = log_prior(alphas) + log_likelihood(look.values, look.scale, look.kept, look.misjudged, threshold.theta)
    return Beliefs(threshold, look.itemsets or (), logs, look.counts, look.variances)


def item_beliefs(request: Request, threshold: Threshold, look: Look) -> Beliefs:
    """The items that may matter, most promising first."""
    # The posterior follows the noisy value, so that the largest values are enough of a large universe.
    k = max(request.k, 1)
    most = min(len(look.values), max(_MOST_BY_K * k, int(_MOST_BY_ROOT * k**0.5)))
    order = np.argsort(-look.values, kind="stable")[:most]
    largest = evolve(look, itemsets=tuple((item,) for item in order.tolist()), values=look.values[order])
    found = beliefs_after(threshold, largest, np.full(most, ITEM_PRIOR))
    kept = max(min(5, most), int((found.chances() >= _ITEM_CHANCE).sum()))
    return found.taken(in_public_order(found.itemsets, found.chances(), found.counts)[:kept])


def pair_beliefs(items: Beliefs, look: Look, k: int) -> Beliefs:
    """Those of the pairs that were looked at which may matter."""
    assert look.itemsets is not None
    threshold = items.threshold
    places = np.array([item for (item,) in items.itemsets], dtype=np.int64)
    order = np.argsort(places)
    ends = np.searchsorted(places, np.array(look.itemsets, dtype=np.int64), sorter=order)
    expected = items.means()[order[ends]].prod(axis=1) / threshold.total
    alphas = np.where(expected >= threshold.theta / 2, PREDICTED_PRIOR, PAIR_PRIOR)
    kept = np.sort(np.concatenate([_hopeful(threshold, look, alphas, alpha, k) for alpha in np.unique(alphas)]))
    found = beliefs_after(threshold, look.taken(kept), alphas[kept])
    return _bounded(items, found)


def _hopeful(threshold: Threshold, look: Look, alphas: FloatArray, alpha: float, k: int) -> IntArray:
    """Places of the candidates with this prior that are not to be dropped, as their noisy values tell.

    Beliefs follow the noisy value, so that a few values tell where those begin that reach θ̂ with some probability.
    """
    places = np.flatnonzero(alphas == alpha)
    places = places[np.argsort(-look.values[places], kind="stable")][: _MOST_HOPEFUL * k]
    tried = look.values[places[np.unique(np.linspace(0, len(places) - 1, 65).astype(np.int64))]]
    sample = evolve(look, itemsets=None, values=tried)
    low = np.flatnonzero(beliefs_after(threshold, sample, np.full(len(tried), alpha)).chances() < _KEEP)
    return places[look.values[places] > tried[low[0]]] if len(low) else places


def long_beliefs(items: Beliefs, look: Look) -> Beliefs:
    """The longer itemsets that were looked at."""
    assert look.itemsets is not None
    alphas = np.full(len(look.itemsets), LONG_PRIOR)
    return _bounded(items, beliefs_after(items.threshold, look, alphas))


def guessed(found: Beliefs, itemsets: Sequence[Itemset], sizes: FloatArray) -> Beliefs:
    """Longer itemsets of which only a guess is known, from counts of their subsets."""
    alphas = np.full(len(itemsets), LONG_PRIOR)
    logs = log_prior(alphas) - np.abs(np.log(GRID * found.threshold.theta) - np.log(sizes)[:, None]) / _GUESS
    new = Beliefs(found.threshold, tuple(itemsets), logs, sizes, 2 * (_GUESS * sizes) ** 2)
    return _bounded(found.taken(np.flatnonzero([len(itemset) == 1 for itemset in found.itemsets])), new)


def _bounded(items: Beliefs, found: Beliefs) -> Beliefs:
    """No itemset is more frequent than its items."""
    limit = dict(zip((item for (item,) in items.itemsets), items.bounds(), strict=True))
    most = np.array([min(limit[item] for item in itemset) for itemset in found.itemsets]) * 1.1
    possible = GRID * found.threshold.theta <= most[:, None]
    return evolve(found, logs=np.where(possible, found.logs, found.logs + IMPOSSIBLE))


def beliefs_from(request: Request, threshold: Threshold, looks: Sequence[Look]) -> Beliefs | None:
    """What is believed after the looks of a `bounded-levels` selection; None where there was none."""
    if not looks or looks[0].itemsets is not None:
        return None
    items = item_beliefs(request, threshold, looks[0])
    found = items
    for later in looks[1:]:
        if later.itemsets and len(later.itemsets[0]) == 2:
            found = found.joined(pair_beliefs(items, later, request.k).kept())
        else:
            found = found.joined(long_beliefs(items, later))
    return found


def beliefs_of(request: Request, threshold: Threshold, answers: tuple[Answer, ...]) -> Beliefs | None:
    """The same, from the noisy answers of the run."""
    return beliefs_from(request, threshold, looks_of(answers))
