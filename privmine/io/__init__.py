"""Data in, from files, frames, queries and collections, and exact copies of it out."""

from __future__ import annotations

from privmine.io.groceries import groceries
from privmine.io.names import read_items
from privmine.io.read import read
from privmine.io.writers import write

__all__ = ["groceries", "read", "read_items", "write"]
