"""Advice: for each k and ε that was asked for what would be found, and what to ask for instead."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any, Final

from attrs import frozen

from privmine.exact import amount
from privmine.planning.forecast import Forecast
from privmine.planning.wanted import Aim
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.unit import Unit

#: From which share missed on a release is called what.
_WORDS: Final = ((0.1, "good"), (0.25, "fair"), (0.6, "poor"), (1.0, "hopeless"))
#: A release that misses more is not sensible.
SENSIBLE: Final = 0.25
#: A method is told to be better than another one if it misses so much less.
_NOTABLE = 0.03


@frozen(repr=False)
class Advice:
    """What was asked for, judged by simulations on public or made-up baskets.

    Attributes:
        like: what the baskets are like, in words.
        transactions: how many there are.
        items: how many items there are to choose from.
        unit: who would be protected.
        forecasts: every method that was simulated for every k and ε that was asked for, the best method first.
        sensible: what to ask for, among what was asked for or for a smaller k; None if nothing is sensible.
        notes: what a reader must know.
        wanted: what is to be learnt, if a sentence was given.
        wanted_epsilon: the ε that it takes, with the method and the k of `sensible`; None if no ε gives it.
    """

    like: str
    transactions: int
    items: int
    unit: Unit
    forecasts: tuple[Forecast, ...]
    sensible: Forecast | None
    notes: tuple[str, ...] = ()
    wanted: Aim | None = None
    wanted_epsilon: Fraction | None = None

    @property
    def best(self) -> tuple[Forecast, ...]:
        """For each k and ε that was asked for the best method."""
        first: dict[tuple[int, Fraction], Forecast] = {}
        for found in self.forecasts:
            first.setdefault((found.k, found.epsilon), found)
        return tuple(first.values())

    def __repr__(self) -> str:
        return f"<Advice: {' '.join(self.sentences())}>"

    def __str__(self) -> str:
        return "\n".join([f"Simulated on: {self.basis()}", *self.sentences(), *self.notes])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.table()[1]
        )
        head = "".join(f"<th>{escape(name)}</th>" for name in self.table()[0])
        told = "".join(f"<p>{escape(line)}</p>" for line in self.sentences())
        notes = "".join(
            f"<p><small>{escape(line)}</small></p>" for line in (f"Simulated on {self.basis()}.", *self.notes)
        )
        return f"{told}<table><tr>{head}</tr>{rows}</table>{notes}"

    def basis(self) -> str:
        """What the simulations were made on."""
        return f"{self.transactions:,} transactions over {self.items:,} items, {self.like}"

    def sentences(self) -> list[str]:
        """One sentence for each k and ε, then what is sensible, then the ε for what is wanted."""
        told = [judged(found) for found in self.best] if self.wanted is None else []
        return [*told, self.advised()]

    def advised(self) -> str:
        """What to ask for."""
        if self.wanted is not None:
            return self._for_wanted()
        if self.sensible is None:
            return "Sensible: nothing of this. Spend a larger ε, or find more data."
        found = self.sensible
        new = (
            ""
            if any((found.k, found.epsilon) == (one.k, one.epsilon) for one in self.best)
            else (f", which would miss {percent(found.missed)}")
        )
        return f"Sensible: k = {found.k:,} at {Guarantee(found.epsilon)} with {found.method}{new}.{self._others(found)}"

    def _others(self, found: Forecast) -> str:
        worse = [
            other
            for other in self.forecasts
            if (other.k, other.epsilon) == (found.k, found.epsilon) and other.missed > found.missed + _NOTABLE
        ]
        told = " and ".join(f"{percent(other.missed)} with {other.method}" for other in worse[:2])
        return f" It would miss {percent(found.missed)}, against {told}." if told else ""

    def _for_wanted(self) -> str:
        assert self.wanted is not None
        if self.wanted_epsilon is None or self.sensible is None:
            return f"Wanted: no ε up to 80 is enough to {self.wanted.sentence}. Find more data, or ask for less."
        found = self.sensible
        return (
            f"Wanted: to {self.wanted.sentence}, spend {Guarantee(self.wanted_epsilon)} with {found.method} and "
            f"k = {found.k:,}. It would miss {percent(found.missed)} of the {found.k:,} most frequent itemsets, and a "
            f"typical count would be off by {many(found.error, 'transaction')}."
        )

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Column names, and a row of text for each method, k and ε."""
        columns = ("k", "ε", "method", "missed", "±", "not clearly above 0", "off by", "relative", "found from")
        rows: list[tuple[str, ...]] = [
            (
                f"{found.k:,}",
                amount(found.epsilon),
                found.method,
                percent(found.missed),
                percent(2 * found.missed_error),
                f"{found.unclear:,.0f} of {found.listed:,.0f}",
                number(found.error),
                ""
                if found.relative_error is None
                else percent(found.relative_error)
                if found.relative_error < 1
                else "> 100 %",
                "" if found.found_from is None else f"{100 * found.found_from:.2g} %",
            )
            for found in self.forecasts
        ]
        return columns, rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "like": self.like,
            "transactions": self.transactions,
            "items": self.items,
            "forecasts": [found.to_dict() | {"verdict": verdict(found)} for found in self.forecasts],
            "sensible": None if self.sensible is None else self.sensible.to_dict(),
            "wanted": None if self.wanted is None else self.wanted.sentence,
            "wanted_epsilon": None if self.wanted_epsilon is None else str(self.wanted_epsilon),
            "words": self.sentences(),
            "notes": list(self.notes),
        }


def verdict(found: Forecast) -> str:
    """A word for what a forecast is worth."""
    return next(word for share, word in _WORDS if found.missed <= share)


def judged(found: Forecast) -> str:
    """What would be found, and what is noise, in one sentence."""
    unclear = (
        "all counts would be clearly above 0"
        if round(found.unclear) == 0
        else f"{found.unclear:,.0f} of the counts would not be clearly above 0"
    )
    off = f"a typical count would be off by {number(found.error)}"
    if found.relative_error is not None:
        half = (
            f"less than {percent(found.relative_error)}" if found.relative_error < 1 else "more than the count itself"
        )
        off += f" (half of them by {half})"
    return (
        f"k = {found.k:,} at {Guarantee(found.epsilon)}: {verdict(found)}, since {found.method} would miss "
        f"{number(found.missed * found.k) if found.missed else 'none'} of the {found.k:,} most frequent itemsets "
        f"({percent(found.missed)}), {unclear}, and {off}."
    )


def percent(share: float) -> str:
    """A share in percent, with no more digits than it deserves."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.5 or value == 0 else f"{value:.1g} %"


def number(value: float) -> str:
    """A number of transactions or itemsets."""
    return f"{value:,.0f}" if value >= 0.95 else f"{value:.1g}"


def many(value: float, noun: str) -> str:
    """A number with its noun, which is plural unless the number is 1."""
    text = number(value)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"
