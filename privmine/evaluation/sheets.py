"""The figures of an experiment as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privmine.evaluation.figures import plot_pareto, plot_small_multiples
from privmine.evaluation.result_rows import Row
from privmine.extras import import_extra

DOTS_PER_INCH = 110
METRICS_DRAWN = ("fnr", "re")
#: What a figure may be saved as.
FORMATS = ("png", "svg", "pdf")


def check_matplotlib() -> None:
    """Complain before the runs, not after them; and draw into files, whatever display there is."""
    import_extra("matplotlib", "Figures need").use("Agg")


def draw_sheets(
    rows: list[Row], folder: Path, titles: Mapping[str, str], formats: Sequence[str] = FORMATS[:1]
) -> list[Path]:
    """Draw FNR and RE against ε, a panel for each dataset and k, and the ε that an FNR costs.

    Args:
        rows: the rows of the experiment.
        folder: where the files go.
        titles: what to call datasets.
        formats: what each figure is saved as, of `FORMATS`.
    """
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    paths = []

    def save(name: str, figure: Any) -> None:
        for ending in formats:
            paths.append(folder / f"{name}.{ending}")
            figure.savefig(paths[-1], dpi=DOTS_PER_INCH)
        pyplot.close(figure)

    for metric in METRICS_DRAWN:
        if any(row[metric] is not None for row in rows):
            save(metric, plot_small_multiples(rows, metric, titles=titles)[0].figure)
    save("pareto", plot_pareto(rows, titles=titles).figure)
    return paths
