"""A release that is killed at any moment: the ledger opens, and has charged at least what was drawn."""

from __future__ import annotations

import os
import random
import signal
import time
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import privmine as pm
from privmine.noise.secure import SecureNoise

EPSILON = Fraction(1, 100)
KILLS = 20
#: A release of these baskets takes some 20 ms; the kills fall anywhere in the first few.
LATEST_KILL = 0.15
BASKETS = [["a", "b", "c"], ["a", "b"], ["c"]] * 20


class Witness(SecureNoise):
    """Writes down, before a draw is used, that it was made; one line for each release that draws."""

    def __init__(self, path: Path, release: int) -> None:
        object.__setattr__(self, "line", f"{release}\n".encode())
        object.__setattr__(self, "path", path)

    def laplace(self, values, scale):
        drawn = super().laplace(values, scale)
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, self.line)
        os.fsync(handle)
        os.close(handle)
        return drawn


def release_for_ever(ledger: Path, witness: Path) -> None:
    """One release after another, until somebody ends it."""
    release = 0
    while True:
        release += 1
        noise = Witness(witness, release)
        pm.mine(BASKETS, 3, EPSILON, ledger=ledger, dataset="orders", noise=noise)


def test_a_killed_release_has_paid_for_what_it_drew(tmp_path) -> None:
    """kill -9 at twenty random points: never a draw without its charge, never a ledger that does not open."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["privmine", "privmine.noise.secure"])
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 1000)
    chance = random.Random(20)  # noqa: S311 - picks moments, not noise
    drawn = unfinished = 0
    for attempt in range(KILLS):
        witness = tmp_path / f"witness-{attempt}"
        process = context.Process(target=release_for_ever, args=(ledger, witness))
        process.start()
        # The clock starts with the first draw (or, every fourth time, at once), so that the kill hits a release.
        while attempt % 4 and not witness.exists() and process.is_alive():
            time.sleep(0.001)
        time.sleep(chance.uniform(0, LATEST_KILL))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        process.close()
        drawn += len(set(witness.read_text().split())) if witness.exists() else 0
        budget = pm.Ledger(ledger).budget("orders")
        assert budget.spent_epsilon >= drawn * EPSILON
        charges = [entry for entry in pm.Ledger(ledger).log() if entry.event == "charge"]
        unfinished = sum("unfinished" in entry.state for entry in charges)
        # At most the last release of each process drew nothing after its charge, or did not get to say that it ended.
        assert len(charges) - drawn <= attempt + 1
        assert unfinished <= attempt + 1
    assert drawn > 0
    assert unfinished > 0
