"""Many processes at once, and processes that die: no charge is lost, and none is granted twice."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from random import Random
from signal import SIGKILL

import pytest

from privmine.errors import BudgetError, LedgerError
from privmine.ledger import Ledger

Start = Callable[..., subprocess.Popen[str]]

SPEND = """
import sys
from fractions import Fraction
from privmine.errors import BudgetError
from privmine.ledger import Ledger
path, epsilon = sys.argv[1], Fraction(sys.argv[2])
ledger = Ledger(path)
print("ready", flush=True)
sys.stdin.readline()
ledger.init(f"own {epsilon}", 1)
try:
    while True:
        print(ledger.charge("orders", epsilon).id, flush=True)
except BudgetError:
    pass
"""


def test_ten_processes_race(path: Path, start_python: Start) -> None:
    """Ten processes spend one budget: what they were granted is what is charged, and never more than the total."""
    ledger = Ledger(path)
    ledger.init("orders", epsilon=1)
    amounts = [Fraction(1, 40 + number) for number in range(10)]
    processes = [start_python(SPEND, path, amount) for amount in amounts]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:  # all at once
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [errors for _, errors in outputs] == [""] * 10

    granted = {
        int(number): amount for (output, _), amount in zip(outputs, amounts, strict=True) for number in output.split()
    }
    assert granted == {entry.sequence: entry.epsilon for entry in ledger.log("orders") if entry.event == "charge"}
    budget = ledger.budget("orders")
    assert budget.spent_epsilon == sum(granted.values()) <= 1
    assert budget.remaining_epsilon < amounts[-1]
    assert len(ledger.show()) == 11


CREATE = """
import sys
from privmine.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
Ledger(sys.argv[1]).init(sys.argv[2], 1)
"""


def test_processes_create_one_file(path: Path, start_python: Start) -> None:
    """Processes that all create the ledger end up with one that has all their datasets."""
    processes = [start_python(CREATE, path, number) for number in range(4)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    outputs = [process.communicate("go\n", timeout=60) for process in processes]
    assert [errors for _, errors in outputs] == [""] * 4
    assert sorted(budget.name for budget in Ledger(path).show()) == ["0", "1", "2", "3"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_threads_race(path: Path) -> None:
    """Threads of one process are as good as processes."""
    ledger = Ledger(path)
    ledger.init("orders", epsilon=1)

    def spend(_: int) -> int:
        try:
            return ledger.charge("orders", "1/10").id
        except BudgetError:
            return 0

    with ThreadPoolExecutor(5) as pool:
        granted = [number for number in pool.map(spend, range(20)) if number]
    assert sorted(granted) == list(range(2, 12))


# A process that starts another one for each line of its input: twenty imports would take most of the time.
RELEASE = """
import itertools, os, sys, warnings
from privmine.ledger import Ledger
path, drawn = sys.argv[1:]

def release_for_ever():
    ledger = Ledger(path)
    file = os.open(drawn, os.O_WRONLY | os.O_APPEND)
    for count in itertools.count():
        charge = ledger.charge("orders", "1/7")
        os.write(file, b"draw\\n")
        os.fsync(file)
        ledger.finish(charge)
        if count == 0:
            print(os.getpid(), flush=True)

warnings.simplefilter("ignore")  # forking is safe here, whatever threads numpy has
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        release_for_ever()
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""


def test_kill_at_twenty_points(path: Path, tmp_path: Path, start_python: Start) -> None:
    """After kill -9 at any moment the ledger opens, and has charged at least everything that was drawn."""
    random = Random("kill")  # noqa: S311
    drawn = tmp_path / "drawn"
    drawn.touch()
    ledger = Ledger(path)
    ledger.init("orders", epsilon=10**6)
    process = start_python(RELEASE, path, drawn)
    assert process.stdin is not None
    assert process.stdout is not None
    for kills in range(1, 21):
        process.stdin.write("go\n")
        process.stdin.flush()
        start = time.monotonic()
        child = int(process.stdout.readline())  # it has made its first release
        # Somewhere in the next few, however fast this machine is at the moment.
        time.sleep(random.uniform(0, 3) * (time.monotonic() - start))
        os.kill(child, SIGKILL)
        assert int(process.stdout.readline()) == SIGKILL
        draws = drawn.read_bytes().count(b"\n")
        charges = ledger.budget("orders").spent_epsilon * 7
        # A release dies between its charge and its draw at most once a kill.
        assert draws <= charges <= draws + kills
        log = ledger.log()
        assert charges == sum(entry.event == "charge" for entry in log)
        assert sum(entry.state.startswith("unfinished") for entry in log) <= kills
    assert draws >= 20
    assert process.communicate(timeout=60) == ("", "")


def test_a_locked_ledger(ledger: Ledger, path: Path) -> None:
    """A ledger that stays locked is given up after the timeout, uncharged, and works when it is free again."""
    impatient = Ledger(path, timeout=0.2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (impatient.show, lambda: impatient.charge("orders", 1), lambda: impatient.init("new", 1)):
            start = time.monotonic()
            with pytest.raises(LedgerError, match=r"locked by another process for more than 0\.2 s"):
                use()
            assert 0.1 < time.monotonic() - start < 10
    assert impatient.budget("orders").spent_epsilon == 0
    impatient.charge("orders", 1)


def test_a_reader_delays_a_charge(ledger: Ledger, path: Path) -> None:
    """A charge that cannot be committed because somebody reads is not charged."""
    impatient = Ledger(path, timeout=0.2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM head").fetchall()
        assert len(impatient.show()) == 2
        with pytest.raises(LedgerError, match="locked by another process"):
            impatient.charge("orders", 1)
    assert ledger.budget("orders").spent_epsilon == 0


def test_a_short_lock_is_waited_for(ledger: Ledger, path: Path) -> None:
    """A charge waits for another process that is soon done."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            charge = pool.submit(ledger.charge, "orders", 1)
            time.sleep(0.3)
            assert not charge.done()
            other.execute("ROLLBACK")
            assert charge.result(timeout=20).epsilon == 1
