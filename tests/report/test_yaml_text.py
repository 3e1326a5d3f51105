"""YAML that other programs read back."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from privmine.printable import printable_lines
from privmine.report.yaml_text import Noted, yaml_text

TEXT = st.text() | st.sampled_from(
    ["yes", "null", "1e3", "- x", "# x", "a: b", "|", " lead", "x\n", "a\nb", "a\n\n b", "\t"]
)
LEAVES = TEXT | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.lists(TEXT, min_size=1)
NAMES = st.from_regex(r"[a-z_]{1,10}", fullmatch=True).filter(lambda name: yaml.safe_load(name) == name)
VALUES = st.dictionaries(NAMES, LEAVES | st.dictionaries(NAMES, LEAVES, min_size=1), min_size=1)


def printed(value):
    """What is read back: the same, but for characters that are not printable."""
    if isinstance(value, dict):
        return {name: printed(one) for name, one in value.items()}
    if isinstance(value, list):
        return [printed(one) for one in value]
    return printable_lines(value) if isinstance(value, str) else value


@given(VALUES, TEXT)
def test_another_reader_finds_the_same_values(values: dict, comment: str) -> None:
    """PyYAML reads back every text and number; a comment changes nothing, whatever it holds."""
    assert yaml.safe_load(yaml_text(values)) == printed(values)
    noted = {name: Noted(value, comment) for name, value in values.items()}
    assert yaml.safe_load(yaml_text(noted, [comment])) == printed(values)


def test_small_numbers_are_numbers() -> None:
    """1e-06 without a point is a text to readers of the first version of YAML."""
    assert yaml.safe_load(yaml_text({"delta": 1e-06})) == {"delta": 1e-06}


def test_what_has_no_place_is_refused() -> None:
    """A value that would be read as another is a mistake of ours."""
    with pytest.raises(TypeError):
        yaml_text({"x": None})
    with pytest.raises(TypeError):
        yaml_text({"x": True})
