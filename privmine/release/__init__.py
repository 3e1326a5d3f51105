"""What comes out: the itemsets, their noisy counts, and the receipt that goes with them everywhere."""

from __future__ import annotations

from privmine.release.release import FrequentItemset, Release
from privmine.release.release_files import load, save

__all__ = ["FrequentItemset", "Release", "load", "save"]
