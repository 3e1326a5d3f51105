"""The values that pass between the stages: frozen, converted at the edge, free of transactions.

Inside the engine an item is its index in the public universe and an itemset is a sorted tuple of
such indices. Labels appear when data is read and when a release is shown, nowhere in between.
"""

from __future__ import annotations

from privmine.exact import A_NUMBER, exact, text_tuple
from privmine.model.bases import BasisSet
from privmine.model.counts import NoiseLaw, NoisyCounts
from privmine.model.itemsets import (
    Itemset,
    Itemsets,
    itemset,
    itemset_count,
    itemset_tuple,
    optional_itemset,
    optional_itemset_tuple,
)
from privmine.model.numbers import FloatArray, IntArray, float_array, int_array, read_only
from privmine.model.public import Above, Origin, Public, Request
from privmine.model.stages import BudgetPlan, Elements, Estimate
from privmine.model.universe import PRIVATE, Private, Universe
from privmine.privacy.unit import Unit
from privmine.stage_names import DATA_STAGES, STAGES

__all__ = [
    "A_NUMBER",
    "DATA_STAGES",
    "PRIVATE",
    "STAGES",
    "Above",
    "BasisSet",
    "BudgetPlan",
    "Elements",
    "Estimate",
    "FloatArray",
    "IntArray",
    "Itemset",
    "Itemsets",
    "NoiseLaw",
    "NoisyCounts",
    "Origin",
    "Private",
    "Public",
    "Request",
    "Unit",
    "Universe",
    "exact",
    "float_array",
    "int_array",
    "itemset",
    "itemset_count",
    "itemset_tuple",
    "optional_itemset",
    "optional_itemset_tuple",
    "read_only",
    "text_tuple",
]
