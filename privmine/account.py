"""A run on a dataset's account: charged before the first draw, and written up however it ends."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from privmine.errors import InputError, LedgerError, PrivmineWarning
from privmine.ledger import Ledger
from privmine.model import Request
from privmine.noise.protocol import NoiseSource
from privmine.store.transactions import Transactions


@contextmanager
def ledger_charge(
    ledger: Ledger | str | Path | None,
    dataset: str | None,
    request: Request,
    source: NoiseSource,
    transactions: Transactions,
    note: str,
) -> Iterator[Fraction]:
    """Charge the whole ε of a run to a dataset, then let the run happen.

    Yields what is held for the run: ε, or 0 where there is no ledger. A run that fails stays
    charged, and the ledger says that it failed.
    """
    if ledger is None:
        if dataset is not None:
            raise InputError("A dataset's name is for a ledger; pass ledger= (--ledger FILE) as well, or drop it.")
        yield Fraction(0)
        return
    if dataset is None:
        raise InputError("A ledger keeps one budget for each dataset; pass dataset= (--dataset NAME) as well.")
    if not source.private:
        raise InputError("A simulated run protects nobody and is never charged; drop the ledger, or do not simulate.")
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    charge = book.charge(dataset, request.epsilon, note=note, fingerprint=_fingerprint(transactions))
    try:
        yield request.epsilon
    except BaseException as error:
        with _best_effort("that it failed"):
            book.fail(charge, error)
        raise
    with _best_effort("that it succeeded"):
        book.finish(charge)


@contextmanager
def _best_effort(what: str) -> Iterator[None]:
    """The charge itself is on file; that its ending could not be noted must not cost the user the result."""
    try:
        yield
    except LedgerError as error:
        warnings.warn(
            f"The run is charged, but the ledger could not note {what}: {error}",
            PrivmineWarning,
            stacklevel=4,
        )


def _fingerprint(transactions: Transactions) -> bytes:
    """Tells data apart, for the ledger's own eyes: it keeps a keyed hash of this and never shows it."""
    digest = hashlib.sha256(str(transactions.store.count()).encode())
    digest.update(transactions.store.item_supports().tobytes())
    return digest.digest()
