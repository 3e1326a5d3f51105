"""Hypothesis strategies for graphs of items."""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st

from privmine.api import Itemset


@st.composite
def graphs(draw: st.DrawFn, max_items: int = 11) -> tuple[list[int], list[Itemset]]:
    """Items and some pairs of them."""
    items = draw(st.lists(st.integers(0, 40), unique=True, min_size=1, max_size=max_items))
    possible = list(combinations(sorted(items), 2))
    pairs = draw(st.lists(st.sampled_from(possible), unique=True, max_size=16)) if possible else []
    return items, pairs
