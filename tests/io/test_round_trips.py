"""Whatever is written is read back as it was: generated baskets through every format and layout."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privmine.errors import DataError, InputError
from privmine.io import read, write
from privmine.io.writers.destinations import FORMATS
from privmine.store.transactions import Transactions

WAYS = [(suffix, layout) for suffix, layouts in FORMATS.items() for layout in layouts]
READ_BY = {
    "long": {"transaction": "transaction", "item": "item", "drop_missing": True},
    "list": {"item": "items"},
    "one-hot": {"layout": "one-hot"},
    "baskets": {"layout": "baskets"},
    "fimi": {"layout": "fimi"},
    "store": {},
}
#: Characters that mean something to some format, and others that only look like it.
special = st.sampled_from(list(",;|\t\"'#\\/ \n\r\v\f\0[]{}:=-+.01nN\ufeff\u2028\x85\x1c🥛é"))
labels = st.one_of(
    st.text(st.one_of(special, st.characters(exclude_categories=["Cs"])), max_size=6),
    st.sampled_from(["NULL", "null", "NaN", "nan", "NA", "None", "true", "1.0", "1e5", "007", "-0", "transaction"]),
    st.integers(-(2**63), 2**63 - 1).map(str),
)
databases = st.lists(st.lists(labels, max_size=4), max_size=8)


def contents(transactions: Transactions) -> tuple[list[object], Counter[frozenset[int]]]:
    """The labels in their order, and how often each set of items occurs."""
    rows = transactions.store.rows
    bounds = pairwise(rows.offsets.tolist())
    return transactions.universe.labels.tolist(), Counter(frozenset(rows.items[a:b].tolist()) for a, b in bounds)


def is_too_much(layout: str, found: set[str]) -> bool:
    """Whether a layout cannot hold these labels."""
    if layout == "fimi":
        return any(not label or len(f"{label}.".splitlines()) > 1 for label in found)
    return (layout in ("one-hot", "baskets") and "" in found) or (layout == "one-hot" and not found)


@pytest.mark.parametrize(("suffix", "layout"), WAYS)
@settings(deadline=None, max_examples=40)
@given(baskets=databases)
@example(baskets=[["\n\ufeff"], ["\ufeffa\n\ufeff\ufeffb", "c"]])
def test_what_is_written_is_read(suffix: str, layout: str, baskets: list[list[str]]) -> None:
    """The same labels in the same order, and the same transactions; or a sentence where the format cannot hold them."""
    known = read(pa.table({"items": pa.array(baskets, pa.list_(pa.string()))}), item="items")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"copy{suffix}"
        if is_too_much(layout, {label for basket in baskets for label in basket}):
            with pytest.raises(InputError, match=r"choose|write"):
                write(known, path, layout=layout)
            assert not list(Path(folder).iterdir())
            return
        files = write(known, path, layout=layout)
        options = dict(READ_BY[layout])
        if layout == "baskets":
            options["separator"] = "\t" if suffix == ".tsv" else ","
        if suffix in (".csv", ".tsv", ".txt"):
            options["multiline_cells"] = True
        if len(files) > 1:
            options["names"] = files[1]
        if suffix == ".jsonl" and not baskets:  # without a line there is no name of a column
            with pytest.raises(DataError, match="has no row that could be read"):
                read(path, **options)
            return
        found = read(path, **options)
    assert contents(found) == contents(known)
