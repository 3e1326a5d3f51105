"""A run on a dataset's account: charged before the first draw, and written up however it ends."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from privmine.errors import PrivmineError, PrivmineWarning, RunInterrupted, UnsavedReleaseError
from privmine.ledger import Ledger
from privmine.ledger.entries import LedgerCharge
from privmine.model import PRIVATE, Public, Request


@contextmanager
def ledger_charge(
    ledger: Ledger | None,
    dataset: str | None,
    request: Request,
    note: str,
    account: str | None = None,
    part: str | None = None,
) -> Iterator[LedgerCharge | None]:
    """Charge the whole ε of a run to a dataset, then let the run happen.

    Yields the charge, or None where there is no ledger. A run that fails stays charged, and the
    ledger says that it failed.
    """
    if ledger is None or dataset is None:
        yield None
        return
    try:
        charge = ledger.charge(
            dataset,
            **request.budget.price(),
            unit=request.public.unit.name,
            note=note,
            source=public_facts(request.public),
            origin=request.public.origin.source,
            account=account,
            part=part,
        )
    except KeyboardInterrupt:
        # The interrupt may have come when the charge was on disk already.
        raise RunInterrupted(request.budget, certain=False) from None
    try:
        yield charge
    except UnsavedReleaseError:
        with _best_effort("that its release could not be saved"):
            ledger.finish(charge)
        raise
    except BaseException as error:
        with _best_effort("that it failed"):
            ledger.fail(charge, error)
        raise
    with _best_effort("that it succeeded"):
        ledger.finish(charge)


@contextmanager
def _best_effort(what: str) -> Iterator[None]:
    """The charge itself is on file; that its ending could not be noted must not cost the user the result."""
    try:
        yield
    except PrivmineError as error:
        warnings.warn(
            f"The run is charged, but the ledger could not note {what}: {error}", PrivmineWarning, stacklevel=4
        )


def public_facts(public: Public) -> str:
    """What tells one source from another without a look at the data; nothing for data that was not read from one.

    Privacy: a warning of the ledger depends on this, so that no content may be in it. The layout and a universe
    that was taken from the data are content.
    """
    if not public.origin.reference:
        return ""
    universe = public.universe
    named = [str(label) for label in universe.labels.tolist()] if universe.given else None
    return json.dumps([public.origin.reference, public.unit.name, PRIVATE if universe.private else named])
