"""The rules of a release by confidence and lift, with the intervals of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmine.model import FloatArray
from privmine.release.display import percent
from privmine.release.plots.style import COLOURS, PLAIN, Drawing, counted, itemset_label, nothing, stamp, title
from privmine.release.rules import Wanted, list_rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.release import Release

#: So many rules get their names, largest lifts first; more would cover one another.
_NAMED = 8
#: Rules whose lift may be 1 or less.
_HINT = "0.55"


def rules(release: Release, top: int, level: float) -> Drawing:
    """A dot for each rule that noise does not explain, largest lifts first."""
    found = list_rules(release, Wanted("lift", level=level, prune=True))
    if not found.found and not found.left_out.total:
        return nothing(release, "There are no rules:\nno released itemset has two items or more.")
    if not len(found):
        left_out = str(found.left_out).replace(": ", ":\n", 1)
        return nothing(release, f"No rule is clearly more than chance.\n{left_out}".rstrip())
    columns = found.columns
    shown = np.argsort(-columns["lift"], kind="stable")[:top]

    def draw(axes: Axes) -> None:
        values = {name: np.asarray(columns[name])[shown] for name in columns if name.partition("_")[0] in _DRAWN}
        spread = {
            name: np.clip([values[name] - values[f"{name}_low"], values[f"{name}_high"] - values[name]], 0, None)
            for name in _DRAWN
        }
        axes.errorbar(
            values["confidence"], values["lift"], xerr=spread["confidence"], yerr=spread["lift"], fmt="none",
            ecolor=COLOURS[0], alpha=0.35, elinewidth=1.0, capsize=2,
        )  # fmt: skip
        supports = np.asarray(columns["support"])[shown]
        sizes = 40 + 100 * supports / (supports.max() or 1.0)
        just = values["lift_low"] <= 1
        for of_kind, colour in ((~just, COLOURS[1]), (just, _HINT)):
            axes.scatter(
                values["confidence"][of_kind], values["lift"][of_kind], s=sizes[of_kind], color=colour,
                edgecolor="white", linewidth=0.8, zorder=3,
            )  # fmt: skip
        axes.axhline(1.0, color="0.45", linewidth=0.9, linestyle="--")
        axes.set_xlim(*_limits(values["confidence_low"], values["confidence_high"], 1.0))
        axes.set_ylim(*_limits(values["lift_low"], values["lift_high"], 2 * float(values["lift"].max())))
        _name(axes, [_words(columns["antecedents"][row], columns["consequents"][row]) for row in shown[:_NAMED]])
        for number, row in enumerate(shown[:_NAMED], start=1):
            axes.text(
                columns["confidence"][row], columns["lift"][row], str(number), ha="center", va="center",
                fontsize="x-small", fontweight="bold", color="white", zorder=5,
            )  # fmt: skip
        hints = "; grey: passed only just, a hint" if just.any() else ""
        axes.set_xlabel(f"confidence (lines: {percent(level)} intervals{hints})")
        axes.set_ylabel("lift (1: no connection)")
        title(axes, release, counted(len(shown), len(found) + found.left_out.redundant, "rule"))
        axes.grid(visible=True, color="0.92", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        stamp(axes, private=release.receipt.private)

    return Drawing((7.6, 4.6 + 0.17 * min(len(shown), _NAMED)), draw)


_DRAWN = ("confidence", "lift")


def _limits(lows: FloatArray, highs: FloatArray, most: float) -> tuple[float, float]:
    """From the lowest to the highest end with a little room; an end that is far off is cut."""
    low, high = max(float(lows.min()), 0.0), min(float(highs.max()), most)
    room = 0.06 * max(high - low, 0.05)
    return max(low - room, 0.0), high + room


def _words(antecedent: tuple[object, ...], consequent: tuple[object, ...]) -> str:
    return f"{itemset_label(antecedent)} → {itemset_label(consequent)}"


def _name(axes: Axes, names: list[str]) -> None:
    """The names of numbered dots, below the picture."""
    lines = "\n".join(f"{number}  {name}" for number, name in enumerate(names, start=1))
    axes.text(0.0, -0.17, lines, transform=axes.transAxes, va="top", fontsize="small", color="0.2", **PLAIN)
