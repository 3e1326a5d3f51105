"""Measuring accuracy against exact data: truth, metrics, experiments, figures. Nothing here is private."""

from __future__ import annotations

from privmine.evaluation.evaluate import compare, evaluate

__all__ = ["compare", "evaluate"]
