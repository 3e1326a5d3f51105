"""`privmine audit`: verdicts, evidence, exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module

import pytest
from attrs import evolve, frozen
from click.testing import CliRunner

from privmine.api import Elements, hookimpl
from privmine.audit import Effort, subject_of, subjects
from privmine.cli.audit_command import audit as command
from privmine.errors import DataError, InputError, UnknownNameError
from privmine.hooks.registry import own_version, registry

#: The module; as an attribute of `privmine.cli`, its name is the command's.
MODULE = import_module("privmine.cli.audit_command")
TINY = Effort("tiny", pairs=10, examples=0, samples=40, cases=1)


def run(*arguments: str):
    """Run the command in this process."""
    return CliRunner().invoke(command, [*arguments, "--workers", "1"])


@pytest.fixture
def small(monkeypatch) -> None:
    """Make every effort tiny."""
    for name in ("QUICK", "STANDARD", "THOROUGH"):
        monkeypatch.setattr(MODULE, name, TINY)


@pytest.mark.usefixtures("small")
def test_the_command_prints_a_verdict_for_each_target() -> None:
    """A table, and that the samplers agree; exit code 0."""
    result = run("privbasis", "construct_basis=greedy-merge", "--quick")
    assert result.exit_code == 0
    assert result.output.count("holds") == 2
    assert "agree with OpenDP" in result.output


@pytest.mark.usefixtures("small")
def test_the_command_prints_json() -> None:
    """For programs, with the same verdicts."""
    result = run("estimate_lambda=rank-gap", "--json")
    data = json.loads(result.output)
    assert [report["verdict"] for report in data["reports"]] == ["holds"]
    assert data["samplers"]["wrong"] == []
    assert (data["ok"], data["seed"], data["effort"], data["version"]) == (True, 0, "tiny", own_version())


@pytest.mark.usefixtures("small")
def test_a_violation_exits_with_1(leak, monkeypatch) -> None:
    """The evidence is printed below the table."""
    monkeypatch.setattr(MODULE, "subject_of", lambda target, trust: subject_of(leak()))
    result = run("anything")
    assert result.exit_code == 1
    assert "violates" in result.output
    assert "select_elements=Leak: VIOLATES" in result.output
    assert "result" in next(line for line in result.output.splitlines() if line.startswith("Leak"))


@pytest.mark.usefixtures("small")
def test_the_table_keeps_names_whole_at_80_columns(monkeypatch) -> None:
    """A stage that is split over two lines cannot be read."""
    monkeypatch.setenv("COLUMNS", "80")
    result = run("reconstruct_counts=basis-frequencies")
    (line,) = [line for line in result.output.splitlines() if line.startswith("basis-frequencies")]
    assert line.split()[:3] == ["basis-frequencies", "reconstruct_counts", "holds"]


def test_quick_and_thorough_exclude_each_other() -> None:
    """Asking for both is a mistake, told before anything is run."""
    result = run("privbasis", "--quick", "--thorough")
    assert isinstance(result.exception, InputError)


@pytest.mark.usefixtures("small")
def test_the_command_audits_customers() -> None:
    """With a unit they are protected; without it, exit code 1 and the reason."""
    bounded = run("privbasis", "--unit", "customer", "--max-baskets", "5")
    assert bounded.exit_code == 0
    assert "all transactions of one customer, of which 5 are counted" in bounded.output
    assert run("privbasis", "--merge-by", "customer").exit_code == 0
    forgotten = run("privbasis", "--unit", "customer", "--max-baskets", "5", "--without-unit")
    assert forgotten.exit_code == 1
    assert "sensitivity" in forgotten.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--unit", "customer"], "specify how many of its transactions count at most"),
        (["--max-baskets", "5"], "Name the column"),
        (["--unit", "customer", "--max-baskets", "5", "--merge-by", "customer"], "cannot be combined"),
        (["--without-unit"], "Name the unit: --unit NAME --max-baskets M"),
        (["--unit", "transaction", "--max-baskets", "2"], "cannot be called 'transaction'"),
    ],
)
def test_half_a_unit_is_refused(arguments, words) -> None:
    """A sentence says what is missing, before anything is run."""
    result = run("privbasis", *arguments)
    assert isinstance(result.exception, InputError)
    assert words in str(result.exception)


@frozen
class Chatty:
    """Prints what it does."""

    @hookimpl
    def select_elements(self, request) -> Elements:
        print("selecting")
        return Elements(())


@pytest.mark.usefixtures("small")
def test_what_a_component_prints_is_not_among_the_reports(monkeypatch) -> None:
    """JSON stays JSON."""
    monkeypatch.setattr(MODULE, "subject_of", lambda target, trust: subject_of(Chatty()))
    result = run("anything", "--json")
    assert [report["verdict"] for report in json.loads(result.stdout)["reports"]] == ["holds"]
    assert "selecting" in result.stderr


@pytest.fixture
def broken_method() -> Iterator[str]:
    """A method of some plugin that gives a core component a value it does not take."""
    known = registry()
    default = known.presets["privbasis"]
    stages = {**default.stages, "construct_basis": {"use": "greedy-merge", "max_length": "long"}}
    known.presets["aaa"] = evolve(default, name="aaa", stages=stages, distribution="privmine-broken")
    yield "aaa"
    del known.presets["aaa"]


@pytest.mark.usefixtures("small")
def test_a_broken_method_is_to_blame_itself(broken_method) -> None:
    """It gets a verdict, under its own name and that of its distribution, and the others are audited."""
    result = run(broken_method, "construct_basis=greedy-merge", "--json")
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)["reports"]
    assert (first["verdict"], second["verdict"]) == ("errors", "holds")
    assert first["error"].startswith("The method 'aaa' from privmine-broken cannot be made: ")


def test_a_component_is_audited_although_a_method_that_uses_it_is_broken(broken_method, monkeypatch) -> None:
    """A plugin's method must not take a core component along."""
    monkeypatch.setattr(subjects, "DEFAULT_METHOD", broken_method)  # The first that is tried.
    assert subject_of("construct_basis=greedy-merge").pipeline.method == "privbasis"


@pytest.mark.parametrize("name", ["gone", "construct_basis=gone", "gone.toml"])
def test_what_is_not_there_is_told_before_anything_is_audited(name) -> None:
    """A name that nobody knows is the user's mistake, not a verdict."""
    assert isinstance(run("privbasis", name).exception, UnknownNameError | DataError)


@pytest.mark.usefixtures("small")
def test_a_component_that_cannot_be_made_does_not_stop_the_others(monkeypatch) -> None:
    """All that is registered has a line, also what is broken."""
    monkeypatch.setattr(MODULE, "all_names", lambda: ["construct_basis=greedy-merge", "construct_basis=gone"])
    result = run()
    assert result.exit_code == 1
    assert "holds" in result.output
    assert "construct_basis=gone: ERRORS" in result.output


@frozen
class Picky:
    """Takes few requests."""

    @hookimpl
    def select_elements(self, request) -> Elements:
        if request.requested not in (1, 3):
            raise InputError("One itemset, or three.")
        return Elements(())


@pytest.mark.usefixtures("small")
def test_the_table_says_how_much_of_an_audit_there_was(monkeypatch) -> None:
    """A component that turns most requests down holds on few of them."""
    monkeypatch.setattr(MODULE, "subject_of", lambda target, trust: subject_of(Picky()))
    (line,) = [line for line in run("anything").output.splitlines() if line.startswith("Picky")]
    assert re.search(r"holds .* [1-9] of 10 taken", line)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupt_keeps_the_verdicts_reached(monkeypatch, as_json) -> None:
    """What was found by then is told, and what is missing; exit code 130."""
    audited = MODULE._audited

    def interrupted(subject, trust, **options):
        if subject.name != "privbasis":
            raise KeyboardInterrupt
        return audited(subject, trust, **options)

    monkeypatch.setattr(MODULE, "_audited", interrupted)
    result = run("privbasis", "construct_basis=greedy-merge", "estimate_lambda=rank-gap", *["--json"] * as_json)
    assert result.exit_code == 130
    assert "Interrupted: 2 of 3 not audited." in result.stderr
    if as_json:
        data = json.loads(result.stdout)
        assert (data["missing"], [report["verdict"] for report in data["reports"]]) == (2, ["holds"])
    else:
        assert result.stdout.count("holds") == 1


@pytest.mark.usefixtures("small")
def test_the_error_rate_is_divided_among_the_subjects() -> None:
    """All bounds of one command hold together."""
    data = json.loads(run("privbasis", "tf", "--json").stdout)
    confidences = {bound["confidence"] for made in data["reports"] for bound in made["sampled"][0]["bounds"]}
    assert confidences == {1 - data["error_rate"] / 2}
