"""The rows of the reproduction, asked the questions that statements and tables have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from privmine.evaluation import Comparison, Mean, Row, compare_pipelines, grouped, mean_of
from privmine_paper.facts import Facts
from privmine_paper.plan import PB, Panel, tf


@define
class Evidence:
    """All that was measured.

    Attributes:
        panels: the figures that were run.
        epsilons: the budgets that were run.
        rows: the rows of all runs.
        facts: the exact facts by dataset.
    """

    panels: Sequence[Panel]
    epsilons: Sequence[str]
    rows: list[Row]
    facts: Mapping[str, Facts]
    _cells: dict[tuple[str, str, int, str], list[Row]] = field(init=False)
    _panels: dict[str, Panel] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._cells = grouped(self.rows, ("data", "pipeline", "k", "epsilon"))
        self._panels = {panel.data: panel for panel in self.panels}

    def has(self, *names: str) -> bool:
        """Whether all these datasets were run."""
        return all(name in self._panels for name in names)

    def panel(self, data: str) -> Panel:
        """The figure of a dataset."""
        return self._panels[data]

    def runs(self, data: str, pipeline: str, k: int, epsilon: str) -> list[Row]:
        """The rows of a cell."""
        return self._cells.get((data, pipeline, k, epsilon), [])

    def fewest_runs(self) -> int:
        """The smallest number of runs that a cell has."""
        return min((len(rows) for rows in self._cells.values()), default=0)

    def mean(self, data: str, pipeline: str, k: int, epsilon: str, metric: str = "fnr") -> Mean:
        """The mean of a metric in a cell."""
        return mean_of(row[metric] for row in self.runs(data, pipeline, k, epsilon))

    def figure(self, data: str, pipeline: str, k: int, epsilon: str, metric: str = "fnr") -> float:
        """The mean as a number; infinite if there is none, since no statement should hold by absence."""
        mean = self.mean(data, pipeline, k, epsilon, metric).mean
        return float("inf") if mean is None else mean

    def best_length(self, data: str, k: int) -> int:
        """The m with which TF has the least FNR over all ε: the choice that the paper's figures make.

        It is made on the runs that are reported, which favours TF.
        """

        def total(m: int) -> float:
            return sum(self.figure(data, tf(m), k, epsilon) for epsilon in self.epsilons)

        return min(self.panel(data).lengths, key=total)

    def best_tf(self, data: str, k: int) -> str:
        """The name of TF with the best m."""
        return tf(self.best_length(data, k))

    def against_tf(self, data: str, k: int, epsilon: str, metric: str) -> Comparison | None:
        """PrivBasis against TF with the best m, paired by repeat."""
        best = self.best_tf(data, k)
        both = self.runs(data, PB, k, epsilon) + self.runs(data, best, k, epsilon)
        if not both:
            return None
        return compare_pipelines(both, PB, best, metric)[0]

    def cells(self, names: Iterable[str]) -> list[tuple[str, int, str]]:
        """All combinations of dataset, k and ε of some datasets."""
        return [(name, k, epsilon) for name in names for k in self.panel(name).k for epsilon in self.epsilons]
