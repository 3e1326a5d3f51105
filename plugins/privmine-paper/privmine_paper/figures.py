"""Figures 1 to 5: FNR and RE of PrivBasis and of the best TF against ε, a row of panels for each k."""

from __future__ import annotations

from pathlib import Path

from privmine.evaluation import DOTS_PER_INCH, METRICS_DRAWN, Row, plot_metric
from privmine_paper.evidence import Evidence
from privmine_paper.plan import PB, Panel

#: The name under which a panel shows PrivBasis.
PRIVBASIS = "PrivBasis (PB)"


def shown_rows(found: Evidence, data: str, k: int) -> list[Row]:
    """The rows of a panel: PrivBasis, and TF with the best m under a name that says which."""
    best = found.best_tf(data, k)
    names = {PB: PRIVBASIS, best: f"TF, best m = {found.best_length(data, k)}"}
    return [
        row | {"pipeline": names[row["pipeline"]]}
        for pipeline in names
        for row in found.rows
        if row["data"] == data and row["k"] == k and row["pipeline"] == pipeline
    ]


def draw_figures(found: Evidence, folder: Path) -> dict[int, str]:
    """Draw a figure for each dataset into a folder; returns the file names by figure number."""
    folder.mkdir(parents=True, exist_ok=True)
    return {panel.number: _drawn(found, panel, folder) for panel in found.panels}


def _drawn(found: Evidence, panel: Panel, folder: Path) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # A figure of its own canvas: pyplot would keep it, and might want a display.
    figure = Figure(figsize=(9.6, 3.4 * len(panel.k)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(panel.k), len(METRICS_DRAWN), squeeze=False)
    titles = {panel.data: title_of(found, panel)}
    for row, k in enumerate(panel.k):
        for column, metric in enumerate(METRICS_DRAWN):
            plot_metric(shown_rows(found, panel.data, k), metric, grid[row, column], titles)
    name = f"paper-figure-{panel.number}-{panel.data}.png"
    figure.savefig(folder / name, dpi=DOTS_PER_INCH)
    return name


def title_of(found: Evidence, panel: Panel) -> str:
    """The dataset's name in the paper, with a word where it is not the paper's data."""
    proxy = found.facts[panel.data].proxy
    kind = "" if not proxy else " (synthetic)" if "synthetic" in proxy else " (proxy)"
    return panel.title + kind
