"""What can be audited: pipelines, methods and components, by name or as objects."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from privmine.audit.cases import Case, MakeDatabase, make_database
from privmine.audit.outcomes import PipelineSample
from privmine.audit.recording import with_parts
from privmine.errors import InputError
from privmine.hookspecs import hookimpl
from privmine.model import DATA_STAGES, STAGES, BudgetPlan
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.registry import Registry, canonical, registry
from privmine.run import Part

#: The share of the budget that a stage gets when its component is sampled: what has a tenth can hide in the noise.
EMPHASIS = Fraction(8, 10)


@frozen
class Subject:
    """A pipeline to audit, and the stage whose component is in question, if it is just that.

    Attributes:
        name: what the report calls it.
        pipeline: the pipeline, or one that the component fits in.
        stage: the component's stage; None for a whole pipeline.
    """

    name: str
    pipeline: Pipeline
    stage: str | None = None


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
        if stage is not None and stage not in STAGES:
            raise InputError(f"{stage!r} is no stage; the stages are {', '.join(STAGES)}.")
        subject = Subject(target.method, target, stage)
    elif isinstance(target, str):
        subject = _named(target)
    else:
        component = target() if isinstance(target, type) else target
        stage = stage or _stage_of(component)
        pipeline = _pipeline_for(registry(), stage, registry().name_of(stage, component), component)
        subject = Subject(f"{stage}={pipeline.parts[stage].name}", pipeline, stage)
    return _trusting(subject, trust)


def all_subjects(trust: Iterable[str] = ()) -> list[Subject]:
    """Every registered method, and every registered component."""
    known = registry()
    components = sorted(known.components, key=lambda found: (STAGES.index(found[0]), found[1]))
    names = [*sorted(known.presets), *(f"{stage}={name}" for stage, name in components)]
    return [subject_of(name, trust=trust) for name in names]


def _named(text: str) -> Subject:
    if text.endswith(".toml"):
        return Subject(text, Pipeline.from_file(text))
    stage, separator, name = text.partition("=")
    if not separator:
        return Subject(text, Pipeline(text))
    known = registry()
    known.find(stage, name)
    return Subject(text, _pipeline_for(known, stage, name, name), stage)


def _stage_of(component: object) -> str:
    stages = [stage for stage in STAGES if inspect.getattr_static(type(component), stage, None) is not None]
    if len(stages) != 1:
        raise InputError(
            f"{type(component).__name__} implements {' and '.join(stages) or 'no stage'}; "
            "say which stage to audit: stage=…"
        )
    return stages[0]


def _pipeline_for(known: Registry, stage: str, name: str, component: Any) -> Pipeline:
    """A pipeline that the component fits in: the method that it belongs to, else the default one."""
    for method in sorted(known.presets, key=lambda preset: preset != DEFAULT_METHOD):
        choice = known.presets[method].stages.get(stage)
        used = choice.get("use") if isinstance(choice, Mapping) else choice
        if used == name:
            # By name, it keeps the parameters that its method gives it.
            return Pipeline(method) if isinstance(component, str) else Pipeline(method, **{stage: component})
    return Pipeline(**{stage: component})


def _trusting(subject: Subject, trust: Iterable[str]) -> Subject:
    pipeline = copy.copy(subject.pipeline)
    audited = [subject.stage] if subject.stage else STAGES
    trusted = {*trust, *(pipeline.parts[stage].distribution for stage in audited)}
    pipeline.trust = pipeline.trust | {canonical(name) for name in trusted}
    return Subject(subject.name, pipeline, subject.stage)


@frozen
class _GivenPlan:
    """Divides the budget as it was told."""

    plan: BudgetPlan

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        return self.plan


def emphasised(subject: Subject, case: Case, database: MakeDatabase = make_database) -> Pipeline:
    """The pipeline with most of the budget for the stage in question, so that its leaks show.

    Shares are public and any division is allowed, so a sound component stays sound. One that is
    given nothing stays without.
    """
    pipeline, stage = subject.pipeline, subject.stage
    if stage not in DATA_STAGES:
        return pipeline
    plan = PipelineSample(pipeline, case, database=database).plan()
    shares = {name: getattr(plan, name) for name in DATA_STAGES}
    others = sum(shares.values()) - shares[stage]
    if not shares[stage] or not others:
        return pipeline
    divided = {name: share * (1 - EMPHASIS) / others for name, share in shares.items()}
    part = Part("allocate_budget", _GivenPlan(BudgetPlan(**{**divided, stage: EMPHASIS})), "audit", "privmine")
    return with_parts(pipeline, {**pipeline.parts, "allocate_budget": part})
