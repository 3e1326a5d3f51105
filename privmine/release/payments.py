"""Whether the ledger that releases name has paid for them."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from privmine.ledger import Ledger
from privmine.ledger.verification import Claim, Verification, verified
from privmine.release.release import Release
from privmine.release.release_files import load


def verify_payments(releases: Iterable[str | PathLike[str] | Release], ledger: Any = None) -> Verification:
    """Tell which releases a ledger has paid for, which not, and whether two claim one row.

    Args:
        releases: files, or releases.
        ledger: the ledger or where it is; left out, the releases are compared with each other only.

    Raises:
        DataError: a file is no release.
        LedgerError: the ledger cannot be used, or its chain does not hold.
    """
    claims = [_claim(release, number) for number, release in enumerate(releases, start=1)]
    if ledger is None:
        return verified(claims, None, ())
    desk = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return verified(claims, desk.identity, desk.log())


def _claim(release: str | PathLike[str] | Release, number: int) -> Claim:
    name = f"release {number}" if isinstance(release, Release) else fspath(release)
    made = release if isinstance(release, Release) else load(Path(release))
    return Claim(name, made.receipt, tuple((tuple(found.items), found.count) for found in made))
