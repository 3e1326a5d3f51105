"""Commands, datasets, metrics and methods of a plugin that is really installed, and of one that takes their names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGES = Path(__file__).parent / "packages"
SPEC = """
data = "corner-shop"
k = 5
epsilon = 100
repeats = 2
[pipelines.usual]
[pipelines.short]
method = "short"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, install_distribution: Callable[..., None]) -> Path:
    """A directory with the plugin and its twin."""
    target = tmp_path_factory.mktemp("site")
    install_distribution(target, PACKAGES / "privmine-extras", PACKAGES / "privmine-twin")
    return target


@pytest.fixture
def privmine(site: Path, run_python: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run the command line where the plugin is installed, and its twin only if asked."""

    def run(*arguments: str, load: str = "privmine-extras") -> Any:
        return run_python(
            "-m", "privmine", *arguments, site=site, cwd=tmp_path, PRIVMINE_LOAD_PLUGINS=load, PRIVMINE_DATA=""
        )

    return run


def test_all_kinds_are_listed(privmine: Callable[..., Any]) -> None:
    """With name, distribution, version and a line of words, for programs and for people."""
    listed = json.loads(privmine("plugins", "--json").stdout)
    brought = {
        kind: [entry["name"] for entry in listed[kind] if entry["distribution"] == "privmine-extras"]
        for kind in ("commands", "datasets", "metrics", "methods")
    }
    assert brought == {
        "commands": ["greet", "experiment greet", "absent", "plain"],
        "datasets": ["corner-shop"],
        "metrics": ["longest"],
        "methods": ["short"],
    }
    assert {"name": "longest", "distribution": "privmine-extras", "version": "2.0", "summary": (
        "length of the longest released itemset"
    )} in listed["metrics"]  # fmt: skip
    assert "mine" in [entry["name"] for entry in listed["commands"] if entry["distribution"] == "privmine"]
    shown = privmine("plugins").stdout
    assert "corner-shop" in shown
    assert "SYNTHETIC baskets of a corner shop" in shown
    assert "privmine-extras==2.0" in privmine("plugins", "--requirements").stdout.splitlines()


def test_a_command_runs_by_name(privmine: Callable[..., Any]) -> None:
    """On its own and below a group, with its own help and a line in the list of commands."""
    assert privmine("greet", "Ada").stdout == "Hello, Ada.\n"
    assert privmine("experiment", "greet", "Ada").stdout == "Hello, Ada.\n"
    assert "greet       Greet NAME." in privmine("--help").stdout
    assert "greet [OPTIONS] NAME" in privmine("greet", "--help").stdout
    assert privmine("greet").returncode == 2


def test_a_command_that_cannot_be_imported_is_told(privmine: Callable[..., Any]) -> None:
    """With its distribution and the reason; it does not disturb the others."""
    failed = privmine("absent")
    assert failed.returncode == 2
    assert failed.stderr == (
        "privmine: The command 'absent' of privmine-extras cannot be loaded: ModuleNotFoundError: No module named "
        "'privmine_extras.no_such_module'. Reinstall or uninstall privmine-extras.\n"
    )
    assert privmine("plain").stderr == (
        "privmine: The command 'plain' of privmine-extras is not a click command, but function. Decorate the function "
        "with @click.command().\n"
    )


def test_a_dataset_and_a_metric_are_used_by_name(privmine: Callable[..., Any], tmp_path: Path) -> None:
    """In an experiment, on two processes; the metric is a column of the results."""
    (tmp_path / "spec.toml").write_text(SPEC)
    ran = privmine("experiment", "spec.toml", "--workers", "2", "--metric", "longest", "--json")
    assert {row["pipeline"]: row["longest"]["mean"] for row in json.loads(ran.stdout)["summary"]} == {
        "usual": 2.0,
        "short": 2.0,
    }
    assert "longest" in (tmp_path / "spec.csv").read_text().partition("\n")[0].split(",")
    assert json.loads(privmine("datasets", "info", "corner-shop", "--json").stdout)["status"] == "generated"


def test_results_with_other_metrics_are_not_mixed(privmine: Callable[..., Any], tmp_path: Path) -> None:
    """Without the plugin the file has a column too many, which the error says."""
    (tmp_path / "spec.toml").write_text(SPEC.replace("corner-shop", "zipf").replace('method = "short"', ""))
    assert privmine("experiment", "spec.toml", "--workers", "1").returncode == 0
    failed = privmine("experiment", "spec.toml", "--workers", "1", load="")
    assert failed.returncode == 2
    assert "The columns differ: another version of privmine, or other metrics of plugins." in failed.stderr


def test_a_method_that_changes_another_runs_by_name(privmine: Callable[..., Any]) -> None:
    """The changed parameter is in the receipt; all else is that of its base."""
    pipelines = [
        json.loads(privmine("mine", "--method", name, "--k", "4", "--simulate", "--seed", "1", "--json").stdout)[
            "receipt"
        ]["pipeline"]
        for name in ("privbasis", "short")
    ]
    usual, short = pipelines
    assert "max_length=2" in short.pop("construct_basis")
    del usual["construct_basis"]
    assert short == usual


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gret",), "There is no command named 'gret'. Did you mean 'greet' or 'budget'? Known: absent,"),
        (("datasets", "info", "cornershop"), "There is no dataset named 'cornershop'. Did you mean 'corner-shop'?"),
        (("experiment", "spec.toml", "--metric", "long"), "There is no metric named 'long'. Did you mean 'longest'?"),
        (
            ("mine", "--method", "shrt"),
            "There is no method named 'shrt'. Did you mean 'short'? Known: privbasis, short.",
        ),
    ],
)
def test_an_unknown_name_lists_the_known_and_what_failed(
    privmine: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Each kind in the same way: close matches, known names, and plugins that failed to load."""
    (tmp_path / "spec.toml").write_text(SPEC)
    failed = privmine(*arguments, load="privmine-extras,privmine-twin")
    assert failed.returncode == 2
    assert words in failed.stderr
    assert "Plugins that failed to load: twin-command (DuplicateNameError: " in failed.stderr


def test_a_taken_name_is_told_with_both_distributions(privmine: Callable[..., Any]) -> None:
    """For every kind, whether the name is privmine's own or another plugin's; case makes no difference."""
    listed = json.loads(privmine("plugins", "--json", load="privmine-extras,privmine-twin").stdout)
    reasons = {failure["plugin"]: failure["reason"] for failure in listed["failures"]}
    said = "DuplicateNameError: privmine-twin registers {}, which {} has registered already; "
    assert {name: reason.partition("one of the two")[0] for name, reason in reasons.items()} == {
        "twin-command": said.format("the command 'greet'", "privmine-extras"),
        "twin-dataset": said.format("the dataset 'Corner-Shop'", "privmine-extras"),
        "twin-method": said.format("the method 'short'", "privmine-extras"),
        "twin-metric": said.format("the metric 'longest'", "privmine-extras"),
        "twin-own-command": said.format("the command 'mine'", "privmine"),
        "twin-own-dataset": said.format("the dataset 'Retail'", "privmine"),
        "twin-own-metric": said.format("the metric 'fnr'", "privmine"),
    }
