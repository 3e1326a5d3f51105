"""What can be asked of the data, and how far one unit of protection can move each answer.

A query is a value: it says what is to be counted and declares its sensitivity; only the curator
evaluates it. The declarations of this module are what privmine vouches for, and
`tests/queries/test_sensitivity.py` checks each against generated neighbours. A query defined elsewhere is its
author's word (see `curator.py`).
"""

from __future__ import annotations

from privmine.queries.base import Candidate, Query, Scores
from privmine.queries.bounded import BoundedSupports, HeldHistogram, fair_weights
from privmine.queries.histograms import BinCounts, LengthHistogram, StateCounts
from privmine.queries.moments import MomentMatrix
from privmine.queries.ranks import ItemCutoff, RankAtFrequency, RankGap, RankSupport
from privmine.queries.sums import SumQuery
from privmine.queries.supports import ItemSupports, PairSupports, Supports, WeightedSupports
from privmine.queries.truncated import TruncatedSupports

#: The queries whose declared sensitivity privmine vouches for.
VERIFIED = frozenset(
    {
        ItemSupports,
        PairSupports,
        Supports,
        TruncatedSupports,
        RankGap,
        ItemCutoff,
        MomentMatrix,
        StateCounts,
        RankSupport,
        RankAtFrequency,
        BinCounts,
        BoundedSupports,
        HeldHistogram,
        LengthHistogram,
        WeightedSupports,
        SumQuery,
    }
)

__all__ = [
    "VERIFIED",
    "BinCounts",
    "BoundedSupports",
    "Candidate",
    "HeldHistogram",
    "ItemCutoff",
    "ItemSupports",
    "LengthHistogram",
    "MomentMatrix",
    "PairSupports",
    "Query",
    "RankAtFrequency",
    "RankGap",
    "RankSupport",
    "Scores",
    "StateCounts",
    "SumQuery",
    "Supports",
    "TruncatedSupports",
    "WeightedSupports",
    "fair_weights",
]
