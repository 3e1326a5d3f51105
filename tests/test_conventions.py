from __future__ import annotations

import ast
from pathlib import Path

import privmine

TESTS = Path(__file__).parent


def test_every_test_says_what_it_shows() -> None:
    """Each test function has a docstring."""
    silent = [
        f"{path.relative_to(TESTS)}:{node.lineno} {node.name}"
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_tox_tests_the_wheel() -> None:
    """Under tox the package is imported from where it was installed, not from the checkout."""
    import os

    if "TOX_ENV_NAME" in os.environ:
        assert TESTS.parent not in Path(privmine.__file__).parents or ".tox" in privmine.__file__


def test_the_typed_marker_ships() -> None:
    """Type checkers of users see the annotations."""
    assert (Path(privmine.__file__).parent / "py.typed").exists()


def test_the_package_has_every_name_that_it_lists() -> None:
    """They are loaded when they are first used, and a notebook completes them."""
    assert all(getattr(privmine, name) for name in privmine.__all__)
    assert set(privmine.__all__) <= set(dir(privmine))
    assert privmine.api.Unit().is_transaction
    assert not hasattr(privmine, "no_such_name")
