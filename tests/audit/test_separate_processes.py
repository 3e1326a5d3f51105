"""Runs in processes of their own: what a component keeps of one database does not pass for the other's."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from slow_cases import slow_after

from privmine.audit import Case, CustomerCase, Effort, audit, replay, some_cases, some_customer_cases
from privmine.audit.cases import make_database
from privmine.audit.customers import CustomerDatabase
from privmine.audit.separate_processes import _mirrored, remembered
from privmine.audit.workers import PATIENCE, Workers
from privmine.pipeline import Pipeline
from privmine.privacy.unit import Unit

KEEPING = """
import logging
from attrs import frozen
from privmine.api import Elements, Supports, hookimpl

KNOWN = {}


@frozen
class Keeps:
    "Remembers the most frequent item of the first database that it meets."

    @hookimpl
    def select_elements(self, request, curator):
        supports = curator._access.store.item_supports()
        if len(supports) not in KNOWN:
            KNOWN[len(supports)] = int(supports.argmax()) if len(supports) else None
        return Elements([item for item in [KNOWN[len(supports)]] if item is not None])


@frozen
class KeepsAndAsks:
    "Remembers likewise, and asks for the support of that item."

    @hookimpl
    def select_elements(self, curator):
        supports = curator._access.store.item_supports()
        if not len(supports):
            return Elements(())
        top = KNOWN.setdefault(("top", len(supports)), int(supports.argmax()))
        curator.measure(Supports([(top,)]))
        return Elements(())


@frozen
class KeepsAndLogs:
    "Remembers how many transactions had the first item, and says it."

    @hookimpl
    def select_elements(self, curator):
        supports = curator._access.store.item_supports()
        first = int(supports[0]) if len(supports) else 0
        logging.getLogger("keeping").info("first: %s", KNOWN.setdefault(("first", len(supports)), first))
        return Elements(())


@frozen
class HashOrder:
    "Does what depends on no data, in an order that depends on the process."

    @hookimpl
    def select_elements(self, request):
        items = len(request.public.universe)
        names = {f"item {item}": item for item in range(items)}
        return Elements([names[name] for name in set(names)])


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
    assert "keeps data from one run to the next" in finding.message
    assert not report.counterexample.repeats
    assert keeping.KNOWN.keys() == {2}  # from the replay above


@pytest.mark.parametrize(
    ("component", "rule"),
    [("KeepsAndAsks", "query"), pytest.param("KeepsAndLogs", "warning", marks=pytest.mark.statistics)],
)
def test_what_is_kept_and_asked_or_said_is_found(keeping, component, rule) -> None:
    """A result is not all that can show it."""
    found = remembered(Pipeline(select_elements=getattr(keeping, component)()), some_cases(24), make_database, PATIENCE)
    assert [finding.rule for finding in found.findings] == [rule]


@pytest.mark.parametrize("pipeline", slow_after(1, ["own law", "default", "order of hashes"]))
def test_sound_pipelines_do_the_same_in_any_process(keeping, pipeline) -> None:
    """Nothing but the answers matters; objects that are other ones in every process are compared by what they say."""
    made = {
        "default": Pipeline(),
        "own law": Pipeline(reconstruct_counts=keeping.OwnLaw()),
        "order of hashes": Pipeline(select_elements=keeping.HashOrder()),
    }
    assert remembered(made[pipeline], some_cases(24), make_database, PATIENCE) is None


@pytest.mark.statistics
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
