"""Releases on a cluster of two executors, each a process, one of which dies in the middle of a pass.

Run in a process of its own by `test_spark_cluster.py`: a process has one context of Spark. Prints what happened.
"""

# ruff: noqa: SLF001 - the tests look into the store
from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from conftest import started
from spark_data import DATASETS, METHODS, in_memory, same_release

import privmine as pm
from privmine.noise.simulated import SimulatedNoise


class RepeatedNoise(SimulatedNoise):
    """Whole numbers from a seed that pass for noise, so that a charged release can be compared with another."""

    private = True
    name = "the same noise again"

    def draws(self, noise):
        """It says what it is asked for."""
        return noise

    def add(self, values, noise):
        """Whole numbers, as a charged release must have."""
        return np.rint(super().add(values, noise)).astype(np.int64)


def executors() -> list[int]:
    """The processes of executors that this process has started, by way of Spark."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if "CoarseGrainedExecutorBackend" in (entry / "cmdline").read_text():
                    found.append(int(entry.name))
            except OSError:
                continue  # it has ended meanwhile

    def is_mine(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return [process for process in found if is_mine(process)]


def sleepy(rows):
    """Takes so long that an executor can die meanwhile."""
    import time

    for row in rows:
        time.sleep(4)
        yield row


def killed_in_a_pass(frame, name: str) -> dict[str, object]:
    """A release in whose second pass an executor dies, and what its ledger says."""
    how = {"k": 8, "epsilon": 2, "simulate": True, "seed": 7}
    expected = pm.mine(in_memory(name, True), **how)
    data = pm.read(frame.repartition(4), item="items", unit="customer", max_baskets=2)
    store, asked, passes, killed = data.store, data.store._ask, [], []
    kept = store._packed

    def kill() -> None:
        time.sleep(2)
        killed.append(executors()[0])
        os.kill(killed[-1], signal.SIGKILL)

    def ask(method, *arguments):
        passes.append(method)
        if len(passes) != 2:
            return asked(method, *arguments)
        store._packed = kept.mapPartitions(sleepy)
        thread = threading.Thread(target=kill)
        thread.start()
        try:
            return asked(method, *arguments)
        finally:
            thread.join()
            store._packed = kept

    store._ask = ask
    with tempfile.TemporaryDirectory() as folder:
        ledger = pm.Ledger(Path(folder) / "budget.db")
        ledger.init("orders", epsilon=4, unit="customer")
        found = pm.mine(data, **how)
        # The same again, charged; nothing that was counted before is remembered.
        del passes[:]
        store._mined = {}
        paid = pm.mine(data, k=8, epsilon=2, ledger=ledger, dataset="orders", noise=RepeatedNoise(5))
        expected_paid = pm.mine(in_memory(name, True), k=8, epsilon=2, noise=RepeatedNoise(5))
        charges = [(str(entry.epsilon), entry.state) for entry in ledger.log("orders") if entry.event == "charge"]
    return {
        "same": list(found) == list(expected),
        "same_paid": list(paid) == list(expected_paid),
        "released": len(paid),
        "charges": charges,
        "killed": len(set(killed)),
        "gone": not set(killed) & set(executors()),
    }


def main() -> None:
    """Release every dataset by every method, then kill."""
    session = started("local-cluster[2,1,2048]")
    session.range(100).repartition(4).count()
    told: dict[str, object] = {"executors": len(executors()), "same": []}
    frames = {}
    for name, rows in DATASETS.items():
        kind = "string" if isinstance(rows[0][1][0], str) else "int"
        frames[name] = session.createDataFrame(rows, f"customer int, items array<{kind}>")
        for unit in (False, True):
            how = {"unit": "customer", "max_baskets": 2} if unit else {}
            data = pm.read(frames[name].repartition(3), item="items", **how)
            for method in METHODS:
                same_release(data, name, method, unit)
                told["same"].append([name, method, unit])
    told["killed"] = killed_in_a_pass(frames["shop"], "shop")
    session.stop()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
