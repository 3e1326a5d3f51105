"""The estimator keeps scikit-learn's conventions without scikit-learn."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmine as pm
from privmine.errors import InputError, UnknownNameError

BASKETS = [["a", "b"], ["a"], ["b", "c"]] * 20


def test_a_fit_is_a_release() -> None:
    """The same as `mine` gives, in `release_`; `fit` returns the estimator."""
    miner = pm.ItemsetMiner(4, "0.5", downward_closed=True, simulate=True, seed=3)
    assert miner.fit(BASKETS) is miner
    assert miner.release_ == pm.mine(BASKETS, 4, "0.5", downward_closed=True, simulate=True, seed=3)


def test_parameters_are_stored_as_they_are() -> None:
    """Unchecked and uncopied, under the names of the arguments; so a copy can be made of them."""
    values: dict[str, Any] = {name: object() for name in inspect.signature(pm.ItemsetMiner).parameters}
    miner = pm.ItemsetMiner(**values)
    assert all(getattr(miner, name) is value for name, value in values.items())
    assert set(vars(miner)) == set(values)
    assert miner.get_params() == miner.get_params(deep=False) == values
    assert type(miner)(**miner.get_params()).get_params() == values


def test_parameters_are_checked_in_fit() -> None:
    """Nothing is refused before, and nothing is fitted after a refusal."""
    miner = pm.ItemsetMiner(0, 1)
    with pytest.raises(InputError, match="at least 1"):
        miner.fit(BASKETS)
    assert not hasattr(miner, "release_")


def test_parameters_can_be_set_by_name() -> None:
    """All or none; the estimator comes back."""
    miner = pm.ItemsetMiner(5, 1)
    assert miner.set_params(k=7, method="tf") is miner
    assert (miner.k, miner.method) == (7, "tf")
    with pytest.raises(UnknownNameError, match="Did you mean 'epsilon'"):
        miner.set_params(k=9, epsilom=2)
    assert miner.k == 7


def test_a_second_fit_replaces_the_first() -> None:
    """And spends anew: the charge is in the ledger each time."""
    miner = pm.ItemsetMiner(3, 1, simulate=True, seed=1).fit(BASKETS)
    first = miner.release_
    assert miner.set_params(seed=2).fit(BASKETS).release_ != first


def test_every_fit_is_charged(tmp_path: Any) -> None:
    """A ledger sees them all, and refuses the one too many."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 1)
    miner = pm.ItemsetMiner(2, "0.4", ledger=ledger, dataset="orders")
    miner.fit(BASKETS).fit(BASKETS)
    with pytest.raises(pm.BudgetError):
        miner.fit(BASKETS)
    assert len(miner.release_) == 2


def test_a_pipeline_of_ones_own_is_taken() -> None:
    """Instead of a method's name."""
    pipeline = pm.Pipeline(construct_basis={"use": "greedy-merge", "max_length": 5})
    miner = pm.ItemsetMiner(3, 1, method=pipeline, simulate=True, seed=1).fit(BASKETS)
    assert "max_length=5" in miner.release_.receipt.pipeline["construct_basis"]


def test_frames_and_matrices_are_read() -> None:
    """Long frames with the names of their columns, one-hot matrices, and a unit of protection."""
    frame = pd.DataFrame({"order": [1, 1, 2, 3], "product": ["x", "y", "x", "x"], "customer": [7, 7, 7, 8]})
    options: dict[str, Any] = {"transaction": "order", "item": "product", "simulate": True, "seed": 1}
    assert pm.ItemsetMiner(2, 5, **options).fit(frame).release_[0].items
    merged = pm.ItemsetMiner(2, 5, merge_by="customer", **options).fit(frame)
    assert "one customer, whose transactions were merged" in merged.release_.receipt.protects
    matrix = np.array([[1, 0, 1], [1, 1, 0]] * 30)
    assert len(pm.ItemsetMiner(3, 5, simulate=True, seed=1).fit(matrix, y=None).release_) == 3


def test_the_text_shows_what_was_chosen() -> None:
    """Parameters that differ from their defaults, as one would write them."""
    assert repr(pm.ItemsetMiner(5, "0.5", max_length=3)) == "ItemsetMiner(k=5, epsilon='0.5', max_length=3)"


def test_epsilon_has_no_default() -> None:
    """How much privacy to spend is the user's to say."""
    with pytest.raises(TypeError, match="epsilon"):
        pm.ItemsetMiner(5)  # type: ignore[call-arg]


def test_scikit_learn_is_not_imported() -> None:
    """Not even when it is there: whoever wants it imports it."""
    program = "import sys, privmine as pm; pm.ItemsetMiner(1, 1).fit([['a']]); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_tags_are_made_of_scikit_learn_s_own_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks for them when it shows or checks a pipeline, and is loaded then; no target is required."""
    utils = ModuleType("sklearn.utils")
    utils.Tags = utils.TargetTags = lambda **values: SimpleNamespace(**values)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sklearn.utils", utils)
    assert pm.ItemsetMiner(1, 1).__sklearn_tags__().target_tags.required is False
