"""A pipeline: choosing components, checking what is asked, running, and making the release."""

from __future__ import annotations

from privmine.pipeline.pipeline import DEFAULT_METHOD, READING_OPTIONS, Pipeline, mine

__all__ = ["DEFAULT_METHOD", "READING_OPTIONS", "Pipeline", "mine"]
