"""The largest changes between two releases, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmine.release.display import DEFAULT_LEVEL, percent
from privmine.release.plots.style import COLOURS, PLAIN, Drawing, counted, itemset_label, new_axes, stamp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.comparison import Changes


def plot_changes(comparison: Changes, *, ax: Axes | None = None, top: int = 25) -> Axes:
    """Draw the itemsets that both releases list, clear changes first."""
    drawing = changes(comparison, top)
    axes = new_axes(drawing.size) if ax is None else ax
    drawing.draw(axes)
    return axes


def changes(comparison: Changes, top: int) -> Drawing:
    """A dot and a line for each change; those that noise and chance do not explain have a colour."""
    both = [change for change in comparison.changes if change.change is not None]
    shown = both[:top]
    labels = [itemset_label(change.items) for change in shown]

    def draw(axes: Axes) -> None:
        if not shown:
            axes.set_axis_off()
            axes.text(0.5, 0.5, "No itemset is in both releases.", ha="center", va="center", color="0.35")
            return
        places = np.arange(len(shown))
        values, lows, highs = (
            100 * np.array([getattr(change, name) for change in shown], dtype=float)
            for name in ("change", "low", "high")
        )
        clear = np.array([change.clear for change in shown])
        for mask, colour, words in (
            (clear, COLOURS[1], "clear change"),
            (~clear, "0.6", "noise or chance explains it"),
        ):
            if mask.any():
                spread = [values[mask] - lows[mask], highs[mask] - values[mask]]
                axes.errorbar(values[mask], places[mask], xerr=spread, fmt="o", color=colour, capsize=2.2, label=words)
        axes.axvline(0.0, color="0.3", linewidth=0.9)
        axes.set_yticks(places, labels, **PLAIN)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlabel(f"change of support, in percentage points (lines: {percent(DEFAULT_LEVEL)} intervals)")
        words = counted(len(shown), len(both), "itemset")
        axes.set_title(
            f"{words} in both releases, {len(comparison.clear)} clearly changed", loc="left", fontsize="medium", pad=24
        )
        # In a line of its own, since the title may be as wide as the picture.
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, borderaxespad=0.1, borderpad=0.2
        )
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        stamp(axes, private=comparison.private)

    return Drawing((5.6 + 0.075 * max(map(len, labels), default=0), max(2.8, 1.55 + 0.235 * len(shown))), draw)
