"""The plugins of this repository: each announces itself, and its components use the public surface only."""

from __future__ import annotations

import ast
from importlib.metadata import entry_points
from pathlib import Path

import pytest

#: By distribution, the modules that are no components: they may import more.
PLUGINS = {"privmine-tf": (), "privmine-bases": ("alone", "compare"), "privmine-plus": ()}


@pytest.mark.parametrize("distribution", PLUGINS)
def test_components_import_the_public_surface_only(distribution: str) -> None:
    """A module imports privmine.api and its own package, and nothing else of privmine."""
    (found,) = [point for point in entry_points(group="privmine") if point.dist and point.dist.name == distribution]
    package = found.load()
    allowed = ("privmine.api", package.__name__)
    modules = [path for path in Path(package.__file__).parent.glob("*.py") if path.stem not in PLUGINS[distribution]]
    assert len(modules) > 3
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            assert all(not name.startswith("privmine") or name.startswith(allowed) for name in names), path.name
