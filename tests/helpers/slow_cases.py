"""Cases of which the default run takes the first few; `tox -e statistics` takes the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_unless(fast: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """All cases of one argument; those that are not among the fast ones are for the slow suites."""
    known = list(fast)
    return [case if case in known else pytest.param(case, marks=pytest.mark.statistics) for case in cases]


def slow_after(count: int, cases: Iterable[Any]) -> list[Any]:
    """All cases of one argument; those after the first few are for the slow suites."""
    every = list(cases)
    return every[:count] + [pytest.param(case, marks=pytest.mark.statistics) for case in every[count:]]
