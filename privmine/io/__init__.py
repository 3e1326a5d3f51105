"""Data in: readers that turn files and collections into transactions."""

from __future__ import annotations

from privmine.io.groceries import groceries
from privmine.io.read import read, read_items

__all__ = ["groceries", "read", "read_items"]
