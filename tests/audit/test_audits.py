"""Audits from start to verdict: subjects, reports, the samplers' checks and the command."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib import import_module

import pytest
from attrs import frozen
from click.testing import CliRunner

from privmine.api import Elements, hookimpl
from privmine.audit import Effort, all_subjects, audit, quick_audit, sampler_checks, subject_of
from privmine.audit.audits import SAMPLED_CASES
from privmine.audit.subjects import EMPHASIS, emphasised
from privmine.cli.audit import audit as command
from privmine.defaults import GreedyBasis, ItemsAndPairs
from privmine.errors import InputError, UnknownNameError
from privmine.pipeline import Pipeline
from privmine.registry import registry

#: The module; as an attribute of `privmine.cli`, its name is the command's.
MODULE = import_module("privmine.cli.audit")
TINY = Effort("tiny", pairs=10, examples=0, samples=40, cases=1)


@frozen
class Leak:
    """Selects the items that occur."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        return Elements([item for item, support in enumerate(curator._desk.store.item_supports()) if support][:10])


@frozen
class Unwilling:
    """Takes no request at all."""

    @hookimpl
    def select_elements(self, request) -> Elements:
        raise InputError("never")


# Samplers


def test_charges_agree_with_opendp() -> None:
    """Every mechanism costs what OpenDP's privacy map says, to 12 digits, and no scale is below the exact one."""
    checks = sampler_checks()
    assert {check.mechanism.split(",")[0] for check in checks} == {"measure", "choose", "choose_noisy"}
    assert [str(check) for check in checks if not check.ok] == []


# Subjects


def test_a_target_may_be_many_things(tmp_path) -> None:
    """A pipeline, its file, a method, a component by name, as an object or as a class."""
    file = tmp_path / "mine.toml"
    file.write_text('method = "privbasis"\n[stages.construct_basis]\nuse = "greedy-merge"\nmax_length = 5\n')
    assert subject_of(Pipeline()).stage is None
    assert subject_of(str(file)).pipeline.parts["construct_basis"].component == GreedyBasis(max_length=5)
    assert subject_of("privbasis").name == "privbasis"
    assert subject_of("select_elements=items-and-pairs").stage == "select_elements"
    assert subject_of(ItemsAndPairs(eta=2)).pipeline.parts["select_elements"].component.eta == 2
    assert subject_of(GreedyBasis).stage == "construct_basis"


def test_what_is_no_target_is_refused() -> None:
    """Unknown names list the known ones; an object without a stage is told so."""
    with pytest.raises(UnknownNameError, match="items-and-pairs"):
        subject_of("select_elements=items-and-paris")
    with pytest.raises(UnknownNameError, match="privbasis"):
        subject_of("privbases")
    with pytest.raises(InputError, match="implements no stage"):
        subject_of(object())


def test_all_registered_components_are_subjects() -> None:
    """Nothing that is registered is left out."""
    known = registry()
    subjects = {subject.name for subject in all_subjects()}
    assert {f"{stage}={name}" for stage, name in known.components} | set(known.presets) == subjects


def test_an_audited_component_gets_most_of_the_budget() -> None:
    """A stage with a tenth of ε would hide behind the noise; the plan stays within ε."""
    case = SAMPLED_CASES["estimate_lambda"]
    pipeline = emphasised(subject_of("estimate_lambda=rank-gap"), case)
    plan = pipeline.parts["allocate_budget"].component.allocate_budget()
    assert plan.estimate_lambda == EMPHASIS
    assert plan.estimate_lambda + plan.select_elements + plan.reconstruct_counts == 1
    assert plan.select_elements / plan.reconstruct_counts == Fraction(4, 5)


# Reports


def test_a_sound_component_holds() -> None:
    """The report says so, and what was tried."""
    report = audit("select_elements=items-and-pairs", effort=TINY)
    assert report.ok
    assert report.verdict == "holds"
    assert report.pairs == 10
    assert str(report).startswith("select_elements=items-and-pairs: HOLDS\n  replayed on 10 pairs")
    assert {bound.group for bound in report.bounds} >= {"select_elements", "release"}


@pytest.mark.parametrize("seed", range(2))
def test_quick_audits_raise_no_false_alarm(seed) -> None:
    """A sound pipeline holds under every seed; the slow suite tries 200."""
    assert quick_audit("privbasis", seed=seed).ok


def test_a_leak_is_shown_with_its_neighbour() -> None:
    """The report names the rule, the stage and a snippet that shows it again."""
    report = audit(Leak(), effort=TINY)
    assert report.verdict == "violates"
    assert not report.ok
    text = str(report)
    assert "result (select_elements)" in text
    assert "replay(pipeline, Case(items=1, transactions=[], extra=(0,)" in text
    data = json.loads(json.dumps(report.to_dict()))
    assert data["verdict"] == "violates"
    assert data["counterexample"]["neighbours"].startswith("Case(")


def test_the_black_box_alone_finds_a_leak_too() -> None:
    """Without any replay, the runs themselves tell the databases apart."""
    report = audit(Leak(), effort=Effort("black box", pairs=0, examples=0, samples=120, cases=1))
    assert report.counterexample is None
    assert report.verdict == "violates"
    assert report.best_bound.lower > report.best_bound.claim
    assert "on Case(" in str(report)


def test_a_component_that_takes_nothing_is_refused() -> None:
    """What never ran cannot hold."""
    report = audit(Unwilling(), effort=TINY)
    assert report.verdict == "refused"
    assert report.sampled == ()


def test_progress_names_what_is_done() -> None:
    """Replaying and sampling are told apart."""
    told: list[str] = []
    audit("privbasis", effort=TINY, progress=lambda what, done, total: told.append(what))
    assert any("replaying" in what for what in told)
    assert any("sampling" in what for what in told)


# The command


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


@pytest.mark.usefixtures("small")
def test_a_violation_exits_with_1(monkeypatch) -> None:
    """The evidence is printed below the table."""
    monkeypatch.setattr(MODULE, "subject_of", lambda target, trust: subject_of(Leak()))
    result = run("anything")
    assert result.exit_code == 1
    assert "violates" in result.output
    assert "select_elements=Leak: VIOLATES" in result.output


def test_quick_and_thorough_exclude_each_other() -> None:
    """Asking for both is a mistake, told before anything is run."""
    result = run("privbasis", "--quick", "--thorough")
    assert isinstance(result.exception, InputError)
