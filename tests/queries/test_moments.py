"""Moment matrices: what they count, what they cost, and that only what is proven is done."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import ContractError, InputError
from privmine.noise.laws import NoiseSum
from privmine.noise.secure import SecureNoise
from privmine.privacy import ConeSensitivity, DiscreteElliptope, DiscreteLaplace, PureDP, Sensitivity, Unit
from privmine.privacy.noise import noise_from_dict
from privmine.queries import ItemCutoff, MomentMatrix, Query, StateCounts
from privmine.store.transactions import Transactions
from privmine.testing import charges_of, curator_for

ITEMS = 4
baskets = st.lists(st.sets(st.integers(0, ITEMS - 1)).map(sorted), max_size=12)


def store(rows):
    """A store of baskets over four items."""
    return Transactions.from_lists(rows, items=list(range(ITEMS))).store


@settings(max_examples=60, deadline=None)
@given(rows=baskets)
def test_each_transaction_adds_its_own_matrix(rows):
    """G is the sum of x·xᵀ over the transactions, with N on the diagonal."""
    query = MomentMatrix((0, 1, 3))
    signs = [[1] + [1 if item in row else -1 for item in (0, 1, 3)] for row in rows]
    expected = sum((np.outer(x, x) for x in signs), np.zeros((4, 4)))
    assert np.array_equal(query.matrix(query.evaluate(store(rows))), expected)


@pytest.mark.parametrize("items", [(), (2,)])
def test_few_items_have_a_matrix_too(items):
    """Without items the matrix is N alone; with one it has two values."""
    query = MomentMatrix(items)
    assert query.evaluate(store([[2], [2, 3], [0]])).tolist() == [3, 1][: query.size]
    matrix = query.matrix([3, 1][: query.size])
    assert (matrix.shape, matrix.dtype) == ((len(items) + 1,) * 2, np.float64)


def test_too_many_items_are_refused():
    """The limit is told before anything is charged."""
    with pytest.raises(InputError, match="100 items at most, not 101"):
        MomentMatrix(range(101))


@settings(max_examples=60, deadline=None)
@given(rows=baskets, states=st.sets(st.integers(0, 7)))
def test_states_partition_the_transactions(rows, states):
    """Every transaction is in the one state that it has of the items, or among the others."""
    codes = [sum(1 << place for place, item in enumerate((0, 2, 3)) if item in row) for row in rows]
    counted = StateCounts((0, 2, 3), sorted(states)).evaluate(store(rows)).tolist()
    assert counted == [*(codes.count(state) for state in sorted(states)), sum(code not in states for code in codes)]


def test_state_given_twice_is_refused():
    """A transaction in it would count twice, which nobody pays for."""
    with pytest.raises(InputError, match="given twice"):
        StateCounts((0, 1), [2, 2])


def test_cutoff_is_best_where_the_items_reach_the_itemset():
    """Of items with supports 5, 4, 2, 0, two reach the support 3 of the fourth itemset; penalties are taken off."""
    rows = [[0, 1, 2], [0, 1, 2], [0, 1], [0, 1], [0]]
    scores = ItemCutoff(3, 1, 4).evaluate(store(rows))
    assert scores.tolist() == [0, 0, -2, -4]  # c_θ = 4: one item has 5 ≥ 4, and the next has no more than 4
    assert ItemCutoff(3, 1, 4, penalties=[1, 0, 0, 9]).evaluate(store(rows)).tolist() == [-1, 0, -2, -13]
    with pytest.raises(InputError, match="2 penalties for 4 numbers"):
        ItemCutoff(3, 1, 4, penalties=[1, 2])


# Prices.


def test_one_transaction_costs_epsilon_whatever_the_size():
    """The scale is 1/ε for any number of items, and the cost of that noise is ε again."""
    definition = PureDP()
    for items in (1, 5, 30):
        sensitivity = MomentMatrix(range(items)).sensitivity
        noise = definition.noise_for(sensitivity, definition.cost("1/4"))
        assert noise == DiscreteElliptope(4, items + 1)
        assert definition.cost_of_noise(sensitivity, noise) == definition.cost("1/4")


def test_unit_of_m_transactions_costs_m_times_as_much():
    """Of customers with up to three baskets the noise is three times as large for the same ε."""
    rows = Transactions.from_lists([[0], [1], [0, 1]], items=[0, 1])
    curator = curator_for(Transactions(rows.universe, rows.store, Unit("customer", baskets=3)), 1)
    assert curator.measure(MomentMatrix((0, 1))).noise.scale == 3
    (charge,) = charges_of(curator)
    assert str(charge.cost) == "ε = 1"


def test_charge_names_the_mechanism():
    """The receipt says which noise was drawn, for how many variables."""
    curator = curator_for([[0], [0, 1]], 2, noise=SecureNoise())
    answer = curator.measure(MomentMatrix((0, 1)), curator.remaining / 4)
    assert answer.values.dtype == np.int64
    (charge,) = charges_of(curator)
    assert charge.mechanism == "discrete elliptope of 3 variables and scale 2"
    assert noise_from_dict(charge.noise.to_dict()) == charge.noise == answer.noise


def test_simulation_answers_in_floats():
    """Simulated noise is not rounded, and says so."""
    answer = curator_for([[0], [0, 1]], 1).measure(MomentMatrix((0, 1)))
    assert (answer.values.dtype, answer.noise.distribution) == (np.float64, "elliptope")


# What is not proven is refused, before a charge.


class Borrowed(MomentMatrix):
    """A third party's query that claims the cone."""


def test_cone_of_a_third_party_is_refused_before_a_charge():
    """Even a trusted distribution cannot vouch for the cone: nothing enforces that its answers lie in it."""
    curator = curator_for([[0], [1]], 1, trusted=True)
    with pytest.raises(ContractError, match="MomentMatrix only, and nothing was charged"):
        curator.measure(Borrowed((0, 1)))
    assert not charges_of(curator)


def test_noise_of_a_cone_has_no_price_for_norms():
    """A query that declares norms, or another size, has no proof with this noise."""
    definition = PureDP()
    for sensitivity in (Sensitivity(1, 1, 1), ConeSensitivity(2, 2, 1, variables=2)):
        with pytest.raises(InputError, match="no proof"):
            definition.cost_of_noise(sensitivity, DiscreteElliptope(1, 3))


def test_sums_of_moments_have_no_law_of_independent_draws():
    """A count made of moments states its standard deviation; a sum of independent draws it is not."""
    with pytest.raises(InputError, match="no independent noise"):
        NoiseSum(DiscreteElliptope(1, 3), [(1, 1.0)])
    assert NoiseSum(DiscreteLaplace(1), [(1, 1.0)]).standard_error > 0


@pytest.mark.parametrize("variables", [None, 3, "0", "-1", "x", "1000000", "9" * 5000])
def test_file_with_nonsense_for_variables_is_refused(variables):
    """A receipt may come from anybody."""
    with pytest.raises(InputError, match="does not know this noise"):
        noise_from_dict({"distribution": "discrete elliptope", "scale": "1", "variables": variables})


def test_exact_noise_saturates():
    """Where a sum does not fit in 64 bits it stays at the limit."""
    values = SecureNoise().elliptope(np.array([0, 0]), 2, Fraction(2**80))
    assert np.abs(values).max() == np.iinfo(np.int64).max


def test_noise_of_another_size_is_refused():
    """Moments of three variables have four values."""
    with pytest.raises(ValueError, match="zip"):
        SecureNoise().elliptope(np.array([0, 0]), 3, Fraction(1))


def test_norms_hold_as_well():
    """A selection by moments goes by their norms: each value moves by 1, and not all in one direction."""
    query: Query = MomentMatrix((0, 1))
    assert (query.sensitivity.linf, query.sensitivity.score_moves) == (1, 2)
    assert query.sensitivity.times(4).elements == 4
