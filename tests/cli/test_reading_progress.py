"""How much of the files is read: on a terminal only, as a share of bytes."""

from __future__ import annotations

import io
import sys

import pytest

import privmine as pm
from privmine.cli import reading_progress as progress


def test_words_have_a_share_and_a_time_and_nothing_else():
    """After a second; never 100 %, since the first lines are read more than once."""
    assert progress.words(50, 100, 0.5) == "Reading the data …"
    assert progress.words(50, 100, 10) == "Reading the data … 50%, about 10 s left"
    assert progress.words(10, 100, 60) == "Reading the data … 10%, about 9 min left"
    assert progress.words(1, 100, 10) == "Reading the data … 1%"  # too early to tell the time
    assert progress.words(300, 100, 10) == "Reading the data … 99%, about 0 s left"
    assert progress.words(50, 0, 10) == "Reading the data …"


class Terminal(io.StringIO):
    """A screen that is kept."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_it_is_shown_on_a_terminal_only(tmp_path, monkeypatch, is_terminal):
    """In a pipe nothing is."""
    path = tmp_path / "a.csv"
    path.write_text("order_id,product\n" + "".join(f"{row},item {row % 7}\n" for row in range(20_000)))
    told = []
    monkeypatch.setattr(sys, "stderr", Terminal() if is_terminal else io.StringIO())
    monkeypatch.setattr(progress, "words", lambda done, size, seconds: told.append((done, size)) or "Reading")
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    with progress.reading_progress((str(tmp_path / "*.csv"),)):
        pm.read(path, transaction="order_id", item="product")
    assert bool(told) is is_terminal
    if is_terminal:
        done, size = told[-1]
        assert size == path.stat().st_size <= done


def test_a_file_that_is_not_there_has_no_size(tmp_path):
    """What is wrong with a name is for the reader to tell."""
    assert progress._size((str(tmp_path / "none.csv"),)) == 0
    assert progress._size(("a\0b",)) == 0
