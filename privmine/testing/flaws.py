"""What the kit finds wrong with a component."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen


@frozen
class Flaw:
    """A contract that a component broke.

    Attributes:
        contract: which one, in a word: see `privmine.testing.contracts`.
        sentence: what happened, and what to do about it.
        case: the made-up database on which it first happened, if it takes one.
        also_on: on how many further ones it happened.
    """

    contract: str
    sentence: str
    case: str = ""
    also_on: int = 0

    def __str__(self) -> str:
        others = f" and {self.also_on} more" if self.also_on else ""
        return f"{self.contract}: {self.sentence}" + (f" [on: {self.case}{others}]" if self.case else "")


class FlawedComponentError(AssertionError):
    """A component breaks contracts of its stage; the message lists them, `flaws` holds them."""

    def __init__(self, component: str, flaws: Iterable[Flaw]) -> None:
        self.component = component
        self.flaws = tuple(flaws)
        lines = "\n".join(f"  - {flaw}" for flaw in self.flaws)
        super().__init__(f"{component} breaks the contracts of its stage:\n{lines}")


def gathered(flaws: Iterable[Flaw]) -> list[Flaw]:
    """The first flaw of each contract, so that a flaw on every database does not hide the others."""
    first: dict[str, Flaw] = {}
    for flaw in flaws:
        known = first.get(flaw.contract)
        first[flaw.contract] = flaw if known is None else evolve(known, also_on=known.also_on + 1)
    if "deterministic" in first:
        first.pop("data", None)  # Results that differ by themselves also differ between databases.
    return list(first.values())
