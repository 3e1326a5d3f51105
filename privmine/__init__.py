"""privmine: the most frequent itemsets of a transaction database, under differential privacy.

import privmine as pm

baskets = pm.read("retail.dat")
release = pm.mine(baskets, k=100, epsilon=1.0)
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privmine.errors import BudgetError, PrivmineError, PrivmineWarning
    from privmine.estimator import ItemsetMiner
    from privmine.evaluation import compare, evaluate
    from privmine.io import groceries, read, write
    from privmine.ledger import Ledger
    from privmine.pipeline import Pipeline, mine
    from privmine.planning import Plan, plan
    from privmine.privacy import Receipt
    from privmine.release import Release, load
    from privmine.release.payments import verify_payments
    from privmine.release.signatures import sign, signed_by
    from privmine.store.transactions import Transactions

__all__ = [
    "BudgetError",
    "ItemsetMiner",
    "Ledger",
    "Pipeline",
    "Plan",
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
    "plan",
    "read",
    "sign",
    "signed_by",
    "verify_payments",
    "write",
]

_HOMES = {
    "BudgetError": "privmine.errors",
    "ItemsetMiner": "privmine.estimator",
    "Ledger": "privmine.ledger",
    "Pipeline": "privmine.pipeline",
    "Plan": "privmine.planning",
    "PrivmineError": "privmine.errors",
    "PrivmineWarning": "privmine.errors",
    "Receipt": "privmine.privacy",
    "Release": "privmine.release",
    "Transactions": "privmine.store.transactions",
    "compare": "privmine.evaluation",
    "evaluate": "privmine.evaluation",
    "groceries": "privmine.io",
    "load": "privmine.release",
    "mine": "privmine.pipeline",
    "plan": "privmine.planning",
    "read": "privmine.io",
    "sign": "privmine.release.signatures",
    "signed_by": "privmine.release.signatures",
    "verify_payments": "privmine.release.payments",
    "write": "privmine.io",
}


def __getattr__(name: str) -> Any:
    """Load a public name, or a module such as `api`, when it is first used: importing the package takes no time."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What a notebook completes."""
    return sorted({*globals(), *__all__})
