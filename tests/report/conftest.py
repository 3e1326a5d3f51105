"""Releases that several tests look at."""

from __future__ import annotations

import pytest
from report_releases import charged, harmful


@pytest.fixture(scope="session")
def customers(tmp_path_factory):
    """A release of customers, and the ledger that paid for it and three others."""
    return charged(tmp_path_factory.mktemp("customers"))


@pytest.fixture(scope="session")
def nasty(customers, tmp_path_factory):
    """The same with labels that mean harm."""
    return harmful(customers[0], tmp_path_factory.mktemp("nasty") / "nasty.json"), customers[1]
