"""Data in, from files, frames, queries and collections, and exact copies of it out."""

from __future__ import annotations

from privmine.io.groceries import groceries
from privmine.io.label_lists import read_items
from privmine.io.readers.dispatch import read
from privmine.io.writers.destinations import write

__all__ = ["groceries", "read", "read_items", "write"]
