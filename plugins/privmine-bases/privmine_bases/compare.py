"""`privmine plugins compare`: what the strategies for a stage without data make of the same input."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import rich_click as click
from attrs import frozen

from privmine.api import (
    BasisSet,
    Elements,
    InputError,
    Itemset,
    PrivmineError,
    Public,
    PureDP,
    Registered,
    Request,
    Universe,
    error_variance,
)
from privmine.cli.screen import console, print_json, table, text
from privmine.evaluation import bases_of, strategies
from privmine_bases.elements import read_elements

STAGE = "construct_basis"
DEFAULT_K = 100
UNIT = (
    "EV, the error variance of a count, is in units of one bin's noise at w = 1: times about 2/ε² it is the "
    "variance of the count, where ε is what the counts are measured with. Its average and worst are over "
    "the items and itemsets of the file that are covered; w²·2^ℓ bounds it for any itemset."
)


@frozen
class Outcome:
    """What one strategy built, or why it did not.

    Attributes:
        registered: the strategy.
        basis: what it built, or None.
        variances: the error variance of each element, infinite where no basis covers it.
        seconds: how long it took.
        error: what went wrong, or nothing.
    """

    registered: Registered
    basis: BasisSet | None = None
    variances: tuple[float, ...] = ()
    seconds: float = 0.0
    error: str = ""

    @property
    def covered(self) -> list[float]:
        """The error variances of the elements that are covered."""
        return [variance for variance in self.variances if np.isfinite(variance)]


def compare_strategies(compared: Iterable[Registered], request: Request, elements: Elements) -> list[Outcome]:
    """Run each strategy with its default parameters; one that fails stops none of the others."""
    queries = list(dict.fromkeys([*((item,) for item in elements.items), *elements.itemsets]))
    return [_outcome(registered, request, elements, queries) for registered in compared]


def _outcome(registered: Registered, request: Request, elements: Elements, queries: list[Itemset]) -> Outcome:
    started = perf_counter()
    try:
        basis = bases_of(registered, request, elements)
    except Exception as error:  # noqa: BLE001 - a plugin may fail in any way; the others go on
        kind = "" if isinstance(error, PrivmineError) else f"{type(error).__name__}: "
        return Outcome(registered, error=f"{kind}{error}".rstrip(": "))
    seconds = perf_counter() - started
    return Outcome(registered, basis, tuple(error_variance(basis.bases, queries).tolist()), seconds)


@click.command()
@click.argument("stage")
@click.option(
    "--elements",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    help="A .json or .toml file with items, a list of labels, and itemsets, a list of lists of them.",
)
@click.option("--k", "k", type=int, default=DEFAULT_K, show_default=True, help="The k that the strategies are told.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, with the bases themselves.")
def compare(stage: str, path: Path, k: int, as_json: bool) -> None:
    """Show what each strategy for STAGE builds for the same items and itemsets; no data is read.

    STAGE is construct_basis, the one stage that works on selected elements alone. For each strategy, with
    its default parameters: the number of bases w, the longest basis ℓ, the average and the worst error
    variance of the elements' counts, how many elements no basis covers, and the time.

    The elements file:  {"items": ["bread", "milk", "jam"], "itemsets": [["bread", "milk"]]}

    Example:  privmine plugins compare construct_basis --elements elements.json
    """
    if stage != STAGE:
        raise InputError(f"Only {STAGE} can be compared on elements alone, not {stage!r}.")
    if k < 1:
        raise InputError(f"k, the number of itemsets, must be at least 1, not {k}.")
    universe, elements = read_elements(path)
    request = Request(min(k, universe.itemset_count()), k, PureDP().cost(1), Public(universe))
    outcomes = compare_strategies(strategies(), request, elements)
    if as_json:
        print_json(as_data(outcomes, universe, elements))
    else:
        show(outcomes, elements)


def as_data(outcomes: list[Outcome], universe: Universe, elements: Elements) -> dict[str, Any]:
    """The comparison as plain values."""
    return {
        "stage": STAGE,
        "items": len(elements.items),
        "itemsets": len(elements.itemsets),
        "unit": UNIT,
        "strategies": [_row(outcome, universe) for outcome in outcomes],
    }


def _row(outcome: Outcome, universe: Universe) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": outcome.registered.name,
        "distribution": outcome.registered.distribution,
        "error": outcome.error or None,
    }
    basis, covered = outcome.basis, outcome.covered
    if basis is None:
        return found
    return found | {
        "width": basis.width,
        "length": basis.length,
        "average_ev": float(np.mean(covered)) if covered else None,
        "worst_ev": max(covered, default=None),
        "bound": _bound(basis),
        "not_covered": len(outcome.variances) - len(covered),
        "seconds": outcome.seconds,
        "notes": list(basis.notes),
        "bases": [list(universe.named(members)) for members in basis.bases],
    }


def show(outcomes: list[Outcome], elements: Elements) -> None:
    """The comparison as a table, with errors and notes below."""
    out = console()
    out.print(f"[bold]{STAGE}[/] for {len(elements.items)} items and {len(elements.itemsets)} itemsets\n")
    columns = ("w", "ℓ", "average EV", "worst EV", "w²·2^ℓ", "not covered", "ms")
    rows = table("strategy", "from", *columns, right=columns)
    for outcome in outcomes:
        rows.add_row(text(outcome.registered.name), text(outcome.registered.distribution), *_cells(outcome))
    out.print(rows)
    out.print(f"\n{UNIT}")
    for outcome in outcomes:
        name = text(outcome.registered.name)
        if outcome.error:
            out.print(f"\n[bold red]{name} failed:[/] {text(outcome.error)}")
        if outcome.basis is not None and outcome.basis.notes:
            out.print(f"\n[bold]{name}:[/] {text(' '.join(outcome.basis.notes))}")


def _cells(outcome: Outcome) -> list[str]:
    basis, covered = outcome.basis, outcome.covered
    if basis is None:
        return ["failed"]
    return [
        str(basis.width),
        str(basis.length),
        f"{np.mean(covered):,.1f}" if covered else "",
        f"{max(covered):,.1f}" if covered else "",
        f"{_bound(basis):,}",
        str(len(outcome.variances) - len(covered)),
        f"{outcome.seconds * 1000:,.1f}",
    ]


def _bound(basis: BasisSet) -> int:
    return basis.width**2 << basis.length
