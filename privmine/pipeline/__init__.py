"""A pipeline: choosing components, checking what is asked, running, and making the release."""

from __future__ import annotations

from privmine.pipeline.pipeline import DEFAULT_METHOD, Pipeline, mine

__all__ = ["DEFAULT_METHOD", "Pipeline", "mine"]
