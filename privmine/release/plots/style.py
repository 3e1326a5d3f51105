"""What all pictures of a release share: colours, titles, labels, and the mark of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import fill
from typing import TYPE_CHECKING, Any

from attrs import frozen

from privmine.extras import import_extra
from privmine.release.display import items_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.release import Release

#: Okabe and Ito's colours, which the colour-blind tell apart; yellow is left out, since it vanishes on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
WARNING = "simulated, not private"
#: A label is text, whatever it contains: a $ begins no formula.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
WIDEST_ITEM = 24
WIDEST_TITLE = 70

_WARNING_COLOUR = "#B3261E"
_WIDEST_ITEMSET = 44


@frozen
class Drawing:
    """A picture that is yet to be drawn.

    Attributes:
        size: the width and height in inches that suit it.
        draw: draws it into axes.
    """

    size: tuple[float, float]
    draw: Callable[[Axes], None]


#: How many letters fit beside each other in a picture that says why there is none.
_WIDEST_LINE = 56


def nothing(release: Release, sentence: str) -> Drawing:
    """A picture that says why there is none."""

    def draw(axes: Axes) -> None:
        axes.set_axis_off()
        # Folded here, and no part of the layout, which would make room for it until nothing is left of the axes.
        folded = "\n".join(fill(line, _WIDEST_LINE) for line in sentence.splitlines())
        place: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "center", "in_layout": False}
        axes.text(0.5, 0.5, folded, color="0.35", **place, **PLAIN)
        title(axes, release, "")
        stamp(axes, private=release.receipt.private)

    return Drawing((5.6, 2.4), draw)


def title(axes: Axes, release: Release, words: str) -> None:
    """What is shown, the budget that it cost, and whom it protects."""
    receipt = release.receipt
    shown = ", ".join(part for part in (words, receipt.price) if part)
    protects = f"\nprotects {_cut(receipt.whom, WIDEST_TITLE)}" if receipt.private else ""
    axes.set_title(f"{shown}{protects}", fontsize="medium", loc="left", **PLAIN)


def stamp(axes: Axes, *, private: bool) -> None:
    """Across the picture, so that no copy of a simulation passes for private."""
    if not private:
        stamp = axes.text(
            0.5, 0.5, WARNING, transform=axes.transAxes, ha="center", va="center", rotation=24, fontsize=22,
            color=_WARNING_COLOUR, alpha=0.28, zorder=5,
        )  # fmt: skip
        stamp.set_in_layout(False)


def counted(shown: int, every: int, what: str) -> str:
    """How many of how many."""
    return f"{'' if shown == every else f'{shown} of '}{every} {what}{'' if every == 1 else 's'}"


def shortened(label: Any, width: int) -> str:
    """A label that is no wider than so many characters; its beginning says the most."""
    return _cut(items_text((label,)), width)


def _cut(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 1].rstrip() + "…"


def itemset_label(items: tuple[Any, ...], width: int = _WIDEST_ITEMSET) -> str:
    """Labels side by side: long ones are shortened first, and if that is not enough, the last ones counted."""
    whole = items_text(items)
    if len(whole) <= width:
        return whole
    longest = max(len(items_text((item,))) for item in items)
    for each in range(min(longest, width), 9, -1):
        fitting = ", ".join(shortened(item, each) for item in items)
        if len(fitting) <= width:
            return fitting
    named = [shortened(item, 10) for item in items]
    for kept in range(len(named) - 1, 0, -1):
        fitting = f"{', '.join(named[:kept])} + {len(named) - kept} more"
        if len(fitting) <= width:
            return fitting
    return f"{named[0]} + {len(named) - 1} more"


def new_axes(size: tuple[float, float]) -> Axes:
    """Axes in a new figure of this size."""
    pyplot = import_extra("matplotlib.pyplot", "Pictures need")
    axes: Axes = pyplot.subplots(layout="constrained", figsize=size)[1]
    return axes
