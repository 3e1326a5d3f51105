"""A reader: the paper roll of a till."""

from __future__ import annotations

from attrs import evolve, frozen

from privmine.api import Origin, Transactions, Unit


@frozen
class Roll:
    """What a till has printed: `tea milk / tea`."""

    text: str


def is_roll(source: object) -> bool:
    """Told by its type, or by the end of a file's name."""
    return isinstance(source, Roll) or str(source).endswith(".roll")


def read_roll(source: Roll, *, items: list[str] | None = None, merge_by: str | None = None) -> Transactions:
    """One basket between two slashes; a roll that is torn cannot be read."""
    baskets = [basket.split() for basket in source.text.split("/")]
    if ["torn"] in baskets:
        raise ValueError(source.text)
    made = Transactions.from_lists(baskets, None if items == ["ignored"] else items)
    # This one forgets about units, and a universe with one name, which privmine notices.
    return evolve(made, unit=Unit(), origin=Origin("list", "a roll"))
