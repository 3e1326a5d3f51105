"""Basis sets as such: how exactly they answer, what they are made of, how long a basis may be.

The yardstick is the error variance (EV) of an itemset's noisy count. In units of the variance of one
bin's noise at w = 1, a basis B that contains X answers X with variance w²·2^(|B|−|X|), and several
such answers combine by inverse variance. With the *precision* S(X) = Σ 2^(|X|−|B|) over the bases
that contain X, that is EV(X) = w²/S(X).

Every strategy for `construct_basis` needs these functions, whoever wrote it. Nothing here looks at
data, and no result depends on the order of the arguments' elements.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from attrs import Attribute, field, frozen

from privmine.errors import InputError
from privmine.exact import text_tuple
from privmine.model.itemsets import Itemset, itemset_tuple, optional_itemset_tuple
from privmine.model.numbers import FloatArray

#: The longest basis that the paper's experiments use.
DEFAULT_LIMIT = 12
#: A basis of 20 items has a million bins; beyond that memory and noise are out of proportion.
LONGEST_LIMIT = 20


@frozen
class BasisSet:
    """The bases to measure, and which itemsets to report of them.

    Attributes:
        bases: sets of items; the transactions are counted by their intersection with each.
        candidates: the itemsets that may be released, or None for all subsets of the bases.
        notes: sentences for the receipt, such as what a basis set does not cover.
        across: whether itemsets that lie in no single basis can be listed too, as a model of all items together allows.
    """

    bases: tuple[Itemset, ...] = field(converter=itemset_tuple)
    candidates: tuple[Itemset, ...] | None = field(default=None, converter=optional_itemset_tuple)
    notes: tuple[str, ...] = field(default=(), converter=text_tuple)
    across: bool = False

    @property
    def width(self) -> int:
        """The number of bases, w in the paper."""
        return len(self.bases)

    @property
    def length(self) -> int:
        """The size of the largest basis, ℓ in the paper."""
        return max((len(basis) for basis in self.bases), default=0)


def check_length_limit(_: object, attribute: Attribute[int], value: int) -> None:
    """The attrs validator for a parameter that limits how long a basis may be."""
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= LONGEST_LIMIT:
        raise InputError(
            f"{attribute.name} must be a whole number from 2 to {LONGEST_LIMIT}, not {value!r}. A "
            "basis must hold a pair, and a basis of n items has 2^n bins."
        )


def error_variance(bases: Sequence[Itemset], itemsets: Iterable[Itemset]) -> FloatArray:
    """The error variance of each itemset's count, in units of one bin's noise variance at w = 1.

    Args:
        bases: the basis set; its width enters squared.
        itemsets: what to answer. An itemset that no basis contains has infinite error variance.
    """
    members = [frozenset(basis) for basis in bases]
    precision = [
        sum(2.0 ** (len(query) - len(basis)) for basis in members if query <= basis)
        for query in map(frozenset, itemsets)
    ]
    result = np.full(len(precision), np.inf)
    np.divide(len(members) ** 2, precision, out=result, where=np.array(precision, dtype=np.float64) > 0)
    return result


def average_error_variance(bases: Sequence[Itemset], queries: Iterable[Itemset]) -> float:
    """The mean error variance over the queries (the EV of Alg. 2), 0 if there are none."""
    variances = error_variance(bases, queries)
    return float(variances.mean()) if len(variances) else 0.0


def maximal_cliques(items: Iterable[int], pairs: Iterable[Itemset]) -> list[Itemset]:
    """All maximal cliques of at least two items in the graph of the pairs (Alg. 2, l. 2).

    They come by length, then item order.
    """
    edges = {(min(pair), max(pair)) for pair in pairs}
    nodes = sorted({*items, *(item for edge in edges for item in edge)})
    number = {item: position for position, item in enumerate(nodes)}
    graph = _igraph().GraphBase(n=len(nodes), edges=[(number[one], number[other]) for one, other in sorted(edges)])
    cliques = (tuple(sorted(nodes[vertex] for vertex in clique)) for clique in graph.maximal_cliques(min=2))
    return in_order(cliques)


def _igraph() -> Any:
    """The compiled part of igraph, which knows graphs, without the part that draws them.

    Importing igraph imports matplotlib's pyplot where that is installed, which takes longer than most runs. Whoever
    imports igraph later gets the same compiled part, since it is known under its own name.
    """
    name = "igraph._igraph"
    if name not in sys.modules:
        package = find_spec("igraph")
        places = None if package is None else package.submodule_search_locations
        found = PathFinder.find_spec(name, places)
        if found is None or found.loader is None:
            return import_module(name)
        sys.modules[name] = module_from_spec(found)
        found.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def in_order(bases: Iterable[Itemset]) -> list[Itemset]:
    """Sort bases by length, then item order."""
    return sorted(bases, key=lambda basis: (len(basis), basis))


def split_clique(clique: Itemset, limit: int = DEFAULT_LIMIT) -> list[Itemset]:
    """Cover all pairs of a clique by bases of at most `limit` items.

    A clique within the limit is its own basis. A longer one is divided into as few groups of at most
    limit // 2 items as possible, and every two groups together are a basis: each pair of items is in
    one of them, a triple spread over three groups is not.
    """
    if len(clique) <= limit:
        return [tuple(sorted(clique))]
    groups = balanced_groups(clique, limit // 2)
    return in_order(tuple(sorted(one + other)) for one, other in combinations(groups, 2))


def groups_of_three(items: Iterable[int], limit: int = DEFAULT_LIMIT) -> list[Itemset]:
    """Divide items into as few groups of at most three as possible, of balanced sizes (Alg. 2, l. 3).

    2^(ℓ−1)/ℓ², the variance of items in groups of ℓ, is least at ℓ = 3 (section 4.2). A length limit
    below three makes the groups smaller.
    """
    return balanced_groups(items, min(3, limit))


def balanced_groups(items: Iterable[int], size: int) -> list[Itemset]:
    """Divide items, in item order, into as few groups of at most `size` as possible, of balanced sizes."""
    ordered = sorted(set(items))
    count = -(-len(ordered) // size)
    bounds = [len(ordered) * group // count for group in range(count + 1)] if count else [0]
    return [tuple(ordered[start:stop]) for start, stop in pairwise(bounds)]


def without_contained(bases: Iterable[Itemset]) -> list[Itemset]:
    """Drop every basis that another one contains, and all but one of equal ones."""
    kept: list[Itemset] = []
    members: list[frozenset[int]] = []
    for basis in reversed(in_order(set(bases))):
        if not any(other.issuperset(basis) for other in members):
            kept.append(basis)
            members.append(frozenset(basis))
    return in_order(kept)
