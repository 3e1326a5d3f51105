from __future__ import annotations

import ast
import tomllib
from collections import Counter
from pathlib import Path

import privmine

TESTS = Path(__file__).parent
MODULES = [path for path in Path(privmine.__file__).parent.rglob("*.py") if not path.stem.startswith("__")]


def test_no_module_name_stands_twice() -> None:
    """A module is found by its name, whatever package it is in."""
    names = Counter(path.stem for path in MODULES)
    assert [name for name, times in names.items() if times > 1] == []


def test_no_class_name_stands_twice() -> None:
    """A class that a message or a traceback names is one class only."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []


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
    assert all(hasattr(privmine.api, name) for name in privmine.api.__all__)
    assert not hasattr(privmine.api, "no_such_name")
    assert not hasattr(privmine, "no_such_name")


def test_mutants_by_hand_fit_the_source() -> None:
    """Each edit of `mutants.toml` has its one place; else a run of the mutants ends before it begins."""
    listed = tomllib.loads((TESTS / "mutants" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
    astray = []
    for entry in listed:
        changed = (Path(privmine.__file__).parent / entry["module"]).read_text(encoding="utf-8")
        for before, after in entry["edits"]:
            if changed.count(before) != 1:
                astray.append(f"{entry['module']}: {entry['mistake']}")
            changed = changed.replace(before, after)
    assert astray == []
