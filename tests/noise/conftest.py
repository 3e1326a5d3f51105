"""What several tests of the samplers need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

#: A χ² test fails by bad luck with this probability. The asymptotic p-value is trusted within a factor
#: of ten, since cells below 50 expected draws are pooled: the false-alarm rate stays below 10^(−6).
FALSE_ALARM = 1e-7


@pytest.fixture
def assert_fits() -> Callable[[Iterable[Hashable], Mapping[Any, float]], None]:
    """A χ² test of draws against the exact probability of each outcome; false-alarm rate below 10^(−6)."""

    def check(draws: Iterable[Hashable], probabilities: Mapping[Any, float]) -> None:
        observed = Counter(draws)
        total = sum(observed.values())
        large = [outcome for outcome, p in probabilities.items() if p * total >= 50]
        counts = [observed[outcome] for outcome in large]
        expected = [probabilities[outcome] * total for outcome in large]
        # Everything else, impossible outcomes included, is one cell.
        rest = total - sum(expected)
        if rest >= 50:
            counts.append(total - sum(counts))
            expected.append(rest)
        else:
            assert total - sum(counts) <= rest + 200, "outcomes that should be rare or impossible"
        scaled = np.array(expected) * (sum(counts) / sum(expected))
        assert stats.chisquare(counts, scaled).pvalue > FALSE_ALARM

    return check
