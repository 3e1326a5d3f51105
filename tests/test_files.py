"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from privmine.errors import InputError
from privmine.files import check_place, written


def test_a_file_takes_its_place_when_it_is_whole(tmp_path) -> None:
    """Until the end the old file is there, and afterwards the new one alone."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with written(path, public=True) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt])
def test_after_a_failure_the_old_file_is_there(tmp_path, interruption) -> None:
    """Whatever ends the block early, no part of the new file stays."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write_half() -> None:
        with written(path, public=False) as file:
            file.write(b"ha")
            raise interruption

    with pytest.raises(interruption):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("public", "mode"), [(True, 0o640), (False, 0o600)])
def test_who_may_read_it(tmp_path, public, mode) -> None:
    """Public files have the usual rights, others are for their owner."""
    before = os.umask(0o027)
    try:
        with written(tmp_path / "file", public=public) as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_places_that_cannot_be(tmp_path) -> None:
    """A directory and a path without one are refused; a place that is free or taken by a file is fine."""
    with pytest.raises(InputError, match="is a directory"):
        check_place(tmp_path)
    with pytest.raises(InputError, match="There is no directory"):
        check_place(tmp_path / "nowhere" / "file")
    with pytest.raises(InputError, match="File name too long"):
        check_place(tmp_path / ("x" * 5000))
    (tmp_path / "taken").write_bytes(b"old")
    check_place(tmp_path / "taken")
    check_place(tmp_path / "free")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_folder_that_may_not_be_written(tmp_path, monkeypatch) -> None:
    """The sentence says what the system says."""

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(InputError, match=r"Cannot write to .*: Read-only file system\."):
        check_place(tmp_path / "file")
