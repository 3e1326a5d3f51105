"""Large files under a limit of memory that the system enforces: `privmine mine --memory-limit` of each format.

    python tests/benchmarks/limited_memory.py [--occurrences 1e8] [--limit 2] [--of data] [--k 100 1000]
        [--folder DIR | --keep DIR]

Every run is a process of its own, and what would need more memory than the limit fails. Limited is either the data of
the process (`RLIMIT_DATA`, as `ulimit -d` does), which leaves out mapped files, or its whole
address space (`RLIMIT_AS`, as `ulimit -v` does). Seconds are processor time with starting Python; the peak is that of
resident memory, in which pages of temporary files count. The baskets are a million, over and over, with new ids of
orders. About 3 GB of files are made in DIR for 10⁸ items, and removed; with `--keep` they stay, and are used again.
Exit code 1 tells that a run failed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
from generated import Baskets
from pyarrow import csv, parquet

AT_A_TIME = 1_000_000
ITEMS = 20_000
LIMITS = {"data": resource.RLIMIT_DATA, "address space": resource.RLIMIT_AS}
LONG = ("--transaction", "order_id", "--item", "product")
#: The file of each format, and what says how it is read.
FORMATS = {
    "Parquet, lists": ("lists.parquet", ("--item", "items")),
    "Parquet, long": ("long.parquet", LONG),
    "FIMI text": ("baskets.dat", ()),
    "CSV, long": ("long.csv", LONG),
    "store on disk": ("baskets.privmine", ()),
}


def generate(occurrences: int, folder: Path) -> tuple[int, int]:
    """Write the same baskets in all formats, over and over; how many baskets and items there are."""
    baskets = Baskets.of(min(AT_A_TIME, max(1, occurrences // 9)), items=ITEMS)
    lengths = np.diff(baskets.offsets)
    part = baskets.write_fimi(folder / "part.dat").read_bytes()
    (folder / "part.dat").unlink()
    lists_type = pa.schema({"items": pa.list_(pa.int32())})
    long_type = pa.schema({"order_id": pa.int64(), "product": pa.int64()})
    count = total = 0
    with (
        (folder / "baskets.dat").open("wb") as text,
        parquet.ParquetWriter(folder / "lists.parquet", lists_type) as lists,
        parquet.ParquetWriter(folder / "long.parquet", long_type) as long,
        csv.CSVWriter(folder / "long.csv", long_type) as rows,
    ):
        while total < occurrences:
            text.write(part)
            column = pa.ListArray.from_arrays(
                pa.array(baskets.offsets, pa.int32()), pa.array(baskets.items, pa.int32())
            )
            lists.write_table(pa.table([column], schema=lists_type))
            orders = np.repeat(np.arange(count, count + len(lengths)), lengths)
            table = pa.table([orders, baskets.items.astype(np.int64)], schema=long_type)
            long.write_table(table)
            rows.write_table(table)
            count, total = count + len(lengths), total + len(baskets.items)
    return count, total


def known(occurrences: int, folder: Path) -> tuple[int, int]:
    """How many baskets and items the files of a folder have, which are made if they are not there."""
    path = folder / FORMATS["Parquet, long"][0]
    if not path.exists():
        return generate(occurrences, folder)
    facts = parquet.read_metadata(path)
    last = facts.row_group(facts.num_row_groups - 1).column(0).statistics.max
    return last + 1, facts.num_rows


def limited(arguments: list[str], what: int, limit: int, folder: Path) -> tuple[int, float, float, float]:
    """Run privmine with so little memory; its exit code, processor time, time by the clock and peak in MB."""
    start = time.perf_counter()
    started = subprocess.Popen(
        [sys.executable, "-m", "privmine", *arguments],
        preexec_fn=lambda: resource.setrlimit(what, (limit, limit)),
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    return started.returncode, used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024


def main() -> int:
    """Print a table, and return whether a run failed."""
    options = argparse.ArgumentParser(description="Mine large files under an enforced limit of memory.")
    options.add_argument("--occurrences", type=float, default=1e8)
    options.add_argument("--limit", type=float, default=2, help="of memory, in GB (default: %(default)s)")
    options.add_argument("--of", choices=list(LIMITS), default="data", help="what is limited (default: %(default)s)")
    options.add_argument("--k", type=int, nargs="*", default=[100, 1_000])
    options.add_argument("--folder", type=Path, help="where the files go (default: that of temporary files)")
    options.add_argument("--keep", type=Path, help="a folder where files stay; those that are there are used")
    asked = options.parse_args()
    failed = False
    if asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
    with nullcontext(asked.keep) if asked.keep else tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder, limit = Path(name), int(asked.limit * 1e9)
        # In a process of its own: the peak of a process is at least that of the one which started it.
        with get_context("spawn").Pool(1) as pool:
            count, total = pool.apply(known if asked.keep else generate, (int(asked.occurrences), folder))
        print(f"{total:,} items in {count:,} baskets, at most {asked.limit:g} GB of {asked.of}\n")
        print("| from | to | seconds | by the clock | peak MB |\n|---|---|---|---|---|", flush=True)

        def tell(source: str, target: str, arguments: list[str]) -> bool:
            code, cpu, wall, peak = limited(arguments, LIMITS[asked.of], limit, folder)
            outcome = "" if code == 0 else f"failed ({code}) after "
            print(f"| {source} | {target} | {outcome}{cpu:.1f} | {wall:.1f} | {peak:.0f} |", flush=True)
            return code != 0

        kept = ["--memory-limit", f"{asked.limit:g}GB"]
        store = str(folder / FORMATS["store on disk"][0])
        source = str(folder / FORMATS["FIMI text"][0])
        failed |= tell("FIMI text", "store on disk", ["convert", source, store, *kept])
        for format_name, (file, how) in FORMATS.items():
            for k in asked.k:
                mining = ["mine", str(folder / file), *how, *kept, "--k", str(k), "--epsilon", "1"]
                failed |= tell(format_name, f"k = {k:,}", mining)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
