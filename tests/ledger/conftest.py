"""Ledgers to test with, and other processes that use them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import privmine.errors
from privmine.ledger import Ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger will be."""
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    """A ledger with two datasets: "orders" with ε = 1, "visits" with ε = 2 and δ = 1/1000."""
    ledger = Ledger(path)
    ledger.init("orders", epsilon=1)
    ledger.init("visits", epsilon=2, delta="1/1000", composition="sums")
    return ledger


@pytest.fixture
def start_python() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a script in a Python process that imports the same privmine as this one."""
    processes: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object) -> subprocess.Popen[str]:
        root = str(Path(privmine.errors.__file__).parents[1])
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:  # those of a test that failed would stay
        process.kill()
        process.communicate()
