"""What all strategies promise: cover, keep to the limit, be total, and depend on nothing else."""

from __future__ import annotations

import ast
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import privmine_bases
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privmine_bases.cliques import CliqueBasis
from privmine_bases.cover import CoveringDesign
from privmine_bases.single import SingleBasis
from privmine_bases.triples import TripleBasis
from privmine_bases.worst_case import WorstCaseBasis

from privmine.api import BasisSet, Elements, InputError, Itemset
from privmine.testing import check_component, parametrize_components


class Strategy(Protocol):
    """A component for construct_basis that needs the elements only."""

    def construct_basis(self, elements: Elements) -> BasisSet:
        """Build the bases."""


STRATEGIES = [SingleBasis, CliqueBasis, TripleBasis, WorstCaseBasis, CoveringDesign]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
few_examples = settings(max_examples=40, deadline=None)

items_lists = st.lists(st.integers(0, 30), unique=True, max_size=24)
itemset_lists = st.lists(st.frozensets(st.integers(0, 30), max_size=5), max_size=20)
selections = st.builds(Elements, items_lists, itemset_lists)


def any_selection(test: Any) -> Any:
    """Try a test with a few selections and limits of the length."""
    return few_examples(given(selections, st.integers(2, 20))(test))


def made(strategy: Any, max_length: int) -> Strategy:
    """The component with a limit, and with little search so that tests are quick."""
    options = {"iterations": 10} if strategy is CoveringDesign else {}
    component: Strategy = strategy(max_length=max_length, **options)
    return component


def covered(basis: BasisSet, itemset: Itemset) -> bool:
    """Whether some basis contains the itemset."""
    return any(set(itemset) <= set(members) for members in basis.bases)


def all_items(elements: Elements) -> set[int]:
    """The items that are selected or that a selected itemset names."""
    return {*elements.items, *(item for found in elements.itemsets for item in found)}


@parametrize_components("privmine-bases")
def test_the_kit_finds_no_flaw(component: object) -> None:
    """Every strategy keeps the contracts that the kit for authors checks."""
    check_component(component)


@every_strategy
@any_selection
def test_any_selection_gives_a_sound_basis_set(strategy: Any, elements: Elements, max_length: int) -> None:
    """Bases are distinct, within the limit, made of selected items only, and the same at every call."""
    basis = made(strategy, max_length).construct_basis(elements)
    assert basis.length <= max_length
    assert len(set(basis.bases)) == basis.width >= 1
    assert {item for members in basis.bases for item in members} <= all_items(elements)
    assert basis.candidates is None
    assert made(strategy, max_length).construct_basis(elements) == basis


@pytest.mark.parametrize("strategy", [CliqueBasis, TripleBasis, WorstCaseBasis, CoveringDesign])
@any_selection
def test_all_items_are_covered(strategy: Any, elements: Elements, max_length: int) -> None:
    """No selected item is lost, not even one that only an itemset names."""
    basis = made(strategy, max_length).construct_basis(elements)
    assert all(covered(basis, (item,)) for item in all_items(elements))


@pytest.mark.parametrize("strategy", [CliqueBasis, WorstCaseBasis])
@any_selection
def test_all_selected_pairs_are_covered(strategy: Any, elements: Elements, max_length: int) -> None:
    """Pairs always, and whole itemsets unless a note says that a clique was split."""
    basis = made(strategy, max_length).construct_basis(elements)
    for found in elements.itemsets:
        assert all(covered(basis, pair) for pair in combinations(found, 2))
        assert basis.notes or covered(basis, found)


@few_examples
@given(selections, st.integers(2, 20), st.integers(0, 20))
def test_cover_covers_every_pair_of_items(elements: Elements, max_length: int, iterations: int) -> None:
    """Whichever pairs were selected, and however long the search."""
    basis = CoveringDesign(max_length=max_length, iterations=iterations).construct_basis(elements)
    assert all(covered(basis, pair) for pair in combinations(sorted(all_items(elements)), 2))


@every_strategy
@any_selection
def test_what_is_not_covered_is_noted(strategy: Any, elements: Elements, max_length: int) -> None:
    """Without a note, everything that was selected is covered."""
    basis = made(strategy, max_length).construct_basis(elements)
    wanted = [*((item,) for item in elements.items), *elements.itemsets]
    assert basis.notes or all(covered(basis, found) for found in wanted)


@every_strategy
@few_examples
@given(items_lists, itemset_lists, st.randoms())
def test_the_order_of_the_selection_does_not_matter(
    strategy: Any, items: list[int], sets: list[frozenset[int]], random: Any
) -> None:
    """Shuffled elements give the same basis set; only `single` looks at the order, beyond its limit."""
    component = made(strategy, 20 if strategy is SingleBasis else 8)
    elements = Elements(items, sets)
    if strategy is SingleBasis and len(all_items(elements)) > 20:
        return
    basis = component.construct_basis(elements)
    random.shuffle(items)
    random.shuffle(sets)
    assert component.construct_basis(Elements(items, sets)) == basis


@every_strategy
def test_nothing_selected_leaves_the_number_of_transactions(strategy: Any) -> None:
    """The empty basis has one bin, which is N."""
    assert strategy().construct_basis(Elements(())) == BasisSet(bases=((),))
    assert strategy().construct_basis(Elements((), [()])) == BasisSet(bases=((),))


@every_strategy
def test_one_item_is_one_basis(strategy: Any) -> None:
    """Wherever it is named."""
    assert strategy().construct_basis(Elements([7])) == BasisSet(bases=((7,),))
    assert strategy().construct_basis(Elements((), [(7,)])) == BasisSet(bases=((7,),))


@every_strategy
def test_a_selection_of_hundreds_is_no_obstacle(strategy: Any) -> None:
    """Two hundred items and as many pairs around one of them."""
    elements = Elements(range(200), [(0, item) for item in range(1, 200)])
    assert made(strategy, 12).construct_basis(elements).length <= 12


@every_strategy
@pytest.mark.parametrize("value", [1, 0, -3, 21, 2.5, "12", True, None])
def test_an_unusable_limit_is_refused(strategy: Any, value: object) -> None:
    """The longest basis must hold a pair and must not have millions of bins."""
    with pytest.raises(InputError, match="max_length must be a whole number from 2 to 20"):
        strategy(max_length=value)


def test_single_keeps_the_first_items_selected() -> None:
    """Beyond the limit the last ones go, items that only an itemset names before all others."""
    basis = SingleBasis(max_length=3).construct_basis(Elements([9, 4, 7, 1], [(2, 9)]))
    assert basis.bases == ((4, 7, 9),)
    assert basis.notes == (
        "One basis holds at most 3 items. In none, so that they cannot be released: the last 2 of the 5 "
        "selected items.",
    )


def test_single_holds_sixteen_items_by_default() -> None:
    """More than the default strategy puts into one basis."""
    assert SingleBasis().construct_basis(Elements(range(16))).bases == (tuple(range(16)),)


def test_cliques_are_not_merged() -> None:
    """Two pairs that share an item stay two bases, and items without a pair come in threes."""
    basis = CliqueBasis().construct_basis(Elements(range(7), [(0, 1), (1, 2)]))
    assert basis.bases == ((0, 1), (1, 2), (3, 4), (5, 6))


def test_a_split_clique_is_noted() -> None:
    """Its pairs stay covered, and the receipt says what is lost."""
    basis = CliqueBasis().construct_basis(Elements((), [range(14)]))
    assert basis.notes == ("A clique of 14 items was split: all its pairs are covered, but not all its triples.",)


@pytest.mark.parametrize("strategy", [CliqueBasis, WorstCaseBasis])
def test_few_items_without_pairs_are_one_basis(strategy: Any) -> None:
    """Selection leaves pairs out where it counts on one basis (Alg. 3, l. 3-5)."""
    assert strategy().construct_basis(Elements(range(12))).bases == (tuple(range(12)),)
    assert strategy().construct_basis(Elements(range(13))).length <= 3


def test_triples_say_what_they_do_not_cover() -> None:
    """Four items, two groups; one of two selected pairs lies across them."""
    basis = TripleBasis().construct_basis(Elements(range(4), [(0, 1), (1, 2)]))
    assert basis.bases == ((0, 1), (2, 3))
    assert basis.notes == (
        "Items were measured in 2 groups of at most 3, itemsets across groups not at all.",
        "In no basis, so that they cannot be released: 1 of the 2 selected itemsets.",
    )


def test_the_plugin_imports_nothing_of_privmine_but_the_api() -> None:
    """What a third party may use is enough for the shipped strategies, and for the command that compares them."""
    for_commands = {"privmine.api", "privmine.cli.screen", "privmine.evaluation"}
    sources = sorted(Path(privmine_bases.__file__).parent.glob("*.py"))
    assert sources
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(name.name.partition(".")[0] == "privmine" for name in node.names)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "privmine":
                assert node.module in (for_commands if source.name == "compare.py" else {"privmine.api"})
