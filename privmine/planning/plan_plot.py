"""The picture of a plan: errors against ε.

matplotlib is an extra (`pip install 'privmine[plots]'`) and imported only when something is drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmine.errors import InputError
from privmine.exact import amount
from privmine.planning.plan_text import items
from privmine.privacy.guarantee import Guarantee, equation
from privmine.release.plots.pictures import save_picture
from privmine.release.plots.style import COLOURS, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.planning.plan_result import Plan
    from privmine.planning.sizes import SizeRange

#: Lines differ by more than colour, for print in grey.
MARKERS = ("o", "s", "^")
_SHOWN = 3
_LEAST_ERROR = 0.1
_SIZE = (7.0, 4.6)


def plot(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw the typical standard error of a count against ε, a band for each of the first itemset sizes."""
    _check(plan)
    axes = new_axes(_SIZE) if ax is None else ax
    _draw(plan, axes)
    return axes


def save(plan: Plan, path: Path) -> None:
    """Draw a plan into a file."""
    _check(plan)
    save_picture(path, _SIZE, lambda axes: _draw(plan, axes))


def _check(plan: Plan) -> None:
    if plan.unknown:
        raise InputError(f"{plan.unknown} So there is nothing to draw.")


def _draw(plan: Plan, axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    epsilons = [float(point.epsilon) for point in plan.points]
    ranged = False
    for (sizes, rows), colour, marker in zip(_lines(plan), COLOURS, MARKERS, strict=False):
        lows, highs = [row.low for row in rows], [row.high for row in rows]
        label = f"itemsets of {_items(sizes)}"
        axes.plot(epsilons, highs, color=colour, linewidth=1.9, marker=marker, markersize=4.5, label=label)
        if lows != highs:
            ranged = True
            axes.plot(epsilons, lows, color=colour, linewidth=1.3, linestyle="--", marker=marker, markersize=3)
    if ranged:
        axes.plot([], [], color="0.4", linewidth=1.9, label="the worst bases")
        axes.plot([], [], color="0.4", linewidth=1.3, linestyle="--", label="the best bases")
    axes.set(xscale="log", yscale="log", xlim=(epsilons[0], epsilons[-1]))
    axes.set_xlabel("privacy budget ε of the whole run (smaller is more private)")
    axes.set_ylabel("standard error of a count, in transactions")
    delta = "" if plan.delta is None else f", {equation('δ', amount(plan.delta))}"
    title = f"{plan.method}, k = {plan.k:,}{_lambda(plan)}{delta}"
    axes.set_title(f"{title}\nprotects {plan.unit.whom}", fontsize=10, loc="left", parse_math=False)
    round_numbers = [epsilon for epsilon in epsilons if f"{epsilon:e}"[:8] in ("1.000000", "2.000000", "5.000000")]
    axes.set_xticks(round_numbers, [f"{epsilon:g}" for epsilon in round_numbers])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.grid(which="major", color="0.88", linewidth=0.8)
    axes.grid(which="minor", axis="y", color="0.95", linewidth=0.5)
    _mark(plan, axes)
    if plan.transactions is not None:
        _shares_of_transactions(axes, plan.transactions)
    lowest, highest = axes.get_ylim()
    wanted = highest if plan.target is None else float(plan.target.error)
    # Errors of less than a transaction fall so steeply that they would take up the whole picture.
    axes.set_ylim(bottom=max(lowest, min(_LEAST_ERROR, highest / 100, wanted / 2)))
    axes.legend(framealpha=0.9, edgecolor="none", loc="best", fontsize=9)


def _lines(plan: Plan) -> list[tuple[list[int], list[SizeRange]]]:
    """The first itemset sizes with their errors over ε; sizes of equal errors are one line."""
    made: list[tuple[list[int], list[SizeRange]]] = []
    for found in plan.sizes[:_SHOWN]:
        rows = [next(size for size in point.sizes if size.size == found.size) for point in plan.points]
        if made and [(row.low, row.high) for row in made[-1][1]] == [(row.low, row.high) for row in rows]:
            made[-1][0].append(found.size)
        else:
            made.append(([found.size], rows))
    return made


def _items(sizes: list[int]) -> str:
    return items(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {items(sizes[-1])}"


def _lambda(plan: Plan) -> str:
    if not plan.lams:
        return ""
    return f", λ = {plan.lams[0]}" if len(plan.lams) == 1 else f", λ from {plan.lams[0]} to {plan.lams[-1]}"


def _mark(plan: Plan, axes: Axes) -> None:
    """The planned ε, and the wanted error."""
    axes.axvline(float(plan.epsilon), color="0.35", linestyle="--", linewidth=1)
    axes.annotate(
        str(Guarantee(plan.epsilon)), (float(plan.epsilon), 0.02), (4, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", color="0.3", fontsize=9,
    )  # fmt: skip
    if plan.target is not None:
        error = float(plan.target.error)
        # Named in the legend, since lines would cross a label beside it.
        axes.axhline(error, color="0.35", linestyle=":", linewidth=1.3, label=f"wanted: {error:,.10g}")


def _shares_of_transactions(axes: Axes, transactions: int) -> None:
    from matplotlib.ticker import FuncFormatter

    def share(count: Any) -> Any:
        return 100 * count / transactions

    def count(share: Any) -> Any:
        return share * transactions / 100

    right = axes.secondary_yaxis("right", functions=(share, count))
    right.set_ylabel(f"in % of {transactions:,} transactions")
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
