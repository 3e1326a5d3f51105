"""Finding the benchmark data, and repeating it where a full-sized file is not at hand."""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from pathlib import Path


def parser(description: str) -> argparse.ArgumentParser:
    """Make an argument parser that knows where the data is."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("PRIVMINE_DATA"),
        help="the directory of the .dat.gz files; by default that of the environment variable PRIVMINE_DATA",
    )
    return made


def dataset(directory: Path | str | None, name: str) -> Path:
    """The file of a dataset, by its name without ending."""
    if directory is None:
        sys.exit("Say where the data is: --data DIR, or the environment variable PRIVMINE_DATA.")
    for ending in (".dat.gz", ".dat"):
        path = Path(directory) / (name + ending)
        if path.exists():
            return path
    sys.exit(f"There is no {name}.dat.gz in {directory}.")


def content(path: Path) -> bytes:
    """The text of a dataset, with a newline at its end."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as stream:
        text: bytes = stream.read()
    return text if text.endswith(b"\n") or not text else text + b"\n"


def plain_text(directory: Path | str | None, name: str, repeats: int, target: Path) -> Path:
    """Write a dataset as plain text, so many times over, into the directory `target`."""
    path = target / f"{name}-{repeats}.dat"
    path.write_bytes(content(dataset(directory, name)) * repeats)
    return path


def lists(text: bytes) -> list[list[int]]:
    """The transactions as PyFIM takes them."""
    return [[int(item) for item in line.split()] for line in text.splitlines()]
