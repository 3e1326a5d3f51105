"""Making advice: simulate each method, look for a sensible k, look for the ε of what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from privmine.errors import InputError, PrivmineError
from privmine.hooks.registry import registry
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.planning.advice import SENSIBLE, Advice
from privmine.planning.forecast import FEWEST_RUNS, MOST_RUNS, Forecast, Simulator
from privmine.planning.population import Population
from privmine.planning.wanted import Aim, least_epsilon_for, parse

#: How often each method is simulated before the worse ones are left as they are.
_TRIAL_RUNS = 3
#: A method that misses so much more than the best one is not simulated any more.
_BEHIND = 0.1
#: Each ε that is tried for what is wanted.
_WANTED_RUNS = 8
#: Beyond this, what is wanted is to be asked for by k.
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
        max_length: the longest itemset to release.
        wanted: a sentence on what is to be learnt.
        runs: how often to simulate each; None for as often as it takes.
        tell: is told what is being simulated.
    """
    simulator = Simulator(population, pipelines, max_length, tell)
    maker = _Adviser(simulator, runs)
    universe = population.baskets.universe
    facts: dict[str, Any] = {
        "like": population.words,
        "transactions": simulator.size,
        "items": len(universe),
        "unit": population.baskets.unit,
    }
    if wanted is not None:
        aim = parse(wanted, simulator.size)
        needed = aim.itemsets(simulator, _MOST_WANTED)
        k = needed if ks is None else max(ks)
        if k < needed:
            raise InputError(
                f"To {aim.sentence}, about {needed:,} itemsets would have to be released, but k is {k:,}. Choose a "
                f"larger k, for example k={needed}."
            )
        found = maker.for_wanted(aim, k)
        sensible = None if found is None else found[1]
        return Advice(
            **facts,
            forecasts=() if sensible is None else (sensible,),
            sensible=sensible,
            notes=(*population.notes, *maker.notes),
            wanted=aim,
            wanted_epsilon=None if found is None else found[0],
        )
    assert ks is not None
    forecasts = tuple(found for k in ks for epsilon in epsilons for found in maker.ranked(k, epsilon))
    sensible = maker.sensible(ks, epsilons)
    return Advice(**facts, forecasts=forecasts, sensible=sensible, notes=(*population.notes, *maker.notes))


class _Adviser:
    def __init__(self, simulator: Simulator, runs: int | None) -> None:
        self._simulator = simulator
        self._fewest, self._most = (FEWEST_RUNS, MOST_RUNS) if runs is None else (runs, runs)
        self._methods = list(simulator.pipelines)
        self._ranked: dict[tuple[int, Fraction], tuple[Forecast, ...]] = {}
        self.notes: list[str] = []

    def ranked(self, k: int, epsilon: Fraction) -> tuple[Forecast, ...]:
        """All methods for one question, the one that misses least first."""
        if (k, epsilon) not in self._ranked:
            trials = []
            trial = min(_TRIAL_RUNS, self._most) if len(self._methods) > 1 else self._fewest
            for method in list(self._methods):
                try:
                    trials.append(self._simulator.forecast(method, k, epsilon, trial, trial))
                except PrivmineError as error:
                    self._leave_out(method, error)
            least = min(found.missed for found in trials)
            rows = [
                self._simulator.forecast(found.method, k, epsilon, self._fewest, self._most)
                if found.missed <= least + _BEHIND or found.method == DEFAULT_METHOD
                else found
                for found in trials
            ]
            self._ranked[k, epsilon] = tuple(sorted(rows, key=lambda found: (found.missed, found.error)))
        return self._ranked[k, epsilon]

    def sensible(self, ks: Sequence[int], epsilons: Sequence[Fraction]) -> Forecast | None:
        """The largest k that is asked for and sensible, at the least ε where it is; else a smaller k."""
        for k in sorted(ks, reverse=True):
            for epsilon in sorted(epsilons):
                if self.ranked(k, epsilon)[0].missed <= SENSIBLE:
                    return self.ranked(k, epsilon)[0]
        k, largest = min(ks) // 2, max(epsilons)
        while k >= _SMALLEST_K:
            if self.ranked(k, largest)[0].missed <= SENSIBLE:
                return self.ranked(k, largest)[0]
            k //= 2
        return None

    def for_wanted(self, aim: Aim, k: int) -> tuple[Fraction, Forecast] | None:
        """The least ε, and what the method that needs it is expected to give."""
        best: tuple[Fraction, str] | None = None
        runs = _WANTED_RUNS if self._most == MOST_RUNS else self._most
        for method in list(self._methods):
            try:
                # Another method is of interest only if it needs less.
                found = least_epsilon_for(aim, self._simulator, method, k, runs, None if best is None else best[0])
            except PrivmineError as error:
                self._leave_out(method, error)
                continue
            if found is not None and (best is None or found < best[0]):
                best = found, method
        if best is None:
            return None
        return best[0], self._simulator.forecast(best[1], k, best[0], self._fewest, self._most)

    def _leave_out(self, method: str, error: PrivmineError) -> None:
        if len(self._methods) == 1:
            raise error
        self._methods.remove(method)
        self.notes.append(f"The method {method} is left out: {error}")
