"""Speed and memory against peers, and how both grow: `python -m tests.benchmarks [--baskets 100000] [--plot FILE]`.

    python -m tests.benchmarks --fimi retail.dat --k 100      the peers, on a file of yours

Every peer runs in a process of its own on the same file, generated if none is named, so that its peak of memory is its
own. Times are processor time without starting Python, the least of three, or of fewer where these take over a minute.
PyFIM, mlxtend and efficient-apriori get the support that makes about k itemsets; privmine gets k. What is not
installed is left out, and told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from generated import Baskets

K = 100
FRAME = r"""
import gc, json, re, sys
from pathlib import Path
from time import process_time
path, store, table, support, k = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
SETUP
times = []
for _ in range(3):
    start = process_time()
    WORK
    times.append(process_time() - start)
    if sum(times) > 60:
        break
# Not ru_maxrss, which a process inherits from the one that started it.
peak = re.search(r"VmHWM:\s*([0-9]+)", Path("/proc/self/status").read_text())[1]
print(json.dumps([min(times), int(peak) / 1024]))
"""
LINES = "[line.split() for line in open(path)]"
#: What must be installed, what is imported, what is measured.
SIDES = {
    "privmine, FIMI to release": ("privmine", "import privmine as pm", "pm.mine(pm.read(path), k=k, epsilon=1)"),
    "privmine, store on disk to release": (
        "privmine",
        "import privmine as pm",
        "pm.mine(pm.read(store), k=k, epsilon=1)",
    ),
    "PyFIM, reading and eclat": ("fim", "import fim; gc.disable()", f"fim.eclat({LINES}, supp=-support)"),
    "mlxtend, reading and fpgrowth": (
        "mlxtend",
        "import pandas as pd\nfrom mlxtend.frequent_patterns import fpgrowth\n"
        "from mlxtend.preprocessing import TransactionEncoder",
        f"rows = {LINES}; encoder = TransactionEncoder(); cells = encoder.fit(rows).transform(rows, sparse=True); "
        "frame = pd.DataFrame.sparse.from_spmatrix(cells, columns=encoder.columns_); "
        "fpgrowth(frame, min_support=support / len(rows))",
    ),
    "efficient-apriori, reading and itemsets": (
        "efficient_apriori",
        "from efficient_apriori import itemsets_from_transactions",
        f"rows = {LINES}; itemsets_from_transactions([tuple(row) for row in rows], support / len(rows))",
    ),
    "privmine, ordered Parquet to rows": (
        "privmine",
        "import privmine as pm",
        "pm.read(table, transaction='order_id', item='product')",
    ),
    "DuckDB, group by of the same Parquet": (
        "duckdb",
        "import duckdb; connection = duckdb.connect()",
        "connection.sql(f\"select order_id, list(product) from '{table}' group by order_id\").to_arrow_table()",
    ),
}
#: What is doubled: baskets, items, length, k.
GROWTH = {
    "baskets": [{"baskets": n} for n in (50_000, 100_000, 200_000, 400_000)],
    "items": [{"baskets": 50_000, "items": n} for n in (5_000, 10_000, 20_000, 40_000)],
    "length": [{"baskets": 50_000, "length": n} for n in (5, 10, 20, 40)],
    "k": [{"baskets": 50_000, "k": n} for n in (100, 200, 400, 800)],
}


def run(side: str, arguments: list[str]) -> tuple[float, float] | None:
    """Processor time and peak of memory (MB) of one side; None where it is not installed."""
    needed, setup, work = SIDES[side]
    if find_spec(needed) is None:
        return None
    script = FRAME.replace("SETUP", setup).replace("WORK", work)
    printed = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    seconds, memory = json.loads(printed.stdout.splitlines()[-1])
    return seconds, memory


def files(folder: Path, baskets: Baskets, k: int) -> list[str]:
    """Write the same baskets in the formats that are compared; the arguments of a side."""
    import privmine as pm

    path, table = baskets.write_fimi(folder / "b.dat"), baskets.write_long(folder / "b.parquet")
    data = pm.read(path)
    pm.write(data, folder / "b.privmine")
    support = int(data.store.top_itemsets(k)[1][-1])
    return [str(path), str(folder / "b.privmine"), str(table), str(support), str(k)]


def read_baskets(path: Path) -> Baskets:
    """The baskets of a file of FIMI text, with items from 0 on."""
    import privmine as pm

    rows = pm.read(path).store.rows
    return Baskets(rows.offsets, rows.items)


def compare(title: str, arguments: list[str]) -> None:
    """Print the time and the memory of all sides."""
    first = None
    print(f"| {title} | seconds | ratio to the first | peak MB |\n|---|---|---|---|")
    for side in SIDES:
        found = run(side, arguments)
        if found is None:
            print(f"| {side} | not installed | | |", flush=True)
            continue
        first = first or found[0]
        print(f"| {side} | {found[0]:.2f} | {found[0] / first:.2f} | {found[1]:.0f} |", flush=True)


def grow(folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Print how time and memory grow from step to step; the figures."""
    grown: dict[str, list[tuple[float, float]]] = {}
    print("\n| doubled | seconds | from step to step | peak MB | from step to step |\n|---|---|---|---|---|")
    for what, steps in GROWTH.items():
        found = []
        for step in steps:
            how = {"k": K, **step}
            arguments = files(
                folder, Baskets.of(how["baskets"], how.get("items", 5_000), how.get("length", 10)), how["k"]
            )
            found.append(run("privmine, FIMI to release", arguments))
        grown[what] = [one for one in found if one]
        told = []
        for side, digits in ((0, 2), (1, 0)):
            figures = [one[side] for one in grown[what]]
            ratios = (after / before for before, after in pairwise(figures))
            told += [", ".join(f"{one:.{digits}f}" for one in figures), ", ".join(f"{ratio:.2f}" for ratio in ratios)]
        print(f"| {what} | {' | '.join(told)} |", flush=True)
    return grown


def main() -> None:
    """Print the tables; draw the growth if a file is named."""
    parser = argparse.ArgumentParser(description="Compare speed and memory with peers, and tell how they grow.")
    parser.add_argument("--baskets", type=int, default=100_000)
    parser.add_argument("--fimi", type=Path, help="compare on this file of FIMI text, and leave the growth out")
    parser.add_argument("--k", type=int, default=K, help="how many itemsets are compared (default: %(default)s)")
    parser.add_argument("--plot", type=Path, help="draw the growth into this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.fimi is None:
            title, baskets = f"{options.baskets:,} baskets", Baskets.of(options.baskets)
        else:
            title, baskets = options.fimi.stem, read_baskets(options.fimi)
        compare(f"{title}, k = {options.k}", files(folder, baskets, options.k))
        if options.fimi is None:
            grown = grow(folder)
            if options.plot is not None:
                draw(grown, options.plot)


def draw(grown: dict[str, list[tuple[float, float]]], path: Path) -> None:
    """Time and memory against what is doubled, on logarithmic scales."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FixedLocator, NullLocator

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
    for side, (axes, title) in enumerate(zip(panels, ("processor time", "peak of memory"), strict=True)):
        for what, found in grown.items():
            figures = [one[side] for one in found]
            axes.plot(
                [2**step for step in range(len(figures))], [one / figures[0] for one in figures], "o-", label=what
            )
        longest = 2 ** (max(map(len, grown.values())) - 1)
        axes.plot([1, longest], [1, longest], "--", color="0.6", label="in proportion")
        axes.set(xscale="log", yscale="log", title=title, xlabel="times as much")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(FixedLocator([2**step for step in range(6)]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter("{x:g}×")
    panels[0].set_ylabel("times the first")
    panels[0].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
