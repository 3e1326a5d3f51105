from collections import Counter
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.privacy.unit import Unit
from privmine.store.rows import Rows
from privmine.store.transactions import Transactions
from privmine.store.units import bounded, merged, mixed_bits, salts

untimed = settings(deadline=None, max_examples=150)
#: Few labels, so that baskets repeat within a unit and between units.
baskets = st.tuples(st.integers(0, 4), st.frozensets(st.integers(0, 3), max_size=3))
databases = st.lists(baskets, max_size=24)
#: About five standard deviations: a fair chooser is beyond it once in two million hashings.
FIVE_SIGMA = 5.0


def as_rows(pairs):
    """The baskets of pairs of unit and basket, and the unit of each, as arrays."""
    offsets = np.cumsum([0] + [len(basket) for _, basket in pairs])
    items = np.array([item for _, basket in pairs for item in sorted(basket)], dtype=np.int32)
    return Rows.of(offsets, items), np.array([unit for unit, _ in pairs], dtype=np.int64)


def as_baskets(rows):
    """How often each basket occurs."""
    return Counter(frozenset(rows.items[start:stop].tolist()) for start, stop in pairwise(rows.offsets.tolist()))


def by_hash(pairs, most, seed=0, as_text=False):
    """The kept baskets when everything that must not matter is chosen by a seed: order, codes, types."""
    generator = np.random.default_rng(seed)
    pairs = [pairs[place] for place in generator.permutation(len(pairs))]
    labels, names = generator.permutation(4), generator.permutation(5)
    code, number = np.argsort(labels), np.argsort(names)
    offsets = np.cumsum([0] + [len(basket) for _, basket in pairs])
    codes = [code[item] for _, basket in pairs for item in generator.permutation(sorted(basket))]
    transactions = Transactions.from_codes(
        offsets,
        np.array(codes, dtype=np.int64),
        [str(label) for label in labels] if as_text else labels,
        range(4),
        unit_of_row=np.array([number[unit] for unit, _ in pairs], dtype=np.int64),
        unit_labels=[str(name) for name in names] if as_text else names.tolist(),
        unit=Unit("customer", most),
    )
    return as_baskets(transactions.store._rows)


def by_arrival(pairs, most, seed=0, as_text=False):
    """Broken: the first baskets of each unit, whatever the order of the file is."""
    generator = np.random.default_rng(seed)
    taken, kept = Counter(), Counter()
    for place in generator.permutation(len(pairs)):
        unit, basket = pairs[place]
        taken[unit] += 1
        kept[basket] += taken[unit] <= most
    return +kept


def by_codes(pairs, most, seed=0, as_text=False):
    """Broken: the baskets whose items have the smallest codes, which are given in no particular order."""
    code = np.argsort(np.random.default_rng(seed).permutation(4))
    kept = Counter()
    for name in {unit for unit, _ in pairs}:
        own = sorted((basket for unit, basket in pairs if unit == name), key=lambda basket: sorted(code[list(basket)]))
        kept.update(own[:most])
    return kept


def by_popularity(pairs, most, seed=0, as_text=False):
    """Broken: the baskets that most units have, so that one unit decides what another keeps."""
    popular = Counter(basket for _, basket in pairs)
    kept = Counter()
    for name in {unit for unit, _ in pairs}:
        own = (basket for unit, basket in pairs if unit == name)
        kept.update(sorted(own, key=lambda basket: (-popular[basket], sorted(basket)))[:most])
    return kept


def by_shared_numbers(pairs, most, seed=0, as_text=False):
    """Broken: transactions numbered over all units, each unit keeping those of the smallest numbers modulo 7."""
    ordered = sorted(pairs, key=lambda pair: (pair[0], sorted(pair[1])))
    taken, kept = Counter(), Counter()
    for _, (unit, basket) in sorted(enumerate(ordered), key=lambda entry: entry[0] * 3 % 7):
        taken[unit] += 1
        kept[basket] += taken[unit] <= most
    return +kept


def a_unit_has_no_say_in_what_others_keep(chooser, examples=untimed):
    """Check a chooser: without one unit the others keep what they kept, whatever the order of anything."""

    @examples
    @given(databases, st.integers(0, 4), st.integers(1, 4), st.integers(0, 99), st.integers(0, 99), st.booleans())
    def check(pairs, removed, most, seed, other_seed, as_text):
        kept = chooser(pairs, most, seed, as_text)
        others = chooser([pair for pair in pairs if pair[0] != removed], most, other_seed, not as_text)
        assert others <= kept
        had = sum(unit == removed for unit, _ in pairs)
        assert (kept - others).total() == min(had, most)
        own = chooser([pair for pair in pairs if pair[0] == removed], most, other_seed, not as_text)
        assert kept - others == own

    check()


def test_one_unit_moves_at_most_its_own_baskets():
    """D and D without a unit differ in what that unit kept, whatever order, codes and types are."""
    a_unit_has_no_say_in_what_others_keep(by_hash)


@pytest.mark.parametrize("broken", [by_arrival, by_codes, by_popularity, by_shared_numbers])
def test_the_check_finds_choosers_that_are_not_private(broken):
    """Choosers that go by arrival, by codes, by other units' baskets or by common numbers are all found out."""
    # That there is a counterexample matters here, not how small it can be made.
    quick = settings(untimed, database=None, phases=[Phase.generate], max_examples=400)
    with pytest.raises(AssertionError):
        a_unit_has_no_say_in_what_others_keep(broken, quick)


@untimed
@given(databases, st.integers(1, 5))
def test_each_unit_keeps_as_many_as_it_may(pairs, most):
    """A unit keeps all its baskets or exactly the most; what is kept comes from the unit, in the order of the file."""
    rows, units = as_rows(pairs)
    kept = bounded(rows, units, salts(range(5)), salts(range(4)), most)
    assert kept.count == sum(min(most, count) for count in Counter(unit for unit, _ in pairs).values())
    assert as_baskets(kept) <= as_baskets(rows)
    for unit in {unit for unit, _ in pairs}:
        own, numbers = as_rows([pair for pair in pairs if pair[0] == unit])
        alone = bounded(own, numbers, salts(range(5)), salts(range(4)), most)
        assert as_baskets(alone) <= as_baskets(own)
        assert alone.count == min(most, own.count)


@untimed
@given(databases)
def test_merging_unites_the_baskets_of_a_unit(pairs):
    """One basket a unit that has any, with all its items; a unit without items has an empty one."""
    rows, units = as_rows(pairs)
    wanted = {unit: frozenset().union(*(basket for other, basket in pairs if other == unit)) for unit, _ in pairs}
    found = merged(rows, units)
    assert as_baskets(found) == Counter(wanted.values())
    assert found.are_strictly_increasing()


def test_integers_and_texts_that_read_the_same_have_the_same_salt():
    """12 is "12", whether it comes as a Python or numpy integer, and no other label is."""
    texts = salts(["12", "-7", "a"])
    assert texts[:2].tolist() == salts([12, -7]).tolist() == salts(np.array([12, -7], dtype=np.int16)).tolist()
    assert len(set(salts(range(10_000)).tolist())) == 10_000
    assert salts([]).dtype == np.uint64


def test_salts_are_the_same_on_every_machine():
    """A choice must not depend on Python's own hash, which changes from one process to the next."""
    assert salts(["bread", 12]).tolist() == [0x2976DFA3C92B5867, 0xE330C688E1097A6B]


def kept_shares(contents, most, unit_count=6000):
    """How often each content is kept when every unit has these baskets, and which ones each unit kept."""
    pairs = [(unit, basket) for unit in range(unit_count) for basket in contents]
    rows, units = as_rows(pairs)
    # A mark that only this test sees: an item without salt that tells the unit.
    kept = bounded(rows, units, salts(range(unit_count)), salts(range(8)), most)
    return as_baskets(kept), kept


def test_every_basket_has_the_same_chance():
    """A content that a unit has three times is kept three times as often as one that it has once.

    The labels are fixed, so the test has one outcome for ever; for labels drawn at random a fair
    chooser would fail it once in about a million.
    """
    shares, _ = kept_shares([frozenset({1}), frozenset({1}), frozenset({1}), frozenset({2, 3})], 1)
    spread = FIVE_SIGMA * sqrt(6000 * 3 / 16)
    assert abs(shares[frozenset({1})] - 4500) < spread
    contents = [frozenset({item, other}) for item in range(4) for other in range(4, 6)]
    shares, _ = kept_shares(contents, 2)
    for content in contents:
        assert abs(shares[content] - 1500) < FIVE_SIGMA * sqrt(6000 * 3 / 16)


def test_a_basket_that_was_not_kept_makes_no_difference():
    """A basket's rank depends on its own content and number, so that without one that was not kept all others stay."""
    baskets_of_one = [frozenset(basket) for basket in ({0}, {1}, {2}, {3}, {0, 1}, {0, 2}, {0, 3}, {1, 2})]
    for unit in range(5):
        pairs = [(unit, basket) for basket in baskets_of_one]
        kept = by_hash(pairs, 3)
        for pair in pairs:
            if pair[1] not in kept:
                assert by_hash([other for other in pairs if other != pair], 3) == kept


def test_units_choose_independently():
    """Customers with the same baskets keep different ones: neighbours in the list agree one time in four."""
    _, kept = kept_shares([frozenset({item}) for item in range(4)], 1)
    agreements = int((kept.items[1:] == kept.items[:-1]).sum())
    assert abs(agreements - 5999 / 4) < FIVE_SIGMA * sqrt(5999 * 3 / 16)


def test_equal_hashes_are_told_apart_by_the_units_own_rows():
    """Were all items to collide, a unit would still keep its own baskets, as many as it may."""
    pairs = [(0, {0}), (1, {1}), (0, {2}), (1, {2}), (0, {3})]
    rows, units = as_rows(pairs)
    same = np.zeros(4, dtype=np.uint64)
    everything = bounded(rows, units, salts([7, 8]), same, 2)
    alone = bounded(*as_rows([pair for pair in pairs if pair[0] == 0]), salts([7, 8]), same, 2)
    assert everything.count == 4
    assert as_baskets(everything) == as_baskets(alone) + Counter([frozenset({1}), frozenset({2})])


def test_items_outside_the_universe_do_not_decide():
    """Two databases that differ only in items outside the public universe keep the same baskets."""
    inside = [(0, {0, 1}), (0, {1}), (0, {2}), (0, {0}), (1, {1})]
    found = []
    for extra in (set(), {3}):
        rows, units = as_rows([(unit, basket | extra) for unit, basket in inside])
        transactions = Transactions.from_codes(
            rows.offsets,
            rows.items,
            ["a", "b", "c", "d"],
            ["c", "b", "a"],
            unit_of_row=units,
            unit_labels=["x", "y"],
            unit=Unit("customer", 2),
        )
        found.append(as_baskets(transactions.store._rows))
    assert found[0] == found[1]


ONE_BASKET_EACH = Unit("customer", 1)


def customers(unit_labels, unit=ONE_BASKET_EACH):
    """Four baskets of one item, each with a unit of its own number."""
    return Transactions.from_codes(
        np.arange(5),
        np.arange(4),
        ["a", "b", "c", "d"],
        unit_of_row=np.arange(4),
        unit_labels=unit_labels,
        unit=unit,
    )


def test_units_that_read_the_same_are_one():
    """A customer who comes as 12 and as "12" has one allowance, not two."""
    assert customers([12, "12", 7, "7"]).store.count() == 2
    assert customers([12, "12", 7, "7"], Unit("customer", 1, merged=True)).store.count() == 2
    assert customers([1, 2, 3, 4]).store.count() == 4


def test_what_a_unit_needs():
    """A unit without the unit of each row, the reverse, missing units and a misleading name are refused."""
    row = {"offsets": np.arange(2), "codes": np.zeros(1, dtype=np.int64), "labels": ["a"]}
    with pytest.raises(InputError, match="unit of each transaction"):
        Transactions.from_codes(**row, unit=Unit("customer", 2))
    with pytest.raises(InputError, match="cannot be called 'transaction'"):
        Transactions.from_codes(**row, unit_of_row=np.zeros(1, dtype=np.int64), unit_labels=["x"])
    with pytest.raises(InputError, match="is missing"):
        customers(["x", None, "y", "z"])
    with pytest.raises(InputError, match="is missing"):
        customers(["x", float("nan"), "y", "z"])
    with pytest.raises(InputError, match="position of its unit"):
        customers(["x", "y", "z"])
    assert customers([1, 2, 3, 4], Unit("customer", 3)).unit == Unit("customer", 3)


def test_mixing_is_that_of_splitmix64():
    """The published first outputs of the generator with seed 0: what a unit keeps never changes with a version."""
    step = 0x9E3779B97F4A7C15
    states = np.array([0, step, 2 * step % 2**64], dtype=np.uint64)
    assert mixed_bits(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@untimed
@given(databases, st.integers(1, 3), st.integers(1, 5))
def test_blocks_do_not_decide(pairs, most, size):
    """Rows that are worked on in many small blocks are bounded and merged as in one."""
    rows, units = as_rows(pairs)
    arguments = rows, units, salts(range(5)), salts(range(4)), most
    whole = [bounded(*arguments), merged(rows, units)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rows.blocks, "__defaults__", (size,))
        parts = [bounded(*arguments), merged(rows, units)]
    for one, other in zip(whole, parts, strict=True):
        assert one.offsets.tolist() == other.offsets.tolist()
        assert one.items.tolist() == other.items.tolist()


def test_labels_of_units_may_hold_anything():
    """A lone surrogate, as a badly decoded file has it, is a label like any other."""
    assert len(set(salts(["\ud800", "\ud801", "?"]).tolist())) == 3
