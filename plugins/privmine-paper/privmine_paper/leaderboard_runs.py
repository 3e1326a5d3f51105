"""The runs of the leaderboard: every method on every dataset, measured against the exact data.

Nothing here is private: it is for research on data that may be looked at.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from attrs import asdict, fields, frozen

from privmine.api import InputError, Transactions
from privmine.evaluation import (
    Cell,
    OpenData,
    Recipe,
    Truth,
    relative_error,
    relative_errors,
    seed_of,
    tolerant_false_negative_rate,
)

LEVEL = 0.95


@frozen
class Run:
    """One release, measured.

    Attributes:
        data: the dataset's name.
        k: how many itemsets were asked for.
        epsilon: the budget, as it was written.
        repeat: the number of the run; methods that share it draw from the same random numbers.
        method: the preset's name.
        fnr: the share of the true top k that was missed, ties forgiven.
        re: the median relative error of released counts; None where nothing that was released occurs.
        covered: the share of released itemsets whose 95 % interval holds the exact count; None without any.
        seconds: of CPU time.
    """

    data: str
    k: int
    epsilon: str
    repeat: int
    method: str
    fnr: float
    re: float | None
    covered: float | None
    seconds: float

    @property
    def key(self) -> tuple[str, int, str, int, str]:
        """Which run it is."""
        return self.data, self.k, self.epsilon, self.repeat, self.method


def measured(transactions: Transactions, truth: Truth, key: tuple[str, int, str, int, str]) -> Run:
    """Run a method in simulation and compare with the truth."""
    data, k, epsilon, repeat, method = key
    seed = seed_of(Cell(data, method, k, epsilon, repeat))
    start = time.process_time()
    release = Recipe(method).make().run(transactions, k, epsilon, simulate=True, seed=seed)
    seconds = time.process_time() - start
    found = truth.indices(row.items for row in release)
    exact = truth.store.supports(found).tolist() if found else []
    inside = [low <= count <= high for (low, high), count in zip(release.intervals(LEVEL), exact, strict=True)]
    return Run(
        *key,
        fnr=tolerant_false_negative_rate(exact, truth.kth_support(k), len(truth.top(k))),
        re=relative_error(relative_errors([row.count for row in release], exact)),
        covered=sum(inside) / len(inside) if inside else None,
        seconds=seconds,
    )


def wanted_keys(
    data: Sequence[str], ks: Sequence[int], epsilons: Sequence[str], methods: Sequence[str], repeats: int
) -> Iterator[tuple[str, int, str, int, str]]:
    """All runs: every cell once before any cell a second time, so that an interrupted table is an even one."""
    for repeat in range(repeats):
        for name in data:
            for k in ks:
                for epsilon in epsilons:
                    for method in methods:
                        yield name, k, epsilon, repeat, method


def read_runs(path: Path) -> list[Run]:
    """The finished runs of a file; a line that a kill left half written is no run."""
    if not path.exists():
        return []
    names = [field.name for field in fields(Run)]
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    if rows and rows[0] != names:
        raise InputError(f"{path} holds no runs of the leaderboard. Give another file with --results.")
    return [_run(row) for row in rows[1:] if len(row) == len(names) and row[-1]]


def _run(row: Sequence[str]) -> Run:
    data, k, epsilon, repeat, method, fnr, re, covered, seconds = row
    return Run(
        data,
        int(k),
        epsilon,
        int(repeat),
        method,
        float(fnr),
        float(re) if re else None,
        float(covered) if covered else None,
        float(seconds),
    )


def run_all(
    keys: Iterable[tuple[str, int, str, int, str]], opened: OpenData, path: Path, told: Callable[[int, int], None]
) -> list[Run]:
    """Do what is not yet in the file, and return all runs that are wanted; the file grows as runs end."""
    wanted = list(keys)
    done = {run.key: run for run in read_runs(path)}
    left = [key for key in wanted if key not in done]
    longest = max((key[1] for key in wanted), default=0)
    truths: dict[str, Truth] = {}
    # Begin a new line after one that is half written.
    broken = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if broken:
            stream.write("\n")
        if not done and stream.tell() == 0:
            writer.writerow([field.name for field in fields(Run)])
        for number, key in enumerate(left):
            told(number, len(left))
            if key[0] not in truths:
                truths[key[0]] = Truth.mine(opened(key[0]), longest)
            truth = truths[key[0]]
            done[key] = measured(truth.transactions, truth, key)
            writer.writerow(["" if value is None else value for value in asdict(done[key]).values()])
            stream.flush()
    return [done[key] for key in wanted]
