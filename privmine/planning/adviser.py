"""Making advice: simulate each method, look for a sensible k, look for the ε of what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve

from privmine.errors import InputError, PrivmineError
from privmine.exact import amount
from privmine.hooks.registry import registry
from privmine.model import itemset_count
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.planning.advice import Advice, is_sensible, preferred
from privmine.planning.forecast import FEWEST_RUNS, MOST_RUNS, Attempt, Forecast, Simulator
from privmine.planning.population import Population
from privmine.planning.wanted import Aim, least_epsilon_for, parse

#: How often each method is simulated before the worse ones are left as they are.
_TRIAL_RUNS = 3
#: A method that misses so much more than the best one is not simulated any more.
_BEHIND = 0.1
#: Each ε that is tried for what is wanted.
_WANTED_RUNS = 8
#: For what is wanted, more itemsets are simulated only if k says so: that takes long.
_MOST_WANTED = 1000
_SMALLEST_K = 3


def installed_methods() -> dict[str, Pipeline]:
    """Every method that is installed and can be made; the default one first."""
    made: dict[str, Pipeline] = {}
    for name in sorted(registry().presets, key=lambda name: (name != DEFAULT_METHOD, name)):
        try:
            pipeline = Pipeline(name)
        except PrivmineError:
            continue  # `privmine plugins` tells what is wrong with it.
        # The baskets of a simulation are public, so that a wrong sensitivity harms nobody.
        made[name] = pipeline.trusting({part.distribution for part in pipeline.parts.values()})
    return made


def advise(
    population: Population,
    pipelines: Mapping[str, Pipeline],
    ks: Sequence[int] | None,
    epsilons: Sequence[Fraction],
    *,
    delta: Fraction | None = None,
    max_length: int | None = None,
    wanted: str | None = None,
    runs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Advice:
    """Simulate what is asked for.

    Args:
        population: what to simulate on.
        pipelines: the methods to choose from, by name.
        ks: the numbers of itemsets that are asked for; None where what is wanted decides.
        epsilons: the ε that are asked for; none where what is wanted decides.
        delta: a δ to compare with pure ε: then every question is simulated under both.
        max_length: the longest itemset to release.
        wanted: a sentence on what is to be learnt.
        runs: how often to simulate each; None for as often as it takes.
        tell: is told what is being simulated.
    """
    simulator = Simulator(population, pipelines, max_length, tell)
    maker = _Adviser(simulator, runs, delta)
    universe = population.baskets.universe
    facts: dict[str, Any] = {
        "like": population.words,
        "transactions": simulator.size,
        "items": len(universe),
        "unit": population.baskets.unit,
        "delta": delta,
    }
    if wanted is not None:
        aim = parse(wanted, simulator.size)
        most = max(_MOST_WANTED, *(ks or [1]))
        needed = aim.itemsets(simulator, most)
        if needed > most:
            raise InputError(
                f"To {aim.sentence}, more than {most:,} itemsets would have to be released. Ask for larger supports, "
                "or pass a larger k=."
            )
        k = needed if ks is None else max(ks)
        if k < needed:
            raise InputError(
                f"To {aim.sentence}, about {needed:,} itemsets would have to be released, but k is {k:,}. Choose a "
                f"larger k, for example k={needed}."
            )
        found = maker.for_wanted(aim, k)
        sensible = found[0] if found else None
        return Advice(
            **facts,
            forecasts=tuple(found),
            sensible=sensible,
            notes=(*population.notes, *maker.notes),
            wanted=aim,
            wanted_epsilon=None if sensible is None else sensible.epsilon,
        )
    assert ks is not None
    most = itemset_count(len(universe), max_length)
    if max(ks) > most:
        maker.notes.append(
            f"Only {most:,} itemset{' is' if most == 1 else 's are'} possible with {len(universe):,} item"
            f"{'' if len(universe) == 1 else 's'}, so that no release has more."
        )
    forecasts = tuple(found for k in ks for epsilon in epsilons for found in maker.ranked(k, epsilon))
    sensible = maker.sensible(ks, epsilons)
    return Advice(**facts, forecasts=forecasts, sensible=sensible, notes=(*population.notes, *maker.notes))


class _Adviser:
    def __init__(self, simulator: Simulator, runs: int | None, delta: Fraction | None) -> None:
        self._simulator = simulator
        self._fewest, self._most = (FEWEST_RUNS, MOST_RUNS) if runs is None else (runs, runs)
        # Every method under every definition of privacy that is of interest.
        deltas = (None,) if delta is None else (None, delta)
        self._choices = {of_delta: list(simulator.pipelines) for of_delta in deltas}
        self._ranked: dict[tuple[int, Fraction], tuple[Forecast, ...]] = {}
        self.notes: list[str] = []

    def ranked(self, k: int, epsilon: Fraction) -> tuple[Forecast, ...]:
        """All methods for one question, the one to prefer first, and the others by what they miss."""
        if (k, epsilon) not in self._ranked:
            rows = [found for delta in self._choices for found in self._tried(k, epsilon, delta)]
            rows.sort(key=lambda found: (found.missed, found.error))
            first = preferred(rows)
            self._ranked[k, epsilon] = (first, *(found for found in rows if found is not first))
        return self._ranked[k, epsilon]

    def _tried(self, k: int, epsilon: Fraction, delta: Fraction | None) -> list[Forecast]:
        """All methods under one definition; those that may be the best one are simulated more often."""
        trials = []
        methods = self._choices[delta]
        first = min(_TRIAL_RUNS, self._most) if len(methods) > 1 else self._fewest
        for method in list(methods):
            try:
                trials.append(self._simulator.forecast(Attempt(method, k, epsilon, delta), first, first))
            except PrivmineError as error:
                self._leave_out(method, delta, error)
        least = min((found.missed for found in trials), default=0.0)
        return [
            self._simulator.forecast(Attempt(found.method, k, epsilon, delta), self._fewest, self._most)
            if found.missed <= least + _BEHIND or found.method == DEFAULT_METHOD
            else found
            for found in trials
        ]

    def sensible(self, ks: Sequence[int], epsilons: Sequence[Fraction]) -> Forecast | None:
        """The largest k that is asked for and sensible, at the least ε where it is; else a smaller k."""
        for k in sorted(ks, reverse=True):
            for epsilon in sorted(epsilons):
                if is_sensible(self.ranked(k, epsilon)[0]):
                    return self.ranked(k, epsilon)[0]
        k, largest = min(ks) // 2, max(epsilons)
        while k >= _SMALLEST_K:
            if is_sensible(self.ranked(k, largest)[0]):
                return self.ranked(k, largest)[0]
            k //= 2
        return None

    def for_wanted(self, aim: Aim, k: int) -> list[Forecast]:
        """Under each definition what the method gives that needs the least ε, at that ε; the least ε first."""
        return sorted(
            (found for delta in self._choices if (found := self._least(aim, k, delta)) is not None),
            key=lambda found: found.epsilon,
        )

    def _least(self, aim: Aim, k: int, delta: Fraction | None) -> Forecast | None:
        best: Attempt | None = None
        runs = _WANTED_RUNS if self._most == MOST_RUNS else self._most
        for method in list(self._choices[delta]):
            attempt = Attempt(method, k, Fraction(1), delta)
            try:
                # Another method is of interest only if it needs less.
                most = None if best is None else best.epsilon
                found = least_epsilon_for(aim, self._simulator, attempt, runs, most)
            except PrivmineError as error:
                self._leave_out(method, delta, error)
                continue
            if found is not None and (best is None or found < best.epsilon):
                best = evolve(attempt, epsilon=found)
        return None if best is None else self._simulator.forecast(best, self._fewest, self._most)

    def _leave_out(self, method: str, delta: Fraction | None, error: PrivmineError) -> None:
        if sum(map(len, self._choices.values())) == 1:
            raise error
        self._choices[delta].remove(method)
        at = "" if delta is None else f" at δ = {amount(delta)}"
        self.notes.append(f"The method {method} is left out{at}: {error}")
