"""Measuring accuracy against exact data: truth, metrics, experiments, figures. Nothing here is private."""
