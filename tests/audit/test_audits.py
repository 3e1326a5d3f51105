"""Audits from start to verdict: subjects, reports, the samplers' checks and the command."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from fractions import Fraction
from importlib import import_module
from types import ModuleType

import pytest
from attrs import evolve, field, frozen
from click.testing import CliRunner

from privmine.api import Elements, hookimpl
from privmine.audit import Effort, Evidence, all_subjects, audit, quick_audit, sampler_checks, subject_of, subjects
from privmine.audit.audits import SAMPLED_CASES
from privmine.audit.neighbours import search
from privmine.audit.outcomes import PipelineSample
from privmine.audit.subjects import EMPHASIS, emphasised
from privmine.audit.workers import WorkerError, Workers, in_worker, side_by_side
from privmine.cli.audit import audit as command
from privmine.defaults import GreedyBasis, ItemsAndPairs
from privmine.errors import DataError, InputError, UnknownNameError
from privmine.pipeline import Pipeline
from privmine.registry import own_version, registry

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
    usual = PipelineSample(Pipeline(), case).plan()
    pipeline = emphasised(subject_of("estimate_lambda=rank-gap"), usual)
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
        supports = curator._desk.store.item_supports()
        return Elements([item for item, support in enumerate(supports) if support and len(self.runs) <= 20][:10])


def test_what_happens_once_is_not_lost() -> None:
    """A violation that a second look does not show is a violation, and the report says that it does not repeat."""
    report = audit(Once(), effort=TINY)
    assert report.verdict == "violates"
    assert not report.counterexample.repeats
    assert "does not happen every time" in str(report)
    assert report.to_dict()["counterexample"]["repeats"] is False
    assert audit(Leak(), effort=TINY).counterexample.repeats


def test_what_hypothesis_sees_once_is_not_lost() -> None:
    """It would call it flaky, and forget it."""
    component = Once()
    example = search(subject_of(component).pipeline, examples=100)
    assert example is not None
    assert not example.repeats


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
    assert f"taken on {10 - report.replays.turned_down} of them" in str(report)
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


@pytest.mark.usefixtures("small")
def test_the_error_rate_is_divided_among_the_subjects() -> None:
    """All bounds of one command hold together."""
    data = json.loads(run("privbasis", "tf", "--json").stdout)
    confidences = {bound["confidence"] for made in data["reports"] for bound in made["sampled"][0]["bounds"]}
    assert confidences == {1 - data["error_rate"] / 2}


@frozen
class Rare:
    """Leaks on databases that only a search comes upon: without any transaction, before one with item 5 alone."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        store = curator._desk.store
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


# What must not end an audit


class BrokenPool(Executor):
    """Processes that have all ended."""

    def submit(self, function, /, *arguments, **options) -> Future:
        future: Future = Future()
        future.set_exception(BrokenExecutor())
        return future


def test_a_process_that_ends_is_told_in_a_report() -> None:
    """A component that takes its process along gets a verdict, and the others their turn."""
    report = audit("privbasis", effort=TINY, workers=BrokenPool())
    assert report.verdict == "errors"
    assert not report.ok
    assert "A process ended without a word while it was audited" in str(report)
    assert report.to_dict()["error"]


def test_processes_that_have_ended_are_replaced() -> None:
    """One component that exits abruptly does not end the audits after it."""
    with Workers(1) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(os._exit, 3).result()
        assert pool.submit(abs, -2).result() == 2


def test_what_nobody_waits_for_any_more_is_ended() -> None:
    """A batch that hangs after the verdict is clear must not be blamed on the component after it."""
    with Workers(1, patience=60) as pool:
        answers = side_by_side(pool, time.sleep, [(0,), (300,)])
        assert next(answers) is None
        answers.close()
        assert list(side_by_side(pool, abs, [(-1,)])) == [1]


#: A module that worker processes can import, wherever the tests are run from.
ENDING = '''
import os, signal, time
from attrs import field, frozen
from privmine.api import Elements, hookimpl

@frozen
class Ends:
    """Sleeps, or takes its process along."""
    how: str

    @hookimpl
    def select_elements(self, request):
        if self.how == "sleep":
            time.sleep(300)
        elif self.how == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        os._exit(3)

RUNS_HERE = []

@frozen
class Leaks:
    """Leaks, and tells if it does so in the process that made it."""
    process: int = field(factory=os.getpid)

    @hookimpl
    def select_elements(self, request, curator):
        if os.getpid() == self.process:
            RUNS_HERE.append(request)
        return Elements([item for item, support in enumerate(curator._desk.store.item_supports()) if support][:10])
'''


@pytest.fixture(scope="module")
def ending(tmp_path_factory) -> Iterator[ModuleType]:
    """Components that end the process that they are in."""
    folder = tmp_path_factory.mktemp("ending")
    (folder / "ending_components.py").write_text(ENDING)
    sys.path.insert(0, str(folder))
    yield import_module("ending_components")
    sys.path.remove(str(folder))
    del sys.modules["ending_components"]


@pytest.fixture(scope="module")
def impatient(ending) -> Iterator[Workers]:
    """A process that is given up after some seconds."""
    with Workers(1, patience=20) as pool:
        assert pool.submit(abs, -1).result() == 1
        yield pool


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("sleep", "It took longer than 1 seconds over one batch of runs"),
        ("exit", "A process ended with exit code 3 while it was audited"),
        ("crash", "A process ended by the signal SIGSEGV while it was audited"),
    ],
)
def test_a_component_that_hangs_or_crashes_is_given_up(impatient, ending, how, told) -> None:
    """Its report says what happened, and the next one is audited by processes that work."""
    told_of: list[tuple[str, int, int]] = []
    impatient.patience = 1 if how == "sleep" else 60
    report = audit(
        ending.Ends(how), effort=TINY, workers=impatient, progress=lambda *progress: told_of.append(progress)
    )
    assert report.verdict == "errors"
    assert told in report.error
    assert told_of == [("select_elements=Ends: replaying", 0, 10)]
    impatient.patience = 60
    assert impatient.submit(abs, -2).result() == 2


def test_nothing_of_a_component_runs_in_the_process_of_the_audit(impatient, ending) -> None:
    """Replays, shrinking, the search, plans and samples are for the workers, if there are any."""
    impatient.patience = 60
    effort = Effort("tiny", pairs=10, examples=5, samples=40, cases=1)
    report = audit(ending.Leaks(), effort=effort, workers=impatient)
    assert [finding.rule for finding in report.counterexample.findings] == ["result"]
    assert report.sampled
    assert ending.RUNS_HERE == []


KILLED = """
import os, signal
from privmine.audit.workers import Workers

if __name__ == "__main__":
    pool = Workers(1)
    pool.submit(print, "printed", flush=True).result()
    pool.submit(os.system, "echo echoed").result()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_their_parent_and_keep_off_its_output() -> None:
    """What components print goes to stderr; after the audit was killed, nobody keeps the pipes open."""
    script = [sys.executable, "-c", KILLED]
    done = subprocess.run(script, capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == b""
    assert done.stderr.split()[:2] == [b"printed", b"echoed"]


@pytest.mark.parametrize("ending", [SystemExit("out"), KeyboardInterrupt(), GeneratorExit(), ValueError("no")])
def test_whatever_is_raised_in_a_worker_becomes_a_plain_error(ending) -> None:
    """An exit, or what cannot be unpickled, would end more than its task."""

    def raises() -> None:
        raise ending

    with pytest.raises(WorkerError, match=type(ending).__name__):
        in_worker(raises)


@frozen
class Exits:
    """Leaves, if there is data."""

    error: type[BaseException]

    @hookimpl
    def select_elements(self, curator) -> Elements:
        if curator._desk.store.count():
            raise self.error
        return Elements(())


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit])
@pytest.mark.parametrize("pairs", [0, 10])
def test_a_component_that_exits_is_audited_to_the_end(error, pairs) -> None:
    """That it exits on some data only is a leak, found by the replay and by the black box alone."""
    report = audit(Exits(error), effort=Effort("tiny", pairs, examples=0, samples=120, cases=1))
    assert report.verdict == "violates"
    assert not report.error


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
    assert (data["ok"], data["seed"], data["effort"], data["version"]) == (True, 0, "tiny", own_version())


@pytest.mark.usefixtures("small")
def test_a_violation_exits_with_1(monkeypatch) -> None:
    """The evidence is printed below the table."""
    monkeypatch.setattr(MODULE, "subject_of", lambda target, trust: subject_of(Leak()))
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
        (["--unit", "customer"], "say how many of its transactions count at most"),
        (["--max-baskets", "5"], "name the column"),
        (["--unit", "customer", "--max-baskets", "5", "--merge-by", "customer"], "not both"),
        (["--without-unit"], "say which: --unit NAME --max-baskets M"),
        (["--unit", "transaction", "--max-baskets", "2"], "has a name of its own"),
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


def test_work_that_nobody_waits_for_ends_quietly(capfd) -> None:
    """A reader who has seen enough leaves batches behind; the pool that had them says nothing about it."""
    with Workers(2) as pool:
        answers = side_by_side(pool, time.sleep, [(0,), *[(30,)] * 8])
        assert next(answers) is None
        manager = pool._pool._executor_manager_thread
        answers.close()
        manager.join(20)
        assert not manager.is_alive()
    assert "Traceback" not in capfd.readouterr().err
