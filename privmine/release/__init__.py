"""What comes out: the itemsets, their noisy counts, and the receipt that goes with them everywhere."""

from __future__ import annotations

from privmine.release.files import load, save
from privmine.release.model import FrequentItemset, Release

__all__ = ["FrequentItemset", "Release", "load", "save"]
