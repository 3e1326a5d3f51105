"""Each likely mistake of a plugin gets its own clear error, leaks nothing, and spoils no later run."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import frozen

import privmine as pm
import privmine.defaults
from privmine.api import (
    BasisSet,
    Curator,
    Elements,
    Estimate,
    IntArray,
    ItemSupports,
    Query,
    Registered,
    Registrar,
    Request,
    Sensitivity,
    Store,
    SumQuery,
    hookimpl,
    parameter,
)
from privmine.errors import BudgetError, ContractError, InputError, PluginError, PrivmineError, StageError
from privmine.hooks.components import build
from privmine.hooks.registry import Registry, discover
from privmine.ledger import Ledger

#: Exact counts that would stand out in any message.
TRANSACTIONS, SUPPORTS = 7919, (6421, 5387, 4273)
EXACT = {str(number) for number in (TRANSACTIONS, *SUPPORTS)}
DISTRIBUTION = "privmine-clumsy"


@frozen
class Overspends:
    """Asks twice for its whole share."""

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Spend, and spend again."""
        query, share = ItemSupports(len(request.public.universe)), curator.remaining
        curator.choose(query, 1, share)
        curator.choose(query, 1, share)
        return Elements(())


@frozen
class ReturnsList:
    """Returns what it should have wrapped."""

    @hookimpl
    def select_elements(self) -> list[int]:
        """Return a list."""
        return [0, 1]


@frozen
class ReturnsOther:
    """Returns the result of another stage."""

    @hookimpl
    def select_elements(self) -> BasisSet:
        """Return a basis set."""
        return BasisSet([(0,)])


@frozen
class ReturnsNone:
    """Forgets to return."""

    @hookimpl
    def select_elements(self) -> None:
        """Do nothing."""


@frozen
class Outside:
    """Names an item that is not there."""

    @hookimpl
    def select_elements(self, request: Request) -> Elements:
        """Count from one."""
        return Elements([len(request.public.universe)])


@frozen
class Negative:
    """Counts from the end, as Python does."""

    @hookimpl
    def select_elements(self) -> Elements:
        """Name item −1."""
        return Elements([-1])


@frozen
class Raises:
    """Divides by zero."""

    @hookimpl
    def select_elements(self) -> Elements:
        """Fail."""
        return Elements([1 // 0])


@frozen
class Exits:
    """Takes itself for a program."""

    @hookimpl
    def select_elements(self) -> Elements:
        """Leave."""
        sys.exit("done")


@frozen
class Misspelt:
    """Takes an argument that its stage does not have."""

    @hookimpl
    def select_elements(self, requets: Request) -> Elements:
        """Never called."""
        return Elements(())


@frozen
class FailsInItsSum:
    """Has a contribution that fails with the transaction in its message."""

    @hookimpl
    def select_elements(self, curator: Curator) -> Elements:
        """Sum."""

        def contribution(transaction: tuple[int, ...]) -> list[int]:
            raise ValueError(f"cannot handle {transaction}, one of {TRANSACTIONS}")

        curator.measure(SumQuery(contribution, dimension=1, l1=1))
        return Elements(())


class OwnQuery(Query):
    """A query that privmine cannot vouch for."""

    name = "own query"  # type: ignore[assignment]
    size = 1  # type: ignore[assignment]
    sensitivity = Sensitivity(1, 1, 1)  # type: ignore[assignment]

    def evaluate(self, store: Store) -> IntArray:
        """Count everything."""
        return store.item_supports()[:1]


@frozen
class OwnSensitivity:
    """Declares a sensitivity that nobody can check."""

    @hookimpl
    def select_elements(self, curator: Curator) -> Elements:
        """Measure."""
        curator.measure(OwnQuery())
        return Elements(())


KEPT: list[Curator] = []


@frozen
class KeepsTheCurator:
    """Hangs on to its curator."""

    @hookimpl
    def estimate_lambda(self, curator: Curator) -> Estimate:
        """Keep it for later."""
        KEPT.append(curator)
        return Estimate(lam=2)


@frozen
class UsesAKeptCurator:
    """Uses the curator of the stage before."""

    @hookimpl
    def select_elements(self, request: Request) -> Elements:
        """Look through another's eyes."""
        KEPT[-1].choose(ItemSupports(len(request.public.universe)), 2)
        return Elements(())


COMPONENTS = {
    "overspends": Overspends,
    "returns-list": ReturnsList,
    "returns-other": ReturnsOther,
    "returns-none": ReturnsNone,
    "outside": Outside,
    "negative": Negative,
    "raises": Raises,
    "exits": Exits,
    "fails-in-its-sum": FailsInItsSum,
    "own-sensitivity": OwnSensitivity,
    "uses-a-kept-curator": UsesAKeptCurator,
}


class Plugin:
    """Registers all the mistakes that can be registered."""

    @hookimpl
    def privmine_register(self, registry: Registrar) -> None:
        """Register."""
        registry.add("estimate_lambda", "keeps-the-curator", KeepsTheCurator)
        for name, cls in COMPONENTS.items():
            registry.add("select_elements", name, cls)


def point(plugin: object, name: str, distribution: str) -> Any:
    """Something like an entry point."""
    return SimpleNamespace(name=name, dist=SimpleNamespace(name=distribution, version="1"), load=lambda: plugin)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """privmine's own components and the clumsy plugin."""
    known = discover([point(privmine.defaults, "privmine", "privmine"), point(Plugin(), "clumsy", DISTRIBUTION)])
    assert known.failures == []
    monkeypatch.setattr("privmine.pipeline.choice.registry", lambda: known)
    yield known
    KEPT.clear()


@pytest.fixture(scope="module")
def baskets() -> pm.Transactions:
    """Data whose exact counts would be recognised."""
    rows = [[item for item, support in enumerate(SUPPORTS) if number < support] for number in range(TRANSACTIONS)]
    return pm.Transactions.from_lists(rows, items=range(3))


def told(error: BaseException) -> str:
    """Everything that a traceback would print of the messages, causes and contexts included."""
    lines = []
    seen: list[BaseException] = []
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop()
        if current is not None and current not in seen:
            seen.append(current)
            lines.extend(traceback.format_exception_only(current))
            pending += [current.__cause__, current.__context__]
    return "".join(lines)


def reference(baskets: pm.Transactions) -> Any:
    """What an ordinary run gives."""
    return pm.Pipeline().run(baskets, k=5, epsilon=1, simulate=True, seed=3).itemsets


@pytest.mark.parametrize(
    ("name", "error", "cause", "words"),
    [
        ("overspends", StageError, BudgetError, "failed: ε = 0.5 was requested for supports of 3 items, but ε = 0 is"),
        ("returns-list", ContractError, None, "broke its contract: it returned list, not Elements."),
        ("returns-other", ContractError, None, "broke its contract: it returned BasisSet, not Elements."),
        ("returns-none", ContractError, None, "broke its contract: it returned NoneType, not Elements."),
        ("outside", ContractError, None, "broke its contract: it names an item outside the universe of 3 items."),
        ("negative", ContractError, None, "broke its contract: it names an item outside the universe of 3 items."),
        ("raises", StageError, ZeroDivisionError, "failed: ZeroDivisionError: "),
        ("exits", StageError, SystemExit, "failed: SystemExit: done."),
        ("own-sensitivity", StageError, ContractError, "declares a sensitivity that privmine cannot verify"),
    ],
)
def test_mistake_has_its_own_error(
    baskets: pm.Transactions, name: str, error: type, cause: type | None, words: str
) -> None:
    """The message names plugin and stage; no exact count is in it or behind it; the next run is as ever."""
    before = reference(baskets)
    with pytest.raises(error) as caught:
        pm.Pipeline(select_elements=name).run(baskets, k=5, epsilon=1)
    assert str(caught.value).startswith(f"select_elements={name} from {DISTRIBUTION} ")
    assert words in str(caught.value)
    if cause is not None:
        assert isinstance(caught.value.__cause__, cause)
    assert not [number for number in EXACT if number in told(caught.value)]
    assert reference(baskets) == before


def test_refused_query_tells_whom_to_trust(baskets: pm.Transactions) -> None:
    """The name in the message is what `trust` takes."""
    with pytest.raises(StageError) as caught:
        pm.Pipeline(select_elements="own-sensitivity").run(baskets, k=5, epsilon=1)
    name = str(caught.value).partition("trust={'")[2].partition("'}")[0]
    release = pm.Pipeline(select_elements="own-sensitivity", trust={name}).run(baskets, k=5, epsilon=1)
    assert not all(charge.verified for charge in release.receipt.charges)


def test_a_sum_that_fails_counts_as_zeros(baskets: pm.Transactions) -> None:
    """The run goes on: its end would tell, unpaid, that some transaction made the function fail."""
    assert pm.Pipeline(select_elements="fails-in-its-sum").run(baskets, k=5, epsilon=1).receipt.spent.amount == 1


def test_misspelt_argument_is_told_before_anything_is_charged(
    baskets: pm.Transactions, tmp_path: Any, registry: Registry
) -> None:
    """What can be known in advance costs nothing, not even in the ledger."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("data", 3)
    with pytest.raises(PluginError):
        pm.Pipeline(select_elements=Misspelt()).run(baskets, k=5, epsilon=1, ledger=ledger, dataset="data")
    assert ledger.budget("data").remaining_epsilon == 3


def test_mistake_in_the_middle_stays_charged(baskets: pm.Transactions, tmp_path: Any) -> None:
    """Whatever a plugin does wrong after the charge, the ledger keeps it, and the error says so."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("data", 3)
    for spent, name in enumerate(("raises", "exits", "returns-none"), start=1):
        with pytest.raises(PrivmineError, match="ε = 1 was charged before that and stays charged"):
            pm.Pipeline(select_elements=name).run(baskets, k=5, epsilon=1, ledger=ledger, dataset="data")
        assert ledger.budget("data").remaining_epsilon == 3 - spent


def test_structured_error_names_everything(baskets: pm.Transactions) -> None:
    """Programs need not parse the sentence."""
    with pytest.raises(StageError) as caught:
        pm.Pipeline(select_elements="overspends").run(baskets, k=5, epsilon=1)
    error = caught.value
    assert (error.stage, error.component, error.distribution) == ("select_elements", "overspends", DISTRIBUTION)
    assert error.charged.amount == Fraction(1, 2)


def test_kept_curator_is_useless_in_the_next_stage(baskets: pm.Transactions) -> None:
    """A later stage cannot spend through it; the message names both."""
    before = reference(baskets)
    pipeline = pm.Pipeline(estimate_lambda="keeps-the-curator", select_elements="uses-a-kept-curator")
    with pytest.raises(StageError) as caught:
        pipeline.run(baskets, k=5, epsilon=1)
    assert str(caught.value).startswith(f"select_elements=uses-a-kept-curator from {DISTRIBUTION} failed: ")
    assert "The curator of estimate_lambda, given to keeps-the-curator, was used after its stage" in str(caught.value)
    assert reference(baskets) == before


@pytest.mark.parametrize(
    "use",
    [
        lambda curator: curator.measure(ItemSupports(3)),
        lambda curator: curator.choose(ItemSupports(3), 1),
        lambda curator: curator.choose(ItemSupports(3), 0),
        lambda curator: curator.choose_noisy(ItemSupports(3), 1),
    ],
    ids=["measure", "choose", "choose none", "choose_noisy"],
)
def test_kept_curator_is_useless_after_the_run(baskets: pm.Transactions, use: Callable[[Curator], Any]) -> None:
    """Neither a measurement nor a selection, and the later run that it is used in is as ever."""
    before = reference(baskets)
    pm.Pipeline(estimate_lambda="keeps-the-curator").run(baskets, k=5, epsilon=1)
    (kept,) = KEPT
    with pytest.raises(ContractError, match="The curator of estimate_lambda, given to keeps-the-curator, was used"):
        use(kept)
    with pytest.raises(StageError, match="given to keeps-the-curator, was used after its stage had ended"):
        pm.Pipeline(select_elements="uses-a-kept-curator").run(baskets, k=5, epsilon=1)
    assert not [number for number in EXACT if number in repr(kept)]
    assert reference(baskets) == before


def test_reused_name_names_both_distributions(registry: Registry) -> None:
    """The second plugin of a name is refused as a whole; the first goes on."""
    second = discover(
        [
            point(privmine.defaults, "privmine", "privmine"),
            point(Plugin(), "clumsy", DISTRIBUTION),
            point(Plugin(), "clumsy-again", "privmine-copycat"),
        ]
    )
    (failure,) = second.failures
    assert (failure.plugin, failure.distribution) == ("clumsy-again", "privmine-copycat")
    assert "privmine-copycat registers estimate_lambda=keeps-the-curator" in failure.reason
    assert f"but {DISTRIBUTION} has registered that name already" in failure.reason
    assert second.find("select_elements", "raises").distribution == DISTRIBUTION


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"select_element": lambda self: Elements(())}, "Rename select_element to select_elements."),
        ({"select_elements": lambda self: Elements(())}, "is never called. Add the decorator @hookimpl"),
        ({"select_elements": hookimpl(lambda self, request=None: Elements(()))}, "takes 'request' with a default"),
        ({"select_elements": hookimpl(lambda self, *, request: Elements(()))}, "takes 'request' with a default"),
        ({"select_elements": hookimpl(wrapper=True)(lambda self: (yield))}, "is a hook wrapper"),
        ({"select_elements": hookimpl(lambda self, curater: Elements(()))}, "Did you mean 'curator'?"),
    ],
    ids=["misspelt hook", "no decorator", "default", "keyword only", "wrapper", "misspelt argument"],
)
def test_mistake_in_a_class_is_told_when_it_is_registered(body: dict[str, Any], words: str) -> None:
    """What pluggy would accept and then not do makes the plugin fail to load, with the class named."""
    cls = frozen(type("Clumsy", (), body))

    class Registers:
        @hookimpl
        def privmine_register(self, registry: Registrar) -> None:
            registry.add("select_elements", "clumsy", cls)

    (failure,) = discover([point(Registers(), "clumsy", DISTRIBUTION)]).failures
    assert failure.distribution == DISTRIBUTION
    assert "Clumsy" in failure.reason
    assert "select_elements" in failure.reason
    assert words in failure.reason


@pytest.mark.parametrize(("given", "means"), [("true", True), ("False", False), (True, True), (False, False)])
def test_parameter_can_be_true_or_false(given: Any, means: bool) -> None:
    """As text from the command line, and as a value of a pipeline file; a number is refused."""

    @frozen
    class Switched:
        on: bool = parameter(not means, help="switch")

    registered = Registered("select_elements", "switched", Switched, DISTRIBUTION, "1")
    assert build(registered, {"on": given}) == Switched(means)
    with pytest.raises(InputError, match="switched cannot be made: on must be true or false, not '2'"):
        build(registered, {"on": "2"})


def test_parameter_that_is_no_number_is_named() -> None:
    """Python's own sentence about floats would not say which parameter it is."""

    @frozen
    class Shares:
        share: float = parameter(0.5, help="of the budget")
        most: int = parameter(3, help="items")

    registered = Registered("select_elements", "shares", Shares, DISTRIBUTION, "1")
    assert build(registered, {"share": "0.25", "most": "4"}) == Shares(0.25, 4)
    with pytest.raises(InputError, match=r"shares cannot be made: share must be a number such as 0\.5, not 'half'"):
        build(registered, {"share": "half", "most": "4"})


def test_parameter_without_a_default_is_asked_for() -> None:
    """By its name, and not by the signature of a class."""

    @frozen
    class Needy:
        most: int = parameter(help="how many")

    found = Registered("select_elements", "needy", Needy, DISTRIBUTION, "1")
    with pytest.raises(InputError, match=r"^select_elements=needy needs a value for its parameter most, which has no"):
        build(found, {})
    assert build(found, {"most": 3}).most == 3
