from __future__ import annotations

import traceback
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from attrs import evolve, frozen

from privmine.curator import Access, Curator, Selection, close
from privmine.errors import BudgetError, ContractError, InputError, QueryError
from privmine.model import Public
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import Charge, Cost, Definition, Laplace, Meter, PureDP, Sensitivity
from privmine.privacy.unit import Unit
from privmine.queries import BinCounts, ItemSupports, Query, RankGap, Scores, Supports, TruncatedSupports
from privmine.store.transactions import Transactions

BASKETS = [[0, 1], [0], [0, 1, 2], []]


EACH_TRANSACTION = Unit()


def cost(*value: int) -> Cost:
    return PureDP().cost(Fraction(*value))


def make_access(noise=None, epsilon=1, trusts=lambda cls: False, unit=EACH_TRANSACTION) -> Access:
    transactions = Transactions.from_lists(BASKETS, items=[0, 1, 2])
    public = Public(transactions.universe, unit)
    return Access(transactions.store, public, noise or SimulatedNoise(0), Meter(cost(epsilon)), trusts)


def make_curator(access: Access, limit: Fraction | int = 1) -> Curator:
    return Curator(access, "select_elements", "tried", cost(1) * limit)


class Watcher(SimulatedNoise):
    """Notes what had been charged whenever noise is drawn."""

    def __init__(self) -> None:
        super().__init__(0)
        self.meter: Meter | None = None
        self.calls: list[tuple[str, Fraction, object]] = []

    def laplace(self, values, scale):
        self.calls.append(("laplace", self.meter.spent, scale))
        return super().laplace(values, scale)

    def select(self, scores, n, rate, tail=None):
        self.calls.append(("select", self.meter.spent, rate))
        return super().select(scores, n, rate, tail)

    def noisy_top(self, scores, n, scale, tail=None):
        self.calls.append(("noisy_top", self.meter.spent, scale))
        return super().noisy_top(scores, n, scale, tail)

    def select_set(self, scores, n, rate, tail=None):
        self.calls.append(("select_set", self.meter.spent, rate))
        return super().select_set(scores, n, rate, tail)


def watched(**options) -> tuple[Curator, Watcher]:
    noise = Watcher()
    access = make_access(noise, **options)
    noise.meter = access.meter
    return make_curator(access), noise


def test_a_charge_precedes_its_draw() -> None:
    """When noise is drawn, the meter has counted the price already."""
    curator, noise = watched()
    curator.measure(BinCounts([(0,)]), cost(1, 4))
    curator.choose(ItemSupports(3), 2, cost(1, 2))
    assert [(kind, spent) for kind, spent, _ in noise.calls] == [
        ("laplace", cost(1, 4)),
        ("select", cost(3, 4)),
    ]


def test_the_scale_is_sensitivity_over_epsilon() -> None:
    """Two bases at ε = 1/4 ask for Laplace noise of scale exactly 8."""
    curator, noise = watched()
    answer = curator.measure(BinCounts([(0,), (1, 2)]), cost(1, 4))
    assert noise.calls[0][2] == 8
    assert answer.noise.scale == 8


def test_monotone_scores_need_half_the_noise() -> None:
    """n draws at ε have the exponent ε/n on supports and ε/2n on rank gaps."""
    curator, noise = watched()
    curator.choose(ItemSupports(3), 2, cost(1, 3))
    curator.choose(RankGap(2, 1, 3), 1, cost(1, 3))
    assert [rate for _, _, rate in noise.calls] == [Fraction(1, 6), Fraction(1, 6)]


def test_choose_clamps_to_the_candidates_and_pays_for_those_draws() -> None:
    """Ten of three items are three items, each drawn at a third of the price."""
    curator, noise = watched()
    answer = curator.choose(ItemSupports(3), 10, cost(1))
    assert sorted(answer.chosen) == [(0,), (1,), (2,)]
    assert noise.calls[0][2] == Fraction(1, 3)


def test_noisy_selection_pays_for_each_of_its_draws() -> None:
    """n of the largest need n times the noise of one, n after clamping, and twice that where scores go both ways."""
    scales = []
    for query, n in ((ItemSupports(3), 1), (ItemSupports(3), 2), (ItemSupports(3), 10), (RankGap(2, 1, 3), 2)):
        curator, noise = watched()
        curator.choose_noisy(query, n, cost(1, 4))
        scales.append(noise.calls[0][2])
    assert scales == [4, 8, 12, 16]


def test_a_set_is_one_draw_whatever_its_size() -> None:
    """The gap moves by L∞ where scores are monotone and by twice that else, either way, which halves the rate."""
    for query, n, rate in ((ItemSupports(3), 1, 1), (ItemSupports(3), 2, 1), (RankGap(2, 1, 3), 2, Fraction(1, 2))):
        curator, noise = watched()
        curator.choose_set(query, n, cost(1, 2))
        assert noise.calls == [("select_set", cost(1, 2), Fraction(rate, 4))]


def test_the_members_of_a_set_come_in_the_order_of_the_candidates() -> None:
    """Their order by score would tell more than was paid for."""
    curator = make_curator(make_access(SimulatedNoise(0)))
    sets = {curator.choose_set(ItemSupports(3), 2, cost(1, 100)).chosen for _ in range(60)}
    assert sets == {((0,), (1,)), ((0,), (2,)), ((1,), (2,))}


@pytest.mark.parametrize("more", [0, 1])
def test_the_members_of_a_set_do_not_come_as_a_query_lists_them(more: int) -> None:
    """`TruncatedSupports` lists candidates by their exact supports, and those below its floor not at all."""
    baskets = [[0]] * 5 + [[1]] * 5 + [[1]] * more
    query = TruncatedSupports(k=3, max_length=1, item_count=4, gamma=100, explicit_limit=10)
    store = Transactions.from_lists(baskets, range(4)).store
    curator = make_curator(evolve(make_access(SimulatedNoise(0)), store=store))
    sets = {curator.choose_set(query, 3, cost(1, 1000)).chosen for _ in range(60)}
    assert sets == set(combinations([(0,), (1,), (2,), (3,)], 3))


def test_choosing_none_is_free() -> None:
    """n = 0 charges nothing and answers nothing."""
    access = make_access()
    assert make_curator(access).choose(ItemSupports(3), 0) == Selection(ItemSupports(3), (), "select_elements")
    assert make_curator(access).choose_set(ItemSupports(3), 0) == Selection(ItemSupports(3), (), "select_elements")
    assert access.meter.charges == ()


def test_a_charge_beyond_the_share_is_refused() -> None:
    """The error carries what was asked for and what is left, and nothing was spent."""
    access = make_access()
    with pytest.raises(BudgetError, match="is left for select_elements") as caught:
        make_curator(access, Fraction(1, 2)).measure(ItemSupports(3), cost(3, 4))
    assert (caught.value.requested, caught.value.remaining) == (cost(3, 4), cost(1, 2))
    assert access.meter.spent == 0


@pytest.mark.parametrize("price", [0, -1])
def test_a_price_of_nothing_is_refused(price: int) -> None:
    """No query is answered for free."""
    with pytest.raises(BudgetError):
        make_curator(make_access()).measure(ItemSupports(3), cost(price))


@pytest.mark.parametrize("price", [1, 0.5, "much", Fraction(1, 2)])
def test_a_price_that_is_no_cost_is_refused(price: object) -> None:
    """A number would be an ε under one definition and something else under another."""
    with pytest.raises(ContractError, match="paid for with a cost"):
        make_curator(make_access()).measure(ItemSupports(3), price)


def test_an_exhausted_share_is_refused_without_a_price() -> None:
    """A stage that has spent all gets nothing more by not naming a price."""
    curator = make_curator(make_access())
    curator.measure(ItemSupports(3))
    with pytest.raises(BudgetError, match="no budget left"):
        curator.measure(ItemSupports(3))


def test_a_closed_curator_answers_nothing() -> None:
    """A component that keeps its curator finds it closed, even for free questions."""
    curator = make_curator(make_access())
    close(curator)
    for ask in (lambda: curator.measure(ItemSupports(3)), lambda: curator.choose(ItemSupports(3), 0)):
        with pytest.raises(ContractError, match="after its stage had ended"):
            ask()


def test_split_divides_exactly() -> None:
    """Thirds of a tenth sum to a tenth."""
    parts = make_curator(make_access(), Fraction(1, 10)).split(a=1, b=1, c=1)
    assert sum(parts.values()) == cost(1, 10)


@pytest.mark.parametrize("weights", [{"a": 0}, {"a": -1, "b": 2}])
def test_split_refuses_useless_weights(weights: dict[str, int]) -> None:
    """Weights that are all zero, or negative, divide nothing."""
    with pytest.raises(InputError):
        make_curator(make_access()).split(**weights)


def test_answers_are_read_only() -> None:
    """A later stage cannot change what an earlier one was told."""
    answer = make_curator(make_access()).measure(ItemSupports(3))
    with pytest.raises(ValueError, match="read-only"):
        answer.values[0] = 1


@frozen
class ForeignQuery(Query):
    """A query that privmine does not know; it can be told to fail with the data in its mouth."""

    answer: object = None

    name = "foreign"
    size = 1
    sensitivity = Sensitivity(1, 1, 1)

    def evaluate(self, store):
        if self.answer is None:
            raise ValueError(f"secret {store.count()}")
        return self.answer


def test_an_unverified_query_needs_trust() -> None:
    """A third party's sensitivity is taken on trust only where the user gave it, and nothing is charged."""
    access = make_access()
    with pytest.raises(ContractError, match="trust="):
        make_curator(access).measure(ForeignQuery(np.array([1])))
    assert access.meter.spent == 0


def test_a_trusted_query_is_marked_in_its_charge() -> None:
    """The receipt will say that nobody verified the sensitivity, whatever way it was asked."""
    access = make_access(trusts=lambda cls: cls is ForeignQuery)
    query = ForeignQuery(np.array([1]))
    make_curator(access).measure(query, cost(1, 4))
    make_curator(access).choose(query, 1, cost(1, 4))
    make_curator(access).choose_noisy(query, 1, cost(1, 4))
    assert [charge.verified for charge in access.meter.charges] == [False] * 3


def test_a_subclass_of_a_verified_query_needs_trust() -> None:
    """Only privmine's own class is verified: a subclass may have changed the sensitivity."""

    class Sly(ItemSupports):
        pass

    with pytest.raises(ContractError, match="cannot verify"):
        make_curator(make_access()).measure(Sly(3))


def test_a_failing_query_leaks_nothing() -> None:
    """Neither the message nor any chained exception carries what the query saw; the charge stands."""
    access = make_access(trusts=lambda cls: True)
    with pytest.raises(QueryError) as caught:
        make_curator(access).measure(ForeignQuery(), cost(1, 2))
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret" not in shown
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert access.meter.spent == cost(1, 2)


@pytest.mark.parametrize("answer", [np.array([0.5]), np.array([[1]]), np.array([1, 2]), ["a"]])
def test_an_answer_of_the_wrong_form_is_refused(answer: object) -> None:
    """Exact answers are whole numbers, as many as declared."""
    with pytest.raises(QueryError):
        make_curator(make_access(trusts=lambda cls: True)).measure(ForeignQuery(answer))


def test_sensitivity_zero_is_refused() -> None:
    """A query that claims to depend on nothing would be answered without noise."""

    class Constant(ForeignQuery):
        sensitivity = Sensitivity(0, 0, 0)

    with pytest.raises(ContractError, match="sensitivity of 0"):
        make_curator(make_access(trusts=lambda cls: True)).measure(Constant(np.array([1])))


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (None, r"declares None as its sensitivity. Declare .* Sensitivity\(l1=…"),
        (1, "declares 1 as its sensitivity"),
        (Sensitivity(l1=1, l2_squared=9, linf=3), r"moves by 3 \(linf\), and all together by 1"),
    ],
)
def test_sensitivity_that_cannot_be_is_refused(declared: object, said: str) -> None:
    """Its author is told what is wrong, before anything is charged."""

    class Wrong(ForeignQuery):
        sensitivity = declared

    access = make_access(trusts=lambda cls: True)
    with pytest.raises(ContractError, match=said):
        make_curator(access).measure(Wrong(np.array([1])))
    assert access.meter.charges == ()


def test_secure_answers_are_integers() -> None:
    """Whatever is measured with the default noise is a whole number."""
    answer = make_curator(make_access(SecureNoise())).measure(Supports([(), (0,)]))
    assert answer.values.dtype.kind == "i"
    assert answer.noise.distribution == "discrete laplace"


def test_repr_shows_no_data() -> None:
    """A curator in a traceback or a log tells its stage and its budget only."""
    assert repr(make_curator(make_access())) == "<Curator of select_elements, ε = 1 remaining>"


# Everything between the charge and the answer is guarded


@frozen
class ForeignScores(ForeignQuery):
    """Fails where it is told to, with the data in its mouth."""

    where: str = ""

    def scores(self, store):
        def candidate(index):
            if self.where == "candidate":
                raise KeyError(f"secret {store.count()}")
            return index

        if self.where == "scores":
            raise ValueError(f"secret {store.count()}")
        if self.where == "exit":
            raise SystemExit(f"secret {store.count()}")
        return Scores(np.array([store.count()]), candidate)


class Indiscreet(SimulatedNoise):
    """Tells the exact values when it fails."""

    def laplace(self, values, scale):
        raise ValueError(f"secret {values}")

    def select(self, scores, n, rate, tail=None):
        raise ValueError(f"secret {scores}")

    def noisy_top(self, scores, n, scale, tail=None):
        raise ValueError(f"secret {scores}")

    def select_set(self, scores, n, rate, tail=None):
        raise ValueError(f"secret {scores}")


def assert_nothing_leaks(access: Access, ask) -> None:
    """The question fails without a word of data, and stays paid."""
    with pytest.raises(QueryError) as caught:
        ask(make_curator(access))
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    assert access.meter.spent == cost(1, 2)


@pytest.mark.parametrize("where", ["scores", "candidate", "exit"])
@pytest.mark.parametrize("way", ["choose", "choose_noisy", "choose_set"])
def test_a_failing_selection_leaks_nothing(where: str, way: str) -> None:
    """Scores and candidates of a third party are evaluated after the charge, and behind the guard."""
    query = ForeignScores(where=where)
    access = make_access(trusts=lambda cls: True)
    assert_nothing_leaks(access, lambda curator: getattr(curator, way)(query, 1, cost(1, 2)))


@pytest.mark.parametrize("way", ["measure", "choose", "choose_noisy", "choose_set"])
def test_a_failing_noise_source_leaks_nothing(way: str) -> None:
    """What a source of noise says of the exact values stays inside."""

    def ask(curator):
        if way == "measure":
            return curator.measure(ItemSupports(3), cost(1, 2))
        return getattr(curator, way)(ItemSupports(3), 1, cost(1, 2))

    assert_nothing_leaks(make_access(Indiscreet()), ask)


class Untouchable:
    """A store that nobody may ask."""

    def __getattr__(self, name):
        raise AssertionError(f"the store was asked for {name}")


@pytest.mark.parametrize("way", ["measure", "choose", "choose_noisy", "choose_set"])
def test_what_is_refused_is_not_evaluated(way: str) -> None:
    """A question beyond the budget does not reach the data."""
    access = Access(Untouchable(), make_access().public, SimulatedNoise(0), Meter(cost(1, 4)), lambda cls: False)
    arguments = (cost(1, 2),) if way == "measure" else (1, cost(1, 2))
    with pytest.raises(BudgetError):
        getattr(make_curator(access), way)(ItemSupports(3), *arguments)


def test_the_run_is_limited_by_its_own_epsilon() -> None:
    """A curator with a limit beyond ε cannot spend more than ε."""
    with pytest.raises(BudgetError):
        make_curator(make_access(epsilon=1), limit=5).measure(ItemSupports(3), cost(2))


class Fractional(SimulatedNoise):
    """Calls itself private and answers with fractions."""

    private = True


def test_private_noise_must_be_whole() -> None:
    """A source that claims to be private and draws in floating point is refused before it is paid for."""
    access = make_access(Fractional(0))
    with pytest.raises(ContractError, match="in floating point"):
        make_curator(access).measure(ItemSupports(3))
    assert access.meter.spent == 0


class Untruthful(SimulatedNoise):
    """Says that it draws whole numbers, and answers with fractions."""

    private = True

    def draws(self, noise):
        return noise


def test_discrete_noise_must_be_whole() -> None:
    """What a source adds is what it says, or the answer is withheld."""
    with pytest.raises(QueryError):
        make_curator(make_access(Untruthful(0))).measure(ItemSupports(3))


def test_what_noise_and_what_rate_a_cost_buys_is_public() -> None:
    """A component can ask before it pays; nothing is charged, and it is what is drawn then."""
    access = make_access(unit=Unit("customer", 2))
    curator = make_curator(access)
    noise, rate = curator.noise_for(ItemSupports(3), cost(1, 2)), curator.rate_for(RankGap(2, 1, 3), 2)
    assert access.meter.spent == 0
    assert curator.measure(ItemSupports(3), cost(1, 2)).noise == noise == Laplace(12)
    assert rate == Fraction(1, 2 * 2 * 2)
    assert curator.rate_for(RankGap(2, 1, 3), 2, cost(1, 4)) == rate / 4


@frozen
class OnlyMeasures(PureDP):
    """A definition that has no proof for selections."""

    name = "a definition of measurements"
    rate_for = Definition.rate_for
    top_scale_for = Definition.top_scale_for


@pytest.mark.parametrize("way", ["choose", "choose_noisy", "choose_set"])
def test_a_mechanism_without_a_proof_is_refused_before_it_is_charged(way: str) -> None:
    """The definition of the budget decides, and the component needs no code for it."""
    access = make_access()
    access = evolve(access, meter=Meter(OnlyMeasures().cost(1)))
    curator = Curator(access, "select_elements", "tried", OnlyMeasures().cost(1))
    with pytest.raises(InputError, match="no proof"):
        getattr(curator, way)(ItemSupports(3), 1)
    assert access.meter.spent == 0
    assert curator.measure(ItemSupports(3)).noise == Laplace(3)


@pytest.mark.parametrize("way", ["measure", "choose", "choose_noisy", "choose_set"])
def test_what_is_no_query_is_refused(way: str) -> None:
    """The same sentence for every kind of question."""
    with pytest.raises(ContractError, match="answers a Query"):
        getattr(make_curator(make_access()), way)("supports")


def test_a_fraction_of_a_candidate_cannot_be_chosen() -> None:
    """How many to choose is a whole number."""
    with pytest.raises(TypeError):
        make_curator(make_access()).choose(ItemSupports(3), 2.9)


def test_the_scale_of_noisy_selection() -> None:
    """The n largest after Laplace noise cost n·L∞/ε where scores are monotone, else twice that."""
    definition = PureDP()
    assert definition.top_scale_for(Sensitivity(9, 9, 2, monotone=True), cost(1, 2), 3) == 12
    assert definition.top_scale_for(Sensitivity(9, 9, 2), cost(1, 2), 3) == 24
    assert definition.rate_for(Sensitivity(9, 9, 2), cost(1, 2), 3) == Fraction(1, 24)


ASKED = {
    "measure": (lambda curator, query: curator.measure(query, cost(1, 4)), 1),
    "choose": (lambda curator, query: curator.choose(query, 2, cost(1, 4)), -1),
    "choose_noisy": (lambda curator, query: curator.choose_noisy(query, 2, cost(1, 4)), 1),
    "choose_set": (lambda curator, query: curator.choose_set(query, 2, cost(1, 4)), -1),
}


@pytest.mark.parametrize("query", [ItemSupports(3), BinCounts([(0,), (1, 2)]), RankGap(2, 1, 3)], ids=lambda q: q.name)
@pytest.mark.parametrize("way", ASKED)
def test_noise_grows_with_the_transactions_of_a_unit(way: str, query: Query) -> None:
    """Five transactions a customer need exactly five times the noise, for the same price."""
    ask, power = ASKED[way]
    drawn = []
    for unit in (EACH_TRANSACTION, Unit("customer", 5), Unit("customer", 1, merged=True)):
        curator, noise = watched(unit=unit)
        ask(curator, query)
        _, spent, amount = noise.calls[0]
        assert spent == cost(1, 4)
        drawn.append(amount)
    alone, five, merged = drawn
    assert five == alone * Fraction(5) ** power
    assert merged == alone


def test_the_noise_of_an_answer_is_that_of_the_unit() -> None:
    """Later stages and the receipt are told the scale that was drawn, not that of one transaction."""
    access = make_access(SimulatedNoise(0), unit=Unit("customer", 5))
    answer = make_curator(access).measure(BinCounts([(0,), (1, 2)]), cost(1, 4))
    assert answer.noise.scale == 40
    assert access.meter.charges[0].mechanism == "laplace of scale 40"


@pytest.mark.parametrize("way", ["choose", "choose_noisy", "choose_set"])
def test_a_strangers_monotone_holds_for_one_transaction_only(way: str) -> None:
    """Where a unit has several, a query that privmine does not know is paid for as if it were not monotone."""

    @frozen
    class Declared(ItemSupports):
        """Known by nobody, so that what it declares is all there is."""

    ask, power = ASKED[way]
    drawn = []
    for unit in (EACH_TRANSACTION, Unit("customer", 3)):
        curator, noise = watched(unit=unit, trusts=lambda cls: True)
        ask(curator, Declared(3))
        drawn.append(noise.calls[0][2])
    assert drawn[1] == drawn[0] * Fraction(2 * 3) ** power


def test_threads_cannot_overspend() -> None:
    """Many threads at one meter: what is granted is what was counted, and no more than ε."""
    import sys
    from concurrent.futures import ThreadPoolExecutor

    meter = Meter(cost(1))
    charge = Charge("stage", "component", "query", "mechanism", cost(1, 50))

    def spend(_: int) -> bool:
        try:
            meter.charge(charge, cost(1))
        except BudgetError:
            return False
        return True

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            granted = sum(pool.map(spend, range(400)))
    finally:
        sys.setswitchinterval(interval)
    assert granted == len(meter.charges) == 50
    assert meter.spent == cost(1)


def test_tail_members_are_drawn_once_and_never_listed_ones() -> None:
    """Listed candidates and tail members together are all candidates, each exactly once."""
    query = TruncatedSupports(k=1, max_length=2, item_count=3, gamma=0)
    for seed in range(20):
        curator = make_curator(make_access(SimulatedNoise(seed)))
        choose = (curator.choose, curator.choose_noisy, curator.choose_set)[seed % 3]
        chosen = choose(query, 6, cost(1, 1000)).chosen
        assert sorted(chosen) == [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)]


# To the letter


def test_a_charge_says_who_paid_for_what() -> None:
    """Stage, component, query, mechanism with its draws or scale, and price of each kind of question."""
    access = make_access()
    curator = make_curator(access)
    curator.measure(Supports([()]), cost(1, 8))
    curator.choose(ItemSupports(3), cost=cost(1, 4))
    curator.choose_noisy(ItemSupports(3), 2, cost(1, 2))
    curator.choose_set(ItemSupports(3), 2, cost(1, 8))
    assert access.meter.charges == (
        Charge(
            "select_elements", "tried", "supports of 1 itemsets", "laplace of scale 8", cost(1, 8), noise=Laplace(8)
        ),
        Charge("select_elements", "tried", "supports of 3 items", "exponential mechanism, 1 draw", cost(1, 4)),
        Charge("select_elements", "tried", "supports of 3 items", "largest after Laplace noise, 2 draws", cost(1, 2)),
        Charge(
            "select_elements",
            "tried",
            "supports of 3 items",
            "exponential mechanism, 1 draw of a set of 2",
            cost(1, 8),
        ),
    )


def test_answers_are_kept_in_order_for_later_stages() -> None:
    """What was paid for is at hand, with the stage that paid; choosing none is no answer."""
    access = make_access()
    curator = make_curator(access)
    assert curator.choose_noisy(ItemSupports(3), 0).chosen == ()
    first = curator.measure(ItemSupports(3), cost(1, 4))
    second = curator.choose(ItemSupports(3), cost=cost(1, 4))
    third = curator.choose_noisy(ItemSupports(3), cost=cost(1, 4))
    assert access.answers == [first, second, third]
    assert {answer.stage for answer in access.answers} == {"select_elements"}
    assert {answer.query for answer in access.answers} == {ItemSupports(3)}
    assert [len(answer.chosen) for answer in (second, third)] == [1, 1]


def test_measurements_are_equal_if_their_values_are() -> None:
    """Answers are compared by value, so that a repeated simulation can be told from another one."""
    first, same, other = (
        make_curator(make_access(SimulatedNoise(seed))).measure(ItemSupports(3)) for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


def test_a_question_without_a_price_takes_what_is_left() -> None:
    """Each kind of question pays the rest of the stage's share, not of the run."""
    for ask in (
        lambda curator: curator.measure(ItemSupports(3)),
        lambda curator: curator.choose(ItemSupports(3), 2),
        lambda curator: curator.choose_noisy(ItemSupports(3), 2),
    ):
        access = make_access()
        curator = make_curator(access, Fraction(1, 2))
        curator.measure(ItemSupports(3), cost(1, 8))
        assert curator.remaining == cost(3, 8)
        ask(curator)
        assert access.meter.spent == cost(1, 2)
        assert curator.remaining == 0


def test_remaining_is_never_negative() -> None:
    """A stage whose share was spent by an earlier one has nothing, and is told so."""
    access = make_access()
    make_curator(access, 1).measure(ItemSupports(3), cost(3, 4))
    late = make_curator(access, Fraction(1, 2))
    assert late.remaining == 0
    for ask in (late.measure, late.choose, late.noise_for, late.rate_for):
        with pytest.raises(BudgetError, match="no budget left for supports of 3 items") as caught:
            ask(ItemSupports(3))
        assert (caught.value.requested, caught.value.remaining) == (0, 0)


def test_a_share_can_be_spent_to_the_last_digit() -> None:
    """A price that equals what is left is granted; the smallest one more is not."""
    access = make_access()
    curator = make_curator(access, Fraction(1, 3))
    curator.measure(ItemSupports(3), cost(1, 3))
    with pytest.raises(BudgetError) as caught:
        curator.measure(ItemSupports(3), cost(1, 10**30))
    assert (caught.value.requested, caught.value.remaining) == (cost(1, 10**30), 0)


def test_a_price_of_nothing_carries_what_was_asked_and_what_is_left() -> None:
    """The error has the numbers for programs, and its sentence names the stage only where its share is gone."""
    with pytest.raises(BudgetError, match="pass a positive cost") as caught:
        make_curator(make_access(), Fraction(1, 2)).choose(ItemSupports(3), 1, cost(-1))
    assert (caught.value.requested, caught.value.remaining) == (cost(-1), cost(1, 2))


@pytest.mark.parametrize(("weights", "parts"), [((1, 3), (1, 3)), ((0, 2), (0, 4)), (("0.25", 0.75), (1, 3))])
def test_split_divides_in_proportion(weights: tuple[object, object], parts: tuple[int, int]) -> None:
    """What remains is divided by the weights, of which some may be 0 or below 1."""
    curator = make_curator(make_access(), Fraction(1, 2))
    split = curator.split(a=weights[0], b=weights[1])
    assert split == {"a": cost(parts[0], 8), "b": cost(parts[1], 8)}


@pytest.mark.parametrize("norms", [(0, 1, 1), (1, 0, 1), (1, 1, 0)], ids=["L1", "L2", "L∞"])
def test_one_norm_of_zero_is_enough_to_be_refused(norms: tuple[int, int, int]) -> None:
    """Selecting uses one norm, and measuring another in each definition of privacy; none may be free."""

    class Half(ForeignQuery):
        sensitivity = Sensitivity(*norms)

    for ask in (lambda c, q: c.measure(q), lambda c, q: c.choose(q)):
        access = make_access(trusts=lambda cls: True)
        with pytest.raises(ContractError, match="sensitivity of 0"):
            ask(make_curator(access), Half(np.array([1])))
        assert access.meter.spent == 0


def test_sensitivities_below_one_are_possible() -> None:
    """What a query counts need not be whole transactions; the noise is that of its norm."""

    class Half(ForeignQuery):
        sensitivity = Sensitivity(Fraction(1, 2), Fraction(1, 4), Fraction(1, 2))

    answer = make_curator(make_access(trusts=lambda cls: True)).measure(Half(np.array([1])), cost(1, 4))
    assert answer.noise.scale == 2


@pytest.mark.parametrize(("value", "fits"), [(2**63 - 1, True), (2**63, False)])
def test_unsigned_answers_must_fit_in_64_bits(value: int, fits: bool) -> None:
    """What wraps around when it is converted would move by more than the sensitivity."""
    access = make_access(trusts=lambda cls: True)
    query = ForeignQuery(np.array([value], dtype=np.uint64))
    if fits:
        make_curator(access).measure(query)
    else:
        with pytest.raises(QueryError):
            make_curator(access).measure(query)


@pytest.mark.parametrize("size", [0, 2])
def test_scores_must_be_as_many_as_declared(size: int) -> None:
    """A selection whose scores are not its public number of candidates is refused, and stays paid."""

    class Odd(ForeignScores):
        def scores(self, store):
            return Scores(np.zeros(size, dtype=np.int64), lambda index: index)

    access = make_access(trusts=lambda cls: True)
    assert_nothing_leaks(access, lambda curator: curator.choose(Odd(), 1, cost(1, 2)))


class Nothing(ForeignQuery):
    """Counts nothing at all."""

    size = 0


def test_an_empty_answer_is_an_answer() -> None:
    """No values, of any integer type."""
    for kind in (np.int64, np.uint64):
        answer = make_curator(make_access(trusts=lambda cls: True)).measure(Nothing(np.zeros(0, dtype=kind)))
        assert len(answer.values) == 0


@pytest.mark.parametrize("way", ["measure", "choose"])
def test_an_interrupt_leaves_without_the_query(way: str) -> None:
    """Ctrl-C is Ctrl-C, but the traceback of what it interrupted may hold data; the charge stands."""

    class Slow(ForeignQuery):
        def evaluate(self, store):
            raise KeyboardInterrupt(f"secret {store.count()}")

    access = make_access(trusts=lambda cls: True)
    with pytest.raises(KeyboardInterrupt) as caught:
        getattr(make_curator(access), way)(Slow(), cost=cost(1, 2))
    assert caught.value.args == ()
    assert caught.value.__context__ is None
    assert access.meter.spent == cost(1, 2)


def test_the_access_shows_no_data() -> None:
    """Printed in a traceback, it names neither the store nor what was answered nor whom the user trusts."""
    access = make_access()
    make_curator(access).measure(ItemSupports(3), cost(1, 2))
    for hidden in ("store=", "answers=", "trusts="):
        assert hidden not in repr(access)


@pytest.mark.parametrize(("way", "lacks"), [("choose_noisy", "noisy_top"), ("choose_set", "select_set")])
def test_a_source_that_cannot_select_in_a_way_is_told_before_a_charge(way: str, lacks: str) -> None:
    """Such a source can choose, but not by noise on every score, or a set at once."""

    class Plain:
        private, name = False, "plain"
        below = laplace = select = None

    access = make_access(Plain())
    with pytest.raises(InputError, match=f"no {lacks}"):
        getattr(make_curator(access), way)(ItemSupports(3))
    assert access.meter.spent == 0


def test_tail_members_are_named_where_they_were_drawn() -> None:
    """The order of the draws is kept: a listed candidate after a tail member stays after it."""

    class Scripted(SimulatedNoise):
        def select(self, scores, n, rate, tail=None):
            assert (tail.score, tail.size) == (2, 5)
            return np.array([1, 0, 1])

        def below(self, bound):
            assert bound == 6
            return next(self.numbers)

    noise = Scripted(0)
    # Number 0 is the listed item; 2 comes twice, so that the second one is drawn again.
    noise.numbers = iter([0, 2, 2, 4])
    query = TruncatedSupports(k=1, max_length=2, item_count=3, gamma=1)
    chosen = make_curator(make_access(noise)).choose(query, 3, cost(1, 2)).chosen
    assert chosen == ((2,), (0,), (0, 2))


def test_an_error_names_the_query_that_failed() -> None:
    """Of a measurement and of a selection, so that its author knows where to look."""

    class Broken(SimulatedNoise):
        def _fail(self, *_arguments, **_options):
            raise ValueError("secret")

        add = select = noisy_top = _fail

    for ask in (lambda curator: curator.measure(ItemSupports(3)), lambda curator: curator.choose(ItemSupports(3), 1)):
        with pytest.raises(QueryError, match="The query 'supports of 3 items' failed"):
            ask(make_curator(make_access(Broken(0))))


def test_a_rate_is_for_one_draw_by_default() -> None:
    """As `choose` is."""
    curator = make_curator(make_access())
    assert curator.rate_for(RankGap(2, 1, 3)) == curator.rate_for(RankGap(2, 1, 3), 1)
