"""What a report is made from."""

from __future__ import annotations

from datetime import datetime

from attrs import field, frozen

from privmine.report.audit_verdicts import AuditVerdict
from privmine.report.fill_ins import Filled
from privmine.report.markup import Html, grid
from privmine.report.paid import Books, Paid


@frozen
class Contents:
    """Releases with their payments, what a person filled in, what audits concluded, and when the report is made."""

    books: Books
    made: datetime
    filled: Filled = field(factory=Filled)
    verdicts: tuple[AuditVerdict, ...] = ()

    @property
    def paid(self) -> tuple[Paid, ...]:
        """The releases."""
        return self.books.paid

    def by_release(self, caption: str, facts: dict[str, list[object]]) -> Html:
        """A table with a row for each release.

        Args:
            caption: what it shows.
            facts: for each column its cells, one for each release.
        """
        names = [paid.named.name for paid in self.paid]
        rows = list(zip(names, *facts.values(), strict=True))
        return grid(caption, ("release", *facts), rows)
