"""Runs the Python examples of the documentation; a file's blocks share one namespace, in order."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser


def setup(namespace: dict[str, object]) -> None:
    """Examples that write files do so where they do no harm."""
    folder = TemporaryDirectory()
    namespace["_folder"], namespace["_before"] = folder, Path.cwd()
    os.chdir(folder.name)


def teardown(namespace: dict[str, object]) -> None:
    """Go back, and clear away what was written."""
    os.chdir(str(namespace["_before"]))
    namespace["_folder"].cleanup()  # type: ignore[attr-defined]


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()], patterns=["*.md"], setup=setup, teardown=teardown
).pytest()
