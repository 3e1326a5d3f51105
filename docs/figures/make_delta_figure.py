"""Draws the picture of docs/delta.md: two worlds under Laplace noise and under Gaussian noise."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

EPSILON, SCALE, SIGMA = 1.0, 1.0, 1.0
BLUE, ORANGE, RED = "#3b6ea8", "#d98a29", "#b3362b"


def main(target: Path) -> None:
    """Save the figure."""
    x = np.linspace(-5, 6, 1101)
    laplace = [np.exp(-np.abs(x - shift) / SCALE) / (2 * SCALE) for shift in (0, 1)]
    gaussian = [np.exp(-((x - shift) ** 2) / (2 * SIGMA**2)) / (SIGMA * np.sqrt(2 * np.pi)) for shift in (0, 1)]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
    for axes, (without, with_it), title in zip(
        panels, (laplace, gaussian), ("pure ε: Laplace noise", "(ε, δ): Gaussian noise"), strict=True
    ):
        axes.plot(x, without, color=BLUE, label="without the basket")
        axes.plot(x, with_it, color=ORANGE, label="with the basket")
        allowed = np.exp(EPSILON) * without
        beyond = with_it > allowed + 1e-12
        axes.plot(x, np.where(allowed < 0.6, allowed, np.nan), color=BLUE, linestyle=":", label="e^ε times the first")
        axes.fill_between(x, allowed, with_it, where=beyond, color=RED, alpha=0.8, label="δ: the part above")
        axes.set_title(title, fontsize=11)
        axes.set_xlabel("published number, less the count")
        axes.set_ylim(0, 0.55)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("how likely")
    panels[1].legend(frameon=False, fontsize=9)
    figure.savefig(target, dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "delta-worlds.png")
