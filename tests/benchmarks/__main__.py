"""Speed and memory against peers, and how both grow: `python -m tests.benchmarks [--baskets 100000] [--plot FILE]`.

    python -m tests.benchmarks --fimi retail.dat --k 100      the peers, on a file of yours
    python -m tests.benchmarks --data DIR --page docs/speed-results.md --plot docs/figures/speed-growth.png

Every peer runs in a process of its own on the same file, generated if none is named, so that its peak of memory is its
own. Times are processor time without starting Python, the least of three, or of fewer where these take over a minute.
PyFIM, mlxtend and efficient-apriori get the support that makes about k itemsets; privmine gets k. What is not
installed is left out, and told; so is what needs more than 12 GB of memory. mlxtend makes a table of all items and
transactions, so it also runs on the frequent items alone, which are counted first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from common import plain_text
from generated import Baskets

K = 100
#: What the page compares: a dataset, how often it is repeated, k.
PAGE = (("kosarak_first69999", 14, 200), ("retail", 1, 100))
#: What a side may need: with more, the machine might end other programs.
MOST_MEMORY = 12 << 30
PAGE_HEAD = """# Speed: the figures

`python -m tests.benchmarks --data DIR --page FILE --plot FILE` made this page. [Speed](speed.md) says what it means.

Seconds are processor time from the file to the result, the least of three runs or of fewer where these take over a
minute, each in a process of its own, with no time for starting Python. PyFIM, mlxtend and efficient-apriori are given
the support of the k-th itemset; privmine gets k, and adds exact noise with ε = 1. "More than" tells what had used up
12 GB of memory by then. "On frequent items alone": rare items are counted and left out before mlxtend makes its table.

"""
FRAME = r"""
import gc, json, re, sys
from pathlib import Path
from time import process_time
path, store, table, written = sys.argv[1:5]
support, k = float(sys.argv[5]), int(sys.argv[6])
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
LONG = "pm.read({0}, transaction='order_id', item='product')"
DUCKDB = "import duckdb; connection = duckdb.connect()"
GROUPED = "connection.sql(f\"select order_id, list(product) from '{{{0}}}' group by order_id\").to_arrow_table()"


def mlxtend(prepare: str) -> tuple[str, str]:
    """What is imported and what is measured of mlxtend, with a step between reading and making a table."""
    setup = (
        "import pandas as pd\nfrom collections import Counter\nfrom mlxtend.frequent_patterns import fpgrowth\n"
        "from mlxtend.preprocessing import TransactionEncoder"
    )
    work = (
        f"rows = {LINES}; {prepare}encoder = TransactionEncoder(); "
        "cells = encoder.fit(rows).transform(rows, sparse=True); "
        "frame = pd.DataFrame.sparse.from_spmatrix(cells, columns=encoder.columns_); "
        "fpgrowth(frame, min_support=support / len(rows))"
    )
    return setup, work


#: What must be installed, what is imported, what is measured.
SIDES = {
    "privmine, FIMI to release": ("privmine", "import privmine as pm", "pm.mine(pm.read(path), k=k, epsilon=1)"),
    "privmine, store on disk to release": (
        "privmine",
        "import privmine as pm",
        "pm.mine(pm.read(store), k=k, epsilon=1)",
    ),
    **{
        f"privmine, FIMI to release by {method}": (
            f"privmine_{method}",
            "import privmine as pm",
            f"pm.mine(pm.read(path), k=k, epsilon=1, method={method!r})",
        )
        for method in ("plus", "tf")
    },
    "PyFIM, reading and eclat": ("fim", "import fim; gc.disable()", f"fim.eclat({LINES}, supp=-support)"),
    "mlxtend, reading and fpgrowth": ("mlxtend", *mlxtend("")),
    "mlxtend, on frequent items alone": (
        "mlxtend",
        *mlxtend(
            "counts = Counter(item for row in rows for item in set(row)); "
            "often = {item for item, count in counts.items() if count >= support}; "
            "rows = [[item for item in row if item in often] for row in rows]; "
        ),
    ),
    "efficient-apriori, reading and itemsets": (
        "efficient_apriori",
        "from efficient_apriori import itemsets_from_transactions",
        f"rows = {LINES}; itemsets_from_transactions([tuple(row) for row in rows], support / len(rows))",
    ),
    "privmine, ordered Parquet to rows": ("privmine", "import privmine as pm", LONG.format("table")),
    "DuckDB, group by of the same Parquet": ("duckdb", DUCKDB, GROUPED.format("table")),
    "privmine, ordered CSV to rows": ("privmine", "import privmine as pm", LONG.format("written")),
    "DuckDB, group by of the same CSV": ("duckdb", DUCKDB, GROUPED.format("written")),
}
#: What is doubled: baskets, items, length, k.
GROWTH = {
    "baskets": [{"baskets": n} for n in (50_000, 100_000, 200_000, 400_000)],
    "items": [{"baskets": 50_000, "items": n} for n in (5_000, 10_000, 20_000, 40_000)],
    "length": [{"baskets": 50_000, "length": n} for n in (5, 10, 20, 40)],
    "k": [{"baskets": 50_000, "k": n} for n in (100, 200, 400, 800)],
}


def run(side: str, arguments: list[str]) -> tuple[float, float | None] | None:
    """Processor time and peak of memory (MB) of one side; None where it is not installed.

    The peak is None where there was not enough memory; the time is that until then.
    """
    needed, setup, work = SIDES[side]
    if find_spec(needed) is None:
        return None
    script = FRAME.replace("SETUP", setup).replace("WORK", work)
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as problems:
        started = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdout=printed,
            stderr=problems,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY)),
        )
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        for file in (printed, problems):
            file.seek(0)
        if started.returncode:
            told = problems.read()
            if "MemoryError" not in told:
                sys.exit(f"{side} failed.\n{told}")
            return used.ru_utime + used.ru_stime, None
        seconds, memory = json.loads(printed.read().splitlines()[-1])
    return seconds, memory


def files(folder: Path, baskets: Baskets, k: int) -> list[str]:
    """Write the same baskets in the formats that are compared; the arguments of a side."""
    import privmine as pm

    path = baskets.write_fimi(folder / "b.dat")
    table, written = baskets.write_long(folder / "b.parquet"), baskets.write_long(folder / "b.csv")
    data = pm.read(path)
    pm.write(data, folder / "b.privmine")
    support = int(data.store.top_itemsets(k)[1][-1])
    return [str(path), str(folder / "b.privmine"), str(table), str(written), str(support), str(k)]


def read_baskets(path: Path) -> Baskets:
    """The baskets of a file of FIMI text, with items from 0 on."""
    import privmine as pm

    rows = pm.read(path).store.rows
    return Baskets(rows.offsets, rows.items)


class Page:
    """What is printed, also kept as lines for a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, line: str) -> None:
        """Print a line at once."""
        print(line, flush=True)
        self.lines.append(line)


def compare(page: Page, title: str, arguments: list[str]) -> None:
    """Print the time and the memory of all sides."""
    first = None
    page.tell(f"| {title} | seconds | ratio to the first | peak MB |\n|---|---|---|---|")
    for side in SIDES:
        found = run(side, arguments)
        if found is None:
            page.tell(f"| {side} | not installed | | |")
            continue
        first = first or found[0]
        seconds, memory = found
        more, peak = ("", f"{memory:.0f}") if memory is not None else ("more than ", f"more than {MOST_MEMORY >> 20}")
        page.tell(f"| {side} | {more}{seconds:.2f} | {more}{seconds / first:.2f} | {peak} |")
    page.tell("")


def grow(page: Page, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Print how time and memory grow from step to step; the figures."""
    grown: dict[str, list[tuple[float, float]]] = {}
    page.tell("| doubled | seconds | from step to step | peak MB | from step to step |\n|---|---|---|---|---|")
    for what, steps in GROWTH.items():
        found = []
        for step in steps:
            how = {"k": K, **step}
            arguments = files(
                folder, Baskets.of(how["baskets"], how.get("items", 5_000), how.get("length", 10)), how["k"]
            )
            found.append(run("privmine, FIMI to release", arguments))
        grown[what] = [(seconds, memory) for seconds, memory in filter(None, found) if memory is not None]
        told = []
        for side, digits in ((0, 2), (1, 0)):
            figures = [one[side] for one in grown[what]]
            ratios = (after / before for before, after in pairwise(figures))
            told += [", ".join(f"{one:.{digits}f}" for one in figures), ", ".join(f"{ratio:.2f}" for ratio in ratios)]
        page.tell(f"| {what} | {' | '.join(told)} |")
    page.tell("")
    return grown


def main() -> None:
    """Print the tables; draw the growth if a file is named."""
    parser = argparse.ArgumentParser(description="Compare speed and memory with peers, and tell how they grow.")
    parser.add_argument("--baskets", type=int, default=100_000)
    parser.add_argument("--fimi", type=Path, help="compare on this file of FIMI text, and leave the growth out")
    parser.add_argument("--k", type=int, default=K, help="how many itemsets are compared (default: %(default)s)")
    parser.add_argument("--plot", type=Path, help="draw the growth into this file")
    parser.add_argument("--data", type=Path, help="compare on datasets of this directory as well")
    parser.add_argument("--page", type=Path, help="write all tables into this file, as a page of the documentation")
    options = parser.parse_args()
    page = Page()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for dataset, repeats, k in PAGE if options.data is not None else ():
            text = plain_text(options.data, dataset, repeats, folder)
            title = f"{dataset.partition('_')[0]}{f' ×{repeats}' if repeats > 1 else ''}, k = {k}"
            compare(page, title, files(folder, read_baskets(text), k))
        if options.fimi is None:
            title, baskets = f"{options.baskets:,} generated baskets", Baskets.of(options.baskets)
        else:
            title, baskets = options.fimi.stem, read_baskets(options.fimi)
        compare(page, f"{title}, k = {options.k}", files(folder, baskets, options.k))
        if options.fimi is None:
            grown = grow(page, folder)
            if options.plot is not None:
                draw(grown, options.plot)
    if options.page is not None:
        write_page(page, options.page, options.plot)


def write_page(page: Page, path: Path, plot: Path | None) -> None:
    """Write what was printed as a page."""
    shown = f"![growth]({os.path.relpath(plot, path.parent)})\n" if plot is not None else ""
    path.write_text(PAGE_HEAD + "\n".join(page.lines) + shown)


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
