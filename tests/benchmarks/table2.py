"""Table 2 of the PrivBasis paper: f_k·N, λ, λ₂ and λ₃ from the exact miner, beside the printed figures.

    python tests/benchmarks/table2.py --data DIR

A row ×n is a part of the original repeated n times, a proxy; its expected figures are those of the
proxy, with the paper's in brackets.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import common

from privmine.io.readers.fimi import read_fimi

#: name, repeats, k, expected (f_k·N, λ, λ₂, λ₃), what the paper prints for the original
ROWS = (
    ("retail", 1, 100, (1193, 38, 37, 21), (1192, 38, 37, 21)),
    ("mushroom", 1, 100, (4464, 11, 30, 36), (4464, 11, 30, 36)),
    ("pumsb_star_debd163", 3, 200, (28632, 16, 31, 51), (28613, 17, 31, 50)),
    ("kosarak_first69999", 14, 200, (14126, 38, 83, 61), (14142, 39, 84, 58)),
)


def figures(path: Path, k: int) -> tuple[int, int, int, int]:
    """The support of the k-th itemset, and how many items, pairs and triples the top k hold."""
    itemsets, supports = read_fimi(path).store.top_itemsets(k)
    items = {item for found in itemsets for item in found}
    lengths = itemsets.lengths.tolist()
    return int(supports[-1]), len(items), lengths.count(2), lengths.count(3)


def main() -> int:
    """Print the table; the exit code says whether a row differs from what is expected."""
    arguments = common.parser("Table 2 of the paper.").parse_args()
    print(f"{'data':<24}{'k':>5}  {'f_k·N, λ, λ₂, λ₃':<26}{'expected':<26}{'the paper prints':<26}")
    differs = False
    for name, repeats, k, expected, printed in ROWS:
        with tempfile.TemporaryDirectory() as directory:
            found = figures(common.plain_text(arguments.data, name, repeats, Path(directory)), k)
        differs |= found != expected
        label = name if repeats == 1 else f"{name} ×{repeats}"
        verdict = "same" if found == expected else "DIFFERS"
        print(f"{label:<24}{k:>5}  {found!s:<26}{expected!s:<26}{printed!s:<26}{verdict}")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
