"""The store on disk: what was written is what is opened, and nothing else is."""

import json
import pickle
import struct
import zlib

import numpy as np
import pytest

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.store import disk_format
from privmine.store.disk import DiskStore
from privmine.store.transactions import Transactions
from privmine.testing import check_store

BASKETS = [["bread", "milk"], ["milk"], [], ["brød", "bread", "a b\n"], ["milk", "bread"]]


@pytest.fixture
def path(tmp_path):
    """A store on disk of a few baskets."""
    place = tmp_path / "baskets.privmine"
    pm.write(pm.read(BASKETS), place)
    return place


def test_it_counts_as_the_store_in_memory(tmp_path) -> None:
    """All that a store can be asked, on odd and random databases."""
    numbers = iter(range(1000))

    def make(baskets, items):
        place = tmp_path / f"{next(numbers)}.privmine"
        offsets = np.cumsum([0, *map(len, baskets)])
        flat = np.array([item for basket in baskets for item in basket], dtype=np.int64)
        pm.write(Transactions.from_rows(offsets, flat, range(items)), place)
        return pm.read(place).store

    check_store(make)


def test_it_keeps_labels_universe_and_rows(path) -> None:
    """Texts of any kind, in their public order, and empty baskets."""
    made, opened = pm.read(BASKETS), pm.read(path)
    assert isinstance(opened.store, DiskStore)
    assert opened.universe == made.universe
    assert not opened.universe.given
    assert opened.store.rows.items.tolist() == made.store.rows.items.tolist()
    assert opened.store.rows.offsets.tolist() == made.store.rows.offsets.tolist()


@pytest.mark.parametrize("baskets", [[], [[]], [[7, -3], [1 << 60]]], ids=["none", "an empty one", "integers"])
def test_odd_data_comes_back(tmp_path, baskets) -> None:
    """No rows, no items, and integers of any size."""
    pm.write(pm.read(baskets), tmp_path / "odd.privmine")
    opened = pm.read(tmp_path / "odd.privmine")
    opened.store.persist()
    assert opened.universe == pm.read(baskets).universe
    assert opened.store.count() == len(baskets)


def test_the_same_seed_gives_the_same_release(path) -> None:
    """And the receipt does not call the store somebody else's."""
    one, other = (pm.mine(data, k=3, epsilon=1, simulate=True, seed=1) for data in (pm.read(BASKETS), pm.read(path)))
    assert [(found.items, found.count) for found in one] == [(found.items, found.count) for found in other]
    assert one.receipt.assumptions == other.receipt.assumptions


def test_it_keeps_the_unit_and_what_was_guessed(tmp_path) -> None:
    """So that strict mode refuses a guess, and noise is scaled to the unit, wherever the rows come from."""
    (tmp_path / "orders.csv").write_text("order_id,product,customer\n1,a,x\n1,b,x\n2,a,x\n3,b,y\n")
    source = pm.read(tmp_path / "orders.csv", unit="customer", max_baskets=1, items=["a", "b"])
    pm.write(source, tmp_path / "orders.privmine")
    opened = pm.read(tmp_path / "orders.privmine")
    assert opened.unit == source.unit
    assert opened.universe.given
    assert opened.store.count() == 2
    assert opened.origin.guessed == source.origin.guessed != ()
    assert "taken" not in str(source.origin.assumes)
    assert "no more transactions of a unit" in opened.origin.assumes[-1]
    with pytest.raises(InputError, match="Strict mode"):
        pm.mine(opened, k=1, epsilon=1, strict=True)


def test_options_of_a_source_are_refused(path) -> None:
    """How the data is read was settled when the file was made; a limit of memory is no such option."""
    with pytest.raises(InputError, match=r"unit= \(--unit\) says how a source is read"):
        pm.read(path, unit="customer", max_baskets=2)
    with pytest.raises(InputError, match=r"items= \(--items\) says"):
        pm.read(path, items=["bread"])
    assert pm.read(path, memory_limit="1GB").store.count() == 5


def test_it_travels_by_its_name(path) -> None:
    """Another process opens the file again; the rows are not copied."""
    packed = pickle.dumps(pm.read(path).store)
    assert len(packed) < 300
    assert pickle.loads(packed).item_supports().tolist() == pm.read(path).store.item_supports().tolist()  # noqa: S301


def test_a_file_that_is_cut_is_refused(path) -> None:
    """Wherever it is cut, when it is opened."""
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"is cut off|is not a privmine file|has been changed"):
            pm.read(path)


def test_every_changed_byte_is_noticed_before_a_charge(path, tmp_path) -> None:
    """When the file is opened, or at the latest when a run gets ready; bytes that fill up to 64 do not count."""
    whole = path.read_bytes()
    clean = pm.read(path)
    used = {byte for part in clean.store.opened.sections.values() for byte in range(part.start, part.stop)}
    head = len(disk_format.MARK) + 4
    last = max(used)
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("baskets", epsilon=1)
    for place in range(len(whole)):
        if head <= place < last and place not in used:
            continue
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DataError, match=r"has been changed|version|cut off|not a privmine file"):
            pm.mine(pm.read(path), k=1, epsilon=1, ledger=ledger, dataset="baskets")
    assert pm.Ledger(ledger).budget("baskets").remaining_epsilon == 1


def test_another_version_is_refused_by_its_number(path) -> None:
    """With what to do."""
    whole = bytearray(path.read_bytes())
    whole[len(disk_format.MARK)] = 9
    path.write_bytes(bytes(whole))
    with pytest.raises(
        DataError, match=r"has version 9 of the format, and this privmine reads version 1 only\. Convert"
    ):
        pm.read(path)


def test_a_longer_file_is_refused(path) -> None:
    """What follows the end is no part of what was written."""
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DataError, match="is cut off"):
        pm.read(path)


@pytest.mark.parametrize(
    ("offsets", "items"),
    [
        ([0, 2, 3], [0, 0, 1]),  # an item twice in a row
        ([0, 2, 3], [1, 0, 1]),  # not sorted
        ([0, 2, 3], [0, 7, 1]),  # outside the universe
        ([0, 2, 3], [-1, 1, 1]),
        ([0, 3, 2], [0, 1, 1]),  # offsets that fall
        ([0, 2, 2], [0, 1, 1]),  # and that do not end where the items do
    ],
)
def test_rows_that_are_no_sets_are_refused_whoever_wrote_them(tmp_path, offsets, items) -> None:
    """A row that lists an item twice would count twice: checksums alone do not tell."""
    place = tmp_path / "made.privmine"
    arrays = {
        "offsets": [np.array(offsets)],
        "items": [np.array(items, dtype=np.int32)],
        "labels": [np.array([5, 6])],
        "label_ends": [np.zeros(0, dtype=np.int64)],
    }
    origin = {"layout": "list", "source": "x"}
    facts = {"items": 2, "given": True, "unit": {"name": "transaction", "baskets": 1, "merged": False}}
    with place.open("wb") as out:
        disk_format.write_sections(
            out, arrays, {**facts, "origin": {**origin, "guessed": [], "columns": [], "assumes": []}}
        )
    opened = pm.read(place)
    with pytest.raises(DataError, match="has been changed"):
        pm.mine(opened, k=1, epsilon=1)


@pytest.mark.parametrize(
    "facts",
    [
        {"items": "2"},
        {"items": 3},
        {"unit": {"name": "customer", "baskets": 0, "merged": False}},
        {"unit": {"name": "customer"}, "more": 1},
        {"origin": {}},
        {"items": 10**9},
        {"items": True},
        {"unit": {"name": 5, "baskets": 1, "merged": False}},
        {"arrays": None},
        {"arrays": {"offsets": 3}},
    ],
)
def test_facts_that_make_no_sense_are_refused(path, facts) -> None:
    """In a sentence, even with checksums that fit, and before memory is taken for what they claim."""
    forge(path, lambda footer: {**footer, **facts})
    if facts.get("unit") == {"name": "customer"}:
        assert pm.read(path).unit.name == "customer"
        return
    with pytest.raises(DataError, match="has been changed"):
        pm.read(path)


@pytest.mark.parametrize("footer", [b"[]", b"{}", b"1", b"null", b"nonsense", b"\xff", b"[" * 100_000])
def test_a_footer_that_is_none_is_refused(path, footer) -> None:
    """As any other change is, whatever it holds."""
    forge(path, lambda _: footer)
    with pytest.raises(DataError, match="has been changed"):
        pm.read(path)


@pytest.mark.parametrize("array", ["offsets", "items", "labels", "label_ends"])
@pytest.mark.parametrize(
    "change",
    [
        {"kind": "<f8"},
        {"kind": "|O8"},
        {"kind": None},
        {"start": -64},
        {"start": 0},
        {"start": 10**18},
        {"start": 64.0},
        {"length": -1},
        {"length": 2**63},
        {"length": "3"},
        {"checksum": None},
        {"more": 1},
    ],
    ids=str,
)
def test_an_array_that_lies_elsewhere_is_refused(path, array, change) -> None:
    """Outside of the file, over its head, or of another type."""

    def moved(footer):
        footer["arrays"][array] |= change
        return footer

    forge(path, moved)
    with pytest.raises(DataError, match="has been changed"):
        pm.read(path)


def test_names_in_a_file_cannot_steer_a_terminal(path) -> None:
    """The file says what it was made of; that is shown with escapes, wherever it is printed."""
    odd = "evil\x1b[2J\u202e"
    forge(path, lambda footer: footer | {"origin": footer["origin"] | {"source": odd, "guessed": [[odd, odd]]}})
    opened = pm.read(path)
    assert "evil" in repr(opened)
    assert repr(opened).isprintable()
    assert str(opened.origin).isprintable()


def forge(path, change) -> None:
    """Write another footer, with a checksum that fits."""
    whole = path.read_bytes()
    tail = struct.Struct(f"<QI{len(disk_format.MARK)}s")
    length, _, end = tail.unpack(whole[-tail.size :])
    start = len(whole) - tail.size - length
    made = change(json.loads(whole[start : start + length]))
    footer = made if isinstance(made, bytes) else json.dumps(made).encode()
    head = whole[: len(disk_format.MARK) + 4]
    path.write_bytes(whole[:start] + footer + tail.pack(len(footer), zlib.crc32(footer, zlib.crc32(head)), end))


def test_several_files_are_refused(path) -> None:
    """Labels of one file are not those of another."""
    pm.write(pm.read(BASKETS), path.with_name("more.privmine"))
    with pytest.raises(InputError, match="Only one privmine file"):
        pm.read(path.parent / "*.privmine")


def test_only_its_owner_may_read_it(path) -> None:
    """It is exact data."""
    assert path.stat().st_mode & 0o077 == 0


def test_a_store_that_gives_out_counts_only_is_not_written(tmp_path, path) -> None:
    """In a sentence."""
    hidden = Transactions(pm.read(path).universe, object())
    with pytest.raises(InputError, match="gives out counts only"):
        pm.write(hidden, tmp_path / "b.privmine")
