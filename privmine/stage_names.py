"""The names of the five stages; a module of its own, so that the list of commands is printed without numpy."""

from __future__ import annotations

#: The five stages, in the order in which a run calls them.
STAGES = (
    "allocate_budget",
    "estimate_lambda",
    "select_elements",
    "construct_basis",
    "reconstruct_counts",
)

#: The stages that are given a curator, and so can have a share of the budget.
DATA_STAGES = ("estimate_lambda", "select_elements", "reconstruct_counts")
