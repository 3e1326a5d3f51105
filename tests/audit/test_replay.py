"""Record and replay: what it compares, and that sound pipelines pass."""

from __future__ import annotations

from collections import Counter
from itertools import count

import numpy as np
import pytest
from attrs import evolve, frozen

from privmine.api import (
    Elements,
    Estimate,
    ItemSupports,
    Query,
    RankGap,
    SumQuery,
    Supports,
    TruncatedSupports,
    hookimpl,
)
from privmine.audit import Case, Effort, audit, counterexamples, replay, some_cases
from privmine.audit.audits import SAMPLED_CASES
from privmine.audit.cases import KINDS
from privmine.audit.distances import differences, exceeded_norms
from privmine.audit.replay import traces
from privmine.audit.shrink import shrink
from privmine.audit.trace import Call
from privmine.defaults.reconstruct import BasisFrequencies
from privmine.errors import InputError
from privmine.noise.protocol import Tail
from privmine.pipeline import Pipeline
from privmine.privacy import Sensitivity
from privmine.queries import Scores

SMALL = Case(items=3, transactions=[(0, 1), (0,)], extra=(1, 2), k=3)


def found(pipeline: Pipeline, cases: list[Case]) -> list[str]:
    """All findings on many cases."""
    return [str(finding) for example in counterexamples(pipeline, cases) for finding in example.findings]


def test_the_default_pipeline_has_no_findings() -> None:
    """PrivBasis passes on every kind of neighbour."""
    assert found(Pipeline(), some_cases(80, seed=5)) == []


class Closed(Pipeline):
    """Releases only itemsets of which every subset is released as well."""

    def run(self, *arguments, **options):
        return super().run(*arguments, downward_closed=True, **options)


def test_a_downward_closed_release_has_no_findings() -> None:
    """Which itemsets go with their subsets is decided by noisy counts alone."""
    assert found(Closed(), some_cases(80, seed=6)) == []


def test_the_generated_cases_reach_every_query_of_the_default_pipeline() -> None:
    """Small cases alone would never select pairs, nor measure more than one basis."""
    asked: Counter[str] = Counter()
    for case in some_cases(60):
        recorded, _ = traces(Pipeline(), case)
        asked.update(type(call.query).__name__ for call in recorded.calls)
        asked["several bases"] += any("bases" in call.query.name for call in recorded.calls)
    assert {"RankGap", "ItemSupports", "PairSupports", "BinCounts"} <= asked.keys()
    assert asked["several bases"]


def test_cases_repeat_with_their_seed() -> None:
    """The same seed makes the same cases, another one others."""
    assert some_cases(30, seed=1) == some_cases(30, seed=1)
    assert some_cases(30, seed=1) != some_cases(30, seed=2)


def test_the_cases_have_every_kind_of_neighbour() -> None:
    """Empty and full transactions, duplicates, ties, the empty database, crowds, one item, none, and many."""
    cases = some_cases(200)
    assert len(KINDS) == 11
    assert any(not case.extra for case in cases)
    assert any(len(set(case.extra)) == case.items > 1 for case in cases)
    assert any(len(set(case.extra)) < len(case.extra) for case in cases)
    assert any(not case.transactions for case in cases)
    assert set(range(15)) <= {case.items for case in cases}
    assert max(len(case.transactions) for case in cases) > 300
    assert min(case.k for case in cases if case.items > 8) == 1
    assert max(case.k for case in cases) > 40
    assert {case.max_length for case in cases} == {None, 1, 2, 3}
    assert any(case.removed for case in cases)
    assert any(case.reordered for case in cases)


def test_a_case_is_written_as_code_that_makes_it_again() -> None:
    """A counterexample can be pasted into a session."""
    for case in some_cases(40):
        assert eval(case.code()) == case  # noqa: S307 - it is the code under test


def test_a_replay_freezes_the_answers() -> None:
    """Both runs are told the same, although the data differ."""
    recorded, replayed = traces(Pipeline(), SMALL)
    assert recorded.release == replayed.release
    for one, other in zip(recorded.calls, replayed.calls, strict=True):
        assert np.array_equal(one.answer, other.answer)
    assert any(
        not np.array_equal(one.values, other.values) for one, other in zip(recorded.calls, replayed.calls, strict=True)
    )


def test_an_audit_leaves_the_pipeline_as_it_is() -> None:
    """The components that are watched are copies' components."""
    pipeline = Pipeline()
    before = dict(pipeline.parts)
    replay(pipeline, SMALL)
    assert pipeline.parts == before


# Selections whose candidates are not all listed


@frozen
class Truncated:
    """Selects itemsets by truncated supports, whose list depends on the data."""

    way: str = "choose"
    gamma: int = 1

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        items = len(request.public.universe)
        query = TruncatedSupports(k=2, max_length=2, item_count=items, gamma=self.gamma, explicit_limit=4)
        chosen = getattr(curator, self.way)(query, min(3, query.size)).chosen
        return Elements((), chosen)


@pytest.mark.parametrize("way", ["choose", "choose_noisy", "choose_set"])
def test_candidates_in_the_tail_are_replayed(way) -> None:
    """A frozen candidate may be listed on one database and in the tail on the other; nothing is found wrong."""
    pipeline = Pipeline(select_elements=Truncated(way))
    cases = [evolve(case, items=max(2, case.items)) for case in some_cases(60) if case.items <= 8]
    assert found(pipeline, cases) == []


class LeakyTail(TruncatedSupports):
    """Names the members of its tail by the number of transactions."""

    def scores(self, store) -> Scores:
        total = store.count()

        def member(below):
            return self.candidate((below(self.size) + total) % self.size)

        return evolve(super().scores(store), tail_member=member)


@frozen
class AsksLeakyTail:
    """Selects by it, and uses the answer."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        query = LeakyTail(k=1, max_length=2, item_count=len(request.public.universe), gamma=0, explicit_limit=2)
        return Elements((), curator.choose(query, 2).chosen)


def test_a_tail_that_is_named_by_the_data_is_found() -> None:
    """The frozen answer stands in for the drawn member, so how it is named is compared on its own."""
    findings = replay(Pipeline(select_elements=AsksLeakyTail(), trust="local code"), SMALL)
    assert [(finding.rule, finding.stage) for finding in findings] == [("candidates", "select_elements")]
    assert "draws other unlisted candidates" in str(findings[0])


@frozen
class AsksByCount:
    """Asks for as many items as there are transactions."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        n = min(curator._access.store.count(), 3)
        return Elements([item for (item,) in curator.choose(ItemSupports(len(request.public.universe)), n).chosen])


def test_only_the_first_difference_is_told() -> None:
    """A stage that asks for more on one database is blamed, and no stage after it."""
    findings = replay(Pipeline(select_elements=AsksByCount()), SMALL)
    assert [(finding.rule, finding.stage) for finding in findings] == [("calls", "select_elements")]
    assert "2 draws" in str(findings[0])
    assert "3 draws" in str(findings[0])


@frozen
class OtherQuestions:
    """Asks the same number of values for another itemset, or at another price, depending on the data."""

    price: bool

    @hookimpl
    def select_elements(self, curator) -> Elements:
        odd = curator._access.store.count() % 2
        itemset = (0,) if self.price or odd else (1,)
        curator.measure(Supports([itemset]), curator.remaining / (1 + odd if self.price else 2))
        return Elements(())


@pytest.mark.parametrize(("price", "words"), [(False, "was asked on one database"), (True, "its charged is")])
def test_other_parameters_and_prices_are_found(price, words) -> None:
    """Calls of the same shape may still differ in what is asked, or what is paid."""
    findings = replay(Pipeline(select_elements=OtherQuestions(price)), SMALL)
    assert [(finding.rule, finding.stage) for finding in findings] == [("query", "select_elements")]
    assert words in str(findings[0])


class MonotoneGap(RankGap):
    """Gaps between ranks, which open and close, declared to move one way."""

    @property
    def sensitivity(self) -> Sensitivity:
        return evolve(super().sensitivity, monotone=True)


@frozen
class TrustsMonotony:
    """Chooses λ at half the price that it should pay."""

    @hookimpl
    def estimate_lambda(self, request, curator) -> Estimate:
        return Estimate(lam=curator.choose(MonotoneGap(6, 1, len(request.public.universe))).chosen[0])


def test_values_that_move_both_ways_are_found() -> None:
    """Nothing exceeds its sensitivity; that it was called monotone is what is wrong."""
    pipeline = Pipeline(estimate_lambda=TrustsMonotony(), trust="local code")
    findings = replay(pipeline, SAMPLED_CASES["estimate_lambda"])
    assert [(finding.rule, finding.stage) for finding in findings] == [("direction", "estimate_lambda")]


@frozen
class SmallRequests:
    """Takes requests for one itemset only."""

    @hookimpl
    def select_elements(self, request) -> Elements:
        if request.requested > 1:
            raise InputError("At most one itemset.")
        return Elements(())


def test_a_request_that_is_not_taken_is_no_violation() -> None:
    """It is public, and turned down on both databases alike."""
    findings = replay(Pipeline(select_elements=SmallRequests()), SMALL)
    assert [finding.rule for finding in findings] == ["input"]
    assert not findings[0].violates
    assert audit(SmallRequests(), effort=Effort("replay only", 40, examples=0, samples=0, cases=0)).verdict == "holds"


def call(values, candidates, tail=None, size=None) -> Call:
    """A recorded selection."""
    size = len(values) + (tail.size if tail else 0) if size is None else size
    made = Call("select_elements", "choose", size, 1, 1, np.array(values), tail, query=ItemSupports(3))
    made.candidates = tuple(candidates)
    return made


def test_scores_are_compared_by_candidate() -> None:
    """Order is nothing, and what is not listed has the score of the tail."""
    one = call([5, 4], ["a", "b"], Tail(2, 8))
    other = call([5, 5, 3], ["b", "a", "c"], Tail(2, 7))
    assert differences(one, other) == Counter({1: 2})
    assert differences(one, call([5, 4], ["a", "b"], Tail(3, 8))) == Counter({1: 8})
    assert differences(call([1], ["a"]), call([1], ["b"])) is None


def test_norms_are_compared_exactly() -> None:
    """A bound that is missed by nothing holds, and differences beyond 64 bits count in full."""
    moved = Counter({1: 3, -2: 1})
    assert list(exceeded_norms(moved, Sensitivity(5, 7, 2))) == []
    assert [norm for norm, _, _ in exceeded_norms(moved, Sensitivity(4, 6, 1))] == ["L1", "squared L2", "L∞"]
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    wide = differences(call([low], ["a"], Tail(0, 1)), call([high], ["a"], Tail(0, 1)))
    assert wide == Counter({2**64 - 1: 1})


# Sums of contributions, whoever wrote the function


@frozen
class Summed:
    """Measures a sum of contributions by a function that may do anything."""

    contribution: object

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        curator.measure(SumQuery(self.contribution, dimension=3, l1=4, l2_squared=9))
        return Elements(range(min(3, len(request.public.universe))))


HOSTILE = {
    "huge": lambda row: [10**30, -(10**30), 10**30],
    "negative": lambda row: [-len(row)] * 3,
    "alternating": lambda row: [(-1) ** item * 7 for item in (*row, 0, 1, 2)][:3],
    "just at the limit": lambda row: [4, 0, 0] if row else [0, 0, 4],
    "numpy": lambda row: np.full(3, 2**62),
    "squares": lambda row: [3, 1, 0],
}


@pytest.mark.parametrize("contribution", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_contributions_are_clipped(contribution) -> None:
    """Whatever a function contributes, one transaction moves the sum by no more than is declared."""
    assert found(Pipeline(select_elements=Summed(contribution)), some_cases(40)) == []


def test_a_contribution_with_a_memory_is_found() -> None:
    """A function that depends on more than its argument moves the sum further than one transaction may."""
    calls = count()
    pipeline = Pipeline(select_elements=Summed(lambda row: [next(calls) % 5, 0, 0]))
    assert any("sensitivity" in finding for finding in found(pipeline, some_cases(40)))


def test_a_contribution_that_raises_is_no_failure() -> None:
    """It counts as zeros: if it ended the run, that such a transaction exists would be told for nothing."""
    pipeline = Pipeline(select_elements=Summed(lambda row: [1 // (2 - row.count(2) * 2), 0, 0]))
    assert found(pipeline, some_cases(40)) == []


# Failures


@frozen
class Fragile(Query):
    """Fails on some data, or on all."""

    always: bool
    name = "fragile count"
    size = 1
    sensitivity = Sensitivity(1, 1, 1, monotone=True)

    def evaluate(self, store):
        supports = store.item_supports()
        if self.always or supports[2:].any():
            raise RuntimeError(supports)
        return supports[:1]


@frozen
class AsksFragile:
    """Measures a query that fails."""

    always: bool

    @hookimpl
    def select_elements(self, curator) -> Elements:
        curator.measure(Fragile(self.always))
        return Elements(())


def test_a_query_that_always_fails_is_no_refusal() -> None:
    """The run ends on both databases alike, by itself, and the reason is withheld; nothing has leaked."""
    findings = replay(Pipeline(select_elements=AsksFragile(True), trust="local code"), SMALL)
    assert {finding.rule for finding in findings} == {"failed"}
    assert not any(finding.violates for finding in findings)
    assert "[" not in str(findings[0])


def test_a_failure_that_depends_on_the_data_is_found() -> None:
    """If the run fails on one database only, the failure tells them apart."""
    findings = replay(Pipeline(select_elements=AsksFragile(False), trust="local code"), SMALL)
    assert "failure" in {finding.rule for finding in findings}


# Shrinking


def test_shrinking_finds_a_small_case() -> None:
    """What is irrelevant goes, what matters stays."""
    big = next(case for case in some_cases(100) if len(case.transactions) > 5 and len(case.extra) > 3)
    small = shrink(big, lambda case: len(set(case.extra)) >= 2)
    assert small == Case(items=small.items, transactions=(), extra=small.extra, k=1)
    assert len(small.extra) == 2


def test_shrinking_stops_after_its_attempts() -> None:
    """A predicate that always holds ends too."""
    tried = count()
    shrink(some_cases(1)[0], lambda case: next(tried) >= 0, attempts=7)
    assert next(tried) <= 7


# Results that do not compare by value


class Wide:
    """A law of noise that can be asked, and no more: it does not compare by value."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def half_width(self, level: float) -> float:
        """Grows with the level."""
        return self.scale * level


@frozen
class WithLaw:
    """Counts as usual, and tells its noise by a law of its own; at will, one that betrays the data."""

    peeks: bool = False

    @hookimpl
    def reconstruct_counts(self, request, basis, curator):
        counts = BasisFrequencies().reconstruct_counts(basis, curator)
        law = Wide(1 + self.peeks * curator._access.store.count())
        return evolve(counts, laws=[law], law_of=[0] * len(counts.itemsets), total_law=law)


def test_a_law_without_equality_is_compared_by_what_it_tells() -> None:
    """Two objects that tell the same half-widths are the same law; others are a peek."""
    assert found(Pipeline(reconstruct_counts=WithLaw()), some_cases(20)) == []
    findings = replay(Pipeline(reconstruct_counts=WithLaw(peeks=True)), SMALL)
    assert [finding.rule for finding in findings] == ["result"]
    assert "laws is" in findings[0].message
    assert "counts" not in findings[0].message.partition("laws is")[0]
