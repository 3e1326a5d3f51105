"""What tests of several parts share: plugins that are really installed, and processes that use them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from attrs import frozen
from hypothesis import settings

from privmine.api import Elements, hookimpl

Install: TypeAlias = Callable[..., None]
RunPython: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

# A busy machine, or the first import of a library, must not fail a test that is right.
settings.register_profile("patient", deadline=None)
# Whether a change lands must not be a matter of luck: there, examples are always the same. Elsewhere they are new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")


@pytest.fixture(scope="session")
def install_distribution() -> Install:
    """Install distributions from their source directories into a directory, without touching the environment."""

    def install(target: Path, *sources: Path) -> None:
        options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *map(str, sources)], check=True)

    return install


@pytest.fixture(scope="module")
def site_with(tmp_path_factory: pytest.TempPathFactory, install_distribution: Install) -> Callable[..., Path]:
    """Make a directory with packages of `tests/packages`, by name."""

    def make(*names: str) -> Path:
        target = tmp_path_factory.mktemp("site")
        install_distribution(target, *(Path(__file__).parent / "packages" / name for name in names))
        return target

    return make


@pytest.fixture(scope="session")
def run_python() -> RunPython:
    """Run Python in a process of its own, with what was installed into a directory on its path."""

    def run(*arguments: str, site: Path, cwd: Path | None = None, **environment: Any) -> Any:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    return run


@frozen
class Leak:
    """Selects the items that occur."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        return Elements([item for item, support in enumerate(curator._access.store.item_supports()) if support][:10])


@pytest.fixture
def leak() -> type[Leak]:
    """A component that looks at the data."""
    return Leak
