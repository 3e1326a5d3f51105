"""The items of a release as dots that released pairs join."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from privmine.model import FloatArray
from privmine.release.plots.pairs import pairs_of
from privmine.release.plots.style import COLOURS, PLAIN, WIDEST_ITEM, Drawing, counted, nothing, shortened, stamp, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.release import Release


def graph(release: Release, top: int, _: float) -> Drawing:
    """Of the most frequent items, those that a released pair joins."""
    found, _every = pairs_of(release, top)
    if not found.pairs:
        return nothing(release, "No pair of items was released.")
    joined = sorted({place for pair in found.pairs for place in pair})
    new = {place: position for position, place in enumerate(joined)}
    edges = sorted(((new[a], new[b]), support) for (a, b), support in found.pairs.items())
    unclear = {(new[a], new[b]) for a, b in found.unclear & found.pairs.keys()}
    labels = [shortened(found.items[place], WIDEST_ITEM) for place in joined]
    strongest = dict.fromkeys(range(len(joined)), 0.0)
    for ends, support in edges:
        for end in ends:
            strongest[end] = max(strongest[end], support)
    sizes = np.array([_or(found.singles[place], strongest[new[place]]) for place in joined])
    alone = len(found.items) - len(joined)
    places = _layout(len(joined), [ends for ends, _ in edges])

    def draw(axes: Axes) -> None:
        most = max(support for _, support in edges) or 1.0
        for (a, b), support in sorted(edges, key=lambda edge: edge[1]):
            share = max(support, 0.0) / most
            noise = (a, b) in unclear
            axes.plot(
                *zip(places[a], places[b], strict=True), color="0.6" if noise else COLOURS[0],
                alpha=0.25 + 0.5 * share, linewidth=1.2 if noise else 0.6 + 5.0 * share,
                linestyle=(0, (3, 3)) if noise else "-", solid_capstyle="round", zorder=1,
            )  # fmt: skip
        radii = 4 + 12 * np.sqrt(np.clip(sizes, 0, None) / (sizes.max() or 1.0))
        axes.scatter(
            places[:, 0], places[:, 1], s=radii**2, color=COLOURS[1], edgecolor="white", linewidth=1.0, zorder=2
        )
        axes.margins(0.12)
        axes.set_axis_off()
        title(axes, release, f"{len(joined)} items, {counted(len(edges), len(edges), 'pair')}")
        notes = [f"Dots grow with the support of an item, lines with that of a pair (up to {most:.1%})."]
        if unclear:
            notes.append(f"Dashed: {len(unclear)} of the {len(edges)} pairs, whose counts are not clearly above 0.")
        if alone:
            notes.append(f"{alone} of the {len(found.items)} most frequent items have no released pair among them.")
        axes.text(0.0, -0.01, "\n".join(notes), transform=axes.transAxes, va="top", color="0.35", fontsize="small")
        stamp(axes, private=release.receipt.private)
        _place_labels(axes, labels, places, radii / 2, [ends for ends, _ in edges])

    wide, high = np.ptp(places, axis=0)
    # The note below needs its room, however small the graph is.
    return Drawing((max(5.6, 2.4 + 1.05 * wide), max(3.0, 1.8 + 0.95 * high + 0.2 * bool(unclear))), draw)


def _or(value: float, otherwise: float) -> float:
    return otherwise if np.isnan(value) else value


def _layout(count: int, edges: list[tuple[int, int]]) -> FloatArray:
    """Where the items stand, the same at every call: the method draws nothing at random from a given start.

    Groups of items that no pair joins are laid out apart, and put side by side in rows, large ones first.
    """
    import igraph

    graph = igraph.Graph(n=count, edges=edges)
    groups = sorted(graph.connected_components(), key=lambda members: (-len(members), members[0]))
    boxes = [_box(len(members)) for members in groups]
    widest = max(1.25 * sqrt(sum((width + _GAP) * (height + _GAP) for width, height in boxes)), boxes[0][0])
    places = np.zeros((count, 2))
    left = top = deepest = 0.0
    for members, (width, height) in zip(groups, boxes, strict=True):
        if left > 0 and left + width > widest:
            left, top, deepest = 0.0, top - deepest - _GAP, 0.0
        places[members] = _within(graph.induced_subgraph(members)) * (width, height) + (left, top - height)
        left, deepest = left + width + _GAP, max(deepest, height)
    return places


#: Between groups of items, where the average distance of neighbours in a group is about 1.
_GAP = 0.8


def _box(count: int) -> tuple[float, float]:
    """The room for a group: wider than high, since labels are."""
    return (1.3, 0.35) if count == 2 else (1.2 * sqrt(count), 0.9 * sqrt(count))


#: How many layouts of a group are tried.
_TRIES = 12


def _within(graph: Any) -> FloatArray:
    """The layout of one group, stretched to fill the square from 0 to 1.

    Of several starts the one is kept whose dots keep clear of the lines that are not theirs: a dot upon
    a line looks as if the line ended there.
    """
    count = graph.vcount()
    angles = 2 * np.pi * np.arange(count) / count
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    layouts = []
    for number in range(_TRIES):
        start = circle[np.random.default_rng(number).permutation(count)] if number else circle
        placed = np.array(graph.layout_kamada_kawai(seed=start.tolist(), maxiter=200 * count).coords, dtype=float)
        span = np.ptp(placed, axis=0)
        layouts.append(np.where(span > 1e-6, (placed - placed.min(axis=0)) / np.where(span > 1e-6, span, 1.0), 0.5))
    return max(layouts, key=lambda places: _clearance(places, graph.get_edgelist()))


def _clearance(places: FloatArray, edges: Sequence[tuple[int, int]]) -> float:
    """The least distance of a dot from a line that does not end at it, and from another dot."""
    nearest = np.inf
    for one, other in edges:
        way = places[other] - places[one]
        length = float(way @ way)
        if not length:
            return 0.0
        along = np.clip((places - places[one]) @ way / length, 0.0, 1.0)
        distances = np.linalg.norm(places - places[one] - along[:, None] * way, axis=1)
        distances[[one, other]] = np.inf
        nearest = min(nearest, float(distances.min()))
    return nearest


def _place_labels(
    axes: Axes, labels: Sequence[str], places: FloatArray, radii: FloatArray, edges: Sequence[tuple[int, int]]
) -> None:
    """Write each label beside its dot, where it covers the least of other labels, dots and lines.

    Offsets are in points, so that they hold when the figure is resized; large dots choose first.
    """
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    axes.figure.figure.draw_without_rendering()
    scale = axes.figure.dpi / 72
    at = axes.transData.transform(places)
    starts, ends = at[[a for a, _ in edges]], at[[b for _, b in edges]]
    along = np.linspace(0.05, 0.95, 40)[:, None, None]
    lines = (starts + along * (ends - starts)).reshape(-1, 2)
    dots = [Bbox.from_extents(*(point - r * scale), *(point + r * scale)) for point, r in zip(at, radii, strict=True)]
    frame = axes.get_window_extent()
    taken: list[Any] = []
    for index in np.argsort(-radii, kind="stable").tolist():
        text = axes.annotate(
            labels[index], places[index], (0, 0), textcoords="offset points", fontsize="small", zorder=4,
            path_effects=[withStroke(linewidth=2.4, foreground="white")], **PLAIN,
        )  # fmt: skip
        text.set_in_layout(False)
        gap = radii[index] + 2
        best, least = None, np.inf
        for ha, va, across, up in _SPOTS:
            text.set(horizontalalignment=ha, verticalalignment=va)
            text.xyann = (across * gap, up * gap)
            box = text.get_window_extent()
            others = [dot for other, dot in enumerate(dots) if other != index]
            covered = sum(4 * _overlap(box, other) for other in taken) + sum(2 * _overlap(box, dot) for dot in others)
            outside = box.width * box.height - _overlap(box, frame)
            crossed = np.all((lines > box.min) & (lines < box.max), axis=1).sum()
            cost = covered + 4 * outside + 8 * scale**2 * crossed
            if cost < least - 1e-9:
                best, least = (ha, va, text.xyann, box), cost
        assert best is not None
        text.set(horizontalalignment=best[0], verticalalignment=best[1])
        text.xyann = best[2]
        taken.append(best[3])


_DIAGONAL = sqrt(0.5)
#: Where a label may stand, best first: alignment, and the direction from its dot.
_SPOTS = (
    ("center", "bottom", 0.0, 1.0),
    ("center", "top", 0.0, -1.0),
    ("left", "center", 1.0, 0.0),
    ("right", "center", -1.0, 0.0),
    ("left", "bottom", _DIAGONAL, _DIAGONAL),
    ("right", "bottom", -_DIAGONAL, _DIAGONAL),
    ("left", "top", _DIAGONAL, -_DIAGONAL),
    ("right", "top", -_DIAGONAL, -_DIAGONAL),
)


def _overlap(one: Any, other: Any) -> float:
    """The area that two boxes share."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return float(width * height) if width > 0 and height > 0 else 0.0
