from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest

import privmine as pm
from privmine.release.rules import Wanted, list_rules
from privmine.release.rules.rule_files import to_csv, to_xlsx


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A private, downward-closed release of the groceries, as the command line makes it."""
    path = tmp_path_factory.mktemp("rules") / "top.csv"
    options = ["--downward-closed", "--k", "60", "--output", str(path)]
    command = [sys.executable, "-m", "privmine", "mine", *options]
    subprocess.run(command, check=True, capture_output=True)
    return path


def test_rules_of_a_saved_release(privmine, closed) -> None:
    """The strongest first, with supports, and no budget is spent."""
    code, out, err = privmine(
        "rules", str(closed), "--metric", "lift", "--min-threshold", "1.2", "--antecedent", "spag*"
    )
    assert (code, err) == (0, "")
    assert "spaghetti" in out
    assert "Rules cost no budget" in out
    lifts = [float(lift) for lift in re.findall(r"(\d+\.\d{4}) \[\d+\.\d+ to \d+\.\d+\] +0\.", out)]
    assert len(lifts) == int(out.partition(" rule")[0])
    assert lifts == sorted(lifts, reverse=True)
    assert min(lifts) >= 1.2
    assert "rules are not shown" in out


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_rules_are_saved(privmine, closed, tmp_path, suffix) -> None:
    """All of them with the receipt, the same as in Python."""
    target = tmp_path / f"rules{suffix}"
    code, out, _ = privmine("rules", str(closed), "--metric", "lift", "--min-threshold", "0", "--output", str(target))
    assert code == 0
    assert f"Saved: {target}" in out
    release = pm.load(closed)
    found = list_rules(release, Wanted("lift", 0))
    columns = found.columns
    text = target.read_text(encoding="utf-8")
    if suffix == ".csv":
        assert text == to_csv(release, found)
        assert len(list(csv.DictReader(io.StringIO(text.partition("\nantecedents")[2])))) == len(columns["lift"])
    else:
        assert len(json.loads(text)["rules"]) == len(columns["lift"])


def test_json_is_nothing_but_json(privmine, closed) -> None:
    """For programs, the receipt inside."""
    code, out, _ = privmine("rules", str(closed), "--json")
    assert code == 0
    assert json.loads(out)["private"] is True


def test_a_missing_subset_names_three_ways_out(privmine, tmp_path) -> None:
    """Two of them are options of this command."""
    path = tmp_path / "top.json"
    options = ["--k", "60", "--epsilon", "0.05", "--simulate", "--seed", "1", "--output", str(path)]
    assert privmine("mine", *options)[0] == 0
    code, out, err = privmine("rules", str(path), "--unrefined")
    assert (code, out) == (2, "")
    assert "--downward-closed" in err
    code, out, _ = privmine("rules", str(path))
    assert code == 0
    assert "need the count of an itemset that was not released" in out
    assert privmine("rules", str(path), "--downward-closed")[0] == 0
    code, out, _ = privmine("rules", str(path), "--support-only")
    assert code == 0
    assert "NOT PRIVATE" in out


def test_supports_alone_are_all_shown(privmine, closed) -> None:
    """Whatever they are, unless a threshold is said; no other metric is known to decide."""
    pairs = sum(2 ** len(found.items) - 2 for found in pm.load(closed))
    assert f"{pairs} rules of" in privmine("rules", str(closed), "--support-only")[1]
    assert "0 rules of" in privmine("rules", str(closed), "--support-only", "--min-threshold", "0.9")[1]
    assert privmine("rules", str(closed), "--support-only", "--metric", "support")[0] == 0
    code, out, err = privmine("rules", str(closed), "--support-only", "--metric", "lift")
    assert (code, out) == (2, "")
    assert "--metric lift" in err


def test_no_file_is_replaced_unawares(privmine, closed, tmp_path) -> None:
    """One that exists is refused without --force, and the release that is read even with it."""
    target = tmp_path / "rules.csv"
    target.write_text("kept")
    code, out, err = privmine("rules", str(closed), "--output", str(target))
    assert (code, out, target.read_text()) == (2, "", "kept")
    assert "--force" in err
    assert privmine("rules", str(closed), "--output", str(target), "--force")[0] == 0
    assert target.read_text() != "kept"
    before = closed.read_bytes()
    code, out, err = privmine("rules", str(closed), "--output", str(closed), "--force")
    assert (code, out, closed.read_bytes()) == (2, "", before)
    assert "is the file that is read" in err


def test_no_rules_say_what_to_do(privmine, closed) -> None:
    """An empty answer is an answer."""
    code, out, _ = privmine("rules", str(closed), "--min-threshold", "100")
    assert code == 0
    assert "Lower --min-threshold" in out
    code, out, _ = privmine("rules", str(closed), "--min-threshold", "100", "--consequent", "whole milk")
    assert code == 0
    assert "No rule has these items on that side and reaches the threshold" in out


def test_noise_is_not_taken_for_a_threshold(privmine, tmp_path) -> None:
    """Where noise explains all rules, a lower threshold shows none either."""
    release = pm.mine([["a", "b"], ["a"], ["b"], []] * 20, 3, "0.2", simulate=True, seed=1, downward_closed=True)
    release.save(tmp_path / "noise.csv")
    code, out, _ = privmine("rules", str(tmp_path / "noise.csv"), "--min-threshold", "0.2")
    assert code == 0
    assert "No rule is clearly more than chance" in out
    assert "Lower" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.csv"], "Cannot read gone.csv"),
        (["RELEASE", "--metric", "lifft"], "Did you mean 'lift'"),
        (["RELEASE", "--min-threshold", "nan"], "not NaN"),
        (["RELEASE", "--support-only", "--prune"], "With --support-only there is no confidence that --prune"),
        (["RELEASE", "--output", "rules.parquet"], "end it in one of .csv, .json, .xlsx"),
        (["RELEASE", "--output", "no/such/folder/rules.csv"], "There is no directory"),
    ],
)
def test_mistakes_are_one_sentence(privmine, closed, arguments, words) -> None:
    """And exit code 2."""
    code, out, err = privmine("rules", *(str(closed) if part == "RELEASE" else part for part in arguments))
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_what_noise_explains_is_shown_on_request(privmine, closed) -> None:
    """With mlxtend's values; the number that is left out by default is told."""
    code, out, _ = privmine("rules", str(closed), "--json")
    refined = json.loads(out)
    code, out, _ = privmine("rules", str(closed), "--unrefined", "--min-threshold", "-1", "--json")
    assert code == 0
    everything = json.loads(out)
    assert len(refined["rules"]) + sum(refined["left_out"].values()) == len(everything["rules"])
    assert 0 < len(refined["rules"]) < len(everything["rules"])


def test_what_shows_the_other_rules_is_told(privmine, closed, tmp_path) -> None:
    """The options that are told list all rules; --unrefined alone says that it has a threshold."""
    _, out, _ = privmine("rules", str(closed))
    told = "--unrefined --min-threshold 0"
    assert f"\n{told} shows rules that noise may explain, too.\n" in out
    shown, left_out = (int(re.search(words, out)[1]) for words in (r"(\d+) rules of", r"(\d+) rules are not shown"))
    _, out, _ = privmine("rules", str(closed), *told.split())
    assert out.startswith(f"{shown + left_out} rules of")
    assert "--min-threshold" not in out
    _, out, _ = privmine("rules", str(closed), "--unrefined")
    assert "at least 0.8 are listed, as in mlxtend. --min-threshold 0 lists more.\n" in out
    partial = pm.mine(pm.groceries(), 60, 0.2, simulate=True, seed=1)
    partial.save(tmp_path / "partial.csv")
    _, out, _ = privmine("rules", str(tmp_path / "partial.csv"))
    assert "--unrefined --downward-closed --min-threshold 0 shows" in out
    assert privmine("rules", str(tmp_path / "partial.csv"), "--unrefined", "--downward-closed")[0] == 0


def test_intervals_are_not_broken_on_a_narrow_screen(privmine, closed, monkeypatch) -> None:
    """Items are, since they have the room to be read in two lines."""
    monkeypatch.setattr("privmine.cli.screen.PIPE_WIDTH", 80)
    _, out, _ = privmine("rules", str(closed), "--consequent", "whole milk")
    rows = int(out.partition(" rule")[0])
    assert rows > 1
    assert len(re.findall(r"\[\d+\.\d+ to \d+\.\d+\]", out)) == 2 * rows
    _, out, _ = privmine("diff", str(closed), str(closed))
    assert len(re.findall(r"-0\.\d+ to \+0\.\d+", out)) == 50


def test_rules_about_an_item(privmine, closed) -> None:
    """On the side that is named; an item that was not released is refused with those that were."""
    code, out, _ = privmine("rules", str(closed), "--consequent", "whole milk", "--consequent", "spag*", "--json")
    assert code == 0
    rules = json.loads(out)["rules"]
    assert rules
    assert all({"whole milk", "spaghetti"} & set(rule["consequents"]) for rule in rules)
    code, out, err = privmine("rules", str(closed), "--antecedent", "whole milc")
    assert (code, out) == (2, "")
    assert "Did you mean 'whole milk'" in err


def test_rules_as_a_workbook(privmine, closed, tmp_path) -> None:
    """Numbers as numbers, sides as text, the receipt in a sheet of its own; the same rules as in the CSV."""
    book, text = tmp_path / "rules.xlsx", tmp_path / "rules.csv"
    for target in (book, text):
        assert privmine("rules", str(closed), "--unrefined", "--min-threshold", "0", "--output", str(target))[0] == 0
    found, same = pd.read_excel(book, sheet_name="Rules"), pd.read_csv(text, comment="#")
    assert list(found.columns) == list(same.columns)
    assert found["antecedents"].tolist() == [", ".join(json.loads(side)) for side in same["antecedents"]]
    assert np.allclose(found["lift"], same["lift"])
    assert found["conviction_high"].astype(float).tolist() == pytest.approx(same["conviction_high"].tolist())
    words = pd.read_excel(book, sheet_name="Receipt", header=None)[0].tolist()
    assert any(line.startswith("Privacy: ") for line in words)
    assert any("95 %" in line for line in words)


def test_a_label_is_no_formula_in_a_workbook() -> None:
    """Whatever it begins with."""
    release = pm.mine([["=1+1", "b"]] * 50 + [["b"]] * 50 + [["c"]] * 80, 5, 50, downward_closed=True)
    found = list_rules(release, Wanted(refined=False, min_threshold=0))
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(release, found)))
    cells = [cell for row in book["Rules"].iter_rows(min_row=2, max_col=2) for cell in row]
    assert "=1+1" in {cell.value for cell in cells}
    assert {cell.data_type for cell in cells} == {"s"}
