"""The contracts of a stage, each a function that yields what is wrong.

| contract | a component … |
|---|---|
| component | is an attrs class with one hook that fits its stage |
| frozen | has attributes that cannot be set |
| documented | says why it is private, if it is given a curator |
| pickle | survives pickling, so that experiments can run in parallel |
| total | has a result for every database and every question |
| sum | asks for sums whose function has an answer for every transaction |
| result | returns the type of its stage, within the universe |
| charges | stays within its share, and pays for every draw before it is made |
| deterministic | does the same again for the same seed |
| data | learns of the data by the curator's answers, and in no other way |
| repr | shows parameters and results, which do not change with the data |
| state | is the same component after a run as before |
| coverage | states standard errors and intervals that are right: `privmine.testing.coverage` |
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from math import isclose
from typing import Any

import attrs

from privmine.audit.accounts import accounting
from privmine.audit.comparing import first_difference, same
from privmine.audit.trace import Trace
from privmine.errors import BudgetError, ContractError, PluginError, StageError
from privmine.hooks.components import check_component_class
from privmine.hooks.descriptions import privacy_argument
from privmine.model import DATA_STAGES, NoisyCounts
from privmine.noise.laws import NoiseSum
from privmine.pipeline import Pipeline
from privmine.queries import SumQuery
from privmine.release.intervals import kept_law
from privmine.store.clipping import clip
from privmine.testing.flaws import Flaw
from privmine.testing.trial import Trial, attempt, attempt_again
from privmine.testing.trial_cases import TrialCase

SEED = 20120827
#: What an audit says of a run's account, and the kit says of the stage that it happened in.
_PRICES = ("unpaid", "scale", "budget")


def class_flaws(component: object, stage: str) -> Iterator[Flaw]:
    """What can be seen without a run."""
    cls = type(component)
    try:
        check_component_class(stage, cls)
    except PluginError as error:
        yield Flaw("component", str(error))
    if _can_be_changed(component):
        yield Flaw("frozen", f"its attributes can be set. Decorate {cls.__name__} with attrs.frozen.")
    if stage in DATA_STAGES and not privacy_argument(cls):
        yield Flaw(
            "documented",
            f"the docstring of {cls.__name__} has no `Privacy:` paragraph. Write which queries it asks, and why their "
            "sensitivity is right.",
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
        yield Flaw("pickle", f"it cannot be pickled ({type(error).__name__}: {error}). Use plain values as fields.")
        return
    if type(copy) is not type(component) or repr(copy) != repr(component):
        yield Flaw("pickle", f"it is another component after pickling: {copy!r}, not {component!r}.")


def run_flaws(pipeline: Pipeline, stage: str, case: TrialCase) -> Iterator[Flaw]:
    """What shows when a component runs on a case."""
    component = pipeline.parts[stage].component
    before = _fingerprint(component)
    for flaw in _flaws_on(pipeline, stage, case):
        yield Flaw(flaw.contract, flaw.sentence, str(case))
    yield from _changes(component, before, case)


def _flaws_on(pipeline: Pipeline, stage: str, case: TrialCase) -> Iterator[Flaw]:
    simulated = attempt(pipeline, case, SEED, whole_numbers=False)
    found = [*trial_flaws(simulated, stage)]
    if not found:
        found.extend(_sum_flaws(simulated, stage, case))
        again = attempt(pipeline, case, SEED, whole_numbers=False)
        found.extend(_repetition_flaws(simulated, again, stage))
    released = attempt(pipeline, case, SEED, whole_numbers=True)
    if not found:
        found.extend(trial_flaws(released, stage))
    yield from found
    if found:
        return  # What is compared below would differ for these reasons.
    for baskets in case.other_databases():
        yield from _replay_flaws(released, attempt_again(pipeline, case, baskets, released), stage)


def trial_flaws(trial: Trial, stage: str) -> Iterator[Flaw]:
    """What one trial shows."""
    reads = [*_read_flaws(trial, stage)]
    if reads:
        yield from reads
        return  # What follows such a look is of the kit's making.
    for finding in accounting(trial.trace):
        if finding.stage == stage and finding.rule in _PRICES:
            yield Flaw("charges", f"{finding.message}. Leave noise and charges to the curator.")
            return
    if trial.ended_before(stage):
        yield error_flaw(trial.trace, stage)
        return
    yield from _meter_flaws(trial)
    yield from _counts_flaws(trial.trace.result(stage))


def _sum_flaws(trial: Trial, stage: str, case: TrialCase) -> Iterator[Flaw]:
    """A run cannot tell that a contribution failed, since a transaction made it fail; data that is made up can."""
    queries = [call.query for call in trial.trace.calls if call.stage == stage and isinstance(call.query, SumQuery)]
    for query in queries:
        for basket in case.baskets:
            transaction = tuple(sorted(set(basket)))
            try:
                clip(query.contribution(transaction), query.dimension, query.l1, query.l2_squared)
            except Exception as error:  # noqa: BLE001 - an author's function may fail in any way
                yield Flaw(
                    "sum",
                    f"the function of {query.name!r} fails, here for the transaction {transaction} "
                    f"({type(error).__name__}: {error}), which then counts as zeros. Return zeros if that is meant.",
                )
                return


def _read_flaws(trial: Trial, stage: str) -> Iterator[Flaw]:
    for name in trial.reads(stage):
        yield Flaw(
            "data",
            f"it reads the data outside the curator (store.{name}). Ask the curator, which charges for it.",
        )


def error_flaw(trace: Trace, stage: str) -> Flaw:
    """The flaw of a run that ended before the stage had a valid result."""
    error = trace.failure
    if trace.failed_stage != stage:
        return Flaw(
            "total",
            f"it could not be tried, since {trace.failed_stage} failed before it ({error}). "
            "Name a method that it belongs to: check_component(…, method=NAME).",
        )
    if isinstance(error, StageError):
        cause = error.__cause__
        if isinstance(cause, BudgetError):
            return Flaw("charges", f"it overspends: {cause}")
        return Flaw("total", f"it returned no result: {type(cause).__name__}: {cause}")
    if isinstance(error, ContractError):
        return Flaw("result", error.flaw)
    return Flaw("component", str(error))


def _meter_flaws(trial: Trial) -> Iterator[Flaw]:
    charged = sum(charge.cost for charge in trial.charges)
    spent = trial.trace.meter.spent if trial.trace.meter else charged
    if spent != charged:
        yield Flaw(
            "charges",
            f"the meter says {spent}, but the charges sum to {charged or 'nothing'}. Do not touch the meter.",
        )


def _counts_flaws(result: object) -> Iterator[Flaw]:
    if isinstance(result, NoisyCounts):
        if len(set(result.itemsets)) < len(result.itemsets):
            yield Flaw("result", "it reports an itemset twice. Combine the counts of several bases.")
        if min(*result.standard_errors.tolist(), result.total_error, 0.0) < 0:
            yield Flaw("result", "a standard error is negative.")
        yield from _law_flaws(result)


def _law_flaws(counts: NoisyCounts) -> Iterator[Flaw]:
    laws = [*(counts.laws[number] for number in counts.law_of.tolist()), counts.total_law]
    errors = [*counts.standard_errors[: len(counts.law_of)].tolist(), counts.total_error]
    # A law need not be hashable, and there are few of them for many counts.
    pairs = {(id(law), error): (law, error) for law, error in zip(laws, errors, strict=True)}
    for law, error in pairs.values():
        try:
            kept_law(law)
        except ContractError as flaw:
            yield Flaw("result", str(flaw))
        if isinstance(law, NoiseSum) and not isclose(law.standard_error, error, rel_tol=1e-6, abs_tol=1e-9):
            yield Flaw("result", "a standard error does not match its law of noise, so intervals would be wrong.")


def _repetition_flaws(first: Trial, second: Trial, stage: str) -> Iterator[Flaw]:
    results = first.trace.result(stage), second.trace.result(stage)
    if not same(*results) or first.charges_of(stage) != second.charges_of(stage):
        yield Flaw(
            "deterministic",
            "the same seed gives another result. Take randomness from the curator only, and sort what has no order.",
        )


def _replay_flaws(first: Trial, other: Trial, stage: str) -> Iterator[Flaw]:
    """What shows on other data, if all noisy answers are the same."""
    reads = [*_read_flaws(other, stage)]
    _, difference = first_difference(first.trace, other.trace)
    if reads:
        yield from reads
    elif difference is None:
        if first.trace.shown(stage) != other.trace.shown(stage):
            yield Flaw("repr", "the repr of its result changes with the data although all noisy answers are the same.")
    elif difference.stage != stage:
        return  # Another stage is at fault, and is told so when it is checked itself.
    elif difference.rule == "failure":
        yield error_flaw(other.trace if other.ended_before(stage) else first.trace, stage)
    elif difference.rule == "result":
        yield Flaw(
            "data",
            "its result changes with the data although all noisy answers are the same. "
            "Something exact reaches the result.",
        )
    else:
        yield Flaw(
            "data",
            "it asks other questions of other data although all noisy answers so far are the same "
            f"({difference.message}). Decide by noisy answers only.",
        )


def _fingerprint(component: object) -> tuple[str, bytes]:
    try:
        return repr(component), pickle.dumps(component)
    except Exception:  # noqa: BLE001 - told elsewhere
        return repr(component), b""


def _changes(component: Any, before: tuple[str, bytes], case: TrialCase) -> Iterator[Flaw]:
    after = _fingerprint(component)
    if after[0] != before[0]:
        yield Flaw("repr", "its repr changes in a run. Show parameters and nothing else.", str(case))
    elif after[1] != before[1]:
        yield Flaw("state", "a run changes it. A component must keep nothing from one run to the next.", str(case))
