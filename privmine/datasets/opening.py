"""Opening a dataset by its name: found, fetched, repeated or generated."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

from privmine.datasets import kept
from privmine.datasets.aol import AolLike
from privmine.datasets.catalogue import AOL_ITEMSETS, AOL_ITEMSETS_SHA256, CATALOGUE, Dataset, find
from privmine.datasets.checksums import verify
from privmine.datasets.fetching import fetch_into, missing_message
from privmine.datasets.keys import as_transactions
from privmine.datasets.places import DATA_VARIABLE, cache_directory, find_file
from privmine.datasets.published import read_published
from privmine.datasets.quest import quest
from privmine.datasets.repeated import repeated
from privmine.datasets.zipf import zipf
from privmine.errors import DataError
from privmine.io.fimi import read_fimi
from privmine.model import Universe
from privmine.store.transactions import Transactions

_ENDINGS = (".dat.gz", ".dat")
#: Generators that are fast enough to be run each time.
_GENERATORS: Mapping[str, Callable[[], Transactions]] = {"zipf": zipf, "quest": quest}
#: To be raised when the generator of aol-like or the form of its file changes, so that no old data is taken for new.
_AOL_LIKE = "aol-like-2.npz"


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
    if asked.generator:
        cached = cache_directory() / _AOL_LIKE
        return Resolved(asked, asked, path=cached if asked.name == "aol-like" and cached.is_file() else None)
    path = find_file(asked.name, _ENDINGS, data_dir)
    if path is None and asked.proxy is not None:
        part = CATALOGUE[asked.proxy.part]
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
    if dataset.name in _GENERATORS:
        return _GENERATORS[dataset.name]()
    assert path is not None
    if dataset.generator:
        return as_transactions(*kept.load(path))
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
    if dataset.name in _GENERATORS:
        return found
    if path is None:
        if dataset.generator:
            path = _generate_aol_like(data_dir)
        elif dataset.is_fetchable:
            path = fetch_into(cache_directory(), dataset)
        else:
            raise DataError(missing_message(dataset))
    if dataset.sha256 is not None:
        verify(path, dataset.sha256, dataset.name)
    return Resolved(found.asked, dataset, found.times, path)


def _generate_aol_like(data_dir: str | os.PathLike[str] | None) -> Path:
    source = find_file(AOL_ITEMSETS, (".gz", ""), data_dir)
    if source is None:
        raise DataError(
            f"aol-like is generated from {AOL_ITEMSETS}.gz, the published frequent itemsets of the AOL data, which is "
            f"not at hand. Put it into the directory that {DATA_VARIABLE} names."
        )
    verify(source, AOL_ITEMSETS_SHA256, AOL_ITEMSETS)
    path = cache_directory() / _AOL_LIKE
    kept.save(path, *AolLike().generate(read_published(source)))
    return path


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
