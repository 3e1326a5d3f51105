"""Pictures of a release: supports with intervals, the pairs as a graph or a matrix, the rules with intervals.

matplotlib is an extra (`pip install 'privmine[plots]'`) and imported only when something is drawn. A picture is
drawn into the axes that it is given, or into a new figure. It needs no data and costs no budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privmine.errors import UnknownNameError
from privmine.exact import whole_number
from privmine.noise.laws import check_level
from privmine.release.display import DEFAULT_LEVEL
from privmine.release.plots.graph import graph
from privmine.release.plots.matrix import matrix
from privmine.release.plots.rule_scatter import rules
from privmine.release.plots.style import Drawing, new_axes
from privmine.release.plots.support import support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.release import Release

#: How each kind is laid out, and how many itemsets or items it shows unless told otherwise.
KINDS = {"support": (support, 25), "graph": (graph, 25), "matrix": (matrix, 16), "rules": (rules, 40)}


def plot(
    release: Release,
    kind: str = "support",
    *,
    ax: Axes | None = None,
    top: int | None = None,
    level: float = DEFAULT_LEVEL,
) -> Axes:
    """Draw a release; for arguments see `Release.plot`."""
    drawing = lay_out(release, kind, top=top, level=level)
    axes = new_axes(drawing.size) if ax is None else ax
    drawing.draw(axes)
    return axes


def lay_out(release: Release, kind: str, *, top: int | None = None, level: float = DEFAULT_LEVEL) -> Drawing:
    """A picture that is yet to be drawn; for arguments see `Release.plot`."""
    if kind not in KINDS:
        raise UnknownNameError("kind of picture", str(kind), KINDS)
    make, most = KINDS[kind]
    return make(release, most if top is None else whole_number(top, "top"), check_level(level))
