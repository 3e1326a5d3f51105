"""How exactly the metrics of rules are known under noise.

A rule rests on four noisy counts: of its itemset W, of its two sides A and C, and of all transactions N. Their noise is
not independent: a transaction in a bin of a basis that has all of W adds to all four. Where each count is the mean over
the bases that contain its itemset, weighted by inverse variance, and u(X) is the sum of 2^−|B| over the bases B that
contain X, then the noise of X and of Y has the covariance

    σ²·2^−|X∪Y|·u(X∪Y) / (u(X)·u(Y)),   and so the variance   σ²·2^−|X| / u(X).

Of W, A, C and N all unions are released, so that u and with it each covariance follows from the standard errors:
2^−|C|·Var(A) for W and A, 2^−|X|·Var(N) for X and N, and 2^−|W|·Var(A)·Var(C)/Var(W) for A and C.

Support and confidence are ratios P/Q of noisy numbers, and a lift nearly so, with Q = A·C/N. Those r belong to an
interval for which P − r·Q is within the noise that it has (Fieller): that stays right where Q is small and a ratio is
lopsided. The width of the noise is that of the count of W, which has the largest part in it; of products of two noises
nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from privmine.model import FloatArray, IntArray
from privmine.release.chosen import chosen_intervals, reaches
from privmine.release.intervals import NormalLaw
from privmine.release.tails import NoiseTail, tail_of

if TYPE_CHECKING:
    from privmine.release.release import Release

#: The metrics that have intervals.
WITH_INTERVALS = ("support", "confidence", "lift", "leverage", "conviction")
#: Of the rules that are shown, at most this share is expected to owe its place to noise.
FALSE_SHARE = 0.025
#: In place of a standard error of 0.
_TINY = 1e-9


@frozen(eq=False)
class Splits:
    """Rules by the positions of their itemset, antecedent and consequent in the release."""

    wholes: IntArray
    antecedents: IntArray
    consequents: IntArray

    def __len__(self) -> int:
        return len(self.wholes)

    def where(self, kept: Any) -> Splits:
        """Those of them that a mask keeps."""
        return Splits(self.wholes[kept], self.antecedents[kept], self.consequents[kept])


@frozen
class Shown:
    """The test by which rules were selected.

    Attributes:
        tested: how many rules there were.
        chance: the largest chance with which a rule is shown.
    """

    tested: int
    chance: float


@frozen(eq=False)
class _Ratio:
    """A ratio of noisy numbers: both, their variances and their covariance."""

    over: FloatArray
    under: FloatArray
    over_variance: FloatArray
    under_variance: FloatArray
    covariance: FloatArray

    def end(self, reach: FloatArray, sign: int) -> FloatArray:
        """One end of the interval: the lower with sign −1, the upper with +1; infinite where there is none.

        Args:
            reach: how many standard errors the noise reaches.
            sign: which end.
        """
        squared = reach**2
        a = self.under**2 - squared * self.under_variance
        b = self.over * self.under - squared * self.covariance
        c = self.over**2 - squared * self.over_variance
        root = b * b - a * c
        known = (a > 0) & (self.under > 0) & (root >= 0)
        ends = (b + sign * np.sqrt(np.where(known, root, 0.0))) / np.where(known, a, 1.0)
        return np.where(known, ends, sign * np.inf)


class Certainty:
    """Intervals and probabilities for rules of a release."""

    def __init__(self, release: Release, splits: Splits, level: float) -> None:
        counts = np.array([found.centre for found in release], dtype=np.float64)
        variances = np.array([found.standard_error for found in release], dtype=np.float64) ** 2
        sizes = np.array([len(found.items) for found in release], dtype=np.int64)
        self._release, self._splits, self._level = release, splits, level
        self._n = release.total
        w, a, c = splits.wholes, splits.antecedents, splits.consequents
        self._w, self._a, self._c = counts[w], counts[a], counts[c]
        self._vw, self._va, self._vc = variances[w], variances[a], variances[c]
        self._vn = release.total_error**2
        shared = 1.0 if release.joint == "bases" else 0.0
        self._wa = shared * self._va * 2.0 ** -sizes[c]
        self._wc = shared * self._vc * 2.0 ** -sizes[a]
        known = np.where(self._vw > 0, self._vw, 1.0)
        self._ac = shared * 2.0 ** -sizes[w] * self._va * self._vc / known
        self._wn, self._an, self._cn = (shared * self._vn * 2.0 ** -sizes[side] for side in (w, a, c))

    def _variance(self, w: Any, a: Any, c: Any, n: Any) -> FloatArray:
        """The variance of the noise in a sum of the four counts with these weights."""
        own = w * w * self._vw + a * a * self._va + c * c * self._vc + n * n * self._vn
        pairs = w * a * self._wa + w * c * self._wc + w * n * self._wn
        others = a * c * self._ac + a * n * self._an + c * n * self._cn
        total: FloatArray = np.maximum(own + 2 * (pairs + others), 0.0)
        return total

    def _ratio(self, over: FloatArray, under: FloatArray, of_over: Any, of_under: Any) -> _Ratio:
        """A ratio of two functions of the counts, with the weights of the counts in each."""
        both = tuple(one + other for one, other in zip(of_over, of_under, strict=True))
        variances = [self._variance(*weights) for weights in (of_over, of_under, both)]
        return _Ratio(over, under, variances[0], variances[1], (variances[2] - variances[0] - variances[1]) / 2)

    def intervals(self, shown: Shown | None = None) -> dict[str, tuple[FloatArray, FloatArray]]:
        """For each metric that has them the lower and the upper ends, within its range.

        Args:
            shown: by which test the rules were chosen, if they were.
        """
        low, high = self._reach() if shown is None else self._reach_of_shown(shown)
        w, a, c, n = self._w, self._a, self._c, self._n
        expected, by_chance = self._expected()
        ratios = {
            "support": self._ratio(w, np.full_like(w, n), (1, 0, 0, 0), (0, 0, 0, 1)),
            "confidence": self._ratio(w, a, (1, 0, 0, 0), (0, 1, 0, 0)),
            "lift": self._ratio(w, expected, (1, 0, 0, 0), by_chance),
        }
        # Of a conviction the inverse, whose lower part does not reach 0: A without C over what chance would give.
        inverse = self._ratio(a - w, a * (n - c) / n, (-1, 1, 0, 0), (0, (n - c) / n, -a / n, a * c / n**2))
        leverage = w / n - a * c / n**2
        error = np.sqrt(self._variance(1 / n, -c / n**2, -a / n**2, -w / n**2 + 2 * a * c / n**3))
        found = {name: (ratio.end(low, -1), ratio.end(high, 1)) for name, ratio in ratios.items()}
        found["leverage"] = (leverage - low * error, leverage + high * error)
        least, most = np.maximum(inverse.end(high, -1), 0.0), np.maximum(inverse.end(low, 1), 0.0)
        with np.errstate(divide="ignore"):
            found["conviction"] = (1 / most, 1 / least)
        ranges = {
            **dict.fromkeys(("support", "confidence"), (0, 1)),
            **dict.fromkeys(("lift", "conviction"), (0, np.inf)),
            "leverage": (-0.25, 0.25),
        }
        return {name: tuple(np.clip(ends, *ranges[name]) for ends in found[name]) for name in WITH_INTERVALS}  # type: ignore[misc]

    def _expected(self) -> tuple[FloatArray, tuple[Any, ...]]:
        """How often A and C would occur together by chance, and the weights of the counts in its noise."""
        a, c, n = self._a, self._c, self._n
        return a * c / n, (0, c / n, a / n, -a * c / n**2)

    def _excess(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """How often A and C occur together by chance, how much more often they do, and the standard error of that."""
        expected, by_chance = self._expected()
        error = np.sqrt(self._variance(1, *(-weight for weight in by_chance[1:])))
        return expected, self._w - expected, np.where(error > 0, error, _TINY)

    def _by_itemset(self) -> Iterator[tuple[Any, float, NoiseTail]]:
        """For each itemset its rules, its standard error and the tail of its noise."""
        for row in np.unique(self._splits.wholes).tolist():
            found = self._release.itemsets[row]
            error = found.standard_error or _TINY
            yield self._splits.wholes == row, error, tail_of(found.law or NormalLaw(error))

    @property
    def _cutoff(self) -> float:
        selection = self._release.selection
        is_known = selection is not None and selection.cutoff is not None and not selection.by_estimates
        return selection.cutoff if is_known else -np.inf  # type: ignore[union-attr, return-value]

    def chances(self) -> FloatArray:
        """For each rule the probability that noise alone makes its lift so large, where the exact one is 1.

        An itemset may be listed only because its noise was large. So the probability is of a noise that large, given
        that the itemset was listed.
        """
        expected, excess, error = self._excess()
        chances = np.ones(len(self._splits))
        for rules, one, tail in self._by_itemset():
            noise = tail.above(excess[rules] / error[rules] * one)
            chances[rules] = noise / np.maximum(tail.above(self._cutoff - expected[rules]), 1e-300)
        return np.minimum(chances, 1.0)

    def _reach(self) -> tuple[FloatArray, FloatArray]:
        """How many standard errors the noise reaches below and above, for rules that were not selected."""
        down, up = reaches(self._release, self._level)
        errors = np.where(self._vw > 0, np.sqrt(self._vw), _TINY)
        return down[self._splits.wholes] / errors, up[self._splits.wholes] / errors

    def _reach_of_shown(self, shown: Shown) -> tuple[FloatArray, FloatArray]:
        """The same for rules that were selected because they are clearly more than chance.

        Those owe their place in part to noise, as do the itemsets of a release, and the correction is the same: of
        all noise that would have let the rule be shown.
        """
        expected, excess, error = self._excess()
        low, high = np.zeros(len(self._splits)), np.zeros(len(self._splits))
        selection = self._release.selection
        candidates = shown.tested + (0 if selection is None else selection.candidates)
        for rules, one, tail in self._by_itemset():
            listed = tail.above(self._cutoff - expected[rules])
            scale = one / error[rules]
            # In standard errors of the itemset's count, as the tail is.
            needed = np.array([tail.quantile(max(min(shown.chance * part, 0.5), 1e-300)) for part in listed])
            others = np.maximum(self._cutoff, tail.quantile((1 - self._level) / 2)) - expected[rules]
            value = excess[rules] * scale
            cutoff = np.minimum(np.maximum(needed, others * scale), value)
            ends = chosen_intervals(value, tail, cutoff, candidates, self._level)
            low[rules], high[rules] = (value - ends[0]) / one, (ends[1] - value) / one
        if selection is not None and selection.by_estimates:
            # How estimates choose is not known, so that nothing narrower holds than for a rule that is listed at all.
            down, up = self._reach()
            low, high = np.maximum(low, down), np.maximum(high, up)
        return low, high


def discoveries(chances: FloatArray, tested: int) -> tuple[Any, Shown]:
    """Which of these chances are small enough, allowing for how many were looked at (Benjamini and Hochberg).

    Of what is found this way at most `FALSE_SHARE` is expected to be noise.
    """
    order = np.argsort(chances, kind="stable")
    limits = FALSE_SHARE * np.arange(1, len(chances) + 1) / max(tested, 1)
    small = np.flatnonzero(chances[order] <= limits)
    found = np.zeros(len(chances), dtype=bool)
    if len(small):
        found[order[: small[-1] + 1]] = True
    return found, Shown(tested, float(limits[small[-1]]) if len(small) else 0.0)
