"""One run of the five stages: who is called with what, what is checked, and what is paid for whom."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
import pluggy
from attrs import define, evolve, field, frozen

from privmine.curator import Access, Curator, close, guarded
from privmine.discovery import SHARE, find_items
from privmine.errors import ContractError, DataError, PluginError, PrivmineError, PrivmineWarning, StageError
from privmine.hooks.components import check_stage_method, lacking
from privmine.hooks.registry import distribution_of
from privmine.hooks.specs import PROJECT, Observers, Stages
from privmine.model import DATA_STAGES, STAGES, Above, BasisSet, BudgetPlan, Elements, Estimate, NoisyCounts, Request
from privmine.noise.protocol import NoiseSource
from privmine.privacy.cost import Cost, Meter
from privmine.queries import RankAtFrequency
from privmine.store.abstract import Store
from privmine.store.transactions import Transactions

RESULTS: Mapping[str, type] = {
    "allocate_budget": BudgetPlan,
    "estimate_lambda": Estimate,
    "select_elements": Elements,
    "construct_basis": BasisSet,
    "reconstruct_counts": NoisyCounts,
}
#: A basis of ℓ items has 2^ℓ bins; longer ones would exhaust the memory before they told anything.
LONGEST_BASIS = 24
#: What an audit makes of a curator that no component has but the engine itself; in a release it stays as it is.
engine_watch: ContextVar[Callable[[Curator], Curator]] = ContextVar("engine_watch", default=lambda curator: curator)
#: The part of the budget for how many itemsets reach a frequency. A rank that is off by a few costs little, since what
#: does not reach the frequency is left out of the release.
_SHARE_OF_K = Fraction(1, 20)


def make_ready(transactions: Transactions) -> None:
    """Let the store prepare, so that what is wrong with it shows before anything is charged."""
    fits = None
    try:
        transactions.store.persist()
        fits = transactions.store.item_count == len(transactions.counted)
    except PrivmineError:
        raise
    except Exception:  # noqa: BLE001, S110 - a third party's store may raise anything
        pass
    # Here, not in the except block: there the original error would be this one's context.
    if fits is None:
        raise DataError(
            "The counting store failed while it got ready; the reason is withheld, because it may contain data. "
            "Nothing was charged."
        )
    if not fits:
        # Without the numbers: where items are private, so is how many there are.
        raise DataError(
            "The counting store has another number of items than the universe of the transactions. Make both of the "
            "same items. Nothing was charged."
        )


@frozen
class StageComponent:
    """A component in its place, with the names that messages and receipts use."""

    stage: str
    component: Any
    name: str
    distribution: str

    def __str__(self) -> str:
        return f"{self.stage}={self.name} from {self.distribution}"


def stage_manager(parts: Iterable[StageComponent]) -> pluggy.PluginManager:
    """A plugin manager with exactly one implementation of each stage, each by the component chosen for it."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Stages)
    for part in parts:
        method = getattr(type(part.component), part.stage, None)
        if method is None:
            raise PluginError(lacking(str(part), part.stage, type(part.component)))
        check_stage_method(str(part), part.stage, method)
        try:
            manager.register(part.component, name=part.stage)
        except (pluggy.PluginValidationError, ValueError) as error:
            raise PluginError(f"{part} does not fit its hook: {' '.join(str(error).split())}") from error
    _refuse_misspelt_hooks(manager)
    for stage in STAGES:
        owners = [implementation.plugin_name for implementation in getattr(manager.hook, stage).get_hookimpls()]
        if owners != [stage]:
            raise PluginError(
                f"{stage} must be implemented by the one component chosen for it, "
                f"but is implemented by those of: {', '.join(owners) or 'none'}."
            )
    return manager


def observer_manager(observers: Iterable[object]) -> pluggy.PluginManager:
    """A plugin manager of its own for the observers: beside the stages, one could replace a result."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Observers)
    for observer in observers:
        for hook in ("stage_started", "stage_finished"):
            method = getattr(type(observer), hook, None)
            if method is not None:
                check_stage_method(f"The observer {type(observer).__name__}", hook, method, Observers)
        manager.register(observer)
    _refuse_misspelt_hooks(manager)
    return manager


def _refuse_misspelt_hooks(manager: pluggy.PluginManager) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        known = ", ".join(name for name, caller in vars(manager.hook).items() if caller.has_spec())
        raise PluginError(f"A method would never be called: {error}. Rename it; the hooks are {known}.") from error


def notify(manager: pluggy.PluginManager, hook: str, **arguments: Any) -> None:
    """Tell every observer; what one raises becomes a warning and changes nothing."""
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        try:
            implementation.function(*(arguments[name] for name in implementation.argnames))
        except Exception as error:  # noqa: BLE001 - an observer may fail in any way, the run goes on
            warnings.warn(
                f"The observer {type(implementation.plugin).__name__} failed in {hook}: {type(error).__name__}.",
                PrivmineWarning,
                stacklevel=2,
            )


@define
class Run:
    """The stages of one request, from the plan to the noisy counts.

    Attributes:
        parts: the components by stage.
        stages: the manager that holds them, from `stage_manager`.
        observers: those who watch, from `observer_manager`.
        request: what was asked for.
        held: what a ledger has charged for the run as a whole, if there is one; for messages.
        settled: what finding the items and k has cost, which the stages do not share.
    """

    parts: Mapping[str, StageComponent]
    stages: pluggy.PluginManager
    observers: pluggy.PluginManager
    request: Request
    held: Cost | int = 0
    meter: Meter = field(init=False)
    settled: Cost = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.meter = Meter(self.request.budget)
        self.settled = self.meter.spent

    @property
    def charged(self) -> Cost:
        """What is gone, whatever happens next."""
        return max(self.meter.spent, self.meter.spent * 0 + self.held)

    def plan(self) -> BudgetPlan:
        """The first stage: it sees no data and comes before any charge."""
        plan = self._call("allocate_budget", request=self.request)
        assert isinstance(plan, BudgetPlan)
        return plan

    def execute(
        self, plan: BudgetPlan, transactions: Transactions, noise: NoiseSource, trusts: Callable[[type], bool]
    ) -> tuple[BasisSet, NoisyCounts]:
        """The other four stages.

        Args:
            plan: the shares of the budget.
            transactions: the data; its store is handed to the curators and to nobody else.
            noise: the source of randomness.
            trusts: whether a query class from outside privmine may run.
        """
        access = self.access(transactions.store, noise, trusts)
        if self.request.public.universe.private:
            access = self._find_items(transactions, access)
            plan = self.plan()
        if self.request.above is not None and self.request.k:
            plan = self._settle_k(self.request.above, access)
        estimate = self.stage("estimate_lambda", plan, access)
        elements = self.stage("select_elements", plan, access, estimate=estimate)
        basis = self.stage("construct_basis", plan, access, elements=elements)
        return basis, self.stage("reconstruct_counts", plan, access, basis=basis)

    def _find_items(self, transactions: Transactions, access: Access) -> Access:
        """Find the items, for a part of the budget; from then on they are the universe, and others are not there.

        Privacy: see `find_items`. What the stages see is a function of what it answered, and of a store that has the
        found items only.
        """
        found = find_items(access, SHARE * self.request.budget)
        universe, order = transactions.found_items(found.positions)
        k = min(self.request.k, universe.itemset_count(self.request.max_length))
        public = evolve(self.request.public, universe=universe)
        self.request = evolve(self.request, k=k, public=public)
        self.settled = self.meter.spent
        # A third party's store may raise anything, with data in it.
        store = guarded("the items that were found", lambda: access.store.restricted(order.tolist()))
        return evolve(access, store=store, public=public, answers=[found.answer(order)])

    def _settle_k(self, above: Above, access: Access) -> BudgetPlan:
        """Draw how many itemsets reach the frequency, for a part of the budget; the stages then share what is left.

        Privacy: the one draw is charged as any other, and k is what it answered.
        """
        budget = self.request.budget
        limit = self.settled + _SHARE_OF_K * (budget - self.settled)
        curator = engine_watch.get()(Curator(access, "estimate_k", "rank-at-frequency", limit))
        query = RankAtFrequency(above.theta, self.request.k, self.request.max_length)
        (k,) = curator.choose(query).chosen
        close(curator)
        assert isinstance(k, int)
        self.request = evolve(self.request, k=k, requested=k)
        self.settled = self.meter.spent
        return self.plan()

    def access(self, store: Store, noise: NoiseSource, trusts: Callable[[type], bool]) -> Access:
        """What the curators of this run share; for arguments see `execute`."""
        return Access(store, self.request.public, noise, self.meter, trusts, home=distribution_of)

    def stage(self, name: str, plan: BudgetPlan, access: Access, **earlier: Any) -> Any:
        """One of the stages after the plan, with what earlier ones found under the names of the hook's arguments."""
        arguments = {"request": self.request, "answers": tuple(access.answers), **earlier}
        if name not in DATA_STAGES:
            return self._call(name, **arguments)
        budget = self.request.budget
        limit = self.settled + plan.limits()[name] * (budget - self.settled)
        curator = Curator(access, name, self.parts[name].name, limit)
        try:
            return self._call(name, **arguments, curator=curator)
        finally:
            close(curator)

    def _call(self, stage: str, **arguments: Any) -> Any:
        """Call a stage, check what it returns, and tell the observers."""
        part = self.parts[stage]
        notify(self.observers, "stage_started", stage=stage, component=part.component)
        before = len(self.meter.charges)
        caller = getattr(self.stages.hook, stage)
        known = caller.spec.argnames
        try:
            result = caller(**{name: value for name, value in arguments.items() if name in known})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A plugin that exits would take the caller along without a word.
            raise StageError(
                f"{part} failed: {_sentence(error)} {self._what_is_gone()}",
                stage=stage,
                component=part.name,
                distribution=part.distribution,
                charged=self.charged,
            ) from error
        flaw = flaw_of(stage, result, self.request)
        if flaw:
            raise ContractError(f"{part} broke its contract: {flaw} {self._what_is_gone()}", flaw=flaw)
        notify(
            self.observers,
            "stage_finished",
            stage=stage,
            component=part.component,
            result=result,
            charges=self.meter.charges[before:],
        )
        return result

    def _what_is_gone(self) -> str:
        if not self.charged:
            return "Nothing was charged."
        return f"{self.charged} was charged before that and stays charged."


def _sentence(error: BaseException) -> str:
    text = str(error).strip()
    kind = "" if isinstance(error, PrivmineError) else f"{type(error).__name__}: "
    return f"{kind}{text}".rstrip(".: ") + "."


def flaw_of(stage: str, result: object, request: Request) -> str:
    """What is wrong with a stage's result, or nothing."""
    expected = RESULTS[stage]
    if not isinstance(result, expected):
        return f"it returned {type(result).__name__}, not {expected.__name__}."
    items = len(request.public.universe)
    if isinstance(result, Estimate):
        # Python takes True for 1.
        whole = isinstance(result.lam, int) and not isinstance(result.lam, bool)
        if result.lam is not None and not (whole and 0 <= result.lam <= items):
            return f"λ = {result.lam} is not a whole number from 0 to {items}, the size of the universe."
        if result.theta is not None and not _is_finite(result.theta):
            return f"θ = {result.theta} is not a finite number."
    elif isinstance(result, Elements):
        return _outside((*result.items, *(item for found in result.itemsets for item in found)), items)
    elif isinstance(result, BasisSet):
        if result.length > LONGEST_BASIS:
            return f"a basis has {result.length} items; at most {LONGEST_BASIS} can be counted."
        candidates = result.candidates or ()
        return _outside([item for found in (*result.bases, *candidates) for item in found], items)
    elif isinstance(result, NoisyCounts):
        totals = [result.total, result.total_error]
        numbers = np.concatenate([result.counts, result.standard_errors, result.estimates, totals])
        if not np.isfinite(numbers).all():
            return "a count, an estimate or a standard error is not a finite number."
        if min(result.total_error, result.standard_errors.min(initial=0.0)) < 0:
            return "a standard error is negative."
        return _outside(result.itemsets.members, items)
    return ""


def _is_finite(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)


def _outside(found: Any, items: int) -> str:
    members = np.asarray(found, dtype=np.int64)
    if members.size and (members.min() < 0 or members.max() >= items):
        return f"it names an item outside the universe of {items} items."
    return ""
