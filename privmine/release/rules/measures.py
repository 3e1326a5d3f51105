"""What rules are measured by: mlxtend's metrics, from the supports of an itemset and of its two parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privmine.model import FloatArray

#: A metric from the supports of the whole itemset, the antecedent and the consequent.
Metric = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def _confidence(whole: FloatArray, antecedent: FloatArray, _: FloatArray) -> FloatArray:
    return whole / antecedent


def _leverage(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    return whole - antecedent * consequent


def _conviction(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    """Infinite where the confidence is 1 or more, or no number at all."""
    confidence = whole / antecedent
    return np.where(confidence < 1, (1 - consequent) / (1 - confidence), np.inf)


def _zhang(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    larger = np.maximum(whole * (1 - antecedent), antecedent * (consequent - whole))
    return np.where(larger == 0, 0.0, _leverage(whole, antecedent, consequent) / larger)


def _certainty(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    rest = 1 - consequent
    return np.where(rest == 0, 0.0, (whole / antecedent - consequent) / rest)


#: By mlxtend's names, in the order of its columns.
METRICS: dict[str, Metric] = {
    "antecedent support": lambda _, antecedent, __: antecedent,
    "consequent support": lambda _, __, consequent: consequent,
    "support": lambda whole, _, __: whole,
    "confidence": _confidence,
    "lift": lambda whole, antecedent, consequent: whole / antecedent / consequent,
    # The share of transactions without missing values; a release is of data that has none.
    "representativity": lambda whole, _, __: np.ones_like(whole),
    "leverage": _leverage,
    "conviction": _conviction,
    "zhangs_metric": _zhang,
    "jaccard": lambda whole, antecedent, consequent: whole / (antecedent + consequent - whole),
    "certainty": _certainty,
    "kulczynski": lambda whole, antecedent, consequent: (whole / antecedent + whole / consequent) / 2,
}


def measured(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> dict[str, FloatArray]:
    """Every metric."""
    # A noisy support may be 0, and a confidence then no number or infinite: values that mlxtend gives as well.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return {name: compute(whole, antecedent, consequent) for name, compute in METRICS.items()}
