"""On a cluster of two executors, each a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from spark_data import DATASETS, METHODS

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def told():
    """What the process says that runs on the cluster."""
    script = Path(__file__).with_name("cluster_run.py")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    return json.loads(ran.stdout.splitlines()[-1])


def test_every_release_is_that_of_the_store_in_memory(told) -> None:
    """All methods on all datasets, with and without a unit."""
    assert told["executors"] == 2
    expected = [[name, method, unit] for name in DATASETS for unit in (False, True) for method in METHODS]
    assert sorted(told["same"]) == sorted(expected)


def test_an_executor_that_dies_changes_nothing(told) -> None:
    """In the middle of a pass of a release, and again in one that is charged: same release, one charge."""
    found = told["killed"]
    assert found["same"]
    assert found["same_paid"]
    assert found["killed"] == 2
    assert found["gone"]
    assert found["charges"] == [["2", "finished"]]
    assert found["released"] == 8
