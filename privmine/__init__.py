"""privmine: the most frequent itemsets of a transaction database, under differential privacy.

import privmine as pm

baskets = pm.read("retail.dat")
release = pm.mine(baskets, k=100, epsilon=1.0)
"""

from __future__ import annotations

from privmine.errors import BudgetError, PrivmineError, PrivmineWarning
from privmine.evaluation import compare, evaluate
from privmine.io import groceries, read
from privmine.ledger import Ledger
from privmine.pipeline import Pipeline, mine
from privmine.privacy import Receipt
from privmine.release import Release, load
from privmine.store.transactions import Transactions

__all__ = [
    "BudgetError",
    "Ledger",
    "Pipeline",
    "PrivmineError",
    "PrivmineWarning",
    "Receipt",
    "Release",
    "Transactions",
    "compare",
    "evaluate",
    "groceries",
    "load",
    "mine",
    "read",
]
