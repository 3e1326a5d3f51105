"""What privmine itself brings, registered as every plugin does it."""

from __future__ import annotations

from privmine import defaults
from privmine.api import Registrar, hookimpl
from privmine.cli.own_commands import OWN_COMMANDS
from privmine.shipped.catalogue import OWN_DATASETS

METRICS = {
    "fnr": "false negative rate",
    "fnr_tolerant": "false negative rate, ties forgiven",
    "re": "relative error",
    "re_strict": "relative error, support zero infinite",
    "precision_10": "precision at 10",
    "precision_50": "precision at 50",
    "precision_100": "precision at 100",
    "recall": "recall",
    "precision": "precision",
    "coverage": "share of the true top k that the bases cover",
}


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register PrivBasis, and privmine's own commands, datasets and metrics."""
    defaults.privmine_register(registry)
    for name, target, summary in OWN_COMMANDS:
        registry.add_command(name, target, summary)
    for dataset in OWN_DATASETS:
        registry.add_dataset(dataset)
    for name, words in METRICS.items():
        registry.add_metric(name, f"privmine.evaluation.metrics:{name}", words)
