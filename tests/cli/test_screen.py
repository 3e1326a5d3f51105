"""What is printed cannot be forged by a label, a column or a file."""

from __future__ import annotations

import json

import pytest

import privmine as pm
from privmine.ledger import Ledger

LABEL = "evil\x1b[2J\x9b\u202etxt\u2066\ufeffé"
ITEMS = [LABEL, "milk"]


@pytest.fixture
def release(tmp_path):
    """A saved release with an odd label."""
    path = tmp_path / "release.json"
    pm.mine([ITEMS] * 200, 3, 10, simulate=True, seed=1).save(path)
    return path


def is_harmless(shown: str) -> bool:
    return all(line.isprintable() for line in shown.replace("\t", " ").split("\n"))


@pytest.mark.parametrize("arguments", [["--json"], []], ids=["json", "table"])
def test_labels_of_a_release(privmine, tmp_path, arguments) -> None:
    """`mine` prints them escaped, and readable letters as they are; a program gets the label itself."""
    (tmp_path / "o.csv").write_text("".join(f"{n},{item}\n" for n in range(200) for item in ITEMS), encoding="utf-8")
    (tmp_path / "o.csv").write_text("order,item\n" + (tmp_path / "o.csv").read_text(encoding="utf-8"), encoding="utf-8")
    data = [str(tmp_path / "o.csv"), "--transaction", "order", "--item", "item"]
    code, out, err = privmine("mine", *data, "--k", "3", "--epsilon", "10", "--simulate", "--seed", "1", *arguments)
    assert code == 0
    assert is_harmless(out)
    assert is_harmless(err)
    assert "é" in out
    if arguments:
        assert LABEL in {label for found in json.loads(out)["itemsets"] for label in found["items"]}


@pytest.mark.parametrize("arguments", [["--json"], []], ids=["json", "table"])
def test_labels_of_rules(privmine, release, arguments) -> None:
    """`rules` does the same."""
    code, out, err = privmine("rules", str(release), "--unrefined", *arguments)
    assert code == 0
    assert "evil" in out
    assert is_harmless(out + err)


def test_an_error_is_one_line(privmine, tmp_path) -> None:
    """A name that is repeated in a message cannot steer the terminal."""
    code, out, err = privmine("mine", str(tmp_path / "a\x1b[2J\u202e.csv"), "--k", "3", "--epsilon", "1")
    assert code == 2
    assert out == ""
    assert is_harmless(err)


@pytest.mark.parametrize("kind", [["--json"], ["--csv"], []], ids=str)
def test_a_ledger_prints_no_control_characters(privmine, tmp_path, kind) -> None:
    """Names and notes are printable, or the ledger would not have them."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("café", 1)
    ledger.charge("café", "0.5", note="weekly é")
    code, out, _ = privmine("budget", "log", "--ledger", str(ledger.path), *kind)
    assert code == 0
    assert "weekly é" in out
    assert is_harmless(out)
