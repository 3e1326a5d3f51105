"""The component that covers items and pairs by bases."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.api import BasisSet, Elements, InputError, Itemset, Public, PureDP, Request, Universe
from privmine.defaults.construct import GreedyBasis

REQUEST = Request(k=100, requested=100, budget=PureDP().cost(1), public=Public(Universe.of(range(100))))


def construct(elements: Elements, max_length: int = 12) -> BasisSet:
    """Run the component."""
    return GreedyBasis(max_length=max_length).construct_basis(REQUEST, elements)


def covered(basis: BasisSet, itemset: Itemset) -> bool:
    """Whether some basis contains the itemset."""
    return any(set(itemset) <= set(members) for members in basis.bases)


@pytest.mark.parametrize("count", [1, 2, 11, 12])
def test_few_items_make_one_basis(count: int) -> None:
    """Up to max_length items without pairs are one basis (Alg. 3, l. 3-5)."""
    basis = construct(Elements(range(count, 0, -1)))
    assert basis.bases == (tuple(range(1, count + 1)),)
    assert basis.candidates is None
    assert basis.notes == ()


def test_no_items_measure_only_the_number_of_transactions() -> None:
    """The empty basis is measured, whose one bin is N."""
    assert construct(Elements(())).bases == ((),)


def test_many_items_without_pairs_are_grouped() -> None:
    """Thirteen items and no pair: small groups, each item in exactly one."""
    bases = construct(Elements(range(13))).bases
    assert sorted(item for basis in bases for item in basis) == list(range(13))
    assert max(map(len, bases)) <= 4


def test_pairs_make_cliques_even_of_few_items() -> None:
    """Where pairs were selected they decide, even if one basis could hold all items."""
    bases = construct(Elements(range(12), [(0, 1), (1, 2), (0, 2)])).bases
    assert len(bases) > 1
    assert covered(BasisSet(bases), (0, 1, 2))


def test_the_members_of_longer_itemsets_are_a_clique() -> None:
    """An itemset of three from another selector is covered whole, and so are items that only it names."""
    basis = construct(Elements([*range(20), 40], [(20, 21, 22), (0, 1), (5,), ()]))
    assert covered(basis, (20, 21, 22))
    assert all(covered(basis, (item,)) for item in (*range(23), 40))


def test_a_split_clique_is_noted() -> None:
    """A clique longer than the limit keeps its pairs, and a sentence for the receipt says what is lost."""
    pairs = list(combinations(range(14), 2))
    basis = construct(Elements(range(16), pairs))
    assert basis.notes == ("A clique of 14 items was split: all its pairs are covered, but not all its triples.",)
    assert all(covered(basis, pair) for pair in pairs)
    assert basis.length <= 12


def test_a_clique_that_just_fits_is_not_split() -> None:
    """Twelve items are one basis, and the receipt does not say that something was lost."""
    basis = construct(Elements(range(16), list(combinations(range(12), 2))))
    assert basis.notes == ()
    assert covered(basis, tuple(range(12)))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(0, 30), unique=True, max_size=26),
    st.lists(st.frozensets(st.integers(0, 30), min_size=2, max_size=5), max_size=25),
    st.integers(2, 13),
)
def test_everything_selected_is_covered(items: list[int], sets: list[frozenset[int]], max_length: int) -> None:
    """All items and pairs are inside bases of at most max_length; whole itemsets too if nothing was split."""
    elements = Elements(items, sets)
    basis = construct(elements, max_length)
    assert basis.length <= max_length
    assert all(covered(basis, (item,)) for item in items)
    for itemset in elements.itemsets:
        assert all(covered(basis, pair) for pair in combinations(itemset, 2))
        assert basis.notes or covered(basis, itemset)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 30), unique=True, max_size=20),
    st.lists(st.tuples(st.integers(0, 12), st.integers(13, 20)), max_size=20),
    st.randoms(),
)
def test_the_order_of_the_elements_does_not_matter(items: list[int], pairs: list[Itemset], random) -> None:  # type: ignore[no-untyped-def]
    """Selection's order of items and pairs does not change the basis set."""
    basis = construct(Elements(items, pairs))
    random.shuffle(items)
    random.shuffle(pairs)
    assert construct(Elements(items, pairs)) == basis


@pytest.mark.parametrize("value", [1, 0, -3, 21, 2.5, "12", True, None])
def test_an_unusable_limit_is_refused(value: object) -> None:
    """The longest basis must hold a pair and must not have millions of bins."""
    with pytest.raises(InputError, match="max_length must be a whole number from 2 to 20"):
        GreedyBasis(max_length=value)
