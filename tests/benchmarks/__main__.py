"""Speed and memory against peers, and how both grow: `python -m tests.benchmarks [--baskets 100000] [--plot FILE]`.

Every peer runs in a process of its own on the same generated file, so that its peak of memory is its own. Times are
processor time, the least of three, without starting Python. PyFIM, mlxtend and efficient-apriori get the support that
makes about k itemsets; privmine gets k. What is not installed is left out, and told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
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
    "baskets": [{"baskets": n} for n in (20_000, 40_000, 80_000)],
    "items": [{"baskets": 20_000, "items": n} for n in (5_000, 10_000, 20_000)],
    "length": [{"baskets": 20_000, "length": n} for n in (5, 10, 20)],
    "k": [{"baskets": 20_000, "k": n} for n in (100, 200, 400)],
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


def files(folder: Path, k: int = K, **how: float) -> list[str]:
    """Write the same baskets in the formats that are compared; the arguments of a side."""
    import privmine as pm

    baskets = Baskets.of(**how)
    path, table = baskets.write_fimi(folder / "b.dat"), baskets.write_long(folder / "b.parquet")
    data = pm.read(path)
    pm.write(data, folder / "b.privmine")
    support = int(data.store.top_itemsets(k)[1][-1])
    return [str(path), str(folder / "b.privmine"), str(table), str(support), str(k)]


def main() -> None:
    """Print the tables; draw the growth if a file is named."""
    options = argparse.ArgumentParser(description="Compare speed and memory with peers, and tell how they grow.")
    options.add_argument("--baskets", type=int, default=100_000)
    options.add_argument("--plot", type=Path, help="draw the growth into this file")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        arguments = files(Path(name), baskets=options.baskets)
        first = None
        print(f"| {options.baskets:,} baskets, k = {K} | seconds | ratio to the first | peak MB |\n|---|---|---|---|")
        for side in SIDES:
            found = run(side, arguments)
            if found is None:
                print(f"| {side} | not installed | | |", flush=True)
                continue
            first = first or found[0]
            print(f"| {side} | {found[0]:.2f} | {found[0] / first:.2f} | {found[1]:.0f} |", flush=True)
        print("\n| doubled | seconds | from step to step |\n|---|---|---|")
        grown: dict[str, list[float]] = {}
        for what, steps in GROWTH.items():
            times = [run("privmine, FIMI to release", files(Path(name), **step)) for step in steps]
            grown[what] = [found[0] for found in times if found]
            ratios = [after / before for before, after in zip(grown[what][:-1], grown[what][1:], strict=True)]
            told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"| {what} | {', '.join(f'{one:.2f}' for one in grown[what])} | {told} |", flush=True)
    if options.plot is not None:
        draw(grown, options.plot)


def draw(grown: dict[str, list[float]], path: Path) -> None:
    """Time against what is doubled, both on logarithmic scales."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for what, times in grown.items():
        axes.plot([2**step for step in range(len(times))], [one / times[0] for one in times], marker="o", label=what)
    axes.plot([1, 2, 4], [1, 2, 4], "--", color="0.6", label="in proportion")
    axes.set(xscale="log", yscale="log", xlabel="times as much", ylabel="times as long", title="File to release")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
