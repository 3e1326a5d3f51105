"""What a replay can find, and how serious it is."""

from __future__ import annotations

from attrs import frozen

#: The rules that leak nothing if they are broken: both runs end alike. docs/audit.md lists all rules.
HARMLESS = ("refused", "failed", "input")


@frozen
class Finding:
    """One rule that was broken: by whom, and how."""

    rule: str
    stage: str
    message: str

    @property
    def violates(self) -> bool:
        """Whether it is a leak or a wrong account. A run that ends in the same way on both databases leaks nothing."""
        return self.rule not in HARMLESS

    def __str__(self) -> str:
        where = f" ({self.stage})" if self.stage else ""
        return f"{self.rule}{where}: {self.message}"
