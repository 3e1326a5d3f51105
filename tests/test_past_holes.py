"""Holes of the first version, by its own interface, so that this file runs against that version too and fails there.

What closes them is tested in full beside each module. Here stands what an attacker did, in few words. Notebooks are in
`tests/io/test_notebooks.py`, and PostgreSQL is in `tests/postgres`.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import warnings
from collections import Counter
from fractions import Fraction
from math import exp, nan
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

import privmine as pm
from privmine.api import Estimate, hookimpl
from privmine.errors import PrivmineError, PrivmineWarning
from privmine.noise.secure import SecureNoise
from privmine.store.memory import MemoryStore


def run(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command, or a program, in a process of its own that is ended after a minute."""
    command = [sys.executable, *(["-c", code] if code else ["-m", "privmine"]), *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, encoding="utf-8")


def refused(*arguments, **options) -> str:
    """With which sentence reading is refused."""
    with pytest.raises(PrivmineError) as caught:
        pm.read(*arguments, **options)
    return str(caught.value)


# 1. Noise that is not exact


def test_noise_is_as_it_claims() -> None:
    """100,000 draws at scale 5, χ² over 16 cells: some 200 with OpenDP 0.14.0, above 75 once in 10⁹ runs if exact."""
    source, zeros = SecureNoise(), np.zeros(1000, dtype=np.int64)
    drawn = Counter(x for _ in range(100) for x in source.laplace(zeros, Fraction(5)).tolist())
    scale = drawn.total() / sum(exp(-abs(x) / 5) for x in range(-400, 401))
    counts = [drawn[x] for x in range(-7, 8)]
    expected = [scale * exp(-abs(x) / 5) for x in range(-7, 8)]
    rest, expected_rest = drawn.total() - sum(counts), drawn.total() - sum(expected)
    assert stats.chisquare([*counts, rest], [*expected, expected_rest]).statistic < 75


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A private release in a file."""
    path = tmp_path / "release.json"
    pm.mine(pm.read([["a", "b"]] * 60 + [["c"]] * 30), k=3, epsilon=1).save(path)
    return path


def test_a_release_of_biased_noise_is_told(saved: Path) -> None:
    """It is loaded with a warning."""
    saved.write_text(re.sub(r"OpenDP [\d.]+", "OpenDP 0.14.0", saved.read_text("utf-8")), "utf-8")
    with pytest.warns(PrivmineWarning, match="biased"):
        pm.load(saved)


# 3. A guess that is not recorded


def test_a_comma_that_was_guessed_is_a_guess(tmp_path: Path) -> None:
    """Strict mode refuses both files, so that one transaction does not decide."""
    for first in ("bread;milk;tea\n", ""):
        (tmp_path / "b.txt").write_text(first + "bread,milk\n" * 400)
        data = pm.read(tmp_path / "b.txt", layout="baskets", items=["bread", "milk", "tea"])
        with pytest.raises(PrivmineError):
            pm.mine(data, k=2, epsilon=1, strict=True)


# 4. One customer swallows the rows of others


def test_a_quote_does_not_take_the_rows_of_others(tmp_path: Path) -> None:
    """A cell that opens in one row and closes seven rows later is refused with the number of its line."""
    rows = [f"c{n},{n},bread" for n in range(40)]
    rows[4], rows[11] = 'c4,4,"nail', 'c11,11,nail"'
    (tmp_path / "o.csv").write_text("\n".join(["customer,order,product", *rows, ""]))
    assert "line 6" in refused(tmp_path / "o.csv", transaction="order", item="product", unit="customer", max_baskets=1)


# 5. The ledger answers questions for free


def test_the_ledger_does_not_compare_contents(tmp_path: Path) -> None:
    """One transaction more gives no warning, and no method answers guesses."""
    ledger, path = pm.Ledger(tmp_path / "budget.db"), tmp_path / "o.csv"
    ledger.init("orders", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for more in ("", "3,a\n"):
            path.write_text(f"order,product\n1,a\n1,b\n2,a\n{more}")
            data = pm.read(path, transaction="order", item="product", items=["a", "b"])
            pm.mine(data, k=2, epsilon="0.1", ledger=ledger, dataset="orders")
    assert not hasattr(ledger, "fingerprint_matches")


# 6. Files that lie


LOAD = """
import sys
import privmine as pm
try: pm.load(sys.argv[1]).intervals()
except pm.PrivmineError as error: print(error)
"""


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r'("scale": )"2", "terms"', r'\1"1e999999999", "terms"'),
        (r'("scale": )"2", "terms"', r'\1"1e300", "terms"'),
        (r'("epsilon": )"1/2"', r'\1"1/1000"'),
    ],
    ids=["hangs", "divides by zero", "charges"],
)
def test_crafted_numbers_are_refused(saved: Path, pattern: str, words: str) -> None:
    """In a sentence, at once."""
    content, found = re.subn(pattern, words, json.dumps(json.loads(saved.read_text("utf-8"))), count=1)
    assert found
    saved.write_text(content, "utf-8")
    done = run(str(saved), code=LOAD)
    assert "is not a release" in done.stdout or "do not sum to" in done.stdout, done.stderr


BOMB = """
import resource, sys
import privmine as pm
pm.read([["a"]])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
try: pm.read(sys.argv[1], layout="baskets")
except pm.PrivmineError as error: print(error)
"""


def test_a_small_file_does_not_become_a_line_of_300_megabytes(tmp_path: Path) -> None:
    """It is refused in less memory than the line takes."""
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"a " * 2**19) * 300)
    assert "longer than" in run(str(tmp_path / "b.txt.gz"), code=BOMB).stdout


# 7. Queries


def test_a_table_by_a_computed_name_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first rows of its CSV file look like would decide about the types."""
    monkeypatch.chdir(tmp_path)
    Path("o.csv").write_text("visit,code\n1,01\n2,02\n")
    refused(sql="select visit, code from query_table('o.' || 'csv')", transaction="visit", item="code")


# 8. Trust that is not told


class BorrowedStore(MemoryStore):
    """Of a class that is not privmine's own."""


def test_a_foreign_store_is_told() -> None:
    """It clips contributions on its own word, so that the receipt says whose word it is."""
    data = pm.Transactions.from_lists([["a", "b"], ["c"]], items=["a", "b", "c"])
    foreign = evolve(data, store=BorrowedStore.from_rows([0, 2, 3], [0, 1, 2], 3))
    assert pm.mine(foreign, k=2, epsilon=1).receipt.assumptions


def test_json_on_the_screen_has_no_control_characters(tmp_path: Path) -> None:
    """Nor characters that turn the direction of writing."""
    (tmp_path / "b.txt").write_text("\u202egpj.exe a\x9b\n" * 500, "utf-8")
    options = ("--layout", "baskets", "--separator", " ", "--k", "2", "--epsilon", "10", "--json")
    done = run("mine", str(tmp_path / "b.txt"), *options)
    assert "gpj.exe" in done.stdout, done.stderr
    assert not {"\u202e", "\x9b"} & set(done.stdout)


@pytest.mark.parametrize("values", [{"lam": True}, {"lam": 2, "theta": nan}, {"lam": True, "theta": nan}], ids=repr)
def test_an_estimate_is_of_numbers(values: dict[str, object]) -> None:
    """A truth value is no λ, and nan is no θ."""

    class Estimates:
        @hookimpl
        def estimate_lambda(self, request, curator):
            return Estimate(**values)

    with pytest.raises(PrivmineError):
        pm.Pipeline(estimate_lambda=Estimates()).run([["a", "b"]] * 9, k=2, epsilon=1)


def test_a_ledger_behind_a_dangling_link_is_told(tmp_path: Path) -> None:
    """`budget init` says what is wrong, not to run `budget init`."""
    (tmp_path / "budget.db").symlink_to(tmp_path / "gone.db")
    done = run("budget", "init", "--dataset", "orders", "--epsilon", "1", "--ledger", str(tmp_path / "budget.db"))
    assert done.returncode
    assert "is a symbolic link to" in done.stderr
