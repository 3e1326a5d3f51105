"""What is printed cannot be forged by a label, a column or a file."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import privmine as pm
from privmine.ledger import Ledger

LABEL = "evil\x1b[2J\x9b\u202etxt\u2066\ufeffé"
ITEMS = [LABEL, "milk"]


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


@pytest.fixture
def certain_rules(tmp_path):
    """Two saved releases of odd labels that go together, so that noise does not explain their rules."""
    for name, together in (("one", 3000), ("other", 900)):
        baskets = pm.read([ITEMS] * together + [["tea"]] * 8000, items=[*ITEMS, "tea"])
        pm.mine(baskets, 4, 5, simulate=True, seed=1).save(tmp_path / f"{name}.json")
    return tmp_path / "one.json", tmp_path / "other.json"


@pytest.mark.parametrize("arguments", [["--json"], []], ids=["json", "table"])
@pytest.mark.parametrize("options", [["--unrefined"], [], ["--consequent", "*evil*"], ["--prune"]], ids=str)
def test_labels_of_rules(privmine, certain_rules, options, arguments) -> None:
    """`rules` does the same, with intervals and without."""
    code, out, err = privmine("rules", str(certain_rules[0]), *options, *arguments)
    assert code == 0
    assert "evil" in out
    assert is_harmless(out + err)
    if arguments:
        assert [LABEL] in [rule["consequents"] for rule in json.loads(out)["rules"]]


@pytest.mark.parametrize("arguments", [["--json"], []], ids=["json", "table"])
def test_labels_of_changes(privmine, certain_rules, arguments) -> None:
    """`diff` does the same."""
    code, out, err = privmine("diff", *map(str, certain_rules), *arguments)
    assert code == 0
    assert "evil" in out
    assert is_harmless(out + err)


def test_labels_of_a_pattern_that_matches_nothing(privmine, certain_rules) -> None:
    """A pattern that is repeated in a message cannot steer the terminal either."""
    code, out, err = privmine("rules", str(certain_rules[0]), "--antecedent", f"no {LABEL}")
    assert (code, out) == (2, "")
    assert "evil" in err
    assert is_harmless(err)


@pytest.mark.parametrize("kind", ["support", "graph", "matrix", "rules"])
def test_labels_of_a_picture(privmine, certain_rules, tmp_path, kind) -> None:
    """An SVG with odd labels is XML that any parser takes, and nothing else is printed."""
    code, out, err = privmine("plot", str(certain_rules[0]), "--kind", kind, "--output", str(tmp_path / "a.svg"))
    assert code == 0
    assert is_harmless(out + err)
    parsed = ElementTree.parse(tmp_path / "a.svg")  # noqa: S314 - our own
    assert parsed.getroot().tag.endswith("svg")


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
