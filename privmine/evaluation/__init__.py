"""Measuring accuracy against exact data: truth, metrics, experiments, figures. Nothing here is private.

The names of this module are kept stable, for plugins that run experiments of their own.
"""

from __future__ import annotations

from privmine.evaluation.basis_strategies import bases_of, strategies
from privmine.evaluation.clock import Progress, Report, nobody
from privmine.evaluation.data_sources import data_opener
from privmine.evaluation.evaluate import compare, evaluate
from privmine.evaluation.figures import plot_metric, plot_pareto, plot_small_multiples
from privmine.evaluation.metrics import relative_error, relative_errors, tolerant_false_negative_rate
from privmine.evaluation.recipes import Recipe, method_names
from privmine.evaluation.result_rows import Row, columns, epsilon_of, key_of
from privmine.evaluation.results import Results, open_results
from privmine.evaluation.runner import Failure, OpenData, run_cells
from privmine.evaluation.seeds import Cell, seed_of
from privmine.evaluation.sheets import DOTS_PER_INCH, METRICS_DRAWN, check_matplotlib
from privmine.evaluation.summary import Comparison, Mean, compare_pipelines, grouped, mean_of, summarise
from privmine.evaluation.truth import Truth

__all__ = [
    "DOTS_PER_INCH",
    "METRICS_DRAWN",
    "Cell",
    "Comparison",
    "Failure",
    "Mean",
    "OpenData",
    "Progress",
    "Recipe",
    "Report",
    "Results",
    "Row",
    "Truth",
    "bases_of",
    "check_matplotlib",
    "columns",
    "compare",
    "compare_pipelines",
    "data_opener",
    "epsilon_of",
    "evaluate",
    "grouped",
    "key_of",
    "mean_of",
    "method_names",
    "nobody",
    "open_results",
    "plot_metric",
    "plot_pareto",
    "plot_small_multiples",
    "relative_error",
    "relative_errors",
    "run_cells",
    "seed_of",
    "strategies",
    "summarise",
    "tolerant_false_negative_rate",
]
