"""Draws the pictures of docs/answers.md:  python docs/figures/make_answers_figures.py [FOLDER].

The release is a private one of the embedded baskets, so that the numbers differ a little each time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import privmine as pm


def main(folder: Path) -> None:
    release = pm.mine(pm.groceries(), k=40, epsilon=1, downward_closed=True)
    for kind in ("support", "graph", "matrix"):
        release.plot(kind).figure.savefig(folder / f"answers-{kind}.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
