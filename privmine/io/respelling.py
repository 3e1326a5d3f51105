"""Labels that are written in several ways and mean one item: blanks at their ends, capitals.

Privacy: how a label is respelt depends on that label and on the public catalogue alone, never on other rows. Two
labels of one transaction that become one count once, since a transaction is a set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from privmine.store.labels import text_of

#: The text of a label as it counts; None for one that is missing.
Respell: TypeAlias = Callable[[str], str | None]


@frozen
class Respelling:
    """How labels are made alike.

    Attributes:
        trim: leave blanks at both ends out; a label of blanks alone is missing.
        fold_case: let capitals and small letters be the same.
        catalogue: how the public universe writes a label, by its text once it is made alike.
    """

    trim: bool = False
    fold_case: bool = False
    catalogue: Mapping[str, str] = field(factory=dict, repr=False)

    def __call__(self, text: str) -> str | None:
        """The text as it counts: as the catalogue writes it, else in small letters; None if nothing is left of it."""
        alike = self.alike(text)
        if self.trim and not alike:
            return None
        return self.catalogue.get(alike, alike)

    def alike(self, text: str) -> str:
        """The text that all ways to write a label share."""
        text = text.strip() if self.trim else text
        return text.casefold() if self.fold_case else text

    def labels(self, labels: Iterable[Any]) -> list[Any]:
        """Labels that are no cells, such as names of columns: none of them can be missing, so that blanks stay."""
        return [text_of(label) if (new := self(text_of(label))) is None else new for label in labels]

    def of_catalogue(self, labels: list[Any]) -> tuple[Respelling, list[Any]]:
        """The same for labels of a public universe, and the universe with each item once, as it is first written."""
        written: dict[str, Any] = {}
        for label in labels:
            kept = label.strip() if self.trim and isinstance(label, str) else label
            written.setdefault(self.alike(text_of(label)), kept)
        catalogue = {alike: text_of(label) for alike, label in written.items()}
        return Respelling(self.trim, self.fold_case, catalogue), list(written.values())


def questionable(labels: Iterable[Any]) -> str | None:
    """What in the form of a catalogue makes it likely that labels of the data differ from it; None if nothing does.

    Privacy: it looks at the catalogue alone. Whether a label occurs in the data is nothing to tell for free.
    """
    texts = [text_of(label) for label in labels]
    if len({text.strip().casefold() for text in texts}) < len(texts):
        return (
            "Some labels of items= differ only by capitals or by blanks at their ends. They are different items unless "
            "you pass fold_case=True or trim=True."
        )
    if any(text != text.strip() for text in texts):
        return (
            "Some labels of items= begin or end with blanks. Items of the data that are written without them are "
            "dropped unless you pass trim=True."
        )
    letters = [text for text in texts if text.lower() != text.upper()]
    if len(letters) < 2:
        return None
    for case, form in (("capitals", str.upper), ("small letters", str.lower)):
        if all(text == form(text) for text in letters):
            return (
                f"All labels of items= are in {case}. Items of the data that are written otherwise are dropped "
                "unless you pass fold_case=True."
            )
    return None
