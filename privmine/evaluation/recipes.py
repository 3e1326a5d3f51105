"""A pipeline as something that can be made anew in any process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from attrs import field, frozen
from attrs.converters import optional

from privmine.errors import InputError
from privmine.hooks.registry import own_version, registry
from privmine.ledger.checks import delta_amount
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.pipeline.request import frequency_of
from privmine.pipeline.settings import check_keys


def _names(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values)


def _delta(value: Any) -> str:
    return str(delta_amount(value, "delta"))


def _theta(value: Any) -> str:
    try:
        return str(frequency_of(value))
    except InputError:
        # In a file, which has neither options nor arguments.
        raise InputError(
            f"The theta of a pipeline must be a frequency of few digits, more than 0 and at most 1, not {value!r}."
        ) from None


def method_names() -> list[str]:
    """Every method that is installed."""
    return list(registry().presets)


@frozen
class Recipe:
    """What a pipeline is made of.

    Attributes:
        method: the preset to start from.
        stages: for some stages a component, its name, or a mapping of `use` and parameters.
        trust: distributions whose own queries may run.
        delta: the δ of its runs, as exact text; None for pure ε.
        theta: the frequency that itemsets must have, as exact text; k is then the most that there can be.
    """

    method: str = DEFAULT_METHOD
    stages: Mapping[str, Any] = field(factory=dict)
    trust: frozenset[str] = field(default=frozenset(), converter=_names)
    delta: str | None = field(default=None, converter=optional(_delta))
    theta: str | None = field(default=None, converter=optional(_theta))

    @classmethod
    def of(cls, pipeline: Any) -> Recipe:
        """Take a `Pipeline`, the name of a method, or what a pipeline file holds."""
        if isinstance(pipeline, Recipe):
            return pipeline
        if isinstance(pipeline, Pipeline):
            components = {stage: part.component for stage, part in pipeline.parts.items()}
            return cls(pipeline.method, components, pipeline.trust)
        if isinstance(pipeline, str):
            return cls(pipeline)
        if isinstance(pipeline, Mapping):
            check_keys(pipeline, ("method", "stages", "delta", "theta"))
            method, stages = pipeline.get("method", DEFAULT_METHOD), dict(pipeline.get("stages", {}))
            return cls(method, stages, delta=pipeline.get("delta"), theta=pipeline.get("theta"))
        raise InputError(
            f"A pipeline is a Pipeline, the name of a method, or a mapping with method and stages, not {pipeline!r}."
        )

    def make(self) -> Pipeline:
        """The pipeline itself."""
        return Pipeline(self.method, **self.stages, trust=self.trust)

    def definition(self) -> str:
        """A digest of all components and parameters, by which another pipeline of the same name is noticed."""
        more = ([] if self.delta is None else [self.delta]) + ([] if self.theta is None else [f"θ = {self.theta}"])
        text = json.dumps([own_version(), self.make().describe(), *more], sort_keys=True, ensure_ascii=False)
        return blake2b(text.encode(), digest_size=6).hexdigest()
