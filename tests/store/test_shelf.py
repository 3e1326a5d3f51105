"""Arrays that are made part by part, in memory or in files."""

import numpy as np
import pytest

from privmine.errors import InputError
from privmine.store import shelf
from privmine.store.rows import Rows
from privmine.store.shelf import Shelf, byte_count


def test_parts_come_back_in_their_order() -> None:
    """In memory without a limit."""
    column = Shelf().column(np.int32)
    for part in ([1, 2], [], [3]):
        column.add(np.array(part, dtype=np.int64))
    assert len(column) == 3
    found = column.finish()
    assert found.tolist() == [1, 2, 3]
    assert found.dtype == np.int32


def test_past_the_limit_all_columns_go_to_files(monkeypatch) -> None:
    """Those that were begun before as well; what comes back is the same."""
    monkeypatch.setattr(shelf, "_PART", 10**6)
    whole = Shelf(100_000_000)
    one, other = whole.column(np.int64), whole.column(np.uint64)
    one.add(np.arange(10))
    assert not whole.is_full
    other.add(np.arange(20).astype(np.uint64))
    assert whole.is_full
    one.add(np.arange(10, 15))
    found = one.finish(), other.finish()
    assert found[0].tolist() == list(range(15))
    assert found[1].tolist() == list(range(20))
    assert all(isinstance(array.base, np.memmap) for array in found)
    assert not found[0].flags.writeable


def test_a_part_of_a_larger_array_does_not_keep_it() -> None:
    """A block of a batch is copied, so that the batch can go."""
    large = np.arange(1000)
    column = Shelf().column(np.int64)
    column.add(large[:10])
    assert not np.shares_memory(column.finish(), large)


def test_nothing_in_a_file_is_an_empty_array(monkeypatch) -> None:
    """A file of no bytes cannot be mapped."""
    monkeypatch.setattr(shelf, "_PART", 10**9)
    whole = Shelf(100_000_000)
    empty, full = whole.column(np.int32), whole.column(np.int32)
    full.add(np.arange(5))
    assert empty.finish().tolist() == []


@pytest.mark.parametrize(
    ("size", "count"),
    [("2GB", 2 * 10**9), ("500 MiB", 500 << 20), ("1.5g", 15 * 10**8), ("200000000", 2 * 10**8), (10**9, 10**9)],
)
def test_sizes_are_read(size, count) -> None:
    """With or without a unit."""
    assert byte_count(size) == count


@pytest.mark.parametrize("size", ["2XB", "", True, "-3GB", 1.5, "99MB", 5])
def test_what_is_no_size_is_refused(size) -> None:
    """With an example, or with the least that makes sense."""
    with pytest.raises(InputError, match=r"memory_limit= (is a size such as 2GB|must be at least 100MB)"):
        byte_count(size)


@pytest.mark.parametrize("is_full", [False, True])
def test_rows_are_placed_as_sets(monkeypatch, is_full) -> None:
    """Codes without a place are left out, rows are sorted, and an item counts once; no row is lost."""
    if is_full:
        monkeypatch.setattr(shelf, "_PART", 10**9)
    rows = Rows(np.array([0, 3, 3, 5, 7]), np.array([2, 0, 2, 1, -1, 0, 1], dtype=np.int32))
    placed = rows.placed(np.array([5, -1, 3, -1], dtype=np.int32), Shelf(100_000_000))
    assert placed.offsets.tolist() == [0, 2, 2, 2, 3]
    assert placed.items.tolist() == [3, 5, 5]
