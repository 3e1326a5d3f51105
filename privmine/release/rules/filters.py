"""Which rules are shown: those that noise does not explain, those with the wanted items, those that add something."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, frozen

from privmine.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from privmine.release.release import Release


@frozen
class LeftOut:
    """How many rules are not shown, and why.

    Attributes:
        near_zero: rest on a count that is not clearly above 0.
        by_chance: have a lift that noise alone can explain.
        incomplete: need the count of an itemset that was not released.
        redundant: add nothing to a shorter rule with the same consequent; only where that was asked for.
    """

    near_zero: int = 0
    by_chance: int = 0
    incomplete: int = 0
    redundant: int = 0

    @property
    def total(self) -> int:
        """All together."""
        return sum(asdict(self).values())

    def __str__(self) -> str:
        """One sentence; empty where nothing is left out."""
        if not self.total:
            return ""
        reasons = (
            (self.near_zero, "rest on a count that is not clearly above 0"),
            (self.by_chance, "have a lift that is not clearly different from 1"),
            (self.incomplete, "need the count of an itemset that was not released"),
            (self.redundant, "add nothing to a shorter rule"),
        )
        told = ", ".join(f"{number:,} {words}" for number, words in reasons if number)
        return f"{self.total:,} {'rule is' if self.total == 1 else 'rules are'} not shown: {told}."


def with_items(release: Release, sides: list[tuple[Any, ...]], wanted: Iterable[Any], option: str) -> Any:
    """Which sides have at least one of the wanted items; a text may be a pattern such as `*milk*`.

    Args:
        release: for the items that there are.
        sides: the antecedents or the consequents of rules.
        wanted: labels and patterns.
        option: "antecedent" or "consequent", for messages.
    """
    known = {str(item): item for found in release for item in found.items}
    matching: set[Any] = set()
    for label in wanted:
        text = str(label)
        found = {known[text]} if text in known else {known[name] for name in known if fnmatchcase(name, text)}
        if not found:
            if any(sign in text for sign in "*?["):
                folded = any(fnmatchcase(name.casefold(), text.casefold()) for name in known)
                case = ": capitals and small letters are different" if folded else ""
                raise InputError(f"No released item matches {text!r} ({option}). Use another pattern{case}.")
            raise UnknownNameError(f"released item ({option})", text, known)
        matching |= found
    return np.array([not matching.isdisjoint(side) for side in sides], dtype=bool)


def redundant(sides: list[tuple[tuple[Any, ...], tuple[Any, ...]]], confidence: Any, low: Any) -> Any:
    """Which rules are not clearly better than a rule with the same consequent and a part of the antecedent.

    Args:
        sides: antecedent and consequent of each rule.
        confidence: the confidence of each.
        low: the lower end of its interval.
    """
    by_consequent: dict[frozenset[Any], list[tuple[frozenset[Any], float]]] = {}
    for (antecedent, consequent), value in zip(sides, confidence, strict=True):
        by_consequent.setdefault(frozenset(consequent), []).append((frozenset(antecedent), value))
    found = []
    for (antecedent, consequent), least in zip(sides, low, strict=True):
        rivals = by_consequent[frozenset(consequent)]
        found.append(any(other < frozenset(antecedent) and value >= least for other, value in rivals))
    return np.array(found, dtype=bool)
