"""Opening datasets by name: found, refused, fetched, repeated, labelled."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from privmine.api import Proxy
from privmine.datasets import Transactions, all_datasets, describe, make_available, open_dataset, zipf
from privmine.datasets import cache as kept_data
from privmine.datasets.checksums import checksum
from privmine.datasets.opening import catalogue
from privmine.datasets.places import cache_directory
from privmine.errors import DataError, InputError, PluginError, UnknownNameError

TEXT = b"1 2\n2 3\n"


@pytest.fixture
def sha256(tmp_path: Path) -> str:
    """The checksum of the text."""
    path = tmp_path / "text"
    path.write_bytes(TEXT)
    return checksum(path)


def test_a_checksum_is_that_of_the_text(tmp_path: Path, sha256: str) -> None:
    """Compression, blanks at the ends of lines and a missing last newline make no difference; other data does."""
    for content in (gzip.compress(TEXT), b"1 2 \n2 3 \n", b"1 2\r\n2 3\r\n", b"1 2\n2 3"):
        path = tmp_path / "same"
        path.write_bytes(content)
        assert checksum(path) == sha256
    path.write_bytes(b"1 2\n2 4\n")
    assert checksum(path) != sha256


def test_a_damaged_file_has_no_checksum(tmp_path: Path) -> None:
    """A file that cannot be decompressed or read is named."""
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(TEXT * 100)[:-9])
    with pytest.raises(DataError, match="damaged"):
        checksum(path)
    with pytest.raises(DataError, match="cannot be read"):
        checksum(tmp_path / "none")


@pytest.mark.parametrize("ending", [".dat", ".dat.gz"])
def test_a_copy_is_found_in_the_named_directory(add_dataset: Any, data_dir: Path, sha256: str, ending: str) -> None:
    """A file of the dataset's name is opened, plain or compressed."""
    add_dataset("tiny", sha256=sha256)
    (data_dir / f"tiny{ending}").write_bytes(gzip.compress(TEXT) if ending.endswith("gz") else TEXT)
    assert open_dataset("tiny", data_dir).store.item_supports().tolist() == [1, 2, 1]
    assert describe("tiny", data_dir).status == "at hand"


def test_the_environment_names_the_directory(
    add_dataset: Any, data_dir: Path, sha256: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PRIVMINE_DATA is where copies are, if nothing else is said; the case of the name does not matter."""
    add_dataset("tiny", sha256=sha256)
    (data_dir / "tiny.dat").write_bytes(TEXT)
    monkeypatch.setenv("PRIVMINE_DATA", str(data_dir))
    assert open_dataset("Tiny").store.count() == 2


def test_a_wrong_copy_is_refused(add_dataset: Any, data_dir: Path, sha256: str) -> None:
    """A checksum mismatch is an error that says what to do."""
    add_dataset("tiny", sha256=sha256)
    (data_dir / "tiny.dat").write_bytes(b"1 2\n2 4\n")
    with pytest.raises(DataError, match=r"tiny\.dat is not the dataset tiny.*Replace it by the right file"):
        open_dataset("tiny", data_dir)


def test_a_copy_without_checksum_must_have_the_right_size(add_dataset: Any, data_dir: Path) -> None:
    """Where no checksum is known, the number of transactions is checked."""
    add_dataset("tiny")
    (data_dir / "tiny.dat").write_bytes(TEXT)
    assert open_dataset("tiny", data_dir).store.count() == 2
    (data_dir / "tiny.dat").write_bytes(TEXT + b"3\n")
    with pytest.raises(DataError, match="does not have 2 transactions"):
        open_dataset("tiny", data_dir)


def test_an_unknown_name_lists_the_known() -> None:
    """A typing error is answered with what is close."""
    with pytest.raises(UnknownNameError, match="Did you mean 'mushroom'"):
        open_dataset("mushrom")


def test_what_is_missing_says_how_to_get_it(add_dataset: Any) -> None:
    """A dataset that cannot be fetched names the file and the directory; with an address, that too."""
    add_dataset("tiny", note="It is small.")
    with pytest.raises(DataError, match=r"Put it as tiny\.dat\.gz into the directory that PRIVMINE_DATA.*small"):
        open_dataset("tiny")
    add_dataset("other", url="http://127.0.0.1:9/other.dat.gz", proxy=Proxy("tiny", 2, "alike"))
    with pytest.raises(DataError, match=r"its checksum is not known. Download http.*tiny\.dat\.gz.*stand in for it"):
        open_dataset("other")
    assert describe("other").status == "missing"


def test_a_part_stands_in_for_a_missing_original(add_dataset: Any, data_dir: Path, sha256: str) -> None:
    """A proxy is the repeated part, and says so; the original, once there, goes first."""
    add_dataset("part", sha256=sha256)
    add_dataset("whole", transactions=6, items=3, proxy=Proxy("part", 3, "it is close"))
    assert describe("whole", data_dir).proxy is None
    (data_dir / "part.dat").write_bytes(TEXT)
    found = describe("whole", data_dir)
    assert found.proxy is not None
    assert "part (a test) repeated 3 times; it is close. The original has 6 transactions" in found.proxy
    assert (found.transactions, found.sha256) == (6, sha256)
    assert open_dataset("whole", data_dir).store.item_supports().tolist() == [3, 6, 3]
    (data_dir / "whole.dat").write_bytes(b"1 2\n2 3\n1 3\n1\n2\n3\n")
    assert describe("whole", data_dir).proxy is None
    assert open_dataset("whole", data_dir).store.item_supports().tolist() == [3, 3, 3]


def test_items_have_labels_where_there_are_some(add_dataset: Any, data_dir: Path, sha256: str) -> None:
    """The file of labels beside the data names the items, and is checked as the data is."""
    names = data_dir / "tiny.items.json"
    names.write_text(json.dumps({"1": "tea", "2": "milk", "3": "ale"}))
    add_dataset("tiny", sha256=sha256, labels_sha256=checksum(names))
    (data_dir / "tiny.dat").write_bytes(TEXT)
    universe = open_dataset("tiny", data_dir).universe
    assert universe.labels.tolist() == ["tea", "milk", "ale"]
    assert universe.given
    names.write_text(json.dumps({"1": "tea", "2": "rum", "3": "ale"}))
    with pytest.raises(DataError, match="item labels"):
        open_dataset("tiny", data_dir)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A web server of this machine for the directory `tmp_path / "web"`."""
    (tmp_path / "web").mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "web"))) as running:
        thread = Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_a_dataset_is_fetched_once(add_dataset: Any, tmp_path: Path, server: str, sha256: str, cache: Path) -> None:
    """What is not at hand is downloaded, checked and kept in the cache, where it is found without a network."""
    add_dataset("tiny", sha256=sha256, url=f"{server}/original.dat.gz")
    assert describe("tiny").status == "fetchable"
    (tmp_path / "web" / "original.dat.gz").write_bytes(gzip.compress(b"1 2 \n2 3 \n"))
    assert open_dataset("tiny").store.count() == 2
    (tmp_path / "web" / "original.dat.gz").unlink()
    assert open_dataset("tiny").store.count() == 2
    assert describe("tiny").status == "cached"
    assert list(cache.iterdir()) == [cache / "tiny.dat.gz"]


def test_a_wrong_download_is_refused(add_dataset: Any, tmp_path: Path, server: str, sha256: str, cache: Path) -> None:
    """What comes with another checksum is not kept."""
    add_dataset("tiny", sha256=sha256, url=f"{server}/tiny.dat")
    (tmp_path / "web" / "tiny.dat").write_bytes(b"<html>moved</html>")
    with pytest.raises(DataError, match="is not the dataset tiny"):
        open_dataset("tiny")
    assert list(cache.iterdir()) == []


def test_a_failed_download_says_how_to_do_without(add_dataset: Any, server: str, sha256: str) -> None:
    """An unreachable server is one sentence with what to do by hand."""
    add_dataset("tiny", sha256=sha256, url=f"{server}/none.dat")
    with pytest.raises(DataError, match=r"could not be fetched from http.*by hand.*PRIVMINE_DATA"):
        make_available("tiny")


def test_fetching_needs_pooch(add_dataset: Any, sha256: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pooch the error names the extra."""
    add_dataset("tiny", sha256=sha256, url="http://127.0.0.1:9/tiny.dat")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match=r"pip install 'privmine\[datasets\]'"):
        open_dataset("tiny")


def test_generated_baskets_open_by_name() -> None:
    """The small generators need neither files nor cache."""
    assert open_dataset("zipf").store.count() == 10_000
    found = describe("zipf")
    assert (found.status, found.path) == ("generated", None)
    assert found.synthetic is not None


def test_a_generator_gets_the_files_that_it_needs(add_dataset: Any, data_dir: Path, sha256: str) -> None:
    """Plain or compressed, each checked; it may return any baskets. Without the file, the dataset is missing."""

    def generate(source: Path) -> list[list[str]]:
        return [line.split() for line in source.read_text().splitlines()]

    add_dataset("made", generator=generate, needs={"source.txt": sha256})
    assert describe("made", data_dir).status == "missing"
    with pytest.raises(DataError, match=r"made is generated from source\.txt\.gz, which is not here\. Put that file"):
        open_dataset("made", data_dir)
    (data_dir / "source.txt").write_bytes(b"1 2\n2 4\n")
    with pytest.raises(DataError, match="is not the dataset source"):
        open_dataset("made", data_dir)
    (data_dir / "source.txt").write_bytes(TEXT)
    assert describe("made", data_dir).status == "generated"
    assert open_dataset("made", data_dir).store.item_supports().tolist() == [1, 2, 1]


def test_a_generator_that_cannot_be_imported_is_told(add_dataset: Any) -> None:
    """With the distribution that it comes from; and so is a stand-in that nobody knows."""
    add_dataset("made", generator="no_such_module:made")
    with pytest.raises(PluginError, match="The dataset 'made' of a-test cannot be loaded: ModuleNotFoundError"):
        open_dataset("made")
    add_dataset("other", proxy=Proxy("mad", 2, "alike"))
    with pytest.raises(UnknownNameError, match=r"There is no dataset named 'mad'\. Did you mean 'made'"):
        open_dataset("other")


def test_what_takes_long_to_generate_is_kept(add_dataset: Any, cache: Path) -> None:
    """It is generated once, then comes from the cache."""
    runs: list[int] = []

    def generate() -> Transactions:
        runs.append(1)
        return zipf(50, items=9)

    add_dataset("made", generator=generate, kept_as="made-1.npz")
    assert describe("made").status == "generated"
    first, again = open_dataset("made"), open_dataset("made")
    assert runs == [1]
    assert describe("made").status == "cached"
    assert [path.name for path in cache.iterdir()] == ["made-1.npz"]
    assert first.store.item_supports().tolist() == again.store.item_supports().tolist()


def test_only_numbered_items_can_be_kept(add_dataset: Any) -> None:
    """Other labels would be lost."""
    add_dataset("made", generator=lambda: [["tea", "milk"]], kept_as="made-1.npz")
    with pytest.raises(InputError, match="Renumber the items, or drop kept_as"):
        open_dataset("made")


def test_kept_data_is_loaded_unchanged(tmp_path: Path) -> None:
    """Nothing else is left beside it, and a damaged file is refused."""
    saved = zipf(300, items=70)
    path = tmp_path / "kept" / "small.npz"
    kept_data.save(path, saved)
    loaded = kept_data.load(path)
    assert loaded.universe == saved.universe
    np.testing.assert_array_equal(loaded.store.rows.items, saved.store.rows.items)
    np.testing.assert_array_equal(loaded.store.rows.offsets, saved.store.rows.offsets)
    assert list(path.parent.iterdir()) == [path]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="damaged"):
        kept_data.load(path)


def test_the_catalogue_is_consistent() -> None:
    """Names fit their keys, proxies are parts with checksums, and only what can be checked is fetchable."""
    for name, dataset in catalogue().items():
        assert name == dataset.name
        assert dataset.sha256 is None or len(dataset.sha256) == 64
        if dataset.proxy is not None:
            assert catalogue()[dataset.proxy.part].sha256 is not None
        if dataset.generator is not None:
            assert "SYNTHETIC" in dataset.title
        if dataset.is_fetchable:
            assert dataset.sha256 is not None
            assert ".dat" in str(dataset.url)
    assert len({name.casefold() for name in catalogue()}) == len(catalogue())
    assert {"retail", "mushroom", "pumsb_star", "kosarak"} <= {info.name for info in all_datasets()}


@pytest.mark.parametrize(
    ("platform", "variable", "ending"),
    [("linux", "XDG_CACHE_HOME", "privmine"), ("win32", "LOCALAPPDATA", "cache"), ("darwin", "HOME", "privmine")],
)
def test_the_cache_is_where_the_system_has_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variable: str, ending: str
) -> None:
    """Without PRIVMINE_CACHE, the cache is in the system's place for caches."""
    monkeypatch.delenv("PRIVMINE_CACHE")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert tmp_path in cache_directory().parents
    assert cache_directory().name == ending
