"""What can be told of a registered component without running it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from privmine.hooks.components import HELP, Registered


@frozen
class Parameter:
    """A component's parameter as `--set STAGE.NAME=VALUE` takes it; a default of None and `required` means none."""

    name: str
    type: str
    required: bool
    default: str | None
    help: str


def summary(cls: type) -> str:
    """The first line of a class's docstring."""
    return _paragraphs(cls)[0].partition("\n")[0]


def description(cls: type) -> str:
    """The docstring without its `Privacy:` and `Bias:` paragraphs and its sections for programmers."""
    kept = []
    for paragraph in _paragraphs(cls):
        if paragraph.startswith(("Privacy:", "Bias:", "Attributes:", "Args:")):
            break
        kept.append(" ".join(paragraph.split()))
    return "\n\n".join(kept)


def privacy_argument(cls: type) -> str:
    """The `Privacy:` paragraph of a class's docstring, as one line; empty if there is none."""
    return _labelled(cls, "Privacy:")


def bias_statement(cls: type) -> str:
    """The `Bias:` paragraph of a class's docstring: why its counts are not right on average; empty if there is none."""
    return _labelled(cls, "Bias:")


def _labelled(cls: type, label: str) -> str:
    for paragraph in _paragraphs(cls):
        if paragraph.startswith(label):
            return " ".join(paragraph.removeprefix(label).split())
    return ""


def parameters(cls: type) -> list[Parameter]:
    """The fields that can be set, in their order."""
    return [_parameter(attribute) for attribute in attrs.fields(cls) if attribute.init]


def source_file(found: Registered) -> str:
    """The file that a component's class is defined in."""
    try:
        return str(Path(inspect.getfile(found.cls)))
    except (OSError, TypeError):
        return "unknown"


def _parameter(attribute: attrs.Attribute[Any]) -> Parameter:
    required = attribute.default is attrs.NOTHING
    default: str | None = None
    if isinstance(attribute.default, attrs.Factory):  # type: ignore[arg-type]
        default = "computed"
    elif not required:
        # A fraction reads 1/10, a text stays a text: as `--set` would take it.
        default = str(attribute.default)
    return Parameter(
        attribute.alias or attribute.name,
        _type_name(attribute.type),
        required,
        default,
        str(attribute.metadata.get(HELP, "")),
    )


def _type_name(annotation: Any) -> str:
    if annotation is None:
        return "any"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _paragraphs(cls: type) -> list[str]:
    # Its own docstring only: an inherited one would tell of another class.
    return inspect.cleandoc(cls.__doc__ or "").split("\n\n")
