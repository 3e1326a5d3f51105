"""Datasets that are there for a test only: neither the network nor data of this machine is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from privmine.api import Dataset
from privmine.hooks.extensions import Extension
from privmine.hooks.registry import registry

AddDataset: TypeAlias = Callable[..., Dataset]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A directory for the user's copies."""
    directory = tmp_path / "data"
    directory.mkdir()
    return directory


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and no data named by the environment."""
    monkeypatch.delenv("PRIVMINE_DATA", raising=False)
    monkeypatch.setenv("PRIVMINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def add_dataset(monkeypatch: pytest.MonkeyPatch) -> AddDataset:
    """Put a dataset into the catalogue."""

    def add(name: str, **facts: Any) -> Dataset:
        dataset = Dataset(
            name, "a test", "this file", "none needed", **({"transactions": 2, "items": 3} | facts), mean_length=2.0
        )
        extension = Extension("dataset", name, dataset.title, dataset, "a-test", "1")
        monkeypatch.setitem(registry().extensions, ("dataset", name), extension)
        return dataset

    return add
