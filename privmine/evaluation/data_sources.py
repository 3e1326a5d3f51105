"""The data of an experiment: a named dataset, or a file beside the experiment's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from privmine.datasets import open_dataset
from privmine.evaluation.runner import OpenData
from privmine.io import read
from privmine.io.readers.files_in import FORMATS
from privmine.model import Origin
from privmine.store.transactions import Transactions

#: A name with one of these endings is that of a file.
FILE_ENDINGS = (*FORMATS, ".gz")


def data_opener(
    data_dir: str | Path | None = None,
    folder: Path | None = None,
    tell: Callable[[Origin], None] = lambda _: None,
    reading: Mapping[str, Mapping[str, Any]] | None = None,
) -> OpenData:
    """A function that opens the data of an experiment by name.

    Args:
        data_dir: where named datasets are looked for first.
        folder: where files are found, the folder of the experiment file.
        tell: is told how a file was read.
        reading: for each file the options of `privmine.read` that say how it is read.
    """

    def open_data(name: str) -> Transactions:
        if is_file(name):
            transactions = read((folder or Path()) / name, **(reading or {}).get(name, {}))
            tell(transactions.origin)
            return transactions
        return open_dataset(name, data_dir=data_dir)

    return open_data


def is_file(name: str) -> bool:
    """Whether a name means a file rather than a named dataset."""
    return "/" in name or "\\" in name or name.lower().endswith(FILE_ENDINGS)
