"""What others wrote is printed so that it cannot change what a reader sees."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmine.printable import json_text, printable, printable_lines

#: Characters that steer a terminal, hide, or turn text around: C0, C1, marks and overrides of direction, and others.
HIDDEN = "\x00\x07\x08\x1b\x7f\x85\x9b\xad\u061c\u200b\u200e\u200f\u2028\u202a\u202e\u2066\u2069\ufeff\ud800\U000e0041"


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
def test_a_hidden_character_is_shown_as_an_escape(character) -> None:
    """In text and in JSON, where it reads back as it was."""
    assert printable(f"a{character}b").startswith("a\\")
    shown = json_text({"label": f"a{character}b"})
    assert character not in printable(f"a{character}b") + shown
    assert json.loads(shown) == {"label": f"a{character}b"}


def test_letters_stay_letters() -> None:
    """Of any language, and signs with them."""
    text = "Käse, 牛乳, חלב, ε ≤ 1, 🥐"
    assert printable(text) == text
    assert text in json_text([text])


def test_lines_stay_lines() -> None:
    """Of text that has several; within JSON a line break is an escape already."""
    assert printable("a\nb") == r"a\nb"
    assert printable_lines("a\n\x1bb") == "a\n\\x1bb"
    assert json_text(["a\nb"]) == '[\n  "a\\nb"\n]'


@given(
    st.recursive(
        st.none() | st.text(st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_means_what_it_meant(value) -> None:
    """Escapes change nothing for a program, and every line is printable."""
    shown = json_text(value)
    assert json.loads(shown) == value
    assert all(line.isprintable() for line in shown.split("\n"))
