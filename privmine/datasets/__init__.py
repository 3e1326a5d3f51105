"""Standard datasets by name, and generators of synthetic ones.

Who writes a dataset as a plugin finds here what its generator may use: `StableRandom`, random numbers that never
change, the tables of distributions that go with it, and `transactions_of_keys`, which makes transactions of arrays.
"""

from __future__ import annotations

from privmine.datasets.info import DatasetInfo, all_datasets, describe
from privmine.datasets.keys import transactions_of_keys
from privmine.datasets.opening import make_available, open_dataset
from privmine.datasets.quest import quest
from privmine.datasets.repeated import repeated
from privmine.datasets.stable_random import StableRandom, exponential_table, poisson_table, power_table, total
from privmine.datasets.zipf import zipf
from privmine.store.transactions import Transactions

__all__ = [
    "DatasetInfo",
    "StableRandom",
    "Transactions",
    "all_datasets",
    "describe",
    "exponential_table",
    "make_available",
    "open_dataset",
    "poisson_table",
    "power_table",
    "quest",
    "repeated",
    "total",
    "transactions_of_keys",
    "zipf",
]
