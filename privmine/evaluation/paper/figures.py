"""Figures 1 to 5: FNR and RE of PrivBasis and of the best TF against ε, a row of panels for each k."""

from __future__ import annotations

from pathlib import Path

from privmine.errors import InputError
from privmine.evaluation.paper.evidence import Evidence
from privmine.evaluation.paper.plan import PB, Panel
from privmine.evaluation.rows import Row

#: The name under which a panel shows PrivBasis.
PRIVBASIS = "PrivBasis (PB)"


def check_matplotlib() -> None:
    """Complain before the runs, not after them."""
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError:
        raise InputError("The figures need matplotlib: pip install matplotlib.") from None


def shown_rows(found: Evidence, data: str, k: int) -> list[Row]:
    """The rows of a panel: PrivBasis, and TF with the best m under a name that says which."""
    best = found.best_tf(data, k)
    names = {PB: PRIVBASIS, best: f"TF, best m = {found.best_length(data, k)}"}
    return [
        row | {"pipeline": names[row["pipeline"]]}
        for row in found.rows
        if row["data"] == data and row["k"] == k and row["pipeline"] in names
    ]


def draw_figures(found: Evidence, folder: Path) -> dict[int, str]:
    """Draw a figure for each dataset into a folder; returns the file names by figure number."""
    folder.mkdir(parents=True, exist_ok=True)
    return {panel.number: _drawn(found, panel, folder) for panel in found.panels}


def _drawn(found: Evidence, panel: Panel, folder: Path) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from privmine.evaluation.plots import plot_metric

    # A figure of its own canvas: pyplot would keep it, and might want a display.
    figure = Figure(figsize=(9.6, 3.4 * len(panel.k)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panel.k), 2, squeeze=False)
    for row, k in enumerate(panel.k):
        rows = shown_rows(found, panel.data, k)
        for column, metric in enumerate(("fnr", "re")):
            ax = plot_metric(rows, metric=metric, ax=axes[row, column])
            ax.set_title(f"{panel.title}{_suffix(found, panel)}, k = {k}")
    name = f"paper-figure-{panel.number}-{panel.data}.png"
    figure.savefig(folder / name, dpi=110)
    return name


def _suffix(found: Evidence, panel: Panel) -> str:
    facts = found.facts.get(panel.data)
    if facts is None or not facts.proxy:
        return ""
    return " (synthetic)" if "synthetic" in facts.proxy else " (proxy)"
