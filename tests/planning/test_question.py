from __future__ import annotations

from typing import Any

import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.planning.question import assumed_lambdas


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"bases": "ab"}, "must be a whole number"),
        ({"bases": True, "length": 2}, "must be a whole number, not True"),
        ({"bases": []}, "No basis was given"),
        ({"bases": [["tea"], 2]}, "collections of items"),
        ({"bases": [["tea", "milk"]], "length": 2}, "Drop length"),
        ({"bases": [range(24)]}, "16,777,216 bins"),
        ({"lam": 2.5}, "must be a whole number"),
        ({"transactions": True}, "must be a whole number, not True"),
        ({"transactions": "many"}, "must be a whole number"),
        ({"target_error": float("nan")}, "must be finite"),
        ({"unit": ""}, "unit"),
        ({"merge_by": "customer_id", "unit": "customer_id"}, "cannot be combined"),
        ({"merge_by": "customer_id", "max_baskets": 2}, "cannot be combined"),
        ({"pipeline": "tf"}, "use method="),
    ],
)
def test_what_cannot_be_meant_is_refused(question: dict[str, Any], sentence: str) -> None:
    """In a sentence that names the argument."""
    with pytest.raises(InputError, match=sentence):
        pm.plan(30, 1, **question)


def test_numbers_may_be_written_in_several_ways() -> None:
    """A rough number of transactions comes as people write it."""
    for about in (88_000, "88000", "88e3", 88e3):
        assert pm.plan(5, 1, lam=3, transactions=about).transactions == 88_000


def test_lambda_spans_what_it_can_be() -> None:
    """From so few items that they have k itemsets, to k; both sides of the longest basis are among them."""
    assert assumed_lambdas(None, 100, 1000, None) == (7, 12, 13, 35, 100)
    assert assumed_lambdas(None, 100, 9, None) == (7, 9)
    assert assumed_lambdas(None, 1, 50, None) == (1,)
    assert assumed_lambdas(None, 100, 1000, 1) == (100,)
    assert assumed_lambdas(8, 100, 1000, None) == (8,)


def test_bases_may_have_any_labels() -> None:
    """They are told apart, and no more."""
    named = pm.plan(30, 1, lam=6, bases=[["tea", "milk", "tea"], [("a", 1)]])
    assert named.sizes == pm.plan(30, 1, lam=6, bases=[[0, 1], [2]]).sizes
