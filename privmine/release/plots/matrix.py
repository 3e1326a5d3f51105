"""The supports of pairs as a matrix, with those of single items on the diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privmine.release.plots.pairs import pairs_of
from privmine.release.plots.style import PLAIN, WIDEST_ITEM, Drawing, counted, nothing, shortened, stamp, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.release import Release

#: Numbers are written into the cells of a matrix of at most so many items.
_MOST_WRITTEN = 16


def matrix(release: Release, top: int, _: float) -> Drawing:
    """The most frequent items against each other."""
    found, every = pairs_of(release, top)
    if not found.items:
        return nothing(release, "No item and no pair was released.")
    count = len(found.items)
    percent = np.full((count, count), np.nan)
    np.fill_diagonal(percent, 100 * found.singles)
    for (a, b), support in found.pairs.items():
        percent[a, b] = percent[b, a] = 100 * support
    labels = [shortened(item, WIDEST_ITEM) for item in found.items]

    def draw(axes: Axes) -> None:
        from matplotlib.colors import PowerNorm

        # Single items are far more frequent than pairs; a root leaves the pairs shades of their own.
        norm = PowerNorm(0.5, vmin=0, vmax=float(np.nanmax(percent)) or 1.0)
        image = axes.imshow(np.ma.masked_invalid(percent), cmap=_shades(), norm=norm)
        axes.set_xticks(range(count), labels, rotation=45, ha="right", rotation_mode="anchor", **PLAIN)
        axes.set_yticks(range(count), labels, **PLAIN)
        axes.set_xticks(np.arange(0.5, count - 1), minor=True)
        axes.set_yticks(np.arange(0.5, count - 1), minor=True)
        axes.grid(visible=True, which="minor", color="0.92", linewidth=0.7)
        axes.tick_params(which="both", length=0)
        notes = "Diagonal: an item alone. Blank: not released."
        if found.unclear:
            notes += " ?: not clearly above 0."
        axes.set_xlabel(notes, color="0.35", fontsize="small")
        for row, column in np.argwhere(np.isfinite(percent)).tolist():
            value = percent[row, column]
            colour = "white" if norm(value) > 0.52 else "0.15"
            number = f"{value:.1f}" if count <= _MOST_WRITTEN else ""
            doubt = "?" if (min(row, column), max(row, column)) in found.unclear else ""
            if number or doubt:
                axes.text(column, row, number + doubt, ha="center", va="center", fontsize="x-small", color=colour)
        for side in axes.spines.values():
            side.set_color("0.85")
        bar = axes.figure.colorbar(image, ax=axes, shrink=0.7, label="support, % of transactions")
        bar.outline.set_visible(False)
        pairs = len(found.pairs)
        title(axes, release, f"{counted(count, every, 'item')}, {counted(pairs, pairs, 'pair')}")
        stamp(axes, private=release.receipt.private)

    side = 3.2 + 0.30 * count
    return Drawing((side + 1.2, side), draw)


def _shades() -> Any:
    """Blues without the palest, which could not be told from the blank of a pair that was not released."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("privmine blues", colormaps["Blues"](np.linspace(0.12, 1, 64)))
