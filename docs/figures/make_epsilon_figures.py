"""Draws the pictures of docs/epsilon.md:  python docs/figures/make_epsilon_figures.py [FOLDER]."""

from __future__ import annotations

import sys
from math import exp
from pathlib import Path
from statistics import median

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

import privmine as pm

WITHOUT, WITH = "#0072b2", "#d55e00"
SHADES = {0.1: "#9ecae1", 0.5: "#4f9fd0", 1.0: "#0072b2", 2.0: "#d55e00", 3.0: "#8c2d04"}
COUNT = 100
PERCENT = FuncFormatter(lambda value, _: f"{100 * value:g}%")

plt.rcParams.update(
    {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "figure.facecolor": "white",
        "savefig.dpi": 120,
    }
)


def highest(prior: float, epsilon: float) -> float:
    """What an attacker can believe at most after the release, who believed `prior` before."""
    return exp(epsilon) * prior / (1 - prior + exp(epsilon) * prior)


def noisy(count: int, epsilon: float, values: np.ndarray) -> np.ndarray:
    """The probabilities of a count with discrete Laplace noise that pays ε for one basket."""
    q = exp(-epsilon)
    return (1 - q) / (1 + q) * q ** np.abs(values - count)


def worlds() -> Figure:
    """Two worlds, one basket apart."""
    figure, row = plt.subplots(1, 3, figsize=(9.4, 3.2), layout="constrained")
    values = np.arange(COUNT - 12, COUNT + 14)
    for axes, epsilon in zip(row, (0.1, 1, 3), strict=True):
        for count, color, name in ((COUNT, WITHOUT, "without the basket"), (COUNT + 1, WITH, "with the basket")):
            chance = noisy(count, epsilon, values)
            axes.fill_between(values, chance, step="mid", color=color, alpha=0.22, linewidth=0)
            axes.step(values, chance, where="mid", color=color, linewidth=1.4, label=f"{name}: {count}")
        axes.set_title(f"ε = {epsilon}", pad=20)
        axes.text(0.5, 1.03, f"best guess right: {highest(0.5, epsilon):.1%}", transform=axes.transAxes, ha="center")
        axes.set(xlabel="noisy count that is released", yticks=[], xlim=(values[0], values[-1]), ylim=(0, None))
        axes.spines["left"].set_visible(False)
    row[0].set_ylabel("how likely")
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return figure


def attacker() -> Figure:
    """How far a release can move a belief."""
    figure, axes = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
    prior = np.linspace(0, 1, 301)
    axes.plot(prior, prior, color="0.6", linestyle="--", linewidth=1)
    axes.annotate("learns nothing", (0.8, 0.8), (4, -12), textcoords="offset points", color="0.45", rotation=40,
                  ha="center", va="center", rotation_mode="anchor")  # fmt: skip
    for epsilon, color in SHADES.items():
        axes.plot(prior, [highest(p, epsilon) for p in prior], color=color, linewidth=1.8, label=f"ε = {epsilon:g}")
    axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="belief before: “that basket is in the data”",
             ylabel="highest belief that the release can cause")  # fmt: skip
    axes.xaxis.set_major_formatter(PERCENT)
    axes.yaxis.set_major_formatter(PERCENT)
    axes.grid(color="0.92", linewidth=0.8)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="lower right", frameon=False)
    return figure


def typical_error(epsilon: float) -> float:
    """The median standard error over 20 simulated releases of the groceries, k = 30."""
    baskets = pm.groceries()
    return median(
        found.standard_error
        for seed in range(20)
        for found in pm.mine(baskets, k=30, epsilon=epsilon, simulate=True, seed=seed)
    )


def shop() -> Figure:
    """The same noise in a small shop and in a large one."""
    figure, axes = plt.subplots(figsize=(6.2, 4), layout="constrained")
    sizes = np.logspace(3, 6, 100)
    for epsilon in (0.1, 1.0, 3.0):
        error = typical_error(epsilon)
        axes.plot(sizes, error / (0.1 * sizes), color=SHADES[epsilon], linewidth=2,
                  label=f"ε = {epsilon:g}: ± {error:,.0f} baskets")  # fmt: skip
    axes.axhspan(0.5, 5, color="0.93", zorder=0)
    axes.text(9e5, 1.6, "little but noise", color="0.4", ha="right")
    axes.set(xscale="log", yscale="log", xlim=(1e3, 1e6), ylim=(1e-4, 5), xlabel="baskets in the data",
             ylabel="standard error ÷ count\nof a product in every tenth basket")  # fmt: skip
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(PERCENT)
    axes.grid(color="0.92", linewidth=0.8)
    axes.legend(frameon=False, loc="lower left")
    return figure


def sums() -> Figure:
    """Releases add up, and so do the baskets of one customer."""
    figure, axes = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
    numbers = range(11)
    heights = [highest(0.1, 0.5 * number) for number in numbers]
    colors = ["0.7", *(plt.get_cmap("YlOrRd")(0.25 + 0.06 * number) for number in numbers[1:])]
    axes.bar(numbers, heights, color=colors, width=0.75)
    for number, height in zip(numbers, heights, strict=True):
        axes.text(number, height + 0.015, f"{height:.0%}", ha="center", fontsize=9)
    axes.set(
        xlabel="releases of the same data with ε = 0.5 each\nor baskets of one customer in one release with ε = 0.5",
        ylabel="highest belief afterwards",
        xlim=(-0.6, 10.6),
        ylim=(0, 1.05),
    )
    axes.set_xticks(list(numbers), ["before", *(str(number) for number in numbers[1:])])
    axes.yaxis.set_major_formatter(PERCENT)
    return figure


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, draw in {"worlds": worlds, "attacker": attacker, "shop": shop, "sums": sums}.items():
        figure = draw()
        figure.savefig(folder / f"epsilon-{name}.png")
        plt.close(figure)
