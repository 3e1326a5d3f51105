"""Runs the examples of the documentation; a page's blocks share one folder and one namespace, in order.

Blocks of `python` and of `bash` are run, and must succeed. A `console` block, with its `$`, is for commands
that take long or change the machine, and a `text` block for what is printed: neither is run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser


def setup(namespace: dict[str, object]) -> None:
    """Examples that write files do so where they do no harm."""
    folder = TemporaryDirectory()
    namespace["_folder"], namespace["_before"] = folder, Path.cwd()
    os.chdir(folder.name)


def teardown(namespace: dict[str, object]) -> None:
    """Go back, and clear away what was written."""
    os.chdir(str(namespace["_before"]))
    namespace["_folder"].cleanup()  # type: ignore[attr-defined]


def run_commands(example: Example) -> None:
    """Run the commands of a block, with the privmine of this environment, as a user's shell would."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(  # noqa: S603 - our own pages
        ["bash", "-euo", "pipefail", "-c", str(example.parsed)],  # noqa: S607
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("bash", run_commands)],
    patterns=["*.md"],
    setup=setup,
    teardown=teardown,
).pytest()
