"""What the tests share: all candidates of a tiny universe, exact probabilities, and a look at what is asked."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import exp

import numpy as np
import pytest
from attrs import define, field, frozen
from scipy import stats

from privmine import Pipeline, Transactions
from privmine.api import NoisyCounts, hookimpl
from privmine.noise.simulated import SimulatedNoise

#: A χ² test fails by bad luck with this probability. The asymptotic p-value is trusted within a factor
#: of ten, since cells below 25 expected draws are pooled: the false-alarm rate stays below 10⁻⁶.
FALSE_ALARM = 1e-7


class TinyUniverse:
    """A universe so small that U can be listed, and its probabilities computed."""

    @staticmethod
    def transactions(baskets, items):
        """A database over the items 0, 1 and so on."""
        return Transactions.from_lists(baskets, items=list(range(items)))

    @staticmethod
    def candidates(items, m):
        """U, in order."""
        return [found for length in range(1, m + 1) for found in combinations(range(items), length)]

    @classmethod
    def scores(cls, baskets, items, m, k, gamma, limit):
        """The truncated support of every candidate, from the definition."""
        supports = [sum(set(found) <= set(basket) for basket in baskets) for found in cls.candidates(items, m)]
        ranked = sorted(supports, reverse=True) + [0] * max(k, limit)
        floor = max(ranked[k - 1] - gamma, ranked[limit - 1])
        return [max(support, floor) for support in supports]

    @staticmethod
    def exponential(scores, n, rate):
        """The probability of each ordered outcome of n draws without replacement, with weights e^(rate·score)."""
        weights = [exp(rate * score) for score in scores]
        outcomes = {}
        for chosen in permutations(range(len(scores)), n):
            left, probability = sum(weights), 1.0
            for index in chosen:
                probability *= weights[index] / left
                left -= weights[index]
            outcomes[chosen] = probability
        return outcomes

    @staticmethod
    def noisy_top(scores, n, scale):
        """The probability of each ordered outcome of the n largest with Laplace noise, by numeric integration."""
        grid = np.linspace(min(scores) - 30 * scale, max(scores) + 30 * scale, 12_001)
        step = grid[1] - grid[0]
        # Candidates of equal score are alike, and there are few scores.
        density = {score: stats.laplace.pdf(grid, score, scale) for score in set(scores)}
        below = {score: stats.laplace.cdf(grid, score, scale) for score in set(scores)}
        known = {}
        outcomes = {}
        for chosen in permutations(range(len(scores)), n):
            pattern = tuple(scores[index] for index in chosen)
            if pattern not in known:
                above = np.ones(len(grid))
                for score in pattern[:-1]:
                    values = density[score] * above
                    above = np.append(np.cumsum((values[1:] + values[:-1])[::-1] * step / 2)[::-1], 0.0)
                others = Counter(scores) - Counter(pattern)
                lower = np.prod([below[score] ** count for score, count in others.items()], axis=0)
                known[pattern] = float(np.trapezoid(density[pattern[-1]] * above * lower, grid))
            outcomes[chosen] = known[pattern]
        assert sum(outcomes.values()) == pytest.approx(1, abs=1e-4)
        return outcomes

    @staticmethod
    def assert_fits(draws, probabilities):
        """A χ² test of draws against the exact probability of each outcome; false-alarm rate below 10⁻⁶."""
        observed = Counter(draws)
        assert set(observed) <= set(probabilities)
        total = observed.total()
        large = [outcome for outcome, probability in probabilities.items() if probability * total >= 25]
        counts = [observed[outcome] for outcome in large]
        expected = [probabilities[outcome] * total for outcome in large]
        counts.append(total - sum(counts))
        expected.append(total - sum(expected))
        assert expected[-1] == pytest.approx(0, abs=1e-2 * total) or expected[-1] >= 25
        if expected[-1] < 25:
            counts[-2:], expected[-2:] = [sum(counts[-2:])], [sum(expected[-2:])]
        assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


class ListeningNoise(SimulatedNoise):
    """Simulated noise that notes at which rate or scale it was asked to draw."""

    def __init__(self):
        super().__init__(0)
        self.rate = self.scale = self.laplace_scale = None

    def select(self, scores, n, rate, tail=None):
        """Note the rate."""
        self.rate = rate
        return super().select(scores, n, rate, tail)

    def noisy_top(self, scores, n, scale, tail=None):
        """Note the scale."""
        self.scale = scale
        return super().noisy_top(scores, n, scale, tail)

    def laplace(self, values, scale):
        """Note the scale."""
        self.laplace_scale = scale
        return super().laplace(values, scale)


@frozen
class KeepAnswers:
    """Counts nothing, and keeps the answers of the run for a test to see."""

    answers: list = field(factory=list, eq=False)

    @hookimpl
    def reconstruct_counts(self, answers):
        """Keep the answers."""
        self.answers.extend(answers)
        return NoisyCounts([], [], [], 1.0, 1.0)


@define
class Listening:
    """One run of a method on some data, and what its selection asked."""

    query: object
    chosen: tuple
    rate: Fraction | None
    scale: Fraction | None


@pytest.fixture
def tiny():
    """The functions on tiny universes."""
    return TinyUniverse


@pytest.fixture
def listen():
    """Runs the selection of a method and tells what it asked of the data and of the noise."""

    def run(method, transactions, k, epsilon, parameters=(), **options):
        keep, noise = KeepAnswers(), ListeningNoise()
        pipeline = Pipeline(method, select_elements=dict(parameters), reconstruct_counts=keep)
        pipeline.run(transactions, k, epsilon, noise=noise, **options)
        (selection,) = keep.answers
        return Listening(selection.query, selection.chosen, noise.rate, noise.scale)

    return run
