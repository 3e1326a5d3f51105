"""Association rules of a release, in mlxtend's columns, with intervals for what noise leaves open.

Rules are arithmetic on what is released alone. They look at no data, so they cost no budget.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from privmine.errors import InputError, UnknownNameError
from privmine.extras import import_extra
from privmine.noise.laws import check_level
from privmine.release.display import DEFAULT_LEVEL, items_text, percent
from privmine.release.rules.certainty import Certainty, Shown, Splits, discoveries
from privmine.release.rules.filters import LeftOut, redundant, with_items
from privmine.release.rules.measures import METRICS, measured

if TYPE_CHECKING:
    from privmine.release.release import Release

#: More rules than this fit neither a table nor a reader; their number doubles with each item of an itemset.
MOST_RULES = 10_000_000

#: mlxtend's default for a confidence.
DEFAULT_THRESHOLD = 0.8

SIDES = ("antecedents", "consequents")


def _labels(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, str | int) else tuple(values)


@frozen
class Wanted:
    """Which rules are wanted; for the meaning see `Release.rules`."""

    metric: str = "confidence"
    min_threshold: float | None = None
    support_only: bool = False
    refined: bool = True
    antecedent: tuple[Any, ...] = field(default=(), converter=_labels)
    consequent: tuple[Any, ...] = field(default=(), converter=_labels)
    prune: bool = False
    level: float = field(default=DEFAULT_LEVEL, converter=check_level)

    def __attrs_post_init__(self) -> None:
        if self.metric not in METRICS and not self.support_only:
            raise UnknownNameError("metric of rules", str(self.metric), METRICS)
        if self.support_only and self.prune:
            raise InputError(
                "With support_only=True there is no confidence that prune=True could compare. Drop one of them."
            )

    @property
    def decides(self) -> str:
        """The column that the threshold is for."""
        return "support" if self.support_only else self.metric

    @property
    def threshold(self) -> float:
        """The least value of that column."""
        if self.min_threshold is None:
            return -inf if self.refined and not self.support_only else DEFAULT_THRESHOLD
        return _number(self.min_threshold)


@frozen(eq=False)
class RuleList:
    """Rules as columns, both sides as tuples in public order.

    Attributes:
        columns: mlxtend's, then the ends of intervals; a simulated release has a column more, `simulated`, so that no
            copy of it passes for private.
        left_out: what is not shown.
        level: the level of the intervals.
        found: how many rules there were before the threshold, templates and pruning.
        refined: whether only rules are listed that noise does not explain.
    """

    columns: dict[str, Any]
    left_out: LeftOut = LeftOut()
    level: float = DEFAULT_LEVEL
    found: int = 0
    refined: bool = False

    def __len__(self) -> int:
        return len(self.columns["support"])


def words(release: Release, found: RuleList) -> list[str]:
    """What a reader of rules must know: what is left out, and what the intervals promise and assume."""
    sentences = [str(found.left_out)] if found.left_out.total else []
    if len(found) and any(name.endswith("_low") for name in found.columns):
        sentences.append(
            f"The columns _low and _high are {percent(found.level)} intervals: they say what the noise leaves open, "
            "one rule at a time."
        )
        just = int((np.asarray(found.columns["lift_low"]) <= 1).sum()) if found.refined else 0
        if just:
            sentences.append(
                f"{just:,} of the {len(found):,} rules passed only just: their intervals reach down to a lift of 1 or "
                "less, so take them for a hint."
            )
        if not release.joint:
            sentences.append(
                "They assume that the noise in the count of an itemset is independent of that in its parts; this "
                "release does not say."
            )
    return sentences


def rules(release: Release, **wanted: Any) -> Any:
    """The association rules of a release as a pandas DataFrame; for arguments see `Release.rules`.

    The receipt and what is left out are in its `attrs`.
    """
    pd = import_extra("pandas", "A DataFrame of rules needs")
    found = list_rules(release, Wanted(**wanted))
    columns = dict(found.columns)
    for side in SIDES:
        # The same few sets fill long columns, so each is made once.
        sets = {items: frozenset(items) for items in set(columns[side])}
        columns[side] = pd.Series([sets[items] for items in columns[side]], dtype=object)
    frame = pd.DataFrame(columns)
    frame.attrs.update(
        privmine=release.receipt.to_dict(), privmine_level=found.level, privmine_words=words(release, found)
    )
    return frame


def list_rules(release: Release, wanted: Wanted) -> RuleList:
    """The rules that are wanted, with what is left out."""
    threshold = wanted.threshold
    if wanted.support_only:
        found = RuleList(_by_support(release, threshold), level=wanted.level)
        found = _matching(release, found, wanted)
    else:
        splits, incomplete = _splits(release, complete=not wanted.refined)
        found = (_refined if wanted.refined else _plain)(release, splits, wanted, threshold)
        found = _matching(release, evolve(found, left_out=evolve(found.left_out, incomplete=incomplete)), wanted)
        found = _pruned(found) if wanted.prune else found
    if not release.receipt.private:
        found.columns["simulated"] = np.ones(len(found), dtype=bool)
    return found


def _plain(release: Release, splits: Splits, wanted: Wanted, threshold: float) -> RuleList:
    """All rules that reach the threshold, with mlxtend's values."""
    supports, every = np.array([found.support for found in release], dtype=float), len(splits)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sides = (supports[splits.wholes], supports[splits.antecedents], supports[splits.consequents])
        splits = splits.where(METRICS[wanted.metric](*sides) >= threshold)
    sides = (supports[splits.wholes], supports[splits.antecedents], supports[splits.consequents])
    return RuleList(_columns(release, splits, measured(*sides), wanted.level), level=wanted.level, found=every)


def _refined(release: Release, splits: Splits, wanted: Wanted, threshold: float) -> RuleList:
    """The rules that noise does not explain, with values within their ranges.

    No itemset is more frequent than its parts. Where the noisy supports say so, its support is taken to be that of the
    rarer part: then every metric is within its range.
    """
    lows = np.array([low for low, _ in release.intervals(wanted.level)], dtype=float)
    solid = np.minimum.reduce([lows[rows] for rows in (splits.wholes, splits.antecedents, splits.consequents)]) > 0
    tested = len(splits)
    near_zero = int((~solid).sum())
    splits = splits.where(solid)
    kept, shown_by = discoveries(Certainty(release, splits, wanted.level).chances(), tested)
    left_out = LeftOut(near_zero, int((~kept).sum()))
    splits = splits.where(kept)
    supports = np.array([found.support for found in release], dtype=float)
    antecedent, consequent = supports[splits.antecedents], supports[splits.consequents]
    whole = np.minimum.reduce([supports[splits.wholes], antecedent, consequent])
    values = measured(whole, antecedent, consequent)
    enough = values[wanted.metric] >= threshold
    shown = {name: column[enough] for name, column in values.items()}
    columns = _columns(release, splits.where(enough), shown, wanted.level, shown_by)
    return RuleList(columns, left_out, wanted.level, len(splits), refined=True)


def _columns(
    release: Release, splits: Splits, values: dict[str, Any], level: float, shown: Shown | None = None
) -> dict[str, Any]:
    """Sides by their labels, metrics, and the ends of intervals."""
    names = [found.items for found in release]
    named = ([names[row] for row in side.tolist()] for side in (splits.antecedents, splits.consequents))
    ends = {
        f"{metric}_{end}": column
        for metric, both in Certainty(release, splits, level).intervals(shown).items()
        for end, column in zip(("low", "high"), both, strict=True)
    }
    return {**dict(zip(SIDES, named, strict=True)), **values, **ends}


def _only(found: RuleList, kept: Any) -> RuleList:
    """The rules that a mask keeps."""
    rows = np.flatnonzero(kept).tolist()
    columns = {
        name: [values[row] for row in rows] if name in SIDES else values[kept] for name, values in found.columns.items()
    }
    return evolve(found, columns=columns)


def _matching(release: Release, found: RuleList, wanted: Wanted) -> RuleList:
    for side, option in zip(SIDES, ("antecedent", "consequent"), strict=True):
        labels: Iterable[Any] = getattr(wanted, option)
        if labels:
            found = _only(found, with_items(release, found.columns[side], labels, option))
    return found


def _pruned(found: RuleList) -> RuleList:
    sides = list(zip(found.columns["antecedents"], found.columns["consequents"], strict=True))
    surplus = redundant(sides, found.columns["confidence"], found.columns["confidence_low"])
    left_out = evolve(found.left_out, redundant=int(surplus.sum()))
    return evolve(_only(found, ~surplus), left_out=left_out)


def _splits(release: Release, complete: bool) -> tuple[Splits, int]:
    """All rules by positions, and how many are impossible because a part of an itemset was not released.

    Args:
        release: where the itemsets come from.
        complete: refuse a release in which a part is missing.
    """
    row_of = {frozenset(found.items): row for row, found in enumerate(release)}
    if complete:
        _check_enough(release)
    sides: tuple[list[int], list[int], list[int]] = ([], [], [])
    incomplete = 0
    for whole, found in enumerate(release):
        if len(found.items) < 2:
            continue
        if 1 << len(found.items) > MOST_RULES:
            incomplete += (1 << len(found.items)) - 2  # A release never holds as many subsets as that.
            continue
        rows = [row_of.get(frozenset(subset), -1) for subset in _proper_subsets(found.items)]
        if complete and -1 in rows:
            raise _missing(release, set(row_of))
        for antecedent, consequent in zip(rows, reversed(rows), strict=True):
            if min(antecedent, consequent) < 0:
                incomplete += 1
                continue
            for side, row in zip(sides, (whole, antecedent, consequent), strict=True):
                side.append(row)
    return Splits(*(np.array(side, dtype=np.int64) for side in sides)), incomplete


def _number(threshold: Any) -> float:
    try:
        number = float(threshold)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"min_threshold must be a number, not {threshold!r}.") from None
    if isnan(number):
        raise InputError("min_threshold must be a number, not NaN.")
    return number


def _proper_subsets(items: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """All but the itemset itself and the empty set, long ones first.

    Read backwards, the list has at each place the complement of what it has there read forwards: so one list
    holds the antecedents, and backwards the consequents.
    """
    return [subset for size in range(len(items) - 1, 0, -1) for subset in combinations(items, size)]


def _by_support(release: Release, threshold: float) -> dict[str, Any]:
    chosen = [found for found in release if len(found.items) > 1 and found.support >= threshold]
    expected = sum((1 << len(found.items)) - 2 for found in chosen)
    if expected > MOST_RULES:
        raise InputError(
            f"These itemsets have {expected:,} rules, and more than {MOST_RULES:,} are not listed: "
            "an itemset of n items has 2^n − 2. Raise min_threshold, or mine with a max_length."
        )
    sides = [_proper_subsets(found.items) for found in chosen]
    supports = np.repeat(np.array([found.support for found in chosen], dtype=float), [len(side) for side in sides])
    empty = {name: np.full(len(supports), np.nan) for name in METRICS}
    return {
        "antecedents": [subset for side in sides for subset in side],
        "consequents": [subset for side in sides for subset in side[::-1]],
        **empty,
        "support": supports,
    }


def _check_enough(release: Release) -> None:
    """Before subsets are listed: an itemset of n items has 2^n − 1, so if there are fewer, one is missing."""
    longest = max((len(found.items) for found in release), default=0)
    if (1 << longest) - 1 > len(release):
        raise _missing(release, {frozenset(found.items) for found in release})


def _missing(release: Release, released: set[frozenset[Any]]) -> InputError:
    """Say which subset is missing. It is enough to look at those one item shorter than a released itemset."""
    lacking = 0
    example = ""
    for found in release:
        if len(found.items) < 2:
            continue
        shorter = combinations(found.items, len(found.items) - 1)
        missing = next((subset for subset in shorter if frozenset(subset) not in released), None)
        if missing is not None:
            example = example or f"{_braces(found.items)} was released, but not its subset {_braces(missing)}"
            lacking += 1
    return InputError(
        f"{example} ({lacking} of {len(release)} itemsets lack one), so some metrics of its rules are unknown. "
        "Mine with downward_closed=True, leave such itemsets out with release.downward_closed().rules(…), or pass "
        "support_only=True and min_threshold=0 for the supports alone."
    )


def _braces(items: tuple[Any, ...]) -> str:
    return f"{{{items_text(items)}}}"
