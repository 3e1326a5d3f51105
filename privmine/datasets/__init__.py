"""Standard datasets by name, and generators of synthetic ones."""

from __future__ import annotations

from privmine.datasets.aol import AolLike
from privmine.datasets.info import DatasetInfo, all_datasets, describe
from privmine.datasets.opening import make_available, open_dataset
from privmine.datasets.quest import quest
from privmine.datasets.repeated import repeated
from privmine.datasets.zipf import zipf

__all__ = [
    "AolLike",
    "DatasetInfo",
    "all_datasets",
    "describe",
    "make_available",
    "open_dataset",
    "quest",
    "repeated",
    "zipf",
]
