"""What can be audited: pipelines, methods and components, by name or as objects."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from privmine.audit.replay import UNKNOWN_PIPELINE
from privmine.errors import InputError, PrivmineError, UnknownNameError
from privmine.hooks.components import Registered
from privmine.hooks.registry import Registry, registry
from privmine.hooks.specs import PROJECT, hookimpl
from privmine.model import DATA_STAGES, STAGES, BudgetPlan
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.pipeline.run import StageComponent

#: The share of the budget that a stage gets when its component is sampled: what has a tenth can hide in the noise.
EMPHASIS = Fraction(8, 10)


@frozen
class Subject:
    """A pipeline to audit, and the stage whose component is audited, if only one is.

    Attributes:
        name: what the report calls it.
        pipeline: the pipeline, or one that the component fits in.
        stage: the component's stage; None for a whole pipeline.
        setup: Python that makes the pipeline with `subject_of`; a comment where it cannot be made by name.
    """

    name: str
    pipeline: Pipeline
    stage: str | None = None
    setup: str = UNKNOWN_PIPELINE


def subject_of(target: Any, stage: str | None = None, trust: Iterable[str] = ()) -> Subject:
    """Find out what is to be audited.

    Args:
        target: a pipeline; the path of its file, ending in .toml; the name of a method; STAGE=COMPONENT;
            or a component, or its class.
        stage: the stage of the component, where it implements more than one.
        trust: distributions whose own queries may run. That of an audited component is always trusted:
            whether it deserves it is the question.
    """
    if isinstance(target, Pipeline):
        subject = Subject(target.method, target, None if stage is None else _checked_stage(stage))
    elif isinstance(target, str):
        subject = _named(target)
    else:
        component = target() if isinstance(target, type) else target
        stage = stage_of(component, stage)
        pipeline = _pipeline_for(registry(), stage, registry().name_of(stage, component), component)
        subject = Subject(f"{stage}={pipeline.parts[stage].name}", pipeline, stage)
    trusted = (trust,) if isinstance(trust, str) else tuple(trust)
    audited = [subject.stage] if subject.stage else STAGES
    own = (subject.pipeline.parts[stage].distribution for stage in audited)
    pipeline = subject.pipeline.trusting((*trusted, *own))
    return evolve(subject, pipeline=pipeline, setup=_setup(target, stage, trusted))


def all_names() -> list[str]:
    """Every registered method, and every registered component as STAGE=COMPONENT."""
    known = registry()
    components = sorted(known.components, key=lambda found: (STAGES.index(found[0]), found[1]))
    return [*sorted(known.presets), *(f"{stage}={name}" for stage, name in components)]


def all_subjects(trust: Iterable[str] = ()) -> list[Subject]:
    """Every registered method, and every registered component."""
    return [subject_of(name, trust=trust) for name in all_names()]


def _setup(target: Any, stage: str | None, trust: tuple[str, ...]) -> str:
    """Python code that makes the audited pipeline, if names suffice."""
    lines: list[str] = []
    if isinstance(target, Pipeline):
        if type(target) is not Pipeline or target.parts != Pipeline(target.method).parts:
            return UNKNOWN_PIPELINE
        trust, expression = (*trust, *sorted(target.trust)), repr(target.method)
    elif isinstance(target, str):
        expression = repr(target)
    else:
        component = target() if isinstance(target, type) else target
        cls = type(component)
        if not _can_be_written(component):
            return UNKNOWN_PIPELINE
        expression = repr(component)
        if "Fraction(" in expression:
            lines.append("from fractions import Fraction")
        lines.append(f"from {cls.__module__} import {cls.__name__}")
    arguments = [expression, *([repr(stage)] if stage else []), *([f"trust={list(trust)!r}"] if trust else [])]
    return "\n".join([*lines, f"pipeline = subject_of({', '.join(arguments)}).pipeline"])


def _can_be_written(component: object) -> bool:
    """Whether a component's repr is Python that makes it, and its class can be imported."""
    cls = type(component)
    if cls.__module__ == "__main__" or getattr(sys.modules.get(cls.__module__), cls.__name__, None) is not cls:
        return False
    try:
        # The repr is that of an object which is about to be run anyway.
        return bool(eval(repr(component), {cls.__name__: cls, "Fraction": Fraction}) == component)  # noqa: S307
    except Exception:  # noqa: BLE001 - then it is none
        return False


def _named(text: str) -> Subject:
    if text.endswith(".toml"):
        return Subject(text, Pipeline.from_file(text))
    known = registry()
    stage, separator, name = text.partition("=")
    if not separator:
        owners = [f"{stage}={name}" for stage, name in known.components if name == text]
        if owners and text not in known.presets:
            hint = f"A component is audited with its stage: {' or '.join(owners)}."
            raise UnknownNameError("method", text, known.presets, hint=hint)
        return Subject(text, _method(text))
    known.find(stage, name)
    return Subject(text, _pipeline_for(known, stage, name, name), stage)


def stage_of(component: Any, stage: str | None = None) -> str:
    """The stage of a component, a class or a registered component; or the given stage, after checking it.

    Args:
        component: what implements a stage.
        stage: which of them, where it implements more than one.
    """
    if isinstance(component, Registered):
        return component.stage
    if stage is not None:
        return _checked_stage(stage)
    cls = component if isinstance(component, type) else type(component)
    implemented = [known for known in STAGES if hasattr(getattr(cls, known, None), f"{PROJECT}_impl")]
    if len(implemented) == 1:
        return implemented[0]
    told = f"implements {', '.join(implemented)}" if implemented else "implements no stage with @hookimpl"
    raise InputError(f"{cls.__name__} {told}. Name the stage: stage=NAME.")


def _checked_stage(stage: str) -> str:
    if stage not in STAGES:
        raise InputError(f"There is no stage {stage!r}. The stages are {', '.join(STAGES)}.")
    return stage


def _method(name: str) -> Pipeline:
    """The pipeline of a method. If it cannot be made, the error names the method."""
    preset = registry().preset(name)
    try:
        return Pipeline(name)
    except PrivmineError as problem:
        raise InputError(f"The method {name!r} from {preset.distribution} cannot be made: {problem}") from problem


def _pipeline_for(known: Registry, stage: str, name: str, component: Any) -> Pipeline:
    """A pipeline that the component fits in: the method that it belongs to, else the default one."""
    problems = []
    for method in sorted(known.presets, key=lambda preset: preset != DEFAULT_METHOD):
        if known.presets[method].choice(stage)[0] == name:
            try:
                # By name, it keeps the parameters that its method gives it.
                return _method(method) if isinstance(component, str) else Pipeline(method, **{stage: component})
            except PrivmineError as problem:
                problems.append(problem)
    try:
        return Pipeline(**{stage: component})
    except PrivmineError as problem:
        raise (problems or [problem])[0] from None


@frozen
class _GivenPlan:
    """Divides the budget by fixed shares."""

    plan: BudgetPlan

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        return self.plan


def emphasised(subject: Subject, plan: BudgetPlan) -> Pipeline:
    """The pipeline with most of its budget for the audited stage, so that leaks of that stage show.

    Shares are public and any division is allowed, so a sound component stays sound. One that is
    given nothing stays without.
    """
    pipeline, stage = subject.pipeline, subject.stage
    if stage not in DATA_STAGES:
        return pipeline
    shares = {name: getattr(plan, name) for name in DATA_STAGES}
    others = sum(shares.values()) - shares[stage]
    if not shares[stage] or not others:
        return pipeline
    divided = {name: share * (1 - EMPHASIS) / others for name, share in shares.items()}
    part = StageComponent(
        "allocate_budget", _GivenPlan(BudgetPlan(**{**divided, stage: EMPHASIS})), "audit", "privmine"
    )
    return pipeline.with_parts({**pipeline.parts, "allocate_budget": part})
