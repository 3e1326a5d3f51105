"""Releases for those who answer for them: a report as a page, and a draft for the registry of deployments."""

from __future__ import annotations

from privmine.report.fill_ins import Filled
from privmine.report.report_page import report_html

__all__ = ["Filled", "report_html"]
