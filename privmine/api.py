"""All that a plugin author may import, and all that the shipped components import.

Anything here is kept stable; anything else inside privmine may move without notice.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from privmine.errors import (
    BudgetError,
    ContractError,
    DataError,
    InputError,
    PrivmineError,
    PrivmineWarning,
    UnknownNameError,
)
from privmine.exact import exact, whole_from
from privmine.hooks.components import Registered, parameter
from privmine.hooks.extensions import Dataset, Proxy, Reader, ReleaseAndTruth
from privmine.hooks.registrar import Registrar
from privmine.hooks.specs import hookimpl

if TYPE_CHECKING:
    from privmine.curator import Answer, Curator, Measurement, Selection
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
        Origin,
        Public,
        Request,
        Universe,
        itemset,
        itemset_count,
    )
    from privmine.model.bases import (
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
    from privmine.noise.laws import NoiseSum
    from privmine.privacy import ZCDP, Charge, Cost, Noise, PureDP, Sensitivity, at_epsilon
    from privmine.privacy.unit import Unit
    from privmine.queries import (
        BinCounts,
        BoundedSupports,
        HeldHistogram,
        ItemCutoff,
        ItemSupports,
        LengthHistogram,
        MomentMatrix,
        PairSupports,
        Query,
        RankAtFrequency,
        RankGap,
        RankSupport,
        StateCounts,
        SumQuery,
        Supports,
        TruncatedSupports,
        WeightedSupports,
        fair_weights,
    )
    from privmine.store.abstract import Store
    from privmine.store.clipping import contribute
    from privmine.store.labels import text_of, unit_of
    from privmine.store.memory import MemoryStore
    from privmine.store.parts import label_salts, limit_units
    from privmine.store.rows import Rows
    from privmine.store.transactions import Transactions
    from privmine.store.units import mixed_bits

__all__ = [
    "DATA_STAGES",
    "DEFAULT_LIMIT",
    "STAGES",
    "ZCDP",
    "Answer",
    "BasisSet",
    "BinCounts",
    "BoundedSupports",
    "BudgetError",
    "BudgetPlan",
    "Charge",
    "ContractError",
    "Cost",
    "Curator",
    "DataError",
    "Dataset",
    "Elements",
    "Estimate",
    "FloatArray",
    "HeldHistogram",
    "InputError",
    "IntArray",
    "ItemCutoff",
    "ItemSupports",
    "Itemset",
    "Itemsets",
    "LengthHistogram",
    "Measurement",
    "MemoryStore",
    "MomentMatrix",
    "Noise",
    "NoiseLaw",
    "NoiseSum",
    "NoisyCounts",
    "Origin",
    "PairSupports",
    "PrivmineError",
    "PrivmineWarning",
    "Proxy",
    "Public",
    "PureDP",
    "Query",
    "RankAtFrequency",
    "RankGap",
    "RankSupport",
    "Reader",
    "Registered",
    "Registrar",
    "ReleaseAndTruth",
    "Request",
    "Rows",
    "Selection",
    "Sensitivity",
    "StateCounts",
    "Store",
    "SumQuery",
    "Supports",
    "Transactions",
    "TruncatedSupports",
    "Unit",
    "Universe",
    "UnknownNameError",
    "WeightedSupports",
    "at_epsilon",
    "average_error_variance",
    "balanced_groups",
    "check_length_limit",
    "contribute",
    "error_variance",
    "exact",
    "fair_weights",
    "groups_of_three",
    "hookimpl",
    "in_order",
    "itemset",
    "itemset_count",
    "label_salts",
    "limit_units",
    "maximal_cliques",
    "mixed_bits",
    "parameter",
    "split_clique",
    "text_of",
    "unit_of",
    "whole_from",
    "without_contained",
]

#: Where the names are that need numpy, which takes long to load; what only registers something starts without them.
_LOADED_ON_USE = (
    "privmine.curator",
    "privmine.model",
    "privmine.model.bases",
    "privmine.noise.laws",
    "privmine.privacy",
    "privmine.privacy.unit",
    "privmine.queries",
    "privmine.store.abstract",
    "privmine.store.clipping",
    "privmine.store.labels",
    "privmine.store.memory",
    "privmine.store.parts",
    "privmine.store.rows",
    "privmine.store.transactions",
    "privmine.store.units",
)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in __all__:
        for module in map(import_module, _LOADED_ON_USE):
            if hasattr(module, name):
                found = globals()[name] = getattr(module, name)
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What a notebook completes."""
    return sorted({*globals(), *__all__})
