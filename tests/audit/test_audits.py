"""Audits from start to verdict: subjects, reports, evidence and the samplers' checks."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import pytest
from attrs import evolve, field, frozen

from privmine.api import Elements, hookimpl
from privmine.audit import Effort, Evidence, all_subjects, audit, quick_audit, sampler_checks, subject_of
from privmine.audit.audits import SAMPLED_CASES
from privmine.audit.neighbours import searched
from privmine.audit.outcomes import PipelineSample
from privmine.audit.subjects import EMPHASIS, emphasised
from privmine.defaults.construct import GreedyBasis
from privmine.defaults.select import ItemsAndPairs
from privmine.errors import InputError, UnknownNameError
from privmine.hooks.registry import registry
from privmine.pipeline import Pipeline
from privmine.privacy.unit import Unit

TINY = Effort("tiny", pairs=10, examples=0, samples=40, cases=1)


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
    assert {check.mechanism.split(",")[0] for check in checks} == {"measure", "choose", "choose_noisy", "choose_set"}
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
    usual = PipelineSample(Pipeline(), case).plan()
    pipeline = emphasised(subject_of("estimate_lambda=rank-gap"), usual)
    plan = pipeline.parts["allocate_budget"].component.allocate_budget()
    assert plan.estimate_lambda == EMPHASIS
    assert plan.estimate_lambda + plan.select_elements + plan.reconstruct_counts == 1
    assert plan.select_elements / plan.reconstruct_counts == Fraction(4, 5)


def test_a_component_without_its_stage_is_told_with_it() -> None:
    """The name alone is that of a method; where there is none, the component is named as it should be."""
    with pytest.raises(UnknownNameError, match="audited with its stage: construct_basis=greedy-merge"):
        subject_of("greedy-merge")


# Reports


def test_a_sound_component_holds() -> None:
    """The report says so, and what was tried."""
    report = audit("select_elements=items-and-pairs", effort=TINY)
    assert report.ok
    assert report.verdict == "holds"
    assert report.pairs == 10
    assert str(report).startswith("select_elements=items-and-pairs: HOLDS\n  replayed on 10 pairs")
    assert {bound.group for bound in report.bounds} >= {"select_elements", "release"}


@pytest.mark.statistics
@pytest.mark.parametrize("seed", range(2))
def test_quick_audits_raise_no_false_alarm(seed) -> None:
    """A sound pipeline holds under every seed; test_shipped.py audits it in the default run."""
    assert quick_audit("privbasis", seed=seed).ok


def test_a_leak_is_shown_with_its_neighbour(leak) -> None:
    """The report names the rule, the stage and a snippet that shows it again."""
    report = audit(leak(), effort=TINY)
    assert report.verdict == "violates"
    assert not report.ok
    text = str(report)
    assert "result (select_elements)" in text
    assert "case = Case(items=1, transactions=[], extra=(0,)" in text
    assert "print(*replay(pipeline, case)" in text
    assert "pipeline = subject_of(Leak(), 'select_elements').pipeline" in text
    data = json.loads(json.dumps(report.to_dict()))
    assert data["verdict"] == "violates"
    assert data["counterexample"]["neighbours"].startswith("Case(")


@frozen
class Once:
    """Breaks a rule in its first runs only, as a component does that keeps something from run to run."""

    runs: list = field(factory=list, eq=False)

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        self.runs.append(len(self.runs))
        supports = curator._access.store.item_supports()
        return Elements([item for item, support in enumerate(supports) if support and len(self.runs) <= 20][:10])


def test_what_happens_once_is_not_lost(leak) -> None:
    """A violation that a second look does not show is a violation, and the report says that it does not repeat."""
    report = audit(Once(), effort=TINY)
    assert report.verdict == "violates"
    assert not report.counterexample.repeats
    assert "does not happen every time" in str(report)
    assert report.to_dict()["counterexample"]["repeats"] is False
    assert audit(leak(), effort=TINY).counterexample.repeats


@pytest.mark.statistics
def test_what_hypothesis_sees_once_is_not_lost() -> None:
    """It would call it flaky, and forget it."""
    component = Once()
    example = searched(subject_of(component).pipeline, examples=100)[1]
    assert example is not None
    assert not example.repeats


def test_the_black_box_alone_finds_a_leak_too(leak) -> None:
    """Without any replay, the runs themselves tell the databases apart."""
    report = audit(leak(), effort=Effort("black box", pairs=0, examples=0, samples=120, cases=1))
    assert report.counterexample is None
    assert report.verdict == "violates"
    assert report.best_bound.lower > report.best_bound.claim
    assert "on Case(" in str(report)


def test_a_component_that_takes_nothing_is_refused() -> None:
    """What never ran cannot hold."""
    report = audit(Unwilling(), effort=TINY)
    assert report.verdict == "refused"
    assert report.sampled == ()


@frozen
class Clumsy:
    """Fails by itself where more than so many itemsets are asked for."""

    limit: int = 0
    error: type[Exception] = ZeroDivisionError

    @hookimpl
    def select_elements(self, request, estimate, curator) -> Elements:
        if request.requested > self.limit:
            raise self.error("on purpose")
        return ItemsAndPairs().select_elements(request, estimate, curator)


def test_a_component_that_fails_by_itself_has_no_verdict_on_privacy() -> None:
    """It was not the engine that stopped it; the reason is shown, and how often."""
    report = audit(Clumsy(limit=3), effort=TINY)
    assert report.verdict == "errors"
    assert report.why == "failed"
    assert 0 < report.replays.failed < 10
    assert f"failed on {report.replays.failed} of 10 pairs" in str(report)
    assert "ZeroDivisionError: on purpose" in str(report)
    assert report.to_dict()["failed"] == report.replays.failed


def test_requests_that_are_not_taken_are_counted() -> None:
    """A component may turn requests down; how many says how much the verdict is worth."""
    report = audit(Clumsy(limit=5, error=InputError), effort=TINY)
    assert report.verdict == "holds"
    assert 0 < report.replays.turned_down < 10
    assert f"accepted {10 - report.replays.turned_down} of these requests" in str(report)
    assert report.to_dict()["turned_down"] == report.replays.turned_down


def test_samples_of_runs_that_all_failed_do_not_hold() -> None:
    """Nothing was sampled then, whatever the number of runs."""
    report = audit(Clumsy(limit=0), effort=Effort("black box", pairs=0, examples=0, samples=40, cases=1))
    assert report.verdict == "errors"
    assert report.why == "every sampled run failed"
    assert "every sampled run failed on Case(" in str(report)
    assert [sampled["failed"] for sampled in report.to_dict()["sampled"]] == [80]
    assert [sampled["runs"] for sampled in report.to_dict()["sampled"]] == [40]


def test_a_pipeline_without_any_bound_shows_what_its_release_claims() -> None:
    """The claim of the first stage alone would be a riddle."""
    report = audit("privbasis", effort=TINY)
    assert report.best_bound.lower == 0
    assert report.best_bound.group == "release"


# Which runs an audit makes


def test_an_audit_samples_every_pair_and_once_more_with_exact_noise() -> None:
    """The pair of the audited stage comes first, and is the one for the noise of releases."""
    effort = Effort("small", pairs=2, examples=0, samples=20, cases=3, exact_runs=8)
    report = audit("estimate_lambda=rank-gap", effort=effort)
    stages = [next(stage for stage, case in SAMPLED_CASES.items() if case == made.case) for made in report.sampled]
    assert stages == ["estimate_lambda", "reconstruct_counts", "select_elements", "estimate_lambda"]
    assert [(made.noise, made.runs) for made in report.sampled] == [("simulated", 20)] * 3 + [("exact", 8)]
    assert all(made.failed == 0 for made in report.sampled)


def test_the_error_rate_is_divided_among_the_pairs() -> None:
    """All bounds of one audit hold together."""
    effort = Effort("small", pairs=2, examples=0, samples=20, cases=3, exact_runs=8)
    report = audit("privbasis", effort=effort, error_rate=0.04)
    assert {bound.confidence for bound in report.bounds} == {1 - 0.01}


@frozen
class Rare:
    """Leaks on databases that only a search comes upon: without any transaction, before one with item 5 alone."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        store = curator._access.store
        supports = list(store.item_supports())
        return Elements([0] if store.count() == 1 and sum(supports) == 1 and supports[0] else [])


def test_what_the_generator_does_not_try_hypothesis_does() -> None:
    """The search goes on where no generated pair showed anything, and says how many it tried."""
    effort = Effort("search", pairs=1, examples=200, samples=0, cases=0)
    assert audit(Rare(), effort=evolve(effort, examples=0)).verdict == "holds"
    report = audit(Rare(), effort=effort)
    assert report.verdict == "violates"
    assert report.pairs > 1
    sound = audit("privbasis", effort=evolve(effort, examples=7))
    assert sound.pairs == 8


def test_progress_names_what_is_done() -> None:
    """Replaying and sampling are told apart."""
    told: list[str] = []
    audit("privbasis", effort=TINY, progress=lambda what, done, total: told.append(what))
    assert any("replaying" in what for what in told)
    assert any("sampling" in what for what in told)


# Evidence


def test_what_is_known_of_a_pipeline_is_not_tried_again() -> None:
    """Two components of one pipeline share its replays, and their samples where the budget is divided alike."""
    evidence, told = Evidence(), []

    def tell(what, done, total) -> None:
        told.append(what)

    reports = [
        audit(target, effort=TINY, evidence=evidence, progress=tell)
        for target in ("privbasis", "construct_basis=greedy-merge", "select_elements=items-and-pairs")
    ]
    assert reports[0].sampled == reports[1].sampled != reports[2].sampled
    assert [report.pairs for report in reports] == [10, 10, 10]
    assert not any(what.startswith("construct_basis") for what in told)
    assert {what.partition(": ")[2] for what in told if what.startswith("select_elements")} == {"sampling pair 1 of 1"}


def test_evidence_is_for_the_same_question_only() -> None:
    """Another seed, another pipeline: found anew; what cannot be pickled always is."""
    evidence, count = Evidence(), itertools.count()
    assert [evidence.of(question, lambda: next(count)) for question in [("a", 1), ("a", 1), ("a", 2)]] == [0, 0, 1]
    assert evidence.of((lambda: 0,), lambda: next(count)) == 2
    assert evidence.of((lambda: 0,), lambda: next(count)) == 3


@frozen
class LeaksToTheSample:
    """Selects the last items if there is data, after an own draw, so that no replay can be trusted."""

    @hookimpl
    def select_elements(self, curator) -> Elements:
        return Elements((5, 6, 7) if curator._access.store.count() else (0, 1, 2))


@pytest.mark.parametrize("unit", [None, Unit("customer", baskets=2)])
def test_what_only_samples_show_can_be_seen_again(capsys, unit) -> None:
    """Without a replay that shows it, the snippet samples the same pair once more."""
    effort = Effort("samples only", pairs=0, examples=0, samples=120, cases=1)
    report = audit(LeaksToTheSample(), effort=effort, unit=unit)
    assert report.verdict == "violates"
    assert report.counterexample is None
    assert report.snippet.splitlines()[-1].startswith("print(audit(pipeline, 'select_elements', effort=Effort(")
    exec(report.snippet, {"pipeline": subject_of(LeaksToTheSample()).pipeline})  # noqa: S102 - it is the code under test
    again = capsys.readouterr().out
    assert str(report.best_bound) in again
