"""The persistent budget ledger: what each dataset may cost, and what it has cost, over its whole life.

The modules, from the file upwards: `file` keeps rows in SQLite, `chain` notices altered ones, `book`
adds them up, `checks` refuses unusable input, `values` is what users see, and `ledger` is the desk
at which they ask.
"""

from privmine.ledger.entries import APPROXIMATE, PURE, DatasetBudget, Entry, LedgerCharge
from privmine.ledger.ledger import Ledger

__all__ = ["APPROXIMATE", "PURE", "DatasetBudget", "Entry", "Ledger", "LedgerCharge"]
