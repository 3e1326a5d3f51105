from __future__ import annotations

import traceback
from fractions import Fraction

import numpy as np
import pytest
from attrs import frozen

from privmine.curator import Curator, Desk, Meter, close
from privmine.errors import BudgetError, ContractError, InputError, QueryError
from privmine.model import Public
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import PureDP, Sensitivity
from privmine.queries import BinCounts, ItemSupports, Query, RankGap, Supports
from privmine.store.transactions import Transactions

BASKETS = [[0, 1], [0], [0, 1, 2], []]


def make_desk(noise=None, epsilon=1, trusts=lambda cls: False) -> Desk:
    transactions = Transactions.from_lists(BASKETS, items=[0, 1, 2])
    meter = Meter(Fraction(epsilon))
    return Desk(transactions.store, Public(transactions.universe), noise or SimulatedNoise(0), PureDP(), meter, trusts)


def make_curator(desk: Desk, limit=1) -> Curator:
    return Curator(desk, "select_elements", "tried", Fraction(limit))


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


def watched() -> tuple[Curator, Watcher]:
    noise = Watcher()
    desk = make_desk(noise)
    noise.meter = desk.meter
    return make_curator(desk), noise


def test_a_charge_precedes_its_draw() -> None:
    """When noise is drawn, the meter has counted the price already."""
    curator, noise = watched()
    curator.measure(BinCounts([(0,)]), Fraction(1, 4))
    curator.choose(ItemSupports(3), 2, Fraction(1, 2))
    assert [(kind, spent) for kind, spent, _ in noise.calls] == [
        ("laplace", Fraction(1, 4)),
        ("select", Fraction(3, 4)),
    ]


def test_the_scale_is_sensitivity_over_epsilon() -> None:
    """Two bases at ε = 1/4 ask for Laplace noise of scale exactly 8."""
    curator, noise = watched()
    answer = curator.measure(BinCounts([(0,), (1, 2)]), Fraction(1, 4))
    assert noise.calls[0][2] == 8
    assert answer.noise.scale == 8


def test_monotone_scores_need_half_the_noise() -> None:
    """n draws at ε have the exponent ε/n on supports and ε/2n on rank gaps."""
    curator, noise = watched()
    curator.choose(ItemSupports(3), 2, Fraction(1, 3))
    curator.choose(RankGap(2, 1, 3), 1, Fraction(1, 3))
    assert [rate for _, _, rate in noise.calls] == [Fraction(1, 6), Fraction(1, 6)]


def test_choose_clamps_to_the_candidates_and_pays_for_those_draws() -> None:
    """Ten of three items are three items, each drawn at a third of the price."""
    curator, noise = watched()
    answer = curator.choose(ItemSupports(3), 10, Fraction(1))
    assert sorted(answer.chosen) == [(0,), (1,), (2,)]
    assert noise.calls[0][2] == Fraction(1, 3)


def test_choosing_none_is_free() -> None:
    """n = 0 charges nothing and answers nothing."""
    desk = make_desk()
    assert make_curator(desk).choose(ItemSupports(3), 0).chosen == ()
    assert desk.meter.charges == ()


def test_a_charge_beyond_the_share_is_refused() -> None:
    """The error carries what was asked for and what is left, and nothing was spent."""
    desk = make_desk()
    with pytest.raises(BudgetError, match="is left for select_elements") as caught:
        make_curator(desk, Fraction(1, 2)).measure(ItemSupports(3), Fraction(3, 4))
    assert (caught.value.requested, caught.value.remaining) == (Fraction(3, 4), Fraction(1, 2))
    assert desk.meter.spent == 0


@pytest.mark.parametrize("price", [0, -1, "0"])
def test_a_price_of_nothing_is_refused(price: object) -> None:
    """No query is answered for free."""
    with pytest.raises(BudgetError):
        make_curator(make_desk()).measure(ItemSupports(3), price)


def test_an_exhausted_share_is_refused_without_a_price() -> None:
    """A stage that has spent all gets nothing more by not naming a price."""
    curator = make_curator(make_desk())
    curator.measure(ItemSupports(3))
    with pytest.raises(BudgetError, match="no budget left"):
        curator.measure(ItemSupports(3))


def test_a_closed_curator_answers_nothing() -> None:
    """A component that keeps its curator finds it closed, even for free questions."""
    curator = make_curator(make_desk())
    close(curator)
    for ask in (lambda: curator.measure(ItemSupports(3)), lambda: curator.choose(ItemSupports(3), 0)):
        with pytest.raises(ContractError, match="after its stage had ended"):
            ask()


def test_split_divides_exactly() -> None:
    """Thirds of a tenth sum to a tenth."""
    parts = make_curator(make_desk(), Fraction(1, 10)).split(a=1, b=1, c=1)
    assert sum(parts.values()) == Fraction(1, 10)


@pytest.mark.parametrize("weights", [{"a": 0}, {"a": -1, "b": 2}])
def test_split_refuses_useless_weights(weights: dict[str, int]) -> None:
    """Weights that are all zero, or negative, divide nothing."""
    with pytest.raises(InputError):
        make_curator(make_desk()).split(**weights)


def test_answers_are_read_only() -> None:
    """A later stage cannot change what an earlier one was told."""
    answer = make_curator(make_desk()).measure(ItemSupports(3))
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
    desk = make_desk()
    with pytest.raises(ContractError, match="--trust"):
        make_curator(desk).measure(ForeignQuery(np.array([1])))
    assert desk.meter.spent == 0


def test_a_trusted_query_is_marked_in_its_charge() -> None:
    """The receipt will say that nobody verified the sensitivity."""
    desk = make_desk(trusts=lambda cls: cls is ForeignQuery)
    make_curator(desk).measure(ForeignQuery(np.array([1])))
    assert [charge.verified for charge in desk.meter.charges] == [False]


def test_a_subclass_of_a_verified_query_needs_trust() -> None:
    """Only privmine's own class is verified: a subclass may have changed the sensitivity."""

    class Sly(ItemSupports):
        pass

    with pytest.raises(ContractError, match="cannot verify"):
        make_curator(make_desk()).measure(Sly(3))


def test_a_failing_query_leaks_nothing() -> None:
    """Neither the message nor any chained exception carries what the query saw; the charge stands."""
    desk = make_desk(trusts=lambda cls: True)
    with pytest.raises(QueryError) as caught:
        make_curator(desk).measure(ForeignQuery(), Fraction(1, 2))
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret" not in shown
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert desk.meter.spent == Fraction(1, 2)


@pytest.mark.parametrize("answer", [np.array([0.5]), np.array([[1]]), np.array([1, 2]), ["a"]])
def test_an_answer_of_the_wrong_form_is_refused(answer: object) -> None:
    """Exact answers are whole numbers, as many as declared."""
    with pytest.raises(QueryError):
        make_curator(make_desk(trusts=lambda cls: True)).measure(ForeignQuery(answer))


def test_sensitivity_zero_is_refused() -> None:
    """A query that claims to depend on nothing would be answered without noise."""

    class Constant(ForeignQuery):
        sensitivity = Sensitivity(0, 0, 0)

    with pytest.raises(ContractError, match="sensitivity of 0"):
        make_curator(make_desk(trusts=lambda cls: True)).measure(Constant(np.array([1])))


def test_secure_answers_are_integers() -> None:
    """Whatever is measured with the default noise is a whole number."""
    answer = make_curator(make_desk(SecureNoise())).measure(Supports([(), (0,)]))
    assert answer.values.dtype.kind == "i"
    assert answer.noise.distribution == "discrete laplace"


def test_repr_shows_no_data() -> None:
    """A curator in a traceback or a log tells its stage and its budget only."""
    assert repr(make_curator(make_desk())) == "<Curator of select_elements, ε = 1 remaining>"
