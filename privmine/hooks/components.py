"""Components as classes: what makes one, and how one is built from its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from attrs import frozen

from privmine.errors import InputError, PluginError, PrivmineError, UnknownNameError
from privmine.exact import A_NUMBER, exact
from privmine.hooks.specs import PROJECT, Stages
from privmine.stage_names import STAGES

if TYPE_CHECKING:
    import cattrs

HELP = "privmine_help"


@frozen
class Registered:
    """A component under its name, with the distribution that brought it."""

    stage: str
    name: str
    cls: type
    distribution: str
    version: str


def check_component_class(stage: str, cls: type) -> None:
    """A component is a frozen attrs class with its stage as a method that pluggy can call."""
    where = f"{cls.__module__}.{cls.__qualname__}"
    if not attrs.has(cls):
        raise PluginError(
            f"{where} must be a frozen attrs class: its fields are its parameters. Decorate it with attrs.frozen."
        )
    method = inspect.getattr_static(cls, stage, None)
    if method is None:
        raise PluginError(lacking(where, stage, cls))
    check_stage_method(where, stage, method)


def lacking(where: str, stage: str, cls: type) -> str:
    """That a class has no method for its stage, and which of its methods may be meant for it."""
    close = get_close_matches(stage, [name for name in dir(cls) if name not in STAGES], n=1)
    guess = f" Rename {close[0]} to {stage}." if close else ""
    return f"{where} has no method {stage}, so it cannot be a component for that stage.{guess}"


def check_stage_method(where: str, stage: str, method: Any, specs: type = Stages) -> None:
    """Catch what pluggy would accept and then not do; the hook may also be one of other specifications."""
    if not hasattr(method, f"{PROJECT}_impl"):
        raise PluginError(f"{where}.{stage} is never called. Add the decorator @hookimpl.")
    marks = getattr(method, f"{PROJECT}_impl")
    if marks.get("wrapper") or marks.get("hookwrapper"):
        raise PluginError(f"{where}.{stage} is a hook wrapper. A component must implement its stage itself.")
    offered = list(inspect.signature(getattr(specs, stage)).parameters)[1:]
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.name not in offered:
            close = get_close_matches(parameter.name, offered, n=1)
            guess = f"Did you mean {close[0]!r}? " if close else ""
            raise PluginError(
                f"{where}.{stage} takes {parameter.name!r}, which the hook does not have. {guess}The "
                f"hook has {', '.join(offered)}."
            )
        if parameter.default is not parameter.empty or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise PluginError(
                f"{where}.{stage} takes {parameter.name!r} with a default, by keyword only or as a "
                "collection. pluggy never passes such an argument; make it a plain one."
            )


def build(registered: Registered, parameters: Mapping[str, Any]) -> Any:
    """Make a component from its registered class and parameters given as plain values or text."""
    known = {attribute.alias: attribute for attribute in attrs.fields(registered.cls) if attribute.init}
    owner = f"{registered.stage}={registered.name}"
    for name in parameters:
        if name not in known:
            raise UnknownNameError(f"parameter of {owner}", name, known)
    missing = [
        name for name, attribute in known.items() if attribute.default is attrs.NOTHING and name not in parameters
    ]
    if missing:
        raise InputError(f"{owner} needs a value for its parameter {missing[0]}, which has no default.")
    try:
        # Most components have no parameters given: then cattrs is not even loaded.
        return _converter().structure(dict(parameters), registered.cls) if parameters else registered.cls()
    except PrivmineError:
        raise
    except Exception as error:
        raise InputError(f"{owner} cannot be made: {_reason(error, list(parameters))}") from error


def _reason(error: BaseException, given: list[str]) -> str:
    """The sentence behind cattrs' nested groups, with the name of the parameter that it is about, if that is known."""
    from cattrs.errors import AttributeValidationNote

    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    sentence = str(error).rstrip(".") + "."
    notes = [note.name for note in getattr(error, "__notes__", ()) if isinstance(note, AttributeValidationNote)]
    # A field's own converter leaves no note.
    name = (notes or (given if len(given) == 1 else []))[:1]
    return sentence.replace(A_NUMBER, name[0], 1) if name else sentence


@cache
def _converter() -> cattrs.Converter:
    from fractions import Fraction

    import cattrs  # Here, since it takes as long to load as all of privmine's registry, and few commands need it.

    converter = cattrs.Converter(prefer_attrib_converters=True, use_alias=True)
    converter.register_structure_hook(int, lambda value, _: _whole(value))
    converter.register_structure_hook(bool, lambda value, _: _truth(value))  # Else it would be taken for an int.
    converter.register_structure_hook(float, lambda value, _: _decimal(value))
    converter.register_structure_hook(Fraction, lambda value, _: exact(value))
    return converter


def _whole(value: Any) -> int:
    try:
        number = exact(value)
    except InputError:
        number = None
    if number is None or number.denominator != 1:
        raise InputError(f"{A_NUMBER} must be a whole number, not {value!r}.")
    return int(number)


def _truth(value: Any) -> bool:
    truth = {"true": True, "false": False}.get(str(value).strip().lower())
    if truth is None:
        raise InputError(f"{A_NUMBER} must be true or false, not {value!r}.")
    return truth


def _decimal(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{A_NUMBER} must be a number such as 0.5, not {value!r}.") from None


def parameter(default: Any = attrs.NOTHING, *, help: str, **options: Any) -> Any:  # noqa: A002 - attrs' own word
    """A component's parameter: an attrs field with a help text that `privmine plugins show` prints.

    Args:
        default: its value where the user sets none.
        help: what it means, in a few words.
        options: what `attrs.field` takes, such as `validator=whole_from(1)`.
    """
    return attrs.field(default=default, metadata={HELP: help}, **options)
