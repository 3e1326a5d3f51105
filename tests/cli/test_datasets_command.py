"""`privmine datasets`: list, info and fetch, without a network and without data of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from privmine.api import Dataset, Proxy
from privmine.cli.datasets_command import datasets
from privmine.datasets.checksums import checksum
from privmine.errors import DataError, UnknownNameError
from privmine.hooks.extensions import Extension
from privmine.hooks.registry import registry


@pytest.fixture(autouse=True)
def no_data_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and no data named by the environment."""
    monkeypatch.delenv("PRIVMINE_DATA", raising=False)
    monkeypatch.setenv("PRIVMINE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a part of a dataset [whole], which the catalogue knows."""
    path = tmp_path / "part.dat"
    path.write_text("1 2\n2 3\n")
    part = Dataset("part", "a part", "this [file]", "none", 2, 3, 2.0, sha256=checksum(path))
    whole = Dataset(
        "whole", "a [whole]", "this file", "none", 6, 3, 2.0, proxy=Proxy("part", 3, "close"), note="So it is."
    )
    for dataset in (part, whole):
        extension = Extension("dataset", dataset.name, dataset.title, dataset, "a-test", "1")
        monkeypatch.setitem(registry().extensions, ("dataset", dataset.name), extension)
    return tmp_path


def invoke(*arguments: object) -> Result:
    """Run the command in this process; an error of privmine's is raised, as `main` would get it."""
    result = CliRunner().invoke(datasets, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_list_tells_what_is_there(copies: Path) -> None:
    """Each dataset has a line with its size, status and what it is; a proxy is marked."""
    lines = {line.split()[0]: line for line in invoke("list", "--data", copies).output.splitlines()}
    assert "at hand, proxy" in lines["whole"]
    assert "a [whole]" in lines["whole"]
    assert "88,162" in lines["retail"]
    assert "fetchable" in lines["retail"]
    assert "missing" in lines["kosarak"]
    assert "SYNTHETIC" in lines["zipf"]


def test_the_list_as_json(copies: Path) -> None:
    """Programs get the same as plain values."""
    known = {entry["name"]: entry for entry in json.loads(invoke("list", "--data", copies, "--json").output)}
    assert known["whole"]["path"] == str(copies / "part.dat")
    assert known["kosarak"]["path"] is None
    assert known["quest"]["synthetic"]


def test_info_tells_all(copies: Path) -> None:
    """Size, source, licence, file and checksum, and in full that it is a proxy."""
    shown = invoke("info", "whole", "--data", copies).output
    for words in ("6 transactions over 3 items", "this file", "part.dat", "So it is.", "repeated 3 times"):
        assert words in shown
    assert "http://fimi" in invoke("info", "chess").output
    assert "cannot be fetched" in invoke("info", "chess").output
    assert "synthetic" in invoke("info", "zipf").output


def test_info_as_json(copies: Path) -> None:
    """Programs get the proxy's sentence as well."""
    assert "repeated 3 times" in json.loads(invoke("info", "whole", "--data", copies, "--json").output)["proxy"]


def test_fetch_finds_what_is_there(copies: Path) -> None:
    """What is at hand is checked, and where it is is told."""
    shown = invoke("fetch", "whole", "--data", copies).output
    assert f"is in {copies / 'part.dat'}" in shown
    assert "not the original" in shown
    assert json.loads(invoke("fetch", "whole", "--data", copies, "--json").output)["status"] == "at hand"
    assert "generated each time" in invoke("fetch", "zipf").output


def test_fetch_refuses_a_damaged_copy(copies: Path) -> None:
    """A checksum mismatch is an error."""
    (copies / "part.dat").write_text("1 2\n2 4\n")
    with pytest.raises(DataError, match="is not the dataset part"):
        invoke("fetch", "whole", "--data", copies)


def test_what_cannot_be_had_is_an_error() -> None:
    """A dataset without a known checksum is not fetched, and an unknown name lists the known."""
    with pytest.raises(DataError, match="cannot be fetched"):
        invoke("fetch", "chess")
    with pytest.raises(UnknownNameError, match="'chess'"):
        invoke("info", "ches")
