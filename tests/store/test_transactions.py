import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.store import transactions as module
from privmine.store.transactions import Transactions

untimed = settings(deadline=None, max_examples=80)
labels = st.integers(-3, 8) | st.integers(-(2**63), 2**63 - 1)


def named_supports(transactions):
    """The support of each label."""
    supports = transactions.store.item_supports().tolist()
    return dict(zip(transactions.universe.labels.tolist(), supports, strict=True))


@untimed
@given(st.lists(st.lists(labels, max_size=5), max_size=20))
def test_integers_make_a_universe_in_numeric_order(rows):
    """Without items the universe is what occurs, in numeric order, and is marked as not given."""
    transactions = Transactions.from_lists(rows)
    occurring = sorted({label for row in rows for label in row})
    assert transactions.universe.labels.tolist() == occurring
    assert not transactions.universe.given
    assert transactions.store.count() == len(rows)
    assert named_supports(transactions) == {label: sum(label in row for row in rows) for label in occurring}


@untimed
@given(st.lists(st.lists(labels, max_size=5), max_size=20), st.lists(labels, unique=True, max_size=8), st.booleans())
def test_a_given_universe_keeps_its_order_and_drops_the_rest(rows, items, as_text):
    """Items outside the universe are dropped, their transactions still count; 12 is "12" as well."""
    transactions = Transactions.from_lists(rows, [str(item) for item in items] if as_text and items else items)
    assert transactions.universe.given
    assert transactions.store.count() == len(rows)
    assert transactions.store.item_supports().tolist() == [sum(item in row for row in rows) for item in items]


@untimed
@given(st.lists(st.lists(labels, max_size=5), max_size=20), st.lists(labels, unique=True, max_size=8))
def test_sorting_finds_what_a_table_finds(rows, items):
    """Where the range of labels is too wide for a table, the result is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_has_table", lambda low, high, size: False)
        assert named_supports(Transactions.from_lists(rows)) == {
            label: sum(label in row for row in rows) for label in sorted({label for row in rows for label in row})
        }
        found = Transactions.from_lists(rows, items).store.item_supports().tolist()
    assert found == [sum(item in row for row in rows) for item in items]


def test_texts_are_in_code_point_order():
    """Labels that are not all integers are texts, in the order of code points."""
    transactions = Transactions.from_lists([["b", "Z"], {"ä", 10}, ["10", 9, "b"]])
    assert transactions.universe.labels.tolist() == ["10", "9", "Z", "b", "ä"]
    assert named_supports(transactions) == {"10": 2, "9": 1, "Z": 1, "b": 2, "ä": 1}


def test_texts_in_a_given_universe():
    """Texts keep the given order, and text finds an integer that reads the same."""
    given_texts = Transactions.from_lists([["b", "x"], ["a", "b", "b"], ["x"]], ["b", "a", "c"])
    assert named_supports(given_texts) == {"b": 2, "a": 1, "c": 0}
    assert given_texts.store.count() == 3
    given_integers = Transactions.from_lists([["12", "x"], ["07", 7]], [12, 7])
    assert named_supports(given_integers) == {12: 1, 7: 1}


def test_labels_that_only_look_like_integers():
    """Other spellings of a number are other labels, and so is a truth value."""
    assert named_supports(Transactions.from_lists([[7]], ["07", "--7", "７", "7", "-0"]))["7"] == 1
    assert named_supports(Transactions.from_lists([[True], [1]], [1])) == {1: 1}
    assert named_supports(Transactions.from_lists([[2**70], [1]])) == {"1": 1, str(2**70): 1}


def test_input_order_does_not_matter_for_the_universe():
    """The universe depends on which labels occur, not on where; a whole float reads as the integer that it is."""
    first = Transactions.from_lists([[1, "a"], [1.0, True]])
    second = Transactions.from_lists([[True, 1.0], ["a", 1]])
    assert first.universe.labels.tolist() == second.universe.labels.tolist() == ["1", "a", "true"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.uint64])
def test_rows_of_any_integer_type(dtype):
    """Rows may have integers of any type."""
    rows = np.array([0, 2, 2, 5]), np.array([5, 3, 3, 3, 9], dtype=dtype)
    assert named_supports(Transactions.from_rows(*rows)) == {3: 2, 5: 1, 9: 1}
    dropped = Transactions.from_rows(*rows, items=[9, 3])
    assert named_supports(dropped) == {9: 1, 3: 2}
    assert dropped.store.count() == 3


def test_no_transactions_and_no_items():
    """Nothing at all is a database too."""
    for transactions in (Transactions.from_lists([]), Transactions.from_lists([[1]], [])):
        assert len(transactions.universe) == 0
        assert len(transactions.store.top_itemsets(3)[0]) == 0
    assert Transactions.from_lists([], ["a"]).store.item_supports().tolist() == [0]


def test_a_text_is_no_transaction():
    """A text in place of a transaction is refused: its characters are hardly meant as items."""
    with pytest.raises(InputError, match="Split a text") as caught:
        Transactions.from_lists(["secret"])
    assert "secret" not in str(caught.value)


def test_a_repeated_item_in_the_universe_is_refused():
    """Every item of the universe is listed once."""
    with pytest.raises(InputError, match="more than once"):
        Transactions.from_lists([[1]], [1, 1])


def test_repr_shows_public_facts_only():
    """The number of transactions is private and not shown."""
    assert repr(Transactions.from_lists([[1, 2]] * 4321)) == "<Transactions over 2 items>"
    shown = repr(Transactions.from_lists([[1, 2]] * 4321).store)
    assert "4321" not in re.sub("0x[0-9a-f]+", "", shown)  # an address in memory may hold any digits


@pytest.mark.parametrize("source", [None, 5, "abc", np.zeros((2, 2)), [[None]], [["a", float("nan")]], [1, 2]])
def test_what_is_no_collection_of_baskets_is_refused(source):
    """Tables, single numbers and missing items are refused in words, not read as something else."""
    with pytest.raises(InputError):
        Transactions.from_lists(source)
