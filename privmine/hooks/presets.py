"""Presets: a whole pipeline under a name, in one normal form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from privmine.errors import PluginError, UnknownNameError
from privmine.stage_names import STAGES


@frozen
class Preset:
    """A whole pipeline under a name.

    Attributes:
        name: what users call the method.
        stages: for every stage a mapping: `use`, the component's name, and its parameters.
        summary: what it is, in one line.
        distribution: where it comes from.
        version: the version of that distribution.
    """

    name: str
    stages: Mapping[str, Mapping[str, Any]]
    summary: str
    distribution: str
    version: str = ""

    def choice(self, stage: str) -> tuple[str, dict[str, Any]]:
        """The name of a stage's component, and its parameters."""
        parameters = dict(self.stages[stage])
        return parameters.pop("use"), parameters


def normal_stages(name: str, stages: Mapping[str, Any], base: Preset | None) -> dict[str, dict[str, Any]]:
    """For every stage the component and its parameters, with the base's where nothing else is said.

    Args:
        name: the name of the preset, for messages.
        stages: by stage a component's name, a mapping of `use` and parameters, or parameters alone, which change
            those of the base.
        base: the preset to start from.
    """
    for stage in stages:
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
    known = {} if base is None else base.stages
    return {stage: _normal(name, stage, stages.get(stage), known.get(stage)) for stage in STAGES}


def _normal(name: str, stage: str, choice: Any, known: Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(choice, str):
        return {"use": choice}
    if choice is not None and not isinstance(choice, Mapping):
        raise PluginError(
            f"The method {name!r} gives {type(choice).__name__} for {stage}. Give a component's name, or a mapping of "
            "use and parameters."
        )
    given = dict(choice or {})
    if "use" not in given:
        if known is None:
            raise PluginError(
                f"The method {name!r} names no component for {stage}. Name one, or start from another method, for "
                "example base='privbasis'."
            )
        return {**known, **given}
    if not isinstance(given["use"], str):
        raise PluginError(f"The method {name!r} must give a component's name as use of {stage}.")
    return given
