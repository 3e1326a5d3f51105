"""The names of the options of `read` and of `mine`, for whoever has to tell one from the other.

A module of its own, so that a message is spelled for the shell without numpy. A test compares it with both functions.
"""

from __future__ import annotations

#: How data is read: the options of `read`.
READING_OPTIONS = frozenset(
    {"items", "names", "layout", "transaction", "item", "unit", "max_baskets", "merge_by", "separator", "encoding"}
    | {"multiline_cells", "drop_missing", "drop_missing_units", "trim", "fold_case", "sheet", "memory_limit"}
    | {"sql", "database"}
)
#: How a release is made: the options of `mine`.
RUN_OPTIONS = frozenset(
    {"k", "epsilon", "delta", "theta", "k_max", "method", "max_length", "n_public", "strict", "downward_closed"}
    | {"simulate", "seed", "noise", "observers", "ledger", "dataset", "account", "part", "output", "overwrite", "plain"}
)
