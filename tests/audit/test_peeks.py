"""Mechanisms that tell what no answer told them: results, names, warnings, and observers that change a result."""

from __future__ import annotations

import logging
import time
import warnings

import numpy as np
import pytest
from attrs import evolve, frozen
from choosing_component import ChoosesBy
from slow_cases import slow_after

from privmine.api import (
    Elements,
    Estimate,
    ItemSupports,
    Query,
    Sensitivity,
    hookimpl,
)
from privmine.audit import Effort, audit, quick_audit, source_bounds
from privmine.audit.audits import SAMPLED_CASES
from privmine.audit.recording import RecordingNoise, observed_run
from privmine.audit.replay import traces
from privmine.audit.trace import Trace
from privmine.curator import Curator
from privmine.defaults.reconstruct import BasisFrequencies
from privmine.defaults.select import ItemsAndPairs
from privmine.errors import InputError, PrivmineWarning
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.store.transactions import Transactions


def data_of(curator: Curator):
    """Reach around the curator, as careless code can."""
    return curator._access.store


class ExactK(Pipeline):
    """Asks for as many itemsets as there are frequent items."""

    def run(self, baskets, k, epsilon, **options):
        frequent = int((baskets.store.item_supports() >= 2).sum())
        return super().run(baskets, max(1, frequent), epsilon, **options)


def test_k_from_exact_data_is_found(rules) -> None:
    """The number of itemsets depends on the data, before any stage has run."""
    assert rules(ExactK()) == {"request"}


@frozen
class MinimumSupport:
    """Reports only what really occurs."""

    @hookimpl
    def reconstruct_counts(self, basis, curator):
        counts = BasisFrequencies().reconstruct_counts(basis, curator)
        occurs = data_of(curator).supports(counts.itemsets) > 0
        kept = [itemset for itemset, keep in zip(counts.itemsets, occurs, strict=True) if keep]
        arrays = {name: getattr(counts, name)[occurs] for name in ("counts", "standard_errors", "law_of")}
        return evolve(counts, itemsets=kept, **arrays)


def test_a_minimum_support_from_the_data_is_found(rules) -> None:
    """Which itemsets are reported depends on their exact supports."""
    assert rules(MinimumSupport()) == {"result"}


def in_input_order(rows, items) -> Transactions:
    """A database whose items stand in the order in which they first occur, so that ties go to the earlier one."""
    seen = list(dict.fromkeys(item for row in rows for item in row))
    return Transactions.from_lists(rows, items=[*seen, *(item for item in range(items) if item not in seen)])


def test_ties_broken_by_input_order_are_found(rules) -> None:
    """If the order of the input is the order of the items, what is called public depends on the data."""
    assert rules("privbasis", database=in_input_order) == {"request"}


@frozen
class ExactTotal:
    """Divides by the number of transactions itself."""

    @hookimpl
    def reconstruct_counts(self, basis, curator):
        counts = BasisFrequencies().reconstruct_counts(basis, curator)
        return evolve(counts, total=data_of(curator).count())


def test_exact_n_in_a_stage_is_found(rules) -> None:
    """The total of the noisy counts must be noisy."""
    assert rules(ExactTotal()) == {"result"}


class ExactFrequencies(Pipeline):
    """Releases frequencies of the exact number of transactions."""

    def run(self, baskets, k, epsilon, **options):
        return evolve(super().run(baskets, k, epsilon, **options), total=float(baskets.store.count()))


def test_exact_n_in_the_release_is_found(rules) -> None:
    """No stage is at fault; the release is what differs."""
    assert rules(ExactFrequencies()) == {"release"}


@frozen
class Peek:
    """Chooses items privately, then puts them into their exact order."""

    @hookimpl
    def select_elements(self, request, estimate, curator) -> Elements:
        elements = ItemsAndPairs().select_elements(request, estimate, curator)
        supports = data_of(curator).item_supports()
        return Elements(sorted(elements.items, key=lambda item: -supports[item]), elements.itemsets)


def test_a_peek_between_charges_is_found(replayed) -> None:
    """A look at the data that is not paid for changes the result although all answers are the same."""
    report = replayed(Peek())
    assert report.verdict == "violates"
    assert "the component looks at the data" in str(report)


class Shortlist(Query):
    """The supports of the few most frequent items, which it remembers to name them by."""

    name, size, sensitivity = "shortlist", 2, Sensitivity(2, 2, 1, monotone=True)

    def evaluate(self, store):
        supports = store.item_supports()
        self.order = np.argsort(-supports, kind="stable")[: self.size]
        return supports[self.order]

    def candidate(self, index):
        return (int(self.order[index]),)


class Rotated(Shortlist):
    """Scores that are always the same, for items that begin with the most frequent one."""

    def evaluate(self, store):
        supports = store.item_supports()
        self.order = (np.arange(self.size) + supports.argmax()) % len(supports)
        return np.array([100, *[0] * (self.size - 1)])


@frozen
class ChoosesAmong:
    """Chooses one item among those that a query names."""

    query: type[Query]

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        if len(request.public.universe) <= 2:
            return Elements(())
        return Elements([item for (item,) in curator.choose(self.query()).chosen])


@pytest.mark.parametrize(("query", "rule"), [(Shortlist, "candidates"), (Rotated, "candidates")])
def test_candidates_that_are_named_after_the_data_are_found(rules, query, rule) -> None:
    """No score moves too far, and the same place is drawn; but it stands for another item."""
    assert rules(ChoosesAmong(query)) == {rule}


@frozen
class Tells:
    """Selects nothing, and tells how many transactions there are in some other way."""

    how: str

    @hookimpl
    def select_elements(self, curator) -> Elements:
        count = data_of(curator).count()
        if self.how == "warning":
            warnings.warn(f"{count} transactions", stacklevel=1)
        elif self.how == "log":
            logging.getLogger("plugin").debug("%s transactions", count)
        else:
            error = InputError("not this request")
            if self.how == "note":
                error.add_note(f"{count} transactions")
            raise error from (ValueError(f"{count} transactions") if self.how == "cause" else None)
        return Elements(())


@pytest.mark.parametrize(
    ("how", "rule"), [("warning", "warning"), ("log", "warning"), ("note", "failure"), ("cause", "failure")]
)
def test_what_is_told_beside_the_result_is_found(replayed, how, rule) -> None:
    """Warnings, logs, and what a traceback shows besides the message, reach whoever runs a pipeline."""
    report = replayed(Tells(how))
    assert [finding.rule for finding in report.counterexample.findings] == [rule]
    assert "0 transactions" in str(report)


@frozen
class WarnsOnce:
    """Warns of something that has nothing to do with data, once in a process."""

    told: list[str]

    @hookimpl
    def select_elements(self) -> Elements:
        if not self.told:
            self.told.append("told")
            warnings.warn("this module is old", DeprecationWarning, stacklevel=1)
        return Elements(())


def test_what_is_said_once_in_a_process_is_no_leak(replayed) -> None:
    """As when a module is imported; a second look does not show it."""
    assert replayed(WarnsOnce([])).ok


@frozen
class Chatty:
    """Logs things that are others every time, and perhaps how many transactions there are."""

    leaks: bool

    @hookimpl
    def select_elements(self, curator) -> Elements:
        count = data_of(curator).count() if self.leaks else "some"
        logging.getLogger("plugin").info("%s transactions in %.9f s by %r", count, time.perf_counter(), object())
        logging.getLogger("plugin").debug("%d is no number", "this")
        return Elements(())


@pytest.mark.parametrize("leaks", [False, True])
def test_durations_and_addresses_in_logs_are_no_leak(rules, leaks) -> None:
    """What varies on the same data tells nothing; what stands beside it may."""
    assert rules(Chatty(leaks)) == ({"warning"} if leaks else set())


@frozen
class Fails:
    """Tells the number of transactions in an error that stands behind another."""

    how: str

    @hookimpl
    def select_elements(self, curator) -> Elements:
        error = ValueError(f"{data_of(curator).count()} transactions")
        if self.how == "group":
            raise ExceptionGroup("several", [error])
        if self.how == "itself":
            raise error from error
        try:
            raise error
        except ValueError:
            logging.getLogger("plugin").warning("went wrong", exc_info=True)
        return Elements(())


@pytest.mark.parametrize(("how", "rule"), [("group", "failure"), ("itself", "failure"), ("logged", "warning")])
def test_errors_behind_errors_are_found(rules, how, rule) -> None:
    """Members of a group, what is logged with its traceback; an error that caused itself ends as well."""
    assert rules(Fails(how)) == {rule}


class Squares(ItemSupports):
    """Scores that grow faster than supports, and so move further the more there is."""

    def evaluate(self, store):
        return store.item_supports() ** 2 // 30


@pytest.mark.statistics
def test_scores_that_do_not_grow_in_proportion_are_found(rules) -> None:
    """Few transactions would not show it; the same one a hundred times does."""
    assert "sensitivity" in rules(ChoosesBy(Squares, 1))


# Observers


class Scribbler:
    """Writes into the results that it is shown."""

    @hookimpl
    def stage_finished(self, stage, result) -> None:
        if stage == "reconstruct_counts":
            result.counts[:] = 0


def test_an_observer_cannot_write_into_a_result(replayed, observed) -> None:
    """Arrays are read-only: the observer fails with a warning, and nothing has changed."""
    pipeline = observed(Scribbler())
    assert replayed(pipeline).verdict == "holds"
    for trace in traces(pipeline, SAMPLED_CASES["reconstruct_counts"]):
        assert [warning.partition(":")[0] for warning in trace.messages] == [PrivmineWarning.__name__]
        assert "observer" in trace.messages[0]


class Forger:
    """Replaces a frozen value by force."""

    @hookimpl
    def stage_finished(self, stage, result) -> None:
        if stage == "estimate_lambda":
            object.__setattr__(result, "lam", 0)


def test_an_observer_that_forces_a_change_is_found(rules, observed) -> None:
    """The result that the run went on with is not the one that the stage returned."""
    assert rules(observed(Forger())) == {"tampering"}


def test_what_an_audit_lifts_is_back_when_it_ends() -> None:
    """A pipeline takes the noise of an audit while it is audited, also where that ends with an interrupt."""

    class Interrupted(Pipeline):
        def run(self, baskets, k, epsilon, **options):
            super().run(baskets, k, epsilon, **options)
            raise KeyboardInterrupt

    noise, trace = RecordingNoise(Trace(), 7), Trace()
    with pytest.raises(KeyboardInterrupt):
        observed_run(Interrupted(), [["a"]], noise, trace, k=1, epsilon=1)
    with pytest.raises(InputError, match="belongs to an audit"):
        Pipeline().run([["a"]], 1, 1, noise=noise)


class Usurper:
    """An observer that implements a stage."""

    @hookimpl
    def estimate_lambda(self) -> Estimate:
        return Estimate(lam=1)


def test_an_observer_cannot_implement_a_stage() -> None:
    """Observers have a manager of their own, which knows no stages."""
    with pytest.raises(Exception, match="unknown hook 'estimate_lambda'"):
        Pipeline().run([[1]], 1, 1, simulate=True, observers=[Usurper()])


@pytest.mark.statistics
def test_the_exact_noise_is_sound() -> None:
    """The audit that finds half the scale finds nothing wrong with the noise of releases; false alarm: below 1e-7."""
    bounds = source_bounds(lambda seed: SecureNoise(), samples=1_000, error_rate=1e-7)
    assert not any(bound.violates for bound in bounds)


@pytest.mark.parametrize("instead", slow_after(1, ["the best", "in order"]))
def test_a_curator_that_answers_with_something_else_than_was_drawn_is_found(monkeypatch, instead) -> None:
    """The noise is right, and nobody looks at it."""
    right = Curator._names

    def exact_names(self, query, scores, drawn):
        order = np.argsort(-scores.values, kind="stable")
        best = (
            order[: len(drawn)] if instead == "the best" else np.array([i for i in order if i in set(drawn.tolist())])
        )
        return right(self, query, scores, best)

    monkeypatch.setattr(Curator, "_names", exact_names)
    report = quick_audit("privbasis")
    assert report.verdict == "violates"
    assert any("other candidates than were drawn" in finding.message for finding in report.counterexample.findings)


@pytest.mark.statistics
def test_a_source_that_selects_without_noise_is_found_by_sampling() -> None:
    """On the sampled pairs the best candidates are others on each database."""
    for stage in ("select_elements=items-and-pairs", "estimate_lambda=rank-gap"):
        report = audit(stage, effort=Effort("sampling", 0, 0, 2_000, 1, epsilon=4), noise=Noiseless)
        assert report.verdict == "violates", str(report)


class Noiseless(SimulatedNoise):
    """Selects what is best."""

    def select(self, scores, n, rate, tail=None):
        """The n best, the first of those that tie."""
        return np.argsort(-scores, kind="stable")[:n]
