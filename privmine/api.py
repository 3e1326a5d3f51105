"""All that a plugin author may import, and all that the shipped components import.

Anything here is kept stable; anything else inside privmine may move without notice.
"""

from __future__ import annotations

from privmine.bases import (
    DEFAULT_LIMIT,
    average_error_variance,
    balanced_groups,
    check_length_limit,
    error_variance,
    groups_of_three,
    in_order,
    maximal_cliques,
    split_clique,
    without_contained,
)
from privmine.curator import Answer, Curator, Measurement, Selection
from privmine.errors import (
    BudgetError,
    ContractError,
    InputError,
    PrivmineError,
    PrivmineWarning,
)
from privmine.hookspecs import hookimpl
from privmine.intervals import NoiseSum
from privmine.model import (
    DATA_STAGES,
    STAGES,
    BasisSet,
    BudgetPlan,
    Elements,
    Estimate,
    FloatArray,
    IntArray,
    Itemset,
    Itemsets,
    NoiseLaw,
    NoisyCounts,
    Public,
    Request,
    Unit,
    Universe,
    exact,
    itemset,
)
from privmine.privacy import Charge, Noise, Sensitivity
from privmine.queries import (
    BinCounts,
    ItemSupports,
    LengthHistogram,
    PairSupports,
    Query,
    RankGap,
    SumQuery,
    Supports,
    TruncatedSupports,
    WeightedSupports,
)
from privmine.registry import Registrar, parameter
from privmine.store.protocol import Store

__all__ = [
    "DATA_STAGES",
    "DEFAULT_LIMIT",
    "STAGES",
    "Answer",
    "BasisSet",
    "BinCounts",
    "BudgetError",
    "BudgetPlan",
    "Charge",
    "ContractError",
    "Curator",
    "Elements",
    "Estimate",
    "FloatArray",
    "InputError",
    "IntArray",
    "ItemSupports",
    "Itemset",
    "Itemsets",
    "LengthHistogram",
    "Measurement",
    "Noise",
    "NoiseLaw",
    "NoiseSum",
    "NoisyCounts",
    "PairSupports",
    "PrivmineError",
    "PrivmineWarning",
    "Public",
    "Query",
    "RankGap",
    "Registrar",
    "Request",
    "Selection",
    "Sensitivity",
    "Store",
    "SumQuery",
    "Supports",
    "TruncatedSupports",
    "Unit",
    "Universe",
    "WeightedSupports",
    "average_error_variance",
    "balanced_groups",
    "check_length_limit",
    "error_variance",
    "exact",
    "groups_of_three",
    "hookimpl",
    "in_order",
    "itemset",
    "maximal_cliques",
    "parameter",
    "split_clique",
    "without_contained",
]
