"""Plain values as YAML, with comments: a small part of the language that every reader of it knows.

Short texts stand between double quotes, as JSON writes them, which is YAML as well. Texts of several lines stand in
blocks that keep their lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from privmine.printable import printable_lines


@frozen
class Noted:
    """A value with a comment for whoever edits the file."""

    value: Any
    comment: str


def yaml_text(values: Mapping[str, Any], head: Sequence[str] = ()) -> str:
    """A document: comments first, then a mapping of texts, numbers, lists of texts, and further mappings."""
    lines = [f"# {_one_line(line)}".rstrip() for line in head]
    return "\n".join([*lines, *_mapping(values, "")]) + "\n"


def _mapping(values: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for name, given in values.items():
        value, comment = (given.value, f"  # {_one_line(given.comment)}") if isinstance(given, Noted) else (given, "")
        start = f"{indent}{name}:"
        if isinstance(value, Mapping):
            lines += [start + comment, *_mapping(value, indent + "  ")]
        elif isinstance(value, list | tuple):
            lines += [start + comment, *(f"{indent}  - {_scalar(one)}" for one in value)]
        elif isinstance(value, str) and _is_plain_block(text := printable_lines(value)):
            # Without the minus a reader would add a line break at the end.
            lines += [f"{start} |-{comment}", *(f"{indent}  {line}" for line in text.split("\n"))]
        else:
            lines.append(f"{start} {_scalar(value)}{comment}")
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"{type(value).__name__} has no place in a document.")
    # A number of YAML's first version needs the point that Python leaves out of 1e-06.
    if isinstance(value, float) and "e" in repr(value) and "." not in repr(value):
        digits, _, exponent = repr(value).partition("e")
        return f"{digits}.0e{exponent}"
    return json.dumps(printable_lines(value), ensure_ascii=False) if isinstance(value, str) else repr(value)


def _is_plain_block(text: str) -> bool:
    """Whether a text has several lines, of which none is empty or begins or ends with a blank."""
    lines = text.split("\n")
    return len(lines) > 1 and all(line and line == line.strip() for line in lines)


def _one_line(text: str) -> str:
    return printable_lines(text).replace("\n", " ")
