"""How long a cheap mistake takes to be refused on a long file, the start of the command included.

    python tests/benchmarks/early_refusals.py [ROWS]

Writes 20 million rows as CSV (about 500 MB) and as JSON lines (about 1.3 GB) into a temporary folder, and removes
them at the end. Processor time is
told beside wall time: on a busy machine only the former says something. Modules are compiled first, as an installer
does it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

import privmine as pm

ROWS = 20_000_000
PART = 1_000_000
EPSILON = ["--epsilon", "1"]
COLUMNS = ["--transaction", "order_id", "--item", "product"]
MISTAKES = [
    [],
    ["--epsilon", "0"],
    [*EPSILON, "--k", "0"],
    [*EPSILON, "--max-length", "0"],
    [*EPSILON, "--seed", "1"],
    [*EPSILON, "--strict"],
    [*EPSILON, "--strict", "--items", "good.txt"],
    [*EPSILON, "--ledger", "budget.db"],
    [*EPSILON, "--ledger", "nowhere.db", "--dataset", "orders"],
    [*EPSILON, "--ledger", "damaged.db", "--dataset", "orders"],
    [*EPSILON, "--ledger", "budget.db", "--dataset", "order"],
    [*EPSILON, "--ledger", "budget.db", "--dataset", "spent"],
    [*EPSILON, "--ledger", "budget.db", "--dataset", "orders", "--merge-by", "customer_id"],
    [*EPSILON, "--ledger", "budget.db", "--dataset", "orders", "--simulate"],
    [*EPSILON, "--output", "top.doc"],
    [*EPSILON, "--output", "good.txt/top.csv"],
    [*EPSILON, "--set", "construct_basis=greedy"],
    [*EPSILON, "--set", "construct_basis.max_len=3"],
    [*EPSILON, "--trust", "nobody"],
    [*EPSILON, "--items", "quoted.txt"],
    [*EPSILON, "--unit", "customer_id"],
    [*EPSILON, "--max-baskets", "2"],
    [*EPSILON, "--item", "produkt"],
    [*EPSILON, *COLUMNS, "--unit", "customer", "--max-baskets", "2"],
    [*EPSILON, *COLUMNS, "--separator", ";"],
    [*EPSILON, *COLUMNS, "--encoding", "klingon"],
    [*EPSILON, *COLUMNS, "--encoding", "utf-16"],
    [*EPSILON, *COLUMNS, "--layout", "list"],
    [*EPSILON, "--layout", "one-hot"],
    [*EPSILON, "--layout", "one-hot", "--items", "good.txt"],
    [*EPSILON, "--layout", "baskets", *COLUMNS],
    [*EPSILON, "--layout", "fimi"],
]


def write_files(rows: int) -> None:
    """The long files, ledgers and catalogues, in the current folder."""
    _write("orders.csv", "order_id,customer_id,product\n", "{},{},product{}\n", rows)
    _write("orders.jsonl", "", '{{"order_id": {}, "customer_id": {}, "product": "product{}"}}\n', rows)
    ledger = pm.Ledger("budget.db")
    ledger.init("orders", 3)
    ledger.init("spent", "0.5")
    Path("damaged.db").write_bytes(Path("budget.db").read_bytes()[:4000])
    Path("good.txt").write_text("product1\nproduct2\n")
    Path("quoted.txt").write_text('"product1"\n"product2"\n')


def _write(name: str, first: str, row: str, rows: int) -> None:
    with Path(name).open("w") as file:
        file.write(first)
        for start in range(0, rows, PART):
            part = range(start, min(start + PART, rows))
            file.writelines(row.format(number // 4, number // 20, number * 7919 % 200) for number in part)


def main(rows: int) -> None:
    """Print a row for each mistake, and for each in a dry run."""
    write_files(rows)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    compiled = [sys.executable, "-m", "privmine", "mine", "orders.csv", *EPSILON, "--layout", "fimi"]
    subprocess.run(compiled, capture_output=True, check=False, env=environment)
    print("wall s  processor s  exit  options")
    for name in ("orders.csv", "orders.jsonl"):
        for dry_run in ([], ["--dry-run"]):
            for mistake in MISTAKES:
                before, started = getrusage(RUSAGE_CHILDREN), perf_counter()
                command = [sys.executable, "-m", "privmine", "mine", name, *mistake, *dry_run]
                code = subprocess.run(command, capture_output=True, check=False, env=environment).returncode
                wall, after = perf_counter() - started, getrusage(RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                print(f"{wall:6.2f}  {used:11.2f}  {code:4}  {name} {' '.join(mistake + dry_run)}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
