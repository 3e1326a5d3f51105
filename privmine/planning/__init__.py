"""Planning: what a run would cost and how exact it would be, before anything is spent."""

from __future__ import annotations

from privmine.planning.plan_result import Plan
from privmine.planning.planner import plan

__all__ = ["Plan", "plan"]
