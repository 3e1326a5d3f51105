"""Supports as bars, with an interval for the noise of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmine.release.display import percent
from privmine.release.plots.style import COLOURS, PLAIN, Drawing, counted, itemset_label, nothing, stamp, title
from privmine.release.verdict import told_from_zero

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.release import Release


def support(release: Release, top: int, level: float) -> Drawing:
    """A bar for each of the first itemsets, coloured by its size."""
    shown = release.itemsets[:top]
    if not shown:
        return nothing(release, "No itemset was released.")
    intervals = release.intervals(level)[: len(shown)]
    labels = [itemset_label(found.items) for found in shown]
    clear = told_from_zero(release)[: len(shown)]

    def draw(axes: Axes) -> None:
        from matplotlib.patches import Patch

        handles: list[Patch] = []
        places = np.arange(len(shown))
        sizes = np.array([min(len(found.items), len(COLOURS)) for found in shown])
        supports = np.array([found.support for found in shown])
        # What lies outside 0 and 1 is possible for the noise but not for a support.
        lows, highs = np.clip(np.array(intervals).T / release.total, 0, 1)
        for size in sorted(set(sizes.tolist())):
            for sure, alpha in ((True, 0.8), (False, 0.3)):
                of_kind = (sizes == size) & (clear == sure)
                if of_kind.any():
                    axes.barh(places[of_kind], supports[of_kind], height=0.72, color=COLOURS[size - 1], alpha=alpha)
            handles.append(Patch(color=COLOURS[size - 1], alpha=0.8, label=_size_words(size)))
        # An estimate may lie outside its interval, so that a line is drawn around its own middle.
        axes.errorbar(
            (lows + highs) / 2, places, xerr=(highs - lows) / 2, fmt="none", ecolor="0.15", elinewidth=1.1,
            capsize=2.2, capthick=1.1,
        )  # fmt: skip
        axes.set_yticks(places, labels, **PLAIN)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0, min(1.02, 1.04 * max(highs.max(), supports.max(), 0.01)))
        about = "" if release.receipt.n_public else "about "
        counts = release.receipt.counted.partition(",")[0]
        pale = "" if clear.all() else "; pale: not clearly above 0"
        axes.set_xlabel(
            f"support, as a share of {about}{release.total:,.0f} {counts}\n(lines: {percent(level)} intervals{pale})"
        )
        title(axes, release, counted(len(shown), len(release), "itemset"))
        axes.legend(handles=handles, loc="lower right", framealpha=0.85, edgecolor="none")
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        stamp(axes, private=release.receipt.private)

    return Drawing((5.6 + 0.075 * max(map(len, labels)), max(2.6, 1.3 + 0.235 * len(shown))), draw)


def _size_words(size: int) -> str:
    if size == len(COLOURS):
        return f"{size} or more items"
    return "1 item" if size == 1 else f"{size} items"
