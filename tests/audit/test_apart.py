"""Runs in processes of their own: what a component keeps of one database does not pass for the other's."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from privmine.audit import Case, CustomerCase, Effort, audit, replay, some_cases, some_customer_cases
from privmine.audit.apart import _mirrored, remembered
from privmine.audit.cases import make_database
from privmine.audit.customers import CustomerDatabase
from privmine.audit.workers import PATIENCE, Workers
from privmine.model import Unit
from privmine.pipeline import Pipeline

KEEPING = """
from attrs import frozen
from privmine.api import Elements, hookimpl

KNOWN = {}


@frozen
class Keeps:
    "Remembers the most frequent item of the first database that it meets."

    @hookimpl
    def select_elements(self, request, curator):
        supports = curator._desk.store.item_supports()
        if len(supports) not in KNOWN:
            KNOWN[len(supports)] = int(supports.argmax()) if len(supports) else None
        return Elements([item for item in [KNOWN[len(supports)]] if item is not None])


class Law:
    "A law of noise that compares by identity, and so is another one in every process."

    def half_width(self, level):
        return level


@frozen
class OwnLaw:
    "Reports one itemset with a law of its own."

    @hookimpl
    def reconstruct_counts(self, curator):
        from privmine.api import NoisyCounts
        return NoisyCounts([()], [0.0], [1.0], 0.0, 1.0, laws=[Law()], total_law=Law())
"""


@pytest.fixture(scope="module")
def keeping(importable) -> Iterator[ModuleType]:
    """Components in a module that other processes can import."""
    with importable("keeping_components", KEEPING) as module:
        yield module


def test_what_is_kept_from_run_to_run_is_found(keeping) -> None:
    """Both runs of a replay see what the first one kept; two processes do not."""
    effort = Effort("tiny", pairs=20, examples=0, samples=40, cases=1)
    case = Case(items=2, transactions=[], extra=(1,))
    assert replay(Pipeline(select_elements=keeping.Keeps()), case) == ()
    with Workers(1) as pool:
        report = audit(keeping.Keeps(), effort=effort, workers=pool)
    assert report.verdict == "violates"
    (finding,) = report.counterexample.findings
    assert (finding.rule, finding.stage) == ("result", "select_elements")
    assert "keeps something of the data from run to run" in finding.message
    assert not report.counterexample.repeats
    assert keeping.KNOWN.keys() == {2}  # from the replay above


@pytest.mark.parametrize("pipeline", ["default", "own law"])
def test_sound_pipelines_do_the_same_in_any_process(keeping, pipeline) -> None:
    """Nothing but the answers matters; objects that are other ones in every process are compared by what they say."""
    made = Pipeline() if pipeline == "default" else Pipeline(reconstruct_counts=keeping.OwnLaw())
    assert remembered(made, some_cases(24), make_database, PATIENCE) is None


def test_customers_are_replayed_in_other_processes() -> None:
    """A unit changes nothing."""
    database = CustomerDatabase(Unit("customer", baskets=2))
    assert remembered(Pipeline(), some_customer_cases(12, 2), database, PATIENCE) is None


def test_the_other_database_has_nothing_in_common() -> None:
    """The first item stands for the last one and so on."""
    case = Case(items=3, transactions=[(0,), (0, 1)], extra=(2,))
    assert _mirrored(case).databases == (((2,), (2, 1)), ((0,), (2,), (2, 1)))
    customers = CustomerCase(items=3, customers=[[(0,)]], extra=[(1, 2)])
    assert _mirrored(customers).databases[1] == ((0, (2,)), (1, (1, 0)))
