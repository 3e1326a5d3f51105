"""`check_component`: all contracts of a component's stage, in the pipelines that it is made for; and its audit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from privmine.audit import quick_audit
from privmine.audit.subjects import stage_of
from privmine.errors import PrivmineError
from privmine.hooks.components import Registered, build
from privmine.hooks.presets import Preset
from privmine.hooks.registry import registry
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.testing.contracts import class_flaws, run_flaws
from privmine.testing.coverage import STAGE as COUNTING_STAGE
from privmine.testing.coverage import coverage_flaws
from privmine.testing.flaws import Flaw, FlawedComponentError, gathered
from privmine.testing.trial_cases import TrialCase, odd_cases


def check_component(
    component: Any,
    stage: str | None = None,
    *,
    method: str | None = None,
    cases: Iterable[TrialCase] | None = None,
) -> None:
    """Try a component and raise `FlawedComponentError`, an AssertionError, if it breaks a contract of its stage.

    Args:
        component: a component, its class if all parameters have defaults, or what `all_components` lists.
        stage: its stage; needed only where a class implements more than one.
        method: the preset whose other stages surround it. By default every preset that names it,
            else those of its own distribution, else PrivBasis.
        cases: the made-up databases to try it on. By default `odd_cases()`, and for a reconstruction also the
            coverage of its intervals in the first of these methods, which takes a few seconds.
    """
    flaws = find_flaws(component, stage, method=method, cases=cases)
    if flaws:
        raise FlawedComponentError(_title(component, stage), flaws)


def find_flaws(
    component: Any,
    stage: str | None = None,
    *,
    method: str | None = None,
    cases: Iterable[TrialCase] | None = None,
) -> list[Flaw]:
    """The contracts that a component breaks, each once; see `check_component`."""
    stage = stage_of(component, stage)
    return gathered(_flaws(component, stage, method, cases))


def audit_component(component: Any, stage: str | None = None) -> None:
    """Audit a component in a few seconds, and raise `FlawedComponentError` if it leaks more than it claims.

    The contracts compare results; this also holds the exact values of every query against the declared
    sensitivity, on generated neighbours, and bounds ε from below by sampling. `privmine audit` tries harder.

    Args:
        component: as for `check_component`.
        stage: likewise.
    """
    target = f"{component.stage}={component.name}" if isinstance(component, Registered) else component
    report = quick_audit(target, stage_of(component, stage))
    if not report.ok:
        raise FlawedComponentError(_title(component, stage), [Flaw("audit", str(report))])


def _flaws(component: Any, stage: str, method: str | None, cases: Iterable[TrialCase] | None) -> Iterator[Flaw]:
    try:
        tries = list(_pipelines(component, stage, method))
    except PrivmineError as error:
        yield Flaw("component", str(error))
        return
    chosen = odd_cases() if cases is None else list(cases)
    for number, pipeline in enumerate(tries):
        first = [*class_flaws(pipeline.parts[stage].component, stage)]
        yield from first
        if any(flaw.contract == "component" for flaw in first):
            continue  # It cannot be run as it is.
        in_runs = [flaw for case in chosen for flaw in run_flaws(pipeline, stage, case)]
        yield from in_runs
        if number == 0 and stage == COUNTING_STAGE and cases is None and not in_runs:
            yield from coverage_flaws(pipeline)


def _pipelines(component: Any, stage: str, method: str | None) -> Iterator[Pipeline]:
    """The pipelines to try a component in."""
    known = registry()
    found = component if isinstance(component, Registered) else _registered(component, stage)
    methods = [known.preset(method)] if method is not None else _methods(found, stage)
    if isinstance(component, Registered):
        made = [_from_preset(component, preset) for preset in methods]
    else:
        made = [component() if isinstance(component, type) else component] * len(methods)
    for preset, instance in zip(methods, made, strict=True):
        pipeline = Pipeline(preset.name, **{stage: instance})
        # Queries of the component's own package may run: its author would ask users to trust it.
        yield pipeline.trusting({part.distribution for part in pipeline.parts.values()})


def _from_preset(found: Registered, preset: Preset) -> Any:
    """The component as a preset sets it up, else with its defaults."""
    name, parameters = preset.choice(found.stage)
    return build(found, parameters if name == found.name else {})


def _methods(found: Registered | None, stage: str) -> list[Preset]:
    presets = registry().presets
    if found is None:
        return [presets[DEFAULT_METHOD]]
    naming = [preset for preset in presets.values() if preset.choice(stage)[0] == found.name]
    related = [preset for preset in presets.values() if preset.distribution == found.distribution]
    return naming or related or [presets[DEFAULT_METHOD]]


def _registered(component: Any, stage: str) -> Registered | None:
    cls = component if isinstance(component, type) else type(component)
    for found in registry().components.values():
        if found.stage == stage and found.cls is cls:
            return found
    return None


def _title(component: Any, stage: str | None) -> str:
    stage = stage_of(component, stage)
    found = component if isinstance(component, Registered) else _registered(component, stage)
    if found is not None:
        return f"{stage}={found.name} from {found.distribution}"
    cls = component if isinstance(component, type) else type(component)
    return f"{stage}={cls.__name__}"
