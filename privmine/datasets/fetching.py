"""Downloads through pooch, of what can be checked afterwards."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from privmine.datasets.checksums import verify
from privmine.datasets.places import DATA_VARIABLE
from privmine.errors import DataError
from privmine.hooks.extensions import Dataset


def fetch_into(directory: Path, dataset: Dataset) -> Path:
    """Download a dataset, check it, and only then put it into the directory under its own name.

    Raises:
        DataError: there is nothing to download from, pooch is missing, the download failed, or what came is
            something else.
    """
    if dataset.url is None or dataset.sha256 is None:
        raise DataError(missing_message(dataset))
    by_hand = f"Or download {dataset.url} by hand and put it into the directory that {DATA_VARIABLE} names."
    try:
        import pooch
    except ImportError:
        raise DataError(
            f"{dataset.name} is not here, and fetching it needs pooch: pip install 'privmine[datasets]'. {by_hand}"
        ) from None
    file_name = dataset.name + dataset.url[dataset.url.rindex(".dat") :]
    logger: logging.Logger = pooch.get_logger()
    level = logger.level
    problem = ""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=directory) as folder:
            # pooch would have the checksum of the compressed bytes, which nobody vouches for; the text is checked.
            logger.setLevel(logging.WARNING)
            path = Path(pooch.retrieve(dataset.url, known_hash=None, fname=file_name, path=folder))
            verify(path, dataset.sha256, dataset.name)
            return Path(shutil.move(path, directory / file_name))
    except (DataError, KeyboardInterrupt):
        raise
    except (OSError, ValueError) as error:
        problem = type(error).__name__
    finally:
        logger.setLevel(level)
    raise DataError(f"{dataset.name} could not be fetched from {dataset.url} ({problem}). Try again later. {by_hand}")


def missing_message(dataset: Dataset) -> str:
    """Why a dataset is not there, and what to do."""
    parts = [f"{dataset.name} is not here and cannot be fetched:"]
    if dataset.url is not None:
        parts.append(f"its checksum is not known. Download {dataset.url} yourself")
        parts.append(f"and put it as {dataset.name}.dat.gz into the directory that {DATA_VARIABLE} names.")
    else:
        parts.append("there is no public FIMI file of it.")
        parts.append(f"Put it as {dataset.name}.dat.gz into the directory that {DATA_VARIABLE} names.")
    if dataset.proxy is not None:
        parts.append(f"{dataset.proxy.part}.dat.gz in that directory can stand in for it.")
    if dataset.note:
        parts.append(dataset.note)
    return " ".join(parts)
