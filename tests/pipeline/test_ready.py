"""A store gets ready before a run is charged."""

import pytest

from privmine.errors import DataError
from privmine.ledger import Ledger
from privmine.pipeline import Pipeline
from privmine.store.memory import MemoryStore
from privmine.store.transactions import Transactions


def test_a_store_that_fails_to_get_ready_is_told_without_its_words(tmp_path) -> None:
    """What it raises may quote data; nothing is charged, since it gets ready before the charge."""

    class Broken(MemoryStore):
        def persist(self) -> None:
            raise ValueError("customer 4711")

    made = Transactions.from_lists([["a"], ["b"]])
    broken = Transactions(made.universe, Broken(made.store.rows, 2))
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("baskets", epsilon=1)
    with pytest.raises(DataError, match="failed while it got ready") as raised:
        Pipeline().run(broken, k=1, epsilon=1, ledger=ledger, dataset="baskets")
    assert "4711" not in str(raised.value)
    assert raised.value.__context__ is None
    assert ledger.budget("baskets").remaining_epsilon == 1


def test_a_store_of_other_items_than_the_universe_is_refused(tmp_path) -> None:
    """Before the charge; otherwise a query would fail after it, for a reason that is withheld."""
    made = Transactions.from_lists([["a"], ["b"]])
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("baskets", epsilon=1)
    for items in (1, 3):
        other = Transactions(made.universe, MemoryStore.from_rows([0, 1, 2], [0, 0], items))
        with pytest.raises(DataError, match="another number of items than the universe"):
            Pipeline().run(other, k=1, epsilon=1, ledger=ledger, dataset="baskets")
    assert ledger.budget("baskets").remaining_epsilon == 1
