"""Made-up baskets for benchmarks: a few popular items, a long tail, about ten items a basket."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from attrs import frozen
from pyarrow import csv, parquet


@frozen
class Baskets:
    """The same baskets in every format.

    Attributes:
        offsets: where each basket starts in `items`, and where the last one ends.
        items: the items of all baskets, sorted in each.
    """

    offsets: np.ndarray
    items: np.ndarray

    @classmethod
    def of(cls, baskets: int, items: int = 5_000, length: float = 10, seed: int = 1) -> Baskets:
        """Draw items by Zipf's law; what a basket gets twice counts once."""
        random = np.random.default_rng(seed)
        popularity = np.cumsum(1 / np.arange(1, items + 1) ** 0.9)
        sizes = random.poisson(length, baskets).clip(1)
        drawn = np.searchsorted(popularity, random.random(int(sizes.sum())) * popularity[-1]).clip(0, items - 1)
        cells = np.unique(np.repeat(np.arange(baskets), sizes) * items + drawn)
        counts = np.bincount(cells // items, minlength=baskets)
        return cls(np.concatenate([[0], np.cumsum(counts)]), cells % items)

    def write_fimi(self, path: Path) -> Path:
        """Numbers between blanks, a basket a line."""
        words, bounds = self.items.astype(str).tolist(), self.offsets.tolist()
        lines = (" ".join(words[start:stop]) for start, stop in pairwise(bounds))
        path.write_text("\n".join(lines) + "\n")
        return path

    def write_lists(self, path: Path) -> Path:
        """Parquet with a list in each row."""
        lists = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), pa.array(self.items, pa.int32()))
        parquet.write_table(pa.table({"items": lists}), path)
        return path

    def write_long(self, path: Path) -> Path:
        """A row for each item of each basket, in the order of baskets: CSV or Parquet by the end of the name."""
        rows = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        table = pa.table({"order_id": rows, "product": self.items})
        (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(table, path)
        return path
