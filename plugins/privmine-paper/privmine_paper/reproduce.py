"""From the paper's plan to the results page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from attrs import frozen

from privmine.datasets import Transactions
from privmine.evaluation import (
    Failure,
    OpenData,
    Progress,
    Report,
    check_matplotlib,
    epsilon_of,
    key_of,
    nobody,
    open_results,
    run_cells,
)
from privmine_paper import plan
from privmine_paper.evidence import Evidence
from privmine_paper.facts import Facts, facts_of, load_facts, save_facts
from privmine_paper.figures import draw_figures
from privmine_paper.page import results_page
from privmine_paper.plan import Panel
from privmine_paper.statements import Statement, check_all

PAGE, FIGURES = "results.md", "figures"


@frozen
class Reproduction:
    """What came out.

    Attributes:
        page: the results page.
        statements: the checked statements.
        failures: the runs that failed.
    """

    page: Path
    statements: Sequence[Statement]
    failures: Sequence[Failure]


def reproduce(
    panels: Sequence[Panel],
    repeats: int,
    output: Path,
    results_path: Path,
    open_data: OpenData,
    proxy_of: Callable[[str], str | None],
    *,
    epsilons: Sequence[str] = plan.EPSILONS,
    workers: int = 1,
    progress: Progress = nobody,
) -> Reproduction:
    """Do the runs that are missing, then write the page and the figures.

    Args:
        panels: the figures to reproduce.
        repeats: how many runs of each cell.
        output: the folder of the page; figures go into a folder in it.
        results_path: where the rows go; the exact facts go beside it.
        open_data: opens a dataset by name.
        proxy_of: what a dataset stands for if it is not the original, else None.
        epsilons: the budgets.
        workers: how many processes.
        progress: is told what is done.
    """
    check_matplotlib()
    recipes = plan.recipes()
    for recipe in recipes.values():
        recipe.make()  # A method that is missing shows before anything runs.
    output.mkdir(parents=True, exist_ok=True)
    started = perf_counter()
    facts_path = results_path.with_name(f"{results_path.stem}.facts.json")
    notes = _Notes(panels, facts_path, open_data, proxy_of, progress)
    results = open_results(results_path)
    earlier = {key_of(row) for row in results.rows()}
    cells = plan.cells(panels, epsilons, repeats)
    failures = run_cells(cells, recipes, notes.open, results, workers=workers, progress=progress)
    results.close()
    facts = notes.all()
    rows = [row for row in results.rows() if _in_page(row, panels, epsilons)]
    found = Evidence(panels, epsilons, rows, facts)
    statements = check_all(found)
    minutes = (perf_counter() - started) / 60
    kept = sum(cell.key in earlier for cell in cells)
    timing = [
        f"{len(cells):,} runs, {kept:,} of them from an earlier start; this start took "
        f"{minutes:.1f} minutes with {workers} worker{'s' if workers > 1 else ''}."
    ]
    names = draw_figures(found, output / FIGURES)
    page = output / PAGE
    page.write_text(results_page(found, statements, names, FIGURES, timing), encoding="utf-8")
    return Reproduction(page, statements, failures)


def _in_page(row: dict[str, object], panels: Sequence[Panel], epsilons: Sequence[str]) -> bool:
    """Whether a row of the results belongs to what is reproduced now; more repeats than asked for are welcome."""
    budgets = {epsilon_of({"epsilon": epsilon}) for epsilon in epsilons}
    return epsilon_of(row) in budgets and any(row["data"] == panel.data and row["k"] in panel.k for panel in panels)


class _Notes:
    """Opens data for the runner and notes its exact facts on the way, so that no data is opened twice."""

    def __init__(
        self,
        panels: Sequence[Panel],
        path: Path,
        open_data: OpenData,
        proxy_of: Callable[[str], str | None],
        progress: Progress,
    ) -> None:
        self._panels = {panel.data: panel for panel in panels}
        self._path, self._open, self._proxy_of, self._progress = path, open_data, proxy_of, progress
        self._facts = load_facts(path)

    def open(self, name: str) -> Transactions:
        transactions = self._open(name)
        panel = self._panels[name]
        self._facts[name] = facts_of(panel, transactions, self._proxy_of(name))
        save_facts(self._path, self._facts)
        return transactions

    def all(self) -> dict[str, Facts]:
        for name in self._panels:
            if name not in self._facts:
                self._progress(Report(f"reading {name} for its exact facts", 0, 0, 0.0, None))
                self.open(name)
        return {name: self._facts[name] for name in self._panels}
