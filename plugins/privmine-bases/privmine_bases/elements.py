"""Reading an elements file: items and itemsets that a user made up, or that a release has published.

A JSON or TOML file with `items`, a list of labels, and optionally `itemsets`, a list of lists of
these labels; most promising first. Labels are all texts or all whole numbers.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from privmine.api import DataError, Elements, InputError, Universe

EXAMPLE = '{"items": ["bread", "milk"], "itemsets": [["bread", "milk"]]}'


def read_elements(path: Path) -> tuple[Universe, Elements]:
    """The items as a universe in their natural order, and the elements in the order of the file."""
    content = _content(path)
    unknown = sorted(set(content) - {"items", "itemsets"})
    if unknown:
        raise InputError(f"{path} has the key {unknown[0]!r}; an elements file has items and itemsets only.")
    if "items" not in content:
        raise InputError(f"{path} has no items; an elements file is like {EXAMPLE}.")
    items = _labels(content["items"], f"items in {path}")
    itemsets = _itemsets(content.get("itemsets", []), items, path)
    universe = Universe.of(sorted(items))
    position = {label: index for index, label in enumerate(universe.labels.tolist())}
    return universe, Elements(
        items=[position[label] for label in items],
        itemsets=[[position[label] for label in found] for found in itemsets],
    )


def _content(path: Path) -> dict[str, Any]:
    """What the file holds, by the ending of its name."""
    readers = {".json": json.loads, ".toml": tomllib.loads}
    ending = path.suffix.lower()
    if ending not in readers:
        raise InputError(f"{path} must end in .json or .toml, so that its format is known.")
    try:
        content = readers[ending](path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or type(error).__name__}.") from None
    except (ValueError, RecursionError) as error:
        # json's and tomllib's errors are ValueErrors, and so is that of text which is not UTF-8.
        place = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"{path} is not valid {ending[1:].upper()}{place}.") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} must hold an object with items and itemsets, like {EXAMPLE}.")
    return content


def _labels(values: Any, what: str) -> list[Any]:
    """Distinct labels of one kind."""
    if not isinstance(values, list):
        raise InputError(f"The {what} must be a list of labels, not {_kind(values)}.")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InputError(f"The {what} must be texts or whole numbers, not {_kind(value)}.")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise InputError(f"The {what} must fit into 64 bits where they are numbers.")
    if len({type(value) for value in values}) > 1:
        raise InputError(f"The {what} must be all texts or all whole numbers, not some of each.")
    seen = set()
    for value in values:
        if value in seen:
            raise InputError(f"The {what} name {value!r} more than once.")
        seen.add(value)
    return values


def _itemsets(values: Any, items: list[Any], path: Path) -> list[list[Any]]:
    """Distinct itemsets of the items, none of them empty."""
    if not isinstance(values, list):
        raise InputError(f"The itemsets in {path} must be a list of lists of labels, not {_kind(values)}.")
    # 1 and True and 1.0 are equal in Python; the kinds are checked before the members are looked up.
    known, seen = set(items), set()
    for number, value in enumerate(values, start=1):
        what = f"items of itemset {number} in {path}"
        found = _labels(value, what)
        if not found:
            raise InputError(f"Itemset {number} in {path} is empty.")
        for label in found:
            if label not in known:
                raise InputError(f"The {what} include {label!r}, which is not among the items of the file.")
        if frozenset(found) in seen:
            raise InputError(f"Itemset {number} in {path} is there twice.")
        seen.add(frozenset(found))
    return values


def _kind(value: Any) -> str:
    """What a JSON or TOML value is, in words."""
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "a text", int: "a whole number", float: "a decimal number"}
    return kinds.get(type(value), "a list" if isinstance(value, list) else "an object")
