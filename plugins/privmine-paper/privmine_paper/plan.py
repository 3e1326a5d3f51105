"""What the paper ran, and what it printed."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from privmine.api import UnknownNameError
from privmine.evaluation import Cell, Recipe

EPSILONS = ("0.1", "0.25", "0.5", "0.75", "1")
PB = "PB"
#: The longest itemsets that TF is tried with.
LENGTHS = (1, 2, 3)
#: How many runs the paper made of each cell, and a quick reproduction makes.
QUICK_REPEATS = 3
REPEATS = 30
#: What the error bound of TF in Table 2 is computed with.
TABLE_EPSILON, RHO = 1.0, 0.9


@frozen
class Printed:
    """The paper's rows of Table 2 for a dataset.

    Attributes:
        n: the number of transactions.
        items: the number of items |I|.
        average: the average length of a transaction.
        k: the k of both parts of the table.
        lam: the number of items in the top k.
        pairs: the number of pairs in the top k (λ₂).
        triples: the number of itemsets of three (λ₃).
        kth_support: f_k·N.
        m: the longest itemset of TF in the second part.
        gamma: γ·N.
    """

    n: int
    items: int
    average: float
    k: int
    lam: int
    pairs: int
    triples: int
    kth_support: int
    m: int
    gamma: int


@frozen
class Panel:
    """A figure of the paper: a dataset and its values of k.

    Attributes:
        number: the figure's number.
        data: the dataset's name here.
        title: its name in the paper.
        k: the values of k.
        lengths: the values of m that TF is run with.
        printed: the dataset's rows of Table 2.
        note: what else a reader should know of the data.
    """

    number: int
    data: str
    title: str
    k: tuple[int, ...]
    printed: Printed
    lengths: tuple[int, ...] = LENGTHS
    note: str = ""


PANELS = (
    Panel(1, "mushroom", "Mushroom", (50, 100), Printed(8124, 119, 24, 100, 11, 30, 36, 4464, 2, 5433)),
    Panel(2, "pumsb_star", "Pumsb-star", (50, 150), Printed(49046, 2088, 50, 200, 17, 31, 50, 28613, 3, 21235)),
    Panel(3, "retail", "Retail", (50, 100), Printed(88162, 16470, 11.3, 100, 38, 37, 21, 1192, 1, 5768)),
    Panel(4, "kosarak", "Kosarak", (100, 200, 300, 400), Printed(990002, 41270, 8.1, 200, 39, 84, 58, 14142, 2, 20733)),
    Panel(
        5,
        "aol-like",
        "AOL",
        (100, 200),
        Printed(647377, 2290685, 34, 200, 171, 29, 0, 12450, 1, 16038),
        note=(
            "It is fitted to the published itemsets of frequency 0.002 and above, so that its top 200 agree by "
            "construction; what is rarer is made up."
        ),
    ),
)


def chosen_panels(names: Iterable[str] = (), leave_out: Iterable[str] = ()) -> tuple[Panel, ...]:
    """The figures of some datasets, or of all."""
    wanted, unwanted = set(names), set(leave_out)
    known = [panel.data for panel in PANELS]
    for name in wanted | unwanted:
        if name not in known:
            raise UnknownNameError("dataset of the paper", name, known)
    return tuple(panel for panel in PANELS if (not wanted or panel.data in wanted) and panel.data not in unwanted)


def tf(m: int) -> str:
    """The name of TF with itemsets of at most m items."""
    return f"TF m={m}"


def recipes() -> dict[str, Recipe]:
    """PrivBasis with its defaults, and TF with its exponential mechanism as published, for each m."""
    return {PB: Recipe("privbasis")} | {tf(m): Recipe("tf", {"select_elements": {"m": m}}) for m in LENGTHS}


def cells(panels: Iterable[Panel], epsilons: Iterable[str], repeats: int) -> list[Cell]:
    """All runs: a whole repeat of a dataset before the next."""
    budgets = tuple(epsilons)
    return [
        Cell(panel.data, pipeline, k, epsilon, repeat)
        for panel in panels
        for repeat in range(repeats)
        for k in panel.k
        for epsilon in budgets
        for pipeline in (PB, *(tf(m) for m in panel.lengths))
    ]
