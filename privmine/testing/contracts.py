"""The contracts of a stage, each a function that yields what is wrong.

| contract | a component … |
|---|---|
| component | is an attrs class with one hook that fits its stage |
| frozen | has attributes that cannot be set |
| documented | says why it is private, if it is given a curator |
| pickle | survives pickling, so that experiments can run in parallel |
| total | has a result for every database and every question |
| result | returns the type of its stage, within the universe |
| charges | stays within its share, and pays for every draw before it is made |
| deterministic | does the same again for the same seed |
| data | learns of the data by the curator's answers, and in no other way |
| repr | shows parameters and results, which do not change with the data |
| state | is the same component after a run as before |
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import attrs

from privmine.describe import privacy_argument
from privmine.errors import BudgetError, ContractError, PluginError, StageError
from privmine.model import DATA_STAGES, NoisyCounts
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import amount
from privmine.registry import check_component_class
from privmine.run import Part, stage_manager
from privmine.testing.cases import Case
from privmine.testing.flaws import Flaw
from privmine.testing.trial import Trial, attempt
from privmine.testing.watch import WholeNumberNoise

SEED = 20120827


def class_flaws(component: object, stage: str) -> Iterator[Flaw]:
    """What can be seen without a run."""
    cls = type(component)
    try:
        check_component_class(stage, cls)
    except PluginError as error:
        yield Flaw("component", str(error))
    if _can_be_changed(component):
        yield Flaw("frozen", f"its attributes can be set; decorate {cls.__name__} with attrs.frozen.")
    if stage in DATA_STAGES and not privacy_argument(cls):
        yield Flaw(
            "documented",
            f"the docstring of {cls.__name__} has no `Privacy:` paragraph: which queries, why that sensitivity.",
        )
    yield from _pickle_flaws(component)


def _can_be_changed(component: object) -> bool:
    cls: Any = type(component)
    for attribute in attrs.fields(cls) if attrs.has(cls) else ():
        try:
            setattr(component, attribute.name, getattr(component, attribute.name))
        except AttributeError:
            continue
        return True
    probe = "privmine_probe"
    try:
        setattr(component, probe, None)
    except AttributeError:
        return False
    delattr(component, probe)
    return True


def _pickle_flaws(component: object) -> Iterator[Flaw]:
    try:
        # What is pickled here was made here.
        copy = pickle.loads(pickle.dumps(component))  # noqa: S301
    except Exception as error:  # noqa: BLE001 - pickling fails in many ways
        yield Flaw("pickle", f"it cannot be pickled ({type(error).__name__}: {error}); keep its fields plain values.")
        return
    if type(copy) is not type(component) or repr(copy) != repr(component):
        yield Flaw("pickle", f"pickling makes another component of it: {copy!r}, not {component!r}.")


def run_flaws(parts: dict[str, Part], stage: str, case: Case) -> Iterator[Flaw]:
    """What shows when a component runs on a case."""
    component = parts[stage].component
    before = _fingerprint(component)
    for flaw in _flaws_on(parts, stage, case):
        yield Flaw(flaw.contract, flaw.sentence, str(case))
    yield from _changes(component, before, case)


def _flaws_on(parts: dict[str, Part], stage: str, case: Case) -> Iterator[Flaw]:
    simulated = attempt(parts, case, SimulatedNoise(SEED))
    found = [*trial_flaws(simulated, stage)]
    if not found:
        again = attempt(parts, case, SimulatedNoise(SEED))
        found.extend(_repetition_flaws(simulated, again, stage))
    released = attempt(parts, case, WholeNumberNoise(SEED))
    if not found:
        found.extend(trial_flaws(released, stage))
    yield from found
    if found:
        return  # What is compared below would differ for these reasons.
    for baskets in case.other_databases():
        other = attempt(parts, case, WholeNumberNoise(SEED + 1), baskets=baskets, script=released.tape)
        yield from _replay_flaws(released, other, stage)


def trial_flaws(trial: Trial, stage: str) -> Iterator[Flaw]:
    """What one trial shows."""
    breaches = [breach for breach in trial.breaches if breach.stage == stage]
    for breach in breaches:
        yield Flaw(breach.contract, breach.sentence)
    if breaches:
        return  # What follows a breach is of the kit's making.
    if trial.error is not None and stage not in trial.results:
        yield error_flaw(trial, stage)
        return
    yield from _charge_flaws(trial, stage)
    yield from _counts_flaws(trial.results[stage])


def error_flaw(trial: Trial, stage: str) -> Flaw:
    """What it means that a run ended before the stage had a valid result."""
    error = trial.error
    if trial.failed_stage != stage:
        return Flaw(
            "total",
            f"it could not be tried, since {trial.failed_stage} failed before it ({error}); "
            "name a method that it belongs to: check_component(…, method=NAME).",
        )
    if isinstance(error, StageError):
        cause = error.__cause__
        if isinstance(cause, BudgetError):
            return Flaw("charges", f"it overspends: {cause}")
        return Flaw("total", f"it has no result: {type(cause).__name__}: {cause}")
    if isinstance(error, ContractError):
        return Flaw("result", _after(str(error), "broke its contract: "))
    return Flaw("component", str(error))


def _after(text: str, mark: str) -> str:
    """The flaw itself; the rest of the engine's message is about a real run."""
    flaw = text.partition(mark)[2] or text
    for ending in (" Nothing was charged.", " ε = "):
        flaw = flaw.partition(ending)[0]
    return flaw


def _charge_flaws(trial: Trial, stage: str) -> Iterator[Flaw]:
    charged = sum((charge.epsilon for charge in trial.charges), Fraction(0))
    if trial.spent != charged:
        yield Flaw(
            "charges",
            f"the meter says ε = {amount(trial.spent)}, but the charges sum to ε = {amount(charged)}; leave it alone.",
        )
    if stage in DATA_STAGES and trial.spent_until(stage) > trial.limits[stage]:
        yield Flaw(
            "charges",
            f"the run has spent ε = {amount(trial.spent_until(stage))} when the stage ends, "
            f"more than ε = {amount(trial.limits[stage])}, its share and what others left.",
        )


def _counts_flaws(result: object) -> Iterator[Flaw]:
    if isinstance(result, NoisyCounts):
        if len(set(result.itemsets)) < len(result.itemsets):
            yield Flaw("result", "it reports an itemset twice; combine what several bases tell of it.")
        if min(*result.standard_errors.tolist(), result.total_error, 0.0) < 0:
            yield Flaw("result", "a standard error is negative.")


def _repetition_flaws(first: Trial, second: Trial, stage: str) -> Iterator[Flaw]:
    if first.results.get(stage) != second.results.get(stage) or first.charges_of(stage) != second.charges_of(stage):
        yield Flaw(
            "deterministic",
            "the same seed gives another result; take randomness from the curator only, and sort what has no order.",
        )


def _replay_flaws(first: Trial, other: Trial, stage: str) -> Iterator[Flaw]:
    breaches = [breach for breach in other.breaches if breach.stage == stage]
    if breaches:
        yield from (Flaw(breach.contract, breach.sentence) for breach in breaches)
    elif other.failed_stage == stage:
        yield error_flaw(other, stage)
    elif stage not in other.results:
        return  # A stage before this one is at fault, and is told so when it is checked itself.
    elif first.charges_of(stage) != other.charges_of(stage):
        yield Flaw("data", "it pays differently on other data although all noisy answers are the same.")
    elif first.results[stage] != other.results[stage]:
        yield Flaw(
            "data",
            "its result changes with the data although all noisy answers are the same; "
            "something exact reaches the result.",
        )
    elif first.reprs[stage] != other.reprs[stage]:
        yield Flaw("repr", "the repr of its result changes with the data although all noisy answers are the same.")


def _fingerprint(component: object) -> tuple[str, bytes]:
    try:
        return repr(component), pickle.dumps(component)
    except Exception:  # noqa: BLE001 - told elsewhere
        return repr(component), b""


def _changes(component: Any, before: tuple[str, bytes], case: Case) -> Iterator[Flaw]:
    after = _fingerprint(component)
    if after[0] != before[0]:
        yield Flaw("repr", "its repr is another after a run; show parameters and nothing else.", str(case))
    elif after[1] != before[1]:
        yield Flaw("state", "it is changed by a run; a component keeps nothing from one run to the next.", str(case))


def hook_flaws(parts: dict[str, Part]) -> Iterator[Flaw]:
    """Whether the components of a pipeline fit their hooks."""
    try:
        stage_manager(parts.values())
    except PluginError as error:
        yield Flaw("component", str(error))
