"""What can be said of a dataset here and now, for people and for programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from privmine.datasets.opening import catalogue, needed_file, resolve
from privmine.datasets.places import cache_directory
from privmine.hooks.extensions import Dataset, DatasetFacts


@frozen
class DatasetInfo(DatasetFacts):
    """A dataset of the catalogue, and how it stands with it here.

    Attributes:
        name: what users call it.
        title: what it is.
        source: who made or collected it.
        licence: a note, not legal advice.
        transactions: how many it has, or the proxy that stands in for it.
        items: how many items occur in it.
        mean_length: of its transactions.
        sha256: the checksum of the text that is read, or None if none is known.
        url: where it can be downloaded, if there is such a place.
        status: "at hand", "cached", "fetchable", "generated" or "missing".
        path: the file that would be used, or None.
        proxy: a sentence that says that it is a repeated part of the original, or None.
        synthetic: a sentence that says that it is generated, or None.
        note: what else a user should know.
    """

    sha256: str | None
    url: str | None
    status: str
    path: Path | None
    proxy: str | None
    synthetic: str | None
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The information as plain values."""
        return asdict(self) | {"path": None if self.path is None else str(self.path)}


def describe(name: str, data_dir: str | os.PathLike[str] | None = None) -> DatasetInfo:
    """Tell what a name stands for here and now; nothing is opened, fetched or generated.

    Args:
        name: a name of the catalogue.
        data_dir: where your copies are, as for `open_dataset`.
    """
    found = resolve(name, data_dir)
    dataset = found.asked
    return DatasetInfo(
        dataset.name,
        dataset.title,
        dataset.source,
        dataset.licence,
        found.used.transactions * found.times,
        found.used.items,
        found.used.mean_length,
        found.used.sha256,
        dataset.url,
        _status(dataset, found.path, data_dir),
        found.path,
        found.proxy,
        None if dataset.generator is None else f"{dataset.name} is synthetic: generated, not collected from anybody.",
        dataset.note,
    )


def all_datasets(data_dir: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """All datasets of the catalogue, in its order."""
    return [describe(name, data_dir) for name in catalogue()]


def _status(dataset: Dataset, path: Path | None, data_dir: str | os.PathLike[str] | None) -> str:
    if path is not None:
        return "cached" if path.parent == cache_directory() else "at hand"
    if dataset.generator is not None:
        is_missing = any(needed_file(name, data_dir) is None for name in dataset.needs)
        return "missing" if is_missing else "generated"
    return "fetchable" if dataset.is_fetchable else "missing"
