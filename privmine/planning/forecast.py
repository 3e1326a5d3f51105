"""What a run is expected to find, by simulating it again and again on public or made-up baskets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from attrs import asdict, evolve, frozen
from numpy.typing import NDArray

from privmine.errors import InputError, StageError
from privmine.model import FloatArray, IntArray, Itemset
from privmine.pipeline import Pipeline
from privmine.planning.population import Population
from privmine.privacy.guarantee import Guarantee

#: Runs of each question: at least so many, and more until the mean share missed is known to `_PRECISE`, up to a limit.
FEWEST_RUNS = 5
MOST_RUNS = 40
_PRECISE = 0.012
#: "Found safely": this share of the itemsets above a support is found.
SAFELY = 0.95


@frozen
class Forecast:
    """What a method is expected to give for one k and one ε.

    Attributes:
        method: its name.
        k: how many itemsets are asked for.
        epsilon: the ε of the run.
        runs: how often it was simulated.
        missed: the share of the k most frequent itemsets that is not released, on average.
        missed_error: the standard error of that average.
        listed: how many itemsets are released, on average.
        unclear: how many of their counts their verdict does not call clearly above 0, on average.
        error: the typical error of a count in transactions, as the root of its mean square.
        relative_error: the median error of a count as a share of it; None if nothing that occurs is released.
        found_from: the support, as a share of the transactions, from which on 95 % of the itemsets are found; None if
            even the most frequent ones are not.
        delta: the δ of the run; None for pure ε.
        missed_otherwise: the share missed on other baskets that agree as well with what is known; None where there are
            no such baskets.
    """

    method: str
    k: int
    epsilon: Fraction
    runs: int
    missed: float
    missed_error: float
    listed: float
    unclear: float
    error: float
    relative_error: float | None
    found_from: float | None
    delta: Fraction | None = None
    missed_otherwise: float | None = None

    @property
    def least_missed(self) -> float:
        """The smallest share that may be missed, as far as anybody can tell."""
        return self.missed if self.missed_otherwise is None else min(self.missed, self.missed_otherwise)

    @property
    def most_missed(self) -> float:
        """The largest share that may be missed, as far as anybody can tell."""
        return self.missed if self.missed_otherwise is None else max(self.missed, self.missed_otherwise)

    @property
    def guarantee(self) -> Guarantee:
        """What the run would promise."""
        return Guarantee(self.epsilon, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        delta = None if self.delta is None else str(self.delta)
        return asdict(self) | {"epsilon": str(self.epsilon), "delta": delta}


@frozen
class Attempt:
    """What is simulated: a method, asked for k itemsets with this budget."""

    method: str
    k: int
    epsilon: Fraction
    delta: Fraction | None = None

    def __str__(self) -> str:
        return f"{self.method}, k = {self.k:,}, {Guarantee(self.epsilon, self.delta)}"


@frozen(eq=False)
class _Outcome:
    """One simulated run against the truth."""

    found: NDArray[np.bool_]  # of the true top k, in their order
    unclear: int
    supports: IntArray  # exact ones, of what was released
    errors: FloatArray  # of the counts of what was released


class Simulator:
    """Simulates methods on one population; each run is done once, and its seed is its number.

    Args:
        population: the baskets.
        pipelines: what to simulate, by the name of the method.
        max_length: the longest itemset to release.
        tell: is told what is being simulated, before each run.
    """

    def __init__(
        self,
        population: Population,
        pipelines: Mapping[str, Pipeline],
        max_length: int | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.population = population
        self.pipelines = pipelines
        self.max_length = max_length
        self._tell = tell
        self._outcomes: dict[Attempt, list[_Outcome]] = {}
        self._mined: tuple[int, list[Itemset], IntArray] = (0, [], np.zeros(0, dtype=np.int64))
        self.size = population.baskets.store.count()
        others = population.others
        self._others = (
            None
            if others is None
            else Simulator(evolve(population, baskets=others, others=None), pipelines, max_length)
        )

    def top(self, k: int) -> tuple[list[Itemset], IntArray]:
        """The exact top k of the population, and their supports."""
        if self._mined[0] < k:
            found, supports = self.population.baskets.store.top_itemsets(k, self.max_length)
            self._mined = k, [tuple(itemset) for itemset in found], supports
        return self._mined[1][:k], self._mined[2][:k]

    def forecast(self, attempt: Attempt, fewest: int = FEWEST_RUNS, most: int = MOST_RUNS) -> Forecast:
        """Simulate until the average is known well enough."""
        outcomes = self._outcomes.setdefault(attempt, [])
        while len(outcomes) < fewest or (len(outcomes) < most and self._spread(outcomes) > _PRECISE):
            self._tell(f"Simulating {attempt}")
            outcomes.append(self._run(attempt, seed=len(outcomes)))
        found = self._summary(attempt, outcomes)
        if self._others is None:
            return found
        return evolve(found, missed_otherwise=self._others.forecast(attempt, fewest, most).missed)

    def share_found(self, attempt: Attempt, support: float) -> float:
        """The share of the itemsets of at least this support that was found, of those among the top k."""
        _, supports = self.top(attempt.k)
        above = supports >= support
        return float(np.mean([found.found[above] for found in self._outcomes[attempt]])) if above.any() else 1.0

    def error_between(self, attempt: Attempt, low: float, high: float) -> float:
        """The root of the mean squared error of counts whose exact supports are from low to high, or of all."""
        outcomes = self._outcomes[attempt]
        errors = np.concatenate([outcome.errors for outcome in outcomes])
        supports = np.concatenate([outcome.supports for outcome in outcomes])
        within = errors[(supports >= low) & (supports <= high)]
        return _root_mean_square(within if len(within) else errors)

    def _run(self, attempt: Attempt, seed: int) -> _Outcome:
        top, _ = self.top(attempt.k)
        baskets = self.population.baskets
        options: dict[str, Any] = {"max_length": self.max_length, "simulate": True, "seed": seed}
        try:
            release = self.pipelines[attempt.method].run(
                baskets, attempt.k, attempt.epsilon, delta=attempt.delta, **options
            )
        except StageError as error:
            raise InputError(f"The method {attempt.method} cannot be simulated: {error}") from error
        # Items are their positions.
        released = [tuple(sorted(found.items)) for found in release]
        listed = set(released)
        counts = np.array([found.count for found in release])
        supports = baskets.store.supports(released) if released else np.zeros(0, dtype=np.int64)
        return _Outcome(
            np.array([itemset in listed for itemset in top], dtype=np.bool_),
            len(release) - release.verdict.above_zero,
            np.asarray(supports),
            counts - supports,
        )

    @staticmethod
    def _spread(outcomes: list[_Outcome]) -> float:
        """The standard error of the mean share found."""
        shares = [outcome.found.mean() if len(outcome.found) else 1.0 for outcome in outcomes]
        return float(np.std(shares, ddof=1)) / sqrt(len(shares)) if len(shares) > 1 else float("inf")

    def _summary(self, attempt: Attempt, outcomes: list[_Outcome]) -> Forecast:
        _, supports = self.top(attempt.k)
        found = np.array([outcome.found for outcome in outcomes], dtype=np.float64)
        errors = np.concatenate([outcome.errors for outcome in outcomes])
        exact = np.concatenate([outcome.supports for outcome in outcomes])
        relative = np.abs(errors[exact > 0]) / exact[exact > 0]
        return Forecast(
            attempt.method,
            attempt.k,
            attempt.epsilon,
            len(outcomes),
            missed=1 - float(found.mean()) if found.size else 0.0,
            missed_error=self._spread(outcomes),
            listed=float(np.mean([len(outcome.errors) for outcome in outcomes])),
            unclear=float(np.mean([outcome.unclear for outcome in outcomes])),
            error=_root_mean_square(errors),
            relative_error=float(np.median(relative)) if len(relative) else None,
            found_from=_found_from(found.mean(axis=0), supports / self.size) if found.size else None,
            delta=attempt.delta,
        )


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


def _found_from(found: FloatArray, shares: FloatArray) -> float | None:
    """The least share such that, of the itemsets that are as frequent, 95 % are found; they come by rank."""
    so_far = np.cumsum(found) / np.arange(1, len(found) + 1)
    safe = np.flatnonzero(so_far >= SAFELY)
    return float(shares[safe[-1]]) if len(safe) else None
