"""aol-like, on a small list of published itemsets."""

from __future__ import annotations

import gzip
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from privmine.datasets import kept
from privmine.datasets.aol import AolLike
from privmine.datasets.keys import as_transactions
from privmine.datasets.published import PublishedItemsets, read_published
from privmine.datasets.tail import tail_supports
from privmine.errors import DataError, InputError

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
    universe, rows = SMALL.generate(published)
    store = as_transactions(universe, rows).store
    for found, support in published.supports.items():
        if len(found) <= 2:
            positions = tuple(np.searchsorted(universe.labels, found).tolist())
            assert store.supports([positions]).tolist() == [support], found


def test_the_rest_makes_up_the_size(published: PublishedItemsets) -> None:
    """Every item occurs, rare ones below the published, no transaction is empty, and the length is about right."""
    universe, rows = SMALL.generate(published)
    supports = as_transactions(universe, rows).store.item_supports()
    assert (rows.count, len(universe)) == (4_000, 2_000)
    assert supports.min() >= 1
    assert np.sort(supports)[-7] < 50
    assert rows.lengths.min() >= 1
    assert abs(rows.lengths.mean() - 12) < 0.3
    assert rows.are_strictly_increasing()


def test_published_items_keep_their_numbers(published: PublishedItemsets) -> None:
    """An item number past the size of the universe stays, too."""
    universe, _ = SMALL.generate(published)
    assert {3, 44, 70, 5000} <= set(universe.labels.tolist())
    assert all(one < other for one, other in pairwise(universe.labels.tolist()))


def test_the_same_seed_gives_the_same_data(published: PublishedItemsets) -> None:
    """Equal arguments give equal rows."""
    first, again = (SMALL.generate(published)[1] for _ in range(2))
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


def test_generated_data_is_kept(tmp_path: Path, published: PublishedItemsets) -> None:
    """What was saved is loaded unchanged, nothing else is left beside it, and a damaged file is refused."""
    universe, rows = SMALL.generate(published)
    path = tmp_path / "cache" / "small.npz"
    kept.save(path, universe, rows)
    loaded_universe, loaded = kept.load(path)
    assert loaded_universe == universe
    np.testing.assert_array_equal(loaded.items, rows.items)
    np.testing.assert_array_equal(loaded.offsets, rows.offsets)
    assert list(path.parent.iterdir()) == [path]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="damaged"):
        kept.load(path)
