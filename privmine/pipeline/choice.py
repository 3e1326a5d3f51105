"""Choosing the component of a stage: by name, by name with parameters, or as an object."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import attrs

from privmine.errors import InputError
from privmine.hooks.components import build
from privmine.hooks.registry import registry
from privmine.model import STAGES
from privmine.pipeline.run import StageComponent


def chosen_components(method: str, choices: Mapping[str, Any]) -> tuple[StageComponent, ...]:
    """The component of each stage: as chosen, else as the method has it."""
    preset = registry().preset(method)
    return tuple(_chosen(stage, choices.get(stage), *preset.choice(stage)) for stage in STAGES)


def _chosen(stage: str, choice: Any, name: str, defaults: Mapping[str, Any]) -> StageComponent:
    """Make a component from what the user chose, or from what the method has: a name, and parameters."""
    known = registry()
    if choice is None or isinstance(choice, str):
        choice = {} if choice is None else {"use": choice}
    if isinstance(choice, Mapping):
        parameters = dict(choice)
        wanted = parameters.pop("use", None)
        if wanted is not None and not isinstance(wanted, str):
            raise InputError(f"The component to use for {stage} is given by its name, not by {wanted!r}.")
        if wanted is None:
            wanted, parameters = name, {**defaults, **parameters}
        component = build(known.find(stage, wanted), parameters)
        return StageComponent(stage, component, wanted, known.distribution_of(component))
    if isinstance(choice, type):
        raise InputError(f"{stage} needs a component, not the class {choice.__name__}; write {choice.__name__}().")
    return StageComponent(stage, choice, known.name_of(stage, choice), known.distribution_of(choice))


def description_of(part: StageComponent) -> str:
    """A component with its parameters and its distribution, as the receipt lists it."""
    parameters = ""
    if attrs.has(type(part.component)):
        values = attrs.asdict(part.component, recurse=False)
        parameters = ", ".join(f"{name}={_plain(value)}" for name, value in values.items())
    return f"{part.name}({parameters}) from {part.distribution}"


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)
