"""Opening a dataset by its name: found, fetched, repeated or generated."""

from __future__ import annotations

import json
import os
from pathlib import Path

from attrs import frozen

from privmine.datasets import cache
from privmine.datasets.checksums import verify
from privmine.datasets.fetching import fetch_into, missing_message
from privmine.datasets.places import DATA_VARIABLE, cache_directory, find_file
from privmine.datasets.repeated import repeated
from privmine.errors import DataError
from privmine.hooks.extensions import Dataset
from privmine.hooks.registry import registry
from privmine.io.readers.fimi import read_fimi
from privmine.model import Universe
from privmine.store.transactions import Transactions

_ENDINGS = (".dat.gz", ".dat")
#: What a generator needs is text, plain or compressed.
_TEXT_ENDINGS = (".gz", "")


def catalogue() -> dict[str, Dataset]:
    """All datasets by name: privmine's own, then those of plugins."""
    return {name: found.value for name, found in registry().all_of("dataset").items()}


def find(name: str) -> Dataset:
    """The dataset of a name, whose case does not matter."""
    hint = "To read your own file, use its path: privmine.read(path)."
    found: Dataset = registry().extension("dataset", name, hint=hint).value
    return found


@frozen
class Resolved:
    """What a name stands for here and now.

    Attributes:
        asked: the dataset that was asked for.
        used: the one whose file is used: the same, or the part that stands in for it.
        times: how often that one is repeated.
        path: its file, or None if it has to be fetched or generated.
    """

    asked: Dataset
    used: Dataset
    times: int = 1
    path: Path | None = None

    @property
    def proxy(self) -> str | None:
        """A sentence that says that it is a repeated part, or None."""
        if self.used is self.asked or self.asked.proxy is None:
            return None
        return (
            f"{self.asked.name} is a proxy here, not the original: {self.used.name} ({self.used.title}) "
            f"repeated {self.times} times; {self.asked.proxy.closeness}. The original has "
            f"{self.asked.transactions:,} transactions over {self.asked.items:,} items."
        )


def resolve(name: str, data_dir: str | os.PathLike[str] | None = None) -> Resolved:
    """Find what a name stands for: the original wherever it is, else a repeated part of it."""
    asked = find(name)
    if asked.generator is not None:
        cached = None if asked.kept_as is None else cache_directory() / asked.kept_as
        return Resolved(asked, asked, path=cached if cached is not None and cached.is_file() else None)
    path = find_file(asked.name, _ENDINGS, data_dir)
    if path is None and asked.proxy is not None:
        part = find(asked.proxy.part)
        part_path = find_file(part.name, _ENDINGS, data_dir)
        if part_path is not None:
            return Resolved(asked, part, asked.proxy.times, part_path)
    return Resolved(asked, asked, path=path)


def open_dataset(name: str, data_dir: str | os.PathLike[str] | None = None) -> Transactions:
    """Open a dataset of the catalogue.

    It is looked for in `data_dir`, or the directory that the environment variable PRIVMINE_DATA names, then in
    the cache; else it is fetched or generated. `describe` tells what a name stands for, and whether that is
    a proxy or synthetic.

    Args:
        name: a name of the catalogue, such as "retail".
        data_dir: where your copies are.

    Raises:
        UnknownNameError: there is no dataset of that name.
        DataError: it is neither at hand nor to be had, or a copy is not what the catalogue means.
    """
    found = make_available(name, data_dir)
    dataset, path = found.used, found.path
    if dataset.generator is not None:
        return _generated(dataset, data_dir) if path is None else cache.load(path)
    assert path is not None
    transactions = _labelled(read_fimi(path), dataset, path)
    if dataset.sha256 is None and transactions.store.count() != dataset.transactions:
        raise DataError(
            f"{path} is not the dataset {dataset.name}: it does not have {dataset.transactions:,} transactions. "
            "Move it away, or read it by its path."
        )
    return repeated(transactions, found.times)


def make_available(name: str, data_dir: str | os.PathLike[str] | None = None) -> Resolved:
    """See that a dataset is there and undamaged: fetch or generate it if need be."""
    found = resolve(name, data_dir)
    dataset, path = found.used, found.path
    if dataset.generator is not None:
        if dataset.kept_as is None or path is not None:
            return found
        path = cache_directory() / dataset.kept_as
        cache.save(path, _generated(dataset, data_dir))
    elif path is None:
        if not dataset.is_fetchable:
            raise DataError(missing_message(dataset))
        path = fetch_into(cache_directory(), dataset)
    if dataset.sha256 is not None:
        verify(path, dataset.sha256, dataset.name)
    return Resolved(found.asked, dataset, found.times, path)


def needed_file(name: str, data_dir: str | os.PathLike[str] | None) -> Path | None:
    """The file of that name which a generator needs, plain or compressed, or None."""
    return find_file(name, _TEXT_ENDINGS, data_dir)


def _generated(dataset: Dataset, data_dir: str | os.PathLike[str] | None) -> Transactions:
    """Run the generator on the files that it needs, each checked."""
    paths = []
    for name, sha256 in dataset.needs.items():
        path = needed_file(name, data_dir)
        if path is None:
            raise DataError(
                f"{dataset.name} is generated from {name}.gz, which is not here. Put that file into "
                f"the directory that {DATA_VARIABLE} names."
            )
        verify(path, sha256, name)
        paths.append(path)
    baskets = registry().extension("dataset", dataset.name).follow(dataset.generator)(*paths)
    return baskets if isinstance(baskets, Transactions) else Transactions.from_lists(baskets)


def _labelled(transactions: Transactions, dataset: Dataset, path: Path) -> Transactions:
    """Give items the labels of the file beside the data, if there is one; their order stays."""
    labels_path = path.parent / f"{dataset.name}.items.json"
    if dataset.labels_sha256 is None or not labels_path.is_file():
        return transactions
    verify(labels_path, dataset.labels_sha256, f"{dataset.name} (item labels)")
    names: dict[str, str] = json.loads(labels_path.read_text(encoding="utf-8"))
    labels = [names[str(number)] for number in transactions.universe.labels.tolist()]
    # A list of all items that was published with the data is public whatever the baskets hold.
    return Transactions(Universe.of(labels), transactions.store)
