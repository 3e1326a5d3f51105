"""Is privmine still as fast as it was? About a minute; `tox -e speed` and `.ci/run` run it.

    python tests/benchmarks/short.py [--slow-reading]

Each figure is privmine's processor time divided by that of a peer that works on the same file in the same process:
the least of several turns of both, one after the other. So it hardly depends on the machine, nor on what else runs
there. A limit lies between what a figure was on a busy machine and what it was when everything was read twice: about
1.35 times the former. What exceeds its limit is measured four times more before the check fails, so that a busy moment
does no harm. `--slow-reading` reads everything twice, to see that this is noticed in every figure of reading.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import duckdb
import fim
from attrs import frozen
from generated import Baskets
from pyarrow import parquet

import privmine as pm

BASKETS = 60_000
#: For the way from a file to a release: so many that reading is most of it.
MORE_BASKETS = 200_000
TURNS = 5
MORE_TRIES = 4
OPENINGS = 10
OPENING_LIMIT = 0.4
LONG = {"transaction": "order_id", "item": "product"}


@frozen
class Figure:
    """What is compared.

    Attributes:
        name: what is printed.
        ours: what privmine does.
        peer: what it is compared with.
        limit: how many times the peer's time it may take.
    """

    name: str
    ours: Callable[[], object]
    peer: Callable[[], object]
    limit: float

    def measure(self) -> float:
        """The ratio of the least times."""
        least = [float("inf"), float("inf")]
        for _ in range(TURNS):
            for side, work in enumerate((self.ours, self.peer)):
                start = process_time()
                work()
                least[side] = min(least[side], process_time() - start)
        return least[0] / least[1]


def figures(folder: Path, reads: int = 1) -> list[Figure]:
    """All that is compared, on files that are made here.

    Args:
        folder: where the files go.
        reads: how often everything is read.
    """
    baskets = Baskets.of(BASKETS)
    fimi, lists = baskets.write_fimi(folder / "baskets.dat"), baskets.write_lists(folder / "lists.parquet")
    table, text = baskets.write_long(folder / "long.parquet"), baskets.write_long(folder / "long.csv")
    large = Baskets.of(MORE_BASKETS).write_fimi(folder / "large.dat")
    store = folder / "baskets.privmine"
    known = pm.read(fimi)
    pm.write(known, store)
    connection = duckdb.connect(config={"threads": 1})

    def read(path: Path, **options: str) -> pm.Transactions:
        for _ in range(reads - 1):
            pm.read(path, **options)
        return pm.read(path, **options)

    def words(path: Path) -> list[list[bytes]]:
        with path.open("rb") as lines:
            return [line.split() for line in lines]

    def grouped(path: Path) -> object:
        query = f"select order_id, list(product) from '{path}' group by order_id"  # noqa: S608 - our own path
        return connection.sql(query).to_arrow_table()

    def read_arrow(path: Path) -> object:
        return parquet.read_table(path, use_threads=False)

    def mined_by_pyfim() -> object:
        return fim.eclat(words(large), supp=-30_000)

    def opened(how: Callable[[Path], object]) -> None:
        # Once takes a millisecond, of which most is for what the peer has pushed out of the processor's cache.
        for _ in range(OPENINGS):
            how(store)

    def mined(k: int) -> object:
        return pm.mine(pm.read(store), k=k, epsilon=1)

    return [
        Figure("reading FIMI ÷ splitting its lines", lambda: read(fimi), lambda: words(fimi), 0.47),
        Figure("reading lists of Parquet ÷ Arrow", lambda: read(lists, item="items"), lambda: read_arrow(lists), 7.8),
        Figure(
            "reading ordered Parquet ÷ DuckDB's group by", lambda: read(table, **LONG), lambda: grouped(table), 0.78
        ),
        Figure("reading ordered CSV ÷ DuckDB's group by", lambda: read(text, **LONG), lambda: grouped(text), 1.05),
        Figure(
            "opening the store ten times ÷ reading FIMI", lambda: opened(read), lambda: pm.read(fimi), OPENING_LIMIT
        ),
        Figure("FIMI to release ÷ PyFIM", lambda: pm.mine(read(large), k=10, epsilon=1), mined_by_pyfim, 0.2),
        Figure("k = 400 ÷ k = 100", lambda: mined(400), lambda: mined(100), 7.5),
    ]


def main() -> int:
    """Print the figures, and return whether one is beyond its limit in every try."""
    options = argparse.ArgumentParser(description="Compare privmine's speed with its peers', by ratios.")
    options.add_argument("--slow-reading", action="store_true", help="read everything twice, to see the check fail")
    reads = 2 if options.parse_args().slow_reading else 1
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for figure in figures(Path(folder), reads):
            found = figure.measure()
            for _ in range(MORE_TRIES):
                if found > figure.limit:
                    found = min(found, figure.measure())
            too_slow = found > figure.limit
            failed |= too_slow
            print(
                f"{figure.name:45} {found:7.3f}  (limit {figure.limit:.3f}){'  TOO SLOW' if too_slow else ''}",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
