"""Commands, datasets, metrics and methods of a plugin that is really installed, and of one that takes their names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privmine.cli.commands import cli
from privmine.cli.groups import every_command
from privmine.hooks.extensions import OWN_OPTIONS
from privmine.hooks.registry import registry

PACKAGES = Path(__file__).parents[1] / "packages"
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
def site(site_with: Callable[..., Path]) -> Path:
    """A directory with the plugin and its twin."""
    return site_with("privmine-extras", "privmine-twin")


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
        for kind in ("commands", "datasets", "metrics", "methods", "readers")
    }
    assert brought == {
        "commands": ["greet", "experiment greet", "absent", "plain"],
        "datasets": ["corner-shop"],
        "metrics": ["longest"],
        "methods": ["short"],
        "readers": ["till", "absent"],
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


@pytest.mark.statistics
def test_results_with_other_metrics_are_not_mixed(privmine: Callable[..., Any], tmp_path: Path) -> None:
    """Without the plugin the file has a column too many, which the error says."""
    (tmp_path / "spec.toml").write_text(SPEC.replace("corner-shop", "zipf").replace('method = "short"', ""))
    assert privmine("experiment", "spec.toml", "--workers", "1").returncode == 0
    failed = privmine("experiment", "spec.toml", "--workers", "1", load="")
    assert failed.returncode == 2
    assert "The columns differ: it was written by another version of privmine, or with other plugins." in failed.stderr


@pytest.mark.statistics
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
        (("gret",), "There is no command named 'gret'. Did you mean 'greet' or 'report' or 'budget'? Known: absent,"),
        pytest.param(
            ("datasets", "info", "cornershop"),
            "There is no dataset named 'cornershop'. Did you mean 'corner-shop'?",
            marks=pytest.mark.statistics,
        ),
        pytest.param(
            ("experiment", "spec.toml", "--metric", "long"),
            "There is no metric named 'long'. Did you mean 'longest'?",
            marks=pytest.mark.statistics,
        ),
        pytest.param(
            ("mine", "--method", "shrt"),
            "There is no method named 'shrt'. Did you mean 'short'? Known: privbasis, short.",
            marks=pytest.mark.statistics,
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
    assert "Plugins that failed to load: twin-command from privmine-twin (DuplicateNameError: " in failed.stderr


def test_a_taken_name_is_told_with_both_distributions(privmine: Callable[..., Any]) -> None:
    """For every kind, whether the name is privmine's own or another plugin's; case makes no difference."""
    listed = json.loads(privmine("plugins", "--json", load="privmine-extras,privmine-twin").stdout)
    reasons = {failure["plugin"]: failure["reason"] for failure in listed["failures"]}
    said = "DuplicateNameError: privmine-twin registers {}, but {} has registered that name already. "
    assert "'sql' cannot be the name of a reader" in reasons.pop("twin-own-option")
    assert {name: reason.partition("One of the two")[0] for name, reason in reasons.items()} == {
        "twin-command": said.format("the command 'greet'", "privmine-extras"),
        "twin-dataset": said.format("the dataset 'Corner-Shop'", "privmine-extras"),
        "twin-method": said.format("the method 'short'", "privmine-extras"),
        "twin-metric": said.format("the metric 'longest'", "privmine-extras"),
        "twin-reader": said.format("the reader 'till'", "privmine-extras"),
        "twin-own-command": said.format("the command 'mine'", "privmine"),
        "twin-own-dataset": said.format("the dataset 'Retail'", "privmine"),
        "twin-own-metric": said.format("the metric 'fnr'", "privmine"),
    }


SIMULATED = ("--k", "3", "--epsilon", "1", "--simulate", "--seed", "1")


@pytest.mark.statistics
def test_one_package_brings_a_reader_a_command_a_dataset_and_a_metric(
    privmine: Callable[..., Any], tmp_path: Path
) -> None:
    """A command reads what the option of a reader names; the receipt says who read it."""
    assert "--till" in privmine("mine", "--help").stdout
    ran = privmine("mine", "--till", "tea milk / tea", *SIMULATED, "--json")
    release = json.loads(ran.stdout)
    assert ["tea"] in [found["items"] for found in release["itemsets"]]
    assert "the reader 'till' of privmine-extras" in str(release["receipt"]["assumptions"])
    assert privmine("greet", "Ada").returncode == 0
    (tmp_path / "spec.toml").write_text(SPEC)
    assert privmine("experiment", "spec.toml", "--workers", "1", "--metric", "longest").returncode == 0


READ = """
import warnings
import privmine as pm
from privmine_extras.till import Roll
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        print(pm.read({source}).universe.labels.tolist())
    except Exception as error:
        print(type(error).__name__, error, error.__cause__, error.__context__)
print([str(warning.message) for warning in caught])
"""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Roll('tea milk / tea')", "['milk', 'tea']"),
        ("Roll('tea milk / tea'), items=['tea']", "['tea']"),
        ("[['a'], ['b']]", "['a', 'b']"),
        ("Roll('tea / torn')", "DataError The reader 'till' of privmine-extras failed (ValueError). What it says"),
        ("Roll('tea'), items=['ignored']", "PluginError The reader 'till' of privmine-extras did not keep to the item"),
        ("Roll('tea'), merge_by='till'", "was asked to protect one till and protects one transaction"),
        ("Roll('tea'), layout='long'", "does not take layout=. It takes: items=, merge_by=."),
    ],
)
def test_what_a_reader_returns_is_checked(site: Path, run_python: Callable[..., Any], source: str, words: str) -> None:
    """Its errors are withheld, and a reader that cannot be imported is left out with a warning."""
    ran = run_python("-c", READ.format(source=source), site=site, PRIVMINE_LOAD_PLUGINS="privmine-extras")
    told, warned = ran.stdout.splitlines()
    assert words in told
    assert "tea / torn" not in ran.stdout + ran.stderr
    assert told.startswith("[") or told.endswith("None None")
    assert "The reader 'absent' of privmine-extras could not be asked" in warned


def test_a_reader_is_the_only_source(privmine: Callable[..., Any]) -> None:
    """Together with a file it is refused, before anything is read."""
    failed = privmine("mine", "orders.csv", "--till", "tea", *SIMULATED)
    assert failed.returncode == 2
    assert "--till names the data itself. Name a file, a query or this, only one." in failed.stderr


def test_what_a_reader_reads_can_be_copied(privmine: Callable[..., Any], tmp_path: Path) -> None:
    """Like the result of any query."""
    ran = privmine("convert", "--till", "tea milk / tea", "copy.txt")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "copy.txt").read_text() == "milk,tea\ntea\n"


def test_no_reader_can_take_an_option_of_a_command() -> None:
    """The reserved names are those of all commands that read data."""
    own = [
        {option[2:] for parameter in command.params for option in parameter.opts if option.startswith("--")}
        for command in every_command(cli).values()
    ]
    found = {"help"}.union(*(options for options in own if "transaction" in options))
    assert found - set(registry().all_of("reader")) == OWN_OPTIONS
