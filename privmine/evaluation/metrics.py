"""How far a release is from the truth. Itemsets are tuples of positions; supports are exact.

The functions of a `ReleaseAndTruth` are privmine's own metrics, registered like those of any plugin.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from math import inf, isfinite
from statistics import median

from privmine.errors import PluginError
from privmine.evaluation.result_rows import Row
from privmine.evaluation.truth import Truth
from privmine.hooks.extensions import Extension, ReleaseAndTruth
from privmine.hooks.registry import registry
from privmine.model import BasisSet, Itemset


def false_negative_rate(released: Collection[Itemset], truth: Collection[Itemset]) -> float:
    """The share of the true top k that was not released: FNR as the paper defines it.

    Where fewer than k itemsets occur in the data, the share is of those that do.
    """
    if not truth:
        return 0.0
    return len(set(truth) - set(released)) / len(truth)


def tolerant_false_negative_rate(supports: Sequence[int], kth_support: int, size: int) -> float:
    """FNR with ties forgiven: a released itemset as frequent as the k-th counts, whichever the tie-break preferred.

    Args:
        supports: the exact supports of the released itemsets.
        kth_support: the support of the k-th itemset of the truth.
        size: how many itemsets the truth has, k or fewer.
    """
    if not size:
        return 0.0
    # Where fewer than k itemsets occur, the k-th support is 0, and what does not occur is no hit.
    hits = sum(support >= max(1, kth_support) for support in supports)
    return (size - min(hits, size)) / size


def relative_errors(noisy: Sequence[float], exact: Sequence[int]) -> list[float]:
    """|noisy − exact| ÷ exact of each released count; infinite where the itemset does not occur at all."""
    return [abs(count - support) / support if support else inf for count, support in zip(noisy, exact, strict=True)]


def relative_error(errors: Sequence[float]) -> float | None:
    """The paper's RE: the median over the released itemsets that occur in the data; None if none does.

    At small ε it hides the worst, since what does not occur has no part in it.
    """
    finite = [error for error in errors if isfinite(error)]
    return median(finite) if finite else None


def strict_relative_error(errors: Sequence[float]) -> float | None:
    """The median over all released itemsets, with an infinite error where the support is zero."""
    return median(errors) if errors else None


def precision_at(rank: int, released: Sequence[Itemset], truth: Collection[Itemset]) -> float:
    """The share of the `rank` first released itemsets that belong to the true top k; what is missing is wrong."""
    return sum(found in truth for found in released[:rank]) / rank


def covered_share(basis: BasisSet, truth: Collection[Itemset]) -> float:
    """The share of the true top k that a basis set can release.

    An itemset counts if it is a subset of some basis, and a candidate where the candidates are limited:
    what is not covered is lost before the first count, whatever the noise.
    """
    if not truth:
        return 1.0
    if basis.candidates is not None:
        candidates = set(basis.candidates)
        return sum(found in candidates for found in truth) / len(truth)
    bases = [frozenset(members) for members in basis.bases]
    return sum(any(members.issuperset(found) for members in bases) for found in truth) / len(truth)


def fnr(found: ReleaseAndTruth) -> float:
    """FNR as the paper defines it."""
    return false_negative_rate(found.released, found.top)


def fnr_tolerant(found: ReleaseAndTruth) -> float:
    """FNR with ties forgiven."""
    return tolerant_false_negative_rate(found.supports, found.kth_support, len(found.top))


def re(found: ReleaseAndTruth) -> float | None:
    """The paper's RE."""
    return relative_error(relative_errors(found.counts, found.supports))


def re_strict(found: ReleaseAndTruth) -> float | None:
    """RE over all released itemsets."""
    return strict_relative_error(relative_errors(found.counts, found.supports))


def _precision(rank: int, found: ReleaseAndTruth) -> float | None:
    return precision_at(rank, found.released, found.top) if rank <= found.k else None


def recall(found: ReleaseAndTruth) -> float:
    """The share of the true itemsets that was released; all of them where there are none."""
    return 1 - false_negative_rate(found.released, found.top)


def precision(found: ReleaseAndTruth) -> float:
    """The share of the released itemsets that are true; all of them where there are none."""
    return sum(one in found.top for one in found.released) / len(found.released) if found.released else 1.0


precision_10 = partial(_precision, 10)
precision_50 = partial(_precision, 50)
precision_100 = partial(_precision, 100)


def coverage(found: ReleaseAndTruth) -> float | None:
    """The share of the true top k that the bases cover; None where the bases are not known."""
    return None if found.basis is None else covered_share(found.basis, found.top)


def measures(
    truth: Truth, k: int, released: Sequence[Itemset], counts: Sequence[float], basis: BasisSet | None = None
) -> Row:
    """All metrics, privmine's own and those of plugins, and the number of released itemsets.

    Args:
        truth: the exact data.
        k: how many itemsets were asked for, or how many have the frequency that was asked for.
        released: the itemsets, most frequent first.
        counts: their noisy counts.
        basis: the bases that were measured, where they are known.
    """
    supports = truth.store.supports(released).tolist() if released else []
    found = ReleaseAndTruth(k, released, counts, supports, truth.top(k), truth.kth_support(k), basis)
    values = {name: _measured(metric, found) for name, metric in registry().all_of("metric").items()}
    return values | {"released": len(released)}


def _measured(metric: Extension, found: ReleaseAndTruth) -> float | None:
    """The value of a metric; what goes wrong in it is told without its message, which may quote the data."""
    problem = ""
    try:
        value = metric.load()(found)
        return None if value is None else float(value)
    except PluginError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin may fail in any way
        problem = type(error).__name__
    raise PluginError(f"The metric {metric.name!r} of {metric.distribution} failed ({problem}). Tell its author.")
