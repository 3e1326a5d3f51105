"""Association rules of a release."""

from __future__ import annotations

from privmine.release.rules.filters import LeftOut
from privmine.release.rules.listing import RuleList, Wanted, list_rules, rules
from privmine.release.rules.measures import METRICS

__all__ = ["METRICS", "LeftOut", "RuleList", "Wanted", "list_rules", "rules"]
