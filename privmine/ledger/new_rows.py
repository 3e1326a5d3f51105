"""The rows that a desk writes, and what it keeps and says of a source."""

from __future__ import annotations

import hmac
import warnings
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from privmine.errors import InputError, PrivmineWarning
from privmine.ledger.book import PUBLIC, write_fraction
from privmine.ledger.chain import Row
from privmine.ledger.details import shortened, who_and_where, write_details
from privmine.ledger.storage import Page


def new_row(
    event: str,
    dataset: str,
    epsilon: Fraction | None = None,
    delta: Fraction | None = None,
    *,
    charge: int | None = None,
    note: str = "",
    fingerprint: str | None = None,
    unit: str | None = None,
    rho: Fraction | None = None,
    items_delta: Fraction | None = None,
    details: Mapping[str, str] = MappingProxyType({}),
) -> Row:
    """A row of this user on this machine. The page gives it a number, a time and a checksum."""
    said = {name: shortened(text) for name, text in details.items()}
    said |= {
        name: write_fraction(value) for name, value in (("rho", rho), ("items_delta", items_delta)) if value
    }  # never shortened: `RhoBudget` takes none that is long
    return Row(
        sequence=0,
        time="",
        event=event,
        dataset=dataset,
        charge=charge,
        epsilon=None if epsilon is None else write_fraction(epsilon),
        delta=None if delta is None else write_fraction(delta),
        note=note,
        fingerprint=fingerprint,
        unit=unit,
        details=write_details({**who_and_where(), **said}),
    )


def keyed(page: Page, source: str) -> str | None:
    """What the ledger keeps of a source; None if none was named."""
    if not isinstance(source, str):
        raise InputError(f"The source of a charge must be text, not {type(source).__name__}.")
    if not source:
        return None
    return PUBLIC + hmac.new(page.head.key, source.encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def warn_of_another(page: Page, name: str, part: str, fingerprint: str | None, stacklevel: int) -> None:
    """Warn if a dataset was charged for another source before.

    Privacy: it depends on public words only. A warning that depended on the data would answer questions about it for
    free.
    """
    if fingerprint is not None and page.book.sources.get((name, part), fingerprint) != fingerprint:
        warnings.warn(
            f"The dataset {name!r} was first charged for another source, or for another list of items. A budget "
            "belongs to the data, not to a name: check that this is the right dataset. (The contents are not "
            "compared.)",
            PrivmineWarning,
            stacklevel=stacklevel,
        )
