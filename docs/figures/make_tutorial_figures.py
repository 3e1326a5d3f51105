"""Draws the pictures of the tutorial and of the README: one private release of the embedded baskets.

python docs/figures/make_tutorial_figures.py

The noise of a private release cannot be repeated, so that the pictures are other ones each time.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

import privmine as pm

HERE = Path(__file__).parent


def main() -> None:
    """Release once, and draw it three times."""
    mpl.use("Agg")
    release = pm.mine(pm.groceries(), k=30, epsilon=1, downward_closed=True)
    for kind in ("support", "graph"):
        axes = release.plot(kind=kind)
        axes.figure.savefig(HERE / f"tutorial-{kind}.png", dpi=90, bbox_inches="tight")
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.6), width_ratios=(5, 6), layout="constrained")
    release.plot(kind="support", ax=left, top=15)
    release.plot(kind="graph", ax=right)
    figure.savefig(HERE / "readme.png", dpi=90)


if __name__ == "__main__":
    main()
