"""Advice: for each k and ε that was asked for what would be found, and what to ask for instead."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from math import hypot
from typing import Any, Final

from attrs import frozen

from privmine.exact import amount
from privmine.planning.forecast import Forecast
from privmine.planning.wanted import Aim
from privmine.privacy.guarantee import Guarantee, equation
from privmine.privacy.unit import Unit

#: From which share missed on a release is called what.
_WORDS: Final = ((0.1, "good"), (0.25, "fair"), (0.6, "poor"), (1.0, "hopeless"))
#: Only these are sensible.
_SENSIBLE: Final = ("good", "fair")
#: What a release is called at best if most of its counts are not clearly above 0.
_MOSTLY_NOISE: Final = "poor"
#: A method is told to be better than another one if it misses so much less.
_NOTABLE = 0.03
#: Two definitions of privacy that miss nearly the same differ by at most this share.
_SAME = 0.01


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
        delta: the δ that was compared with pure ε; None if none was.
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
    delta: Fraction | None = None

    @property
    def best(self) -> tuple[Forecast, ...]:
        """For each k and ε that was asked for the best method, under the definition to prefer."""
        return tuple(rows[0] for rows in self._by_question().values())

    def _by_question(self) -> dict[tuple[int, Fraction], list[Forecast]]:
        rows: dict[tuple[int, Fraction], list[Forecast]] = {}
        for found in self.forecasts:
            rows.setdefault((found.k, found.epsilon), []).append(found)
        return rows

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
        protected = "" if self.unit.is_transaction else f", to protect {self.unit.whom}"
        return f"{self.transactions:,} transactions over {self.items:,} items, {self.like}{protected}"

    def sentences(self) -> list[str]:
        """For each k and ε what would be found and which definition is better, then what is sensible or wanted."""
        if self.wanted is not None:
            return [self._for_wanted()]
        compared = [] if self.delta is None else [better_definition(rows) for rows in self._by_question().values()]
        return [*(judged(found) for found in self.best), *filter(None, compared), self.advised()]

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
            else (f", which would miss {_range(found)}")
        )
        return f"Sensible: k = {found.k:,} at {found.guarantee} with {found.method}{new}.{self._others(found)}"

    def _others(self, found: Forecast) -> str:
        worse = [
            other
            for other in self.forecasts
            if (other.k, other.guarantee) == (found.k, found.guarantee) and other.missed > found.missed + _NOTABLE
        ]
        told = " and ".join(f"{_range(other)} with {other.method}" for other in worse[:2])
        return f" It would miss {_range(found)}, against {told}." if told else ""

    def _for_wanted(self) -> str:
        assert self.wanted is not None
        if self.wanted_epsilon is None or self.sensible is None:
            return f"Wanted: no ε up to 80 is enough to {self.wanted.sentence}. Find more data, or ask for less."
        found = self.sensible
        return (
            f"Wanted: to {self.wanted.sentence}, spend {found.guarantee} with {found.method} and "
            f"k = {found.k:,}{self._instead()}. It would miss {_range(found)} of the {found.k:,} most frequent "
            f"itemsets, and a typical count would be off by {many(found.error, 'transaction')}."
        )

    def _instead(self) -> str:
        """What the other definition of privacy would need for what is wanted."""
        if self.delta is None or self.sensible is None:
            return ""
        other = "pure ε" if self.sensible.delta is not None else equation("δ", amount(self.delta))
        if len(self.forecasts) < 2:
            return f"; with {other} no ε up to 80 is enough"
        return f"; with {other} it takes {Guarantee(self.forecasts[1].epsilon)} and {self.forecasts[1].method}"

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Column names, and a row of text for each method, k and ε, and definition if there are two."""
        delta = () if self.delta is None else ("δ",)
        figures = ("missed", "±", "not clearly above 0", "off by", "relative", "found from")
        columns = ("k", "ε", *delta, "method", *figures)
        rows: list[tuple[str, ...]] = [
            (
                f"{found.k:,}",
                amount(found.epsilon),
                *([] if self.delta is None else ["" if found.delta is None else amount(found.delta)]),
                found.method,
                _range(found),
                percent(2 * found.missed_error),
                f"{found.unclear:,.0f} of {found.listed:,.0f}",
                number(found.error),
                ""
                if found.relative_error is None
                else percent(found.relative_error)
                if found.relative_error < 1
                else "> 100 %",
                "" if found.found_from is None else _two_digits(found.found_from),
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
            "delta": None if self.delta is None else str(self.delta),
            "wanted_epsilon": None if self.wanted_epsilon is None else str(self.wanted_epsilon),
            "words": self.sentences(),
            "notes": list(self.notes),
        }


def verdict(found: Forecast) -> str:
    """A word for what a forecast is worth, at the worse end of its range."""
    word = next(word for share, word in _WORDS if found.most_missed <= share)
    return _MOSTLY_NOISE if word in _SENSIBLE and found.unclear > found.listed / 2 else word


def is_sensible(found: Forecast) -> bool:
    """Whether little is missed and most counts are more than noise."""
    return verdict(found) in _SENSIBLE


def judged(found: Forecast) -> str:
    """What would be found, and what is noise, in one sentence."""
    unclear = (
        "all counts would be clearly above 0"
        if round(found.unclear) == 0
        else "no count would be clearly above 0"
        if round(found.unclear) >= round(found.listed)
        else f"{found.unclear:,.0f} of the counts would not be clearly above 0"
    )
    off = f"a typical count would be off by {number(found.error)}"
    if found.relative_error is not None:
        half = (
            f"less than {percent(found.relative_error)}" if found.relative_error < 1 else "more than the count itself"
        )
        off += f" (half of them by {half})"
    return (
        f"k = {found.k:,} at {found.guarantee}: {verdict(found)}, since {found.method} would miss "
        f"{_itemsets(found)} of the {found.k:,} most frequent itemsets ({_range(found)}), {unclear}, and {off}."
    )


def _itemsets(found: Forecast) -> str:
    """How many itemsets would be missed, with the worse end of the range where there is one."""
    least, most = (number(share * found.k) if share else "none" for share in (found.least_missed, found.most_missed))
    return least if least == most else f"{least} to {most}"


def _range(found: Forecast) -> str:
    """The share missed, or from where to where it may be."""
    least, most = percent(found.least_missed), percent(found.most_missed)
    return least if least == most else f"{least} to {most}"


def preferred(rows: Sequence[Forecast]) -> Forecast:
    """The best of several forecasts for the same k and ε, some pure and some with a δ, by what they miss.

    Pure ε promises more. So a δ is preferred only where it misses clearly less: by more than chance explains, and by
    more than a hundredth.
    """
    pure, relaxed = (_least(rows, with_delta=kind) for kind in (False, True))
    if pure is None or relaxed is None:
        only = pure or relaxed
        assert only is not None
        return only
    return relaxed if pure.missed - relaxed.missed > _doubt(pure, relaxed) else pure


def better_definition(rows: Sequence[Forecast]) -> str | None:
    """Which definition of privacy is better for one k and ε, in one sentence; None where one of them has no method."""
    pure, relaxed = (_least(rows, with_delta=kind) for kind in (False, True))
    if pure is None or relaxed is None:
        return None
    delta = equation("δ", amount(relaxed.delta)) if relaxed.delta is not None else ""
    shares = (
        f"pure ε would miss {percent(pure.missed)} with {pure.method}, and {delta} {percent(relaxed.missed)} with "
        f"{relaxed.method}"
    )
    if preferred(rows) is relaxed:
        words = f"{delta} is better"
    elif relaxed.missed - pure.missed > _doubt(pure, relaxed):
        words = "pure ε is better"
    else:
        words = "keep pure ε, which promises more, since a δ gains nothing that shows"
    return f"Definition for k = {pure.k:,} at {Guarantee(pure.epsilon)}: {words}; {shares}."


def _least(rows: Sequence[Forecast], *, with_delta: bool) -> Forecast | None:
    found = [row for row in rows if (row.delta is not None) == with_delta]
    return min(found, key=lambda row: (row.missed, row.error), default=None)


def _doubt(one: Forecast, other: Forecast) -> float:
    """A difference up to this is not worth a word."""
    return max(_SAME, 2 * hypot(one.missed_error, other.missed_error))


def percent(share: float) -> str:
    """A share in percent, with no more digits than it deserves."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.5 or value < 1e-6 else f"{value:.1g} %"


def _two_digits(share: float) -> str:
    value = 100 * share
    return f"{value:.0f} %" if value >= 99.5 else f"{value:.2g} %"


def number(value: float) -> str:
    """A number of transactions or itemsets."""
    return f"{value:,.0f}" if value >= 0.95 else f"{value:.1g}"


def many(value: float, noun: str) -> str:
    """A number with its noun, which is plural unless the number is 1."""
    text = number(value)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"
