"""Two releases compared: which supports changed by more than noise and chance explain.

Of each itemset that both releases list, the difference of its two noisy frequencies is compared with what would make it
differ if nothing had changed: the noise, and chance, since the customers of two months are not the same ones either
(a share s of N transactions varies by s·(1 − s)/N; where a unit has up to m transactions, by up to m times as much).
That both releases list an itemset is allowed for (`change_laws`).
Many itemsets are looked at at once; that is allowed for, such that with a probability of 95 % no change at all is
reported where there is none (Holm).

Privacy: two releases are all that is looked at. It costs no budget.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, frozen

from privmine.errors import InputError
from privmine.extras import import_extra
from privmine.release.change_laws import chance_of_difference, difference_law, share_of
from privmine.release.display import DEFAULT_LEVEL, items_text
from privmine.release.intervals import Interval

if TYPE_CHECKING:
    from privmine.privacy import Receipt
    from privmine.release.release import FrequentItemset, Release


@frozen
class Change:
    """How one itemset changed.

    Attributes:
        items: its labels.
        before: its noisy support in the first release; None where it is not listed there.
        after: the same in the second.
        change: the difference; None where one is missing.
        low: the lower end of the 95 % interval of the difference.
        high: the upper end.
        clear: whether neither noise nor chance explains it, allowing for how many itemsets were compared.
        meaning: what to make of it, in a few words.
    """

    items: tuple[Any, ...]
    before: float | None
    after: float | None
    change: float | None
    low: float | None
    high: float | None
    clear: bool
    meaning: str


@frozen
class Changes:
    """All itemsets of two releases, clear changes first, largest first.

    Attributes:
        changes: one for each itemset that either release lists.
        notes: what makes the two hard to compare; empty where nothing does.
        private: whether both releases are private.
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    private: bool

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Any:
        return iter(self.changes)

    @property
    def clear(self) -> tuple[Change, ...]:
        """The changes that neither noise nor chance explains."""
        return tuple(change for change in self.changes if change.clear)

    def lines(self) -> list[str]:
        """The comparison in a few sentences."""
        both = sum(change.change is not None for change in self.changes)
        came = sum(change.before is None for change in self.changes)
        went = sum(change.after is None for change in self.changes)
        changed = len(self.clear)
        told = [
            f"{changed:,} of {both:,} itemsets that both releases list changed by more than noise and chance explain."
        ]
        apart = sum(
            not change.clear and (low > 0 or high < 0)
            for change in self.changes
            if (low := change.low) is not None and (high := change.high) is not None
        )
        if apart:
            other = "other " if changed else ""
            told.append(
                f"{apart:,} {other}{'change has a' if apart == 1 else 'changes have'} 95 % interval"
                f"{'' if apart == 1 else 's'} without 0. With {both:,} compared at once that happens by chance, so it "
                "is not called clear."
            )
        if came or went:
            told.append(
                f"Listed in the second release only: {came:,}; in the first only: {went:,}. That means little: near "
                "the last place noise decides what is listed, and an itemset may be as frequent in the other release."
            )
        return [*told, *self.notes]

    def __repr__(self) -> str:
        rows = [
            f"{_share(change.before):>9}  {_share(change.after):>9}  {items_text(change.items)}: {change.meaning}"
            for change in self.changes
        ]
        return "\n".join([*self._warning(), *self.lines(), f"{'before':>9}  {'after':>9}  itemset", *rows])

    def _warning(self) -> list[str]:
        return [] if self.private else ["NOT PRIVATE: of simulated releases, for research only."]

    def _repr_html_(self) -> str:
        """What a notebook shows; labels are escaped."""
        told = "".join(f"<p>{escape(line)}</p>" for line in (*self._warning(), *self.lines()))
        rows = "".join(
            f"<tr><td>{escape(items_text(change.items))}</td><td>{_share(change.before)}</td>"
            f"<td>{_share(change.after)}</td><td>{signed(change.change)}</td><td>{between(change)}</td>"
            f"<td>{escape(change.meaning)}</td></tr>"
            for change in self.changes
        )
        names = ("itemset", "before", "after", "change", "95 % interval", "meaning")
        head = f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>"
        return f"<div class='privmine'>{told}<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        changes = [{**asdict(change), "items": list(change.items)} for change in self.changes]
        return {"private": self.private, "words": self.lines(), "changes": changes}

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each itemset; of simulated releases there is a column `simulated`."""
        pandas = import_extra("pandas", "A DataFrame of pandas needs")
        frame = pandas.DataFrame([asdict(change) for change in self.changes], columns=_COLUMNS)
        frame["items"] = pandas.Series([frozenset(change.items) for change in self.changes], dtype=object)
        if not self.private:
            frame["simulated"] = True
        return frame.rename(columns={"items": "itemsets"})

    def plot(self, *, ax: Any = None, top: int = 25) -> Any:
        """Draw the largest changes with their intervals; see `Release.plot`."""
        from privmine.release.plots.changes import plot_changes

        return plot_changes(self, ax=ax, top=top)


_COLUMNS = ["items", "before", "after", "change", "low", "high", "clear", "meaning"]


def compare(first: Release, second: Release) -> Changes:
    """What changed from one release to the other.

    Raises:
        InputError: the second is no release, or the two protect different units or count different things, so that no
            difference means anything.
    """
    if not hasattr(second, "receipt"):
        raise InputError(
            f"A release is compared with a release, not with {type(second).__name__}: pm.load(…) gives one."
        )
    notes = _obstacles(first, second)
    before, after = ({frozenset(found.items): found for found in release} for release in (first, second))
    names = [found.items for found in first]
    names += [found.items for found in second if frozenset(found.items) not in before]
    pairs = [(items, before.get(frozenset(items)), after.get(frozenset(items))) for items in names]
    compared = sum(old is not None and new is not None for _, old, new in pairs)
    differences = [_difference(first, old, second, new, compared) for _, old, new in pairs]
    clear = _holm(np.array([chance for _, chance in differences]), compared)
    changes = [
        _change(items, old, new, difference[0], bool(sure))
        for (items, old, new), difference, sure in zip(pairs, differences, clear, strict=True)
    ]
    changes.sort(key=lambda change: (not change.clear, -abs(change.change or 0.0)))
    return Changes(tuple(changes), tuple(notes), first.receipt.private and second.receipt.private)


def _obstacles(first: Release, second: Release) -> list[str]:
    """Refuse releases that cannot be compared, and return warnings about the comparison."""
    one, other = first.receipt, second.receipt
    if one.unit is not None and other.unit is not None and one.unit != other.unit:
        raise InputError(
            f"The first release protects {one.whom}, the second {other.whom}, so that they count different things. "
            "Compare releases with the same unit and the same bound."
        )
    labels = [{type(item) for found in release for item in found.items} for release in (first, second)]
    if all(labels) and labels[0] != labels[1]:
        raise InputError(
            "One release has numbers for labels and the other text, so no itemset is in both. Compare releases "
            "of the same items."
        )
    notes = []
    if one.definition != other.definition:
        notes.append(f"The first release promises {_promise(one)}, the second {_promise(other)}.")
    if one.private is not other.private:
        notes.append("One of the releases is simulated and not private.")
    shared = {item for found in first for item in found.items} & {item for found in second for item in found.items}
    if len(first) and len(second) and not shared:
        notes.append("No item is in both releases: they may be of different catalogues.")
    if first == second:
        notes.append("Both are the same release, so nothing can have changed.")
    elif one.dataset is not None and one.dataset == other.dataset:
        notes.append(
            f"Both releases were charged to {one.dataset}. If they are of the same data, all that differs is noise."
        )
    return notes


def _promise(receipt: Receipt) -> str:
    return f"{receipt.definition.name} ({receipt.guarantee})"


def _difference(
    first: Release, old: FrequentItemset | None, second: Release, new: FrequentItemset | None, compared: int
) -> tuple[tuple[float, Interval] | None, float]:
    """The difference of two frequencies with its interval, and the chance that noise alone makes it so large.

    An itemset that one release does not list had a noisy count of at most that release's cutoff there, if it was
    counted at all; it may not have been, so that nothing is said of it.
    """
    if old is None or new is None:
        return None, 1.0
    one, other = share_of(first, old), share_of(second, new)
    difference = other.value - one.value
    if one.is_exact and other.is_exact:
        return (difference, Interval(difference, difference)), 0.0 if difference else 1.0
    law = difference_law(one, other)
    reach = law.quantile((1 - DEFAULT_LEVEL) / 2)
    chance = chance_of_difference(one, other, law, (1 - DEFAULT_LEVEL) / compared, 1 - DEFAULT_LEVEL)
    return (difference, Interval(difference - reach, difference + reach)), chance


def _holm(chances: Any, compared: int) -> Any:
    """Holm's test: which probabilities are small enough that, with 95 %, none of them is due to chance."""
    order = np.argsort(chances, kind="stable")
    found = np.zeros(len(chances), dtype=bool)
    for place, row in enumerate(order[:compared]):
        if chances[row] > (1 - DEFAULT_LEVEL) / (compared - place):
            break
        found[row] = True
    return found


def _change(
    items: tuple[Any, ...],
    old: FrequentItemset | None,
    new: FrequentItemset | None,
    difference: tuple[float, Interval] | None,
    clear: bool,
) -> Change:
    if difference is None:
        where = "second" if old is None else "first"
        return Change(
            items,
            None if old is None else old.support,
            None if new is None else new.support,
            None,
            None,
            None,
            False,
            f"in the {where} only",
        )
    assert old is not None
    assert new is not None
    value, (low, high) = difference
    meaning = ("rose" if value > 0 else "fell") if clear else "no clear change"
    # Supports lie between 0 and 1, and so their difference is known to lie within −1 and 1.
    low, high = max(low, -1.0), min(high, 1.0)
    value = min(max(value, -old.support), 1 - old.support)
    return Change(items, old.support, new.support, value, min(low, value), max(high, value), clear, meaning)


def signed(change: float | None) -> str:
    """A change as text, empty where there is none."""
    return "" if change is None else f"{change:+.4f}"


def between(change: Change) -> str:
    """The interval of a change as text, empty where there is none."""
    return "" if change.low is None else f"{signed(change.low)} to {signed(change.high)}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
