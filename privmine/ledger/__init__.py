"""The persistent budget ledger: what each dataset may cost, and what it has cost, over its whole life.

The modules, from the bottom upwards: `chain` notices altered rows, `details` is what rows say of who wrote them,
`shares` and `book` add them up, `storage` is the interface of what keeps them, `file` does so in SQLite and
`postgres_storage` in PostgreSQL, `checks` refuses unusable input, `entries` is what users see, and `ledger` is the
desk at which they ask.
"""

from privmine.ledger.entries import APPROXIMATE, PURE, DatasetBudget, Entry, LedgerCharge
from privmine.ledger.ledger import Ledger

__all__ = ["APPROXIMATE", "PURE", "DatasetBudget", "Entry", "Ledger", "LedgerCharge"]
