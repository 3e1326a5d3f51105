"""Draws the picture of docs/plan.md:  python docs/figures/make_plan_figure.py [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path

import privmine as pm
from privmine.planning.plan_plot import save

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    plan = pm.plan(k=100, epsilon=1, transactions=88_000, items=16_470, lam=38, target_error=50)
    save(plan, folder / "plan.png")
