"""What must not end an audit: components that exit, hang, print or take their process along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from types import ModuleType

import pytest
from attrs import frozen

from privmine.api import Elements, hookimpl
from privmine.audit import Effort, audit
from privmine.audit.workers import WorkerError, Workers, in_worker, side_by_side

TINY = Effort("tiny", pairs=10, examples=0, samples=40, cases=1)


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


@pytest.mark.statistics
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
        return Elements([item for item, support in enumerate(curator._access.store.item_supports()) if support][:10])
'''


@pytest.fixture(scope="module")
def ending(importable) -> Iterator[ModuleType]:
    """Components that end the process that they are in."""
    with importable("ending_components", ENDING) as module:
        yield module


@pytest.fixture(scope="module")
def impatient(ending) -> Iterator[Workers]:
    """A process that is given up after some seconds."""
    with Workers(1, patience=20) as pool:
        assert pool.submit(abs, -1).result() == 1
        yield pool


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("sleep", "One batch of runs took longer than 1 seconds"),
        ("exit", "A process ended with exit code 3 while it was audited"),
        pytest.param(
            "crash", "A process ended by the signal SIGSEGV while it was audited", marks=pytest.mark.statistics
        ),
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
        if curator._access.store.count():
            raise self.error
        return Elements(())


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit])
@pytest.mark.parametrize("pairs", [0, 10])
def test_a_component_that_exits_is_audited_to_the_end(error, pairs) -> None:
    """That it exits on some data only is a leak, found by the replay and by the black box alone."""
    report = audit(Exits(error), effort=Effort("tiny", pairs, examples=0, samples=120, cases=1))
    assert report.verdict == "violates"
    assert not report.error


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
