"""Accounts, periods and parts in a file; the rules themselves are in tests/helpers/ledger_rules.py."""

from __future__ import annotations

from ledger_rules import *  # noqa: F403
