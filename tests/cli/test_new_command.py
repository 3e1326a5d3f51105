"""`privmine new`: what it writes installs, is listed, passes its own tests and runs in a pipeline."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from slow_cases import slow_after

from privmine.cli.new_command import EXAMPLES, new
from privmine.errors import InputError, UnknownNameError
from privmine.model import STAGES


def invoke(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(new, list(map(str, arguments)))


def name_for(stage: str) -> str:
    """A distribution's name for a stage."""
    return f"privmine-made-{EXAMPLES[stage].module}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a generated distribution for each stage."""
    root = tmp_path_factory.mktemp("made")
    for stage in STAGES:
        result = invoke(name_for(stage), "--stage", stage, "--directory", root / stage)
        assert result.exit_code == 0, result.output
    return root


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, made: Path, install_distribution: Callable[..., None]) -> Path:
    """All of them installed."""
    target = tmp_path_factory.mktemp("site")
    install_distribution(target, *(made / stage for stage in STAGES))
    return target


def test_generated_plugins_are_listed(site: Path, run_python: Callable[..., Any]) -> None:
    """Each is found by its entry point, under the name that its own name ends with."""
    listed = json.loads(run_python("-m", "privmine", "plugins", "--json", site=site).stdout)
    found = {
        entry["stage"]: entry for entry in listed["components"] if entry["distribution"].startswith("privmine-made")
    }
    for stage, example in EXAMPLES.items():
        assert found[stage]["name"] == f"made-{example.module}"
        assert found[stage]["version"] == "0.1.0"
        assert found[stage]["summary"] == example.summary


@pytest.mark.parametrize("stage", slow_after(1, STAGES))
def test_generated_tests_pass(made: Path, site: Path, run_python: Callable[..., Any], stage: str) -> None:
    """The kit and the examples' own tests, as generated."""
    ran = run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", site=site, cwd=made / stage)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("stage", slow_after(1, STAGES))
def test_pipeline_uses_the_generated_component(site: Path, run_python: Callable[..., Any], stage: str) -> None:
    """A release, with exact noise, in which the component stands for its stage."""
    component = f"made-{EXAMPLES[stage].module}"
    ran = run_python("-m", "privmine", "mine", "--set", f"{stage}={component}", "--k", "5", "--json", site=site)
    assert ran.returncode == 0, ran.stderr
    receipt = json.loads(ran.stdout)["receipt"]
    assert receipt["pipeline"][stage].startswith(f"{component}(")
    assert receipt["pipeline"][stage].endswith(f" from {name_for(stage)}")


@pytest.mark.parametrize("stage", STAGES)
def test_files_are_complete(made: Path, stage: str) -> None:
    """Metadata, code, tests, README, CI; no placeholder is left, and the component says why it is private."""
    root = made / stage
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    package = name_for(stage).replace("-", "_")
    module = EXAMPLES[stage].module
    assert files == {
        ".github/workflows/tests.yml",
        ".gitignore",
        "README.md",
        "pyproject.toml",
        f"src/{package}/__init__.py",
        f"src/{package}/{module}.py",
        f"src/{package}/py.typed",
        "tests/test_contracts.py",
        f"tests/test_{module}.py",
    }
    code = (root / f"src/{package}/{module}.py").read_text(encoding="utf-8")
    assert "\n    Privacy: " in code
    assert 'help="' in code
    for path in files - {".github/workflows/tests.yml"}:
        assert "$" not in (root / path).read_text(encoding="utf-8"), path
    assert "python-version: ${{ matrix.python }}" in (root / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"] == {"privmine": {f"made-{module}": package}}
    assert project["license"] == "MIT"


def test_next_steps_are_told(tmp_path: Path) -> None:
    """What to type next, with the names filled in."""
    output = invoke("privmine-next", "--stage", "select_elements", "--directory", tmp_path / "there").output
    assert 'python -m pip install -e ".[test]"' in output
    assert "privmine plugins show select_elements=next" in output
    assert "privmine mine --set select_elements=next" in output
    assert "src/privmine_next/select.py" in output


def test_directory_is_the_name_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --directory it is made here."""
    monkeypatch.chdir(tmp_path)
    invoke("privmine-here", "--stage", "construct_basis")
    assert (tmp_path / "privmine-here" / "pyproject.toml").is_file()


def test_name_needs_no_prefix(tmp_path: Path) -> None:
    """A name of one's own is the component's name as a whole."""
    invoke("acme-selection", "--stage", "select_elements", "--directory", tmp_path / "acme")
    code = (tmp_path / "acme/src/acme_selection/__init__.py").read_text(encoding="utf-8")
    assert 'registry.add("select_elements", "acme-selection", "acme_selection.select:FrequentItems")' in code


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A directory that exists is refused and left alone."""
    (tmp_path / "mine").mkdir()
    result = invoke("privmine-other", "--stage", "select_elements", "--directory", tmp_path / "mine")
    assert isinstance(result.exception, InputError)
    assert "exists already" in str(result.exception)
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Privmine_Foo", "'Privmine_Foo' is not a valid name of a distribution; 'privmine-foo' is possible"),
        ("-foo", "'foo' is possible"),
        ("3d", "begin with a letter"),
        ("a b", "'a-b' is possible"),
        ("../escape", "'escape' is possible"),
        ("", "is not a valid name of a distribution"),
        ("class", "would be imported as class, but Python uses that name"),
        ("privmine", "would be imported as privmine, but Python uses that name"),
        ("json", "would be imported as json, but Python uses that name"),
        ("privmine-rank-gap", "would register estimate_lambda=rank-gap, but privmine has registered that name already"),
    ],
)
def test_unusable_name_is_refused(tmp_path: Path, name: str, words: str) -> None:
    """A name that could not be installed, imported or registered is refused with a reason, and nothing is written."""
    result = invoke("--stage", "estimate_lambda", "--directory", tmp_path / "x", "--", name)
    assert isinstance(result.exception, InputError)
    assert words in str(result.exception)
    assert not (tmp_path / "x").exists()


def test_unknown_stage_lists_the_stages(tmp_path: Path) -> None:
    """A misspelt stage gets a suggestion."""
    result = invoke("privmine-x", "--stage", "select_element", "--directory", tmp_path / "x")
    assert isinstance(result.exception, UnknownNameError)
    assert "Did you mean 'select_elements'?" in str(result.exception)


def test_a_missing_stage_lists_the_stages(tmp_path: Path) -> None:
    """Whoever forgets it sees what there is to choose from."""
    result = invoke("privmine-x", "--directory", tmp_path / "x")
    assert isinstance(result.exception, InputError)
    assert all(stage in str(result.exception) for stage in STAGES)


def test_unwritable_place_is_told(tmp_path: Path) -> None:
    """A file in the way is one sentence, not a traceback."""
    (tmp_path / "file").write_text("")
    result = invoke("privmine-x", "--stage", "select_elements", "--directory", tmp_path / "file" / "x")
    assert isinstance(result.exception, InputError)
    assert "Cannot write to" in str(result.exception)
