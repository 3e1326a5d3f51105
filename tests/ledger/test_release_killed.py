"""A release that is killed at any moment: the ledger opens, and has charged at least what was drawn."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from fractions import Fraction

import pytest

import privmine as pm

EPSILON = Fraction(1, 100)
#: A release of the baskets below takes some 20 ms; the kills fall anywhere in the first few.
LATEST_KILL = 0.15
#: The first process rests here after its first draw, so that at least its kill surely hits a release.
PAUSE = 600

#: One release after another. The noise writes down, before a draw is used, which release made it.
RELEASES = """
import os
import sys
import time

import privmine as pm
from privmine.noise.secure import SecureNoise

ledger, witness, epsilon, pause = sys.argv[1:]
release = 0

class Witness(SecureNoise):
    def laplace(self, values, scale):
        drawn = super().laplace(values, scale)
        handle = os.open(witness, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{release}\\n".encode())
        os.fsync(handle)
        os.close(handle)
        time.sleep(float(pause))
        return drawn

while True:
    release += 1
    baskets = [["a", "b", "c"], ["a", "b"], ["c"]] * 20
    pm.mine(baskets, 3, epsilon, ledger=ledger, dataset="orders", noise=Witness())
"""


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.statistics)])
def test_a_killed_release_has_paid_for_what_it_drew(tmp_path, kills) -> None:
    """kill -9 at random points: never a draw without its charge, never a ledger that does not open."""
    script = tmp_path / "releases.py"
    script.write_text(RELEASES)
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 1000)
    chance = random.Random(20)  # noqa: S311 - picks moments, not noise
    drawn = unfinished = 0
    for attempt in range(kills):
        witness = tmp_path / f"witness-{attempt}"
        pause = 0 if attempt else PAUSE
        process = subprocess.Popen([sys.executable, script, ledger, witness, str(EPSILON), str(pause)])
        # The clock starts with the first draw, so that the kill hits a release.
        while not witness.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, LATEST_KILL))
        process.kill()
        assert process.wait() == -9
        drawn += len(set(witness.read_text().split()))
        budget = pm.Ledger(ledger).budget("orders")
        assert budget.spent_epsilon >= drawn * EPSILON
        charges = [entry for entry in pm.Ledger(ledger).log() if entry.event == "charge"]
        unfinished = sum("unfinished" in entry.state for entry in charges)
        # At most the last release of each process drew nothing after its charge, or did not get to say that it ended.
        assert len(charges) - drawn <= attempt + 1
        assert unfinished <= attempt + 1
        assert unfinished > 0
    assert drawn >= kills
