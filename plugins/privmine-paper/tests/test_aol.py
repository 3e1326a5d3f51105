"""aol-like, on a small list of published itemsets."""

from __future__ import annotations

import gzip
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from privmine_paper import AOL_ITEMSETS, AOL_LIKE
from privmine_paper.aol import AolLike
from privmine_paper.published import PublishedItemsets, read_published
from privmine_paper.tail import tail_supports

from privmine.api import DataError, InputError
from privmine.datasets import describe, open_dataset

#: Items 3, 44, 70, 5000 …; pairs above, near and below what independence and activity would give.
TEXT = """\
44 900 0.225
3 800 0.2
70 500 0.125
5000 300 0.075
12 60 0.015
15 50 0.0125
3 44 420 0.105
70 44 300 0.075
70 3 200 0.05
5000 3 290 0.0725
44 5000 60 0.015
70 3 44 150 0.0375
"""
SMALL = AolLike(4_000, 2_000, 12.0, seed=5)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedItemsets:
    """The list above, read from a compressed file."""
    path = tmp_path_factory.mktemp("published") / "itemsets.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    return read_published(path)


def test_published_itemsets_are_read(published: PublishedItemsets) -> None:
    """Itemsets are sorted by item, and ranked by support, length and items."""
    assert published.of_length(2)[3, 44] == 420
    assert list(published.top(4)) == [(44,), (3,), (70,), (3, 44)]


def test_items_and_pairs_have_their_published_supports(published: PublishedItemsets) -> None:
    """All published items, and pairs above the exact frequency, are planted exactly."""
    made = SMALL.generate(published)
    universe, store = made.universe, made.store
    for found, support in published.supports.items():
        if len(found) <= 2:
            positions = tuple(np.searchsorted(universe.labels, found).tolist())
            assert store.supports([positions]).tolist() == [support], found


def test_the_rest_makes_up_the_size(published: PublishedItemsets) -> None:
    """Every item occurs, rare ones below the published, no transaction is empty, and the length is about right."""
    made = SMALL.generate(published)
    universe, rows, supports = made.universe, made.store.rows, made.store.item_supports()
    assert (rows.count, len(universe)) == (4_000, 2_000)
    assert supports.min() >= 1
    assert np.sort(supports)[-7] < 50
    assert rows.lengths.min() >= 1
    assert abs(rows.lengths.mean() - 12) < 0.3
    assert rows.are_strictly_increasing()


def test_published_items_keep_their_numbers(published: PublishedItemsets) -> None:
    """An item number past the size of the universe stays, too."""
    universe = SMALL.generate(published).universe
    assert {3, 44, 70, 5000} <= set(universe.labels.tolist())
    assert all(one < other for one, other in pairwise(universe.labels.tolist()))


def test_the_same_seed_gives_the_same_data(published: PublishedItemsets) -> None:
    """Equal arguments give equal rows."""
    first, again = (SMALL.generate(published).store.rows for _ in range(2))
    np.testing.assert_array_equal(first.items, again.items)
    # For good, whatever the version of numpy.
    assert sha256(first.items.astype("<i4").tobytes()).hexdigest()[:12] == "040f79653771"


def test_what_cannot_be_is_refused(published: PublishedItemsets) -> None:
    """Too few transactions or items for what is published, or nothing published, is an InputError."""
    with pytest.raises(InputError, match="outside"):
        AolLike(500, 2_000).generate(published)
    with pytest.raises(InputError, match="6 items are published"):
        AolLike(4_000, 5).generate(published)
    with pytest.raises(InputError, match="no item"):
        AolLike().generate(PublishedItemsets({}))


@pytest.mark.parametrize("text", ["7\n", "a 3 0.1\n", "1 2 30 0.1\n"])
def test_a_wrong_list_is_refused(tmp_path: Path, text: str) -> None:
    """A line without support, with words, or an itemset whose items are not listed."""
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=r"wrong\.txt"):
        read_published(path)


def test_an_unreadable_list_is_refused(tmp_path: Path) -> None:
    """A missing or a damaged file is named."""
    with pytest.raises(DataError, match="cannot be read"):
        read_published(tmp_path / "none.txt")
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(TEXT.encode())[:-12])
    with pytest.raises(DataError, match="corrupt"):
        read_published(cut)


def test_the_tail_has_a_given_sum() -> None:
    """Rare items' supports fall, lie from 1 to below the ceiling, and sum to what was asked for."""
    supports = tail_supports(5_000, 20_000, 100, 60)
    assert len(supports) == 5_000
    assert (np.diff(supports) <= 0).all()
    assert (supports[0], supports[-1]) == (59, 1)
    assert abs(int(supports.sum()) - 20_000) < 20


def test_a_tail_without_room_is_of_single_occurrences() -> None:
    """Where fewer occurrences are asked for than there are items, each item occurs once."""
    assert tail_supports(10, 3, 5, 100).tolist() == [1] * 10
    assert tail_supports(3, 100, 5, 2).tolist() == [1] * 3


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for the user's copies, a cache of the test's own, and no data named by the environment."""
    monkeypatch.delenv("PRIVMINE_DATA", raising=False)
    monkeypatch.setenv("PRIVMINE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_aol_like_is_generated_once(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is generated from the published itemsets, kept in the cache, and then needs them no longer."""
    assert describe("aol-like", data_dir).status == "missing"
    with pytest.raises(DataError, match=r"aol-frequent-itemsets\.txt\.gz.*is not here"):
        open_dataset("aol-like", data_dir)
    source = data_dir / "aol-frequent-itemsets.txt"
    source.write_text("4 30 0.3\n9 20 0.2\n4 9 15 0.15\n")
    with pytest.raises(DataError, match="is not the dataset aol-frequent-itemsets"):
        open_dataset("aol-like", data_dir)
    monkeypatch.setitem(AOL_LIKE.needs, AOL_ITEMSETS, sha256(source.read_bytes()).hexdigest())
    monkeypatch.setattr("privmine_paper.aol.AolLike", lambda: AolLike(100, 40, 3.0))
    assert describe("aol-like", data_dir).status == "generated"
    baskets = open_dataset("aol-like", data_dir)
    source.unlink()
    assert baskets.store.supports([(4,), (9,), (4, 9)]).tolist() == [30, 20, 15]
    assert open_dataset("aol-like", data_dir).store.count() == 100
    assert describe("aol-like", data_dir).status == "cached"
    assert "synthetic" in (describe("aol-like").synthetic or "")
