from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path

import pytest
from rich.console import Console

import privmine as pm
from privmine.cli.plan_command import show
from privmine.planning.plan_text import tables


def test_a_plan_is_shown_without_any_data(privmine) -> None:
    """The example of the help, with the same figures as from Python."""
    code, out, err = privmine(
        *[
            "plan",
            "--k",
            "100",
            "--epsilon",
            "1",
            "--transactions",
            "88000",
            "--items",
            "16470",
            "--lam",
            "38",
            "--target-error",
            "50",
            "--target-size",
            "2",
        ]
    )
    assert (code, err) == (0, "")
    made = pm.plan(100, 1, transactions=88000, items=16470, lam=38, target_error=50, target_size=2)
    assert f"{made.errors(1).low:,.0f} – {made.errors(1).high:,.0f}" in out
    assert f"{made.choices[0].lead:,.0f}" in out
    assert f"Target: ε = {float(made.target_epsilon or 0):g} makes" in out


def test_json_is_the_plan(privmine) -> None:
    """All of it, and nothing else on stdout."""
    _, out, _ = privmine("plan", "--k", "20", "--epsilon", "0.5", "--lam", "8", "--json")
    assert json.loads(out) == json.loads(json.dumps(pm.plan(20, "0.5", lam=8).to_dict()))


def test_the_pipeline_is_chosen_as_for_mine(privmine, tmp_path) -> None:
    """By method, by file and by setting."""
    file = tmp_path / "own.toml"
    file.write_text('[stages.allocate_budget]\nuse = "fixed-shares"\nalpha1 = "0.2"\nalpha2 = "0.2"\nalpha3 = "0.6"\n')
    _, out, _ = privmine("plan", "--epsilon", "1", "--lam", "7", "--pipeline", str(file), "--json")
    assert [share["epsilon"] for share in json.loads(out)["shares"]] == ["1/5", "1/5", "3/5"]
    _, out, _ = privmine("plan", "--epsilon", "1", "--method", "tf", "--set", "select_elements.m=3", "--json")
    assert [found["size"] for found in json.loads(out)["sizes"]] == [1, 2, 3]


def test_width_and_length_of_a_run(privmine) -> None:
    """As a receipt tells them."""
    _, out, _ = privmine("plan", "--epsilon", "1", "--lam", "30", "--bases", "18", "--length", "5")
    assert "For 18 bases of up to 5 items" in out
    assert "204" in out


def test_the_ledger_tells_what_would_remain(privmine, tmp_path) -> None:
    """Or the refusal, after the plan, with exit code 2; nothing is charged either way."""
    path = tmp_path / "budget.db"
    pm.Ledger(path).init("orders", 2, unit="customer_id")
    account = ["--ledger", str(path), "--dataset", "orders", "--unit", "customer_id", "--max-baskets", "5"]
    code, out, _ = privmine("plan", "--epsilon", "0.5", "--lam", "7", *account)
    assert code == 0
    assert "Ledger: ε = 1.5 would remain for orders after ε = 0.5" in out
    code, out, err = privmine("plan", "--epsilon", "5", "--lam", "7", *account)
    assert code == 2
    assert "A count" in out
    assert err.startswith("privmine: The run would be refused: ")
    assert pm.Ledger(path).budget("orders").spent_epsilon == Fraction(0)


def test_a_picture_is_drawn(privmine, tmp_path) -> None:
    """And its path is told; a file that exists is replaced only if that is said."""
    path = tmp_path / "plan.png"
    code, out, _ = privmine("plan", "--epsilon", "1", "--lam", "7", "--plot", str(path))
    assert code == 0
    assert f"Saved: {path}" in out
    assert path.read_bytes().startswith(b"\x89PNG")
    path.write_text("another one")
    code, out, err = privmine("plan", "--epsilon", "1", "--lam", "7", "--plot", str(path))
    assert (code, out) == (2, "")
    assert "replace it with --force" in err
    assert path.read_text() == "another one"
    assert privmine("plan", "--epsilon", "1", "--lam", "7", "--plot", str(path), "--force")[0] == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_advice_is_shown_although_there_is_nothing_to_draw(privmine, tmp_path) -> None:
    """Simulations take a while; only then it shows that the errors of a method are not known in advance."""
    asked = ["--method", "plus", "--transactions", "500", "--items", "20", "-k", "5", "--epsilon", "1", "--runs", "2"]
    code, out, err = privmine("plan", *asked, "--plot", str(tmp_path / "plan.png"))
    assert code == 2
    assert "Sensible:" in out
    assert "there is nothing to draw" in err


def test_what_the_refusal_advises_works(privmine, tmp_path) -> None:
    """A ledger for customers names --unit and --merge-by, and the plan takes both."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2, unit="customer_id")
    account = ["--ledger", str(ledger.path), "--dataset", "orders"]
    command = ["plan", "--k", "20", "--epsilon", "0.5", "--lam", "8", *account]
    code, _, err = privmine(*command)
    assert code == 2
    assert "--unit customer_id or --merge-by customer_id" in err
    for option in ("--unit", "--merge-by"):
        code, out, _ = privmine(*command, option, "customer_id")
        assert code == 0
        assert "ε = 1.5 would remain" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "Specify an ε to learn its error"),
        ("--epsilon x", "ε must be a number"),
        ("--epsilon 0", "ε must be greater than 0"),
        ("--epsilon 1 --k 0", "k, the number of itemsets, must be at least 1"),
        ("--epsilon 1 --k 20000", "k must be at most 10,000"),
        ("--epsilon 1 --lam 101", "λ = 101 is impossible: with this k and this number of items it lies between 7 and"),
        ("--epsilon 1 --lam 2", "λ = 2 is impossible"),
        ("--epsilon 1 --items 0", "The number of items must be at least 1"),
        ("--epsilon 1 --items 100000000", "at most 10,000,000"),
        ("--epsilon 1 --transactions 1.5", "must be a whole number such as 50000, without commas, not '1.5'"),
        ("--epsilon 1 --transactions 50,000", "a whole number such as 50000, without commas, not '50,000'"),
        ("--epsilon 1 --bases 3", "depends on how long the bases are"),
        ("--epsilon 1 --length 3", "their number is not given"),
        ("--epsilon 1 --bases 3 --length 21", "Plan with at most 20 items"),
        ("--epsilon 1 --bases 9999999 --length 3", "but a plan can hold"),
        ("--epsilon 1 --method tf --bases 3 --length 3", "counts itemsets one by one"),
        ("--target-error 0", "must be greater than 0"),
        ("--target-error 5%", "a percentage of the transactions"),
        ("--target-error 5 --lam 8 --target-size 9", "No itemset of 9 items would be counted"),
        ("--epsilon 1 --target-size 2", "--target-size needs a target error"),
        ("--epsilon 1 --unit transaction --max-baskets 3", "but no unit is given"),
        ("--epsilon 1 --max-baskets 3", "but no unit is given"),
        ("--epsilon 1 --ledger no.db --dataset x", "There is no ledger at no.db"),
        ("--epsilon 1 --ledger no.db", "Pass both --ledger and --dataset"),
        ("--epsilon 1 --plot x.gif", "must end in .png, .svg or .pdf"),
        ("--epsilon 1 --method nothing", "There is no method named 'nothing'"),
    ],
)
def test_what_cannot_be_planned_is_refused(privmine, arguments: str, sentence: str, tmp_path, monkeypatch) -> None:
    """One line on stderr, exit code 2, nothing on stdout, no file."""
    monkeypatch.chdir(tmp_path)
    code, out, err = privmine("plan", *arguments.split())
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(Path(tmp_path).iterdir()) == []


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_fit_the_screen(columns: int) -> None:
    """No row of a table is folded; sentences are."""
    out = Console(width=columns, highlight=False, file=io.StringIO())
    made = pm.plan(100, "0.1", transactions=88_000, items=16_470, lam=38, target_error=50)
    show(out, made)
    lines = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= columns
    for table in tables(made):
        start = next(place for place, line in enumerate(lines) if line == table.heading) + 1
        assert lines[start].split() == " ".join(table.columns).split()
        for line, row in zip(lines[start + 1 :], table.rows, strict=False):
            assert line.split() == " ".join(row).split()


def test_several_questions_are_answered_in_a_sentence_each(privmine) -> None:
    """With the figures below, and what they were simulated on; the same as from Python."""
    asked = ["--transactions", "800", "--like", "zipf", "--method", "privbasis", "--runs", "2"]
    code, out, err = privmine("plan", "-k", "5,80", "-e", "0.5,1", *asked)
    assert (code, err) == (0, "")
    made = pm.plan(k=[5, 80], epsilon=["0.5", 1], transactions=800, like="zipf", method="privbasis", runs=2)
    for sentence in made.advice.sentences():
        assert sentence in out
    assert "Simulated on 800 transactions" in out
    assert "Nothing private is read" in out
    assert out.count("privbasis") >= 8


def test_advice_as_json(privmine) -> None:
    """For programs, beside the plan of what is sensible."""
    asked = ["--like", "zipf", "--transactions", "800", "--method", "privbasis", "--runs", "2", "--json"]
    code, out, _ = privmine("plan", "--k", "5,80", "--epsilon", "1", *asked)
    found = json.loads(out)
    assert code == 0
    assert [row["k"] for row in found["advice"]["forecasts"]] == [5, 80]
    assert found["k"] == found["advice"]["sensible"]["k"]


def test_the_epsilon_for_a_sentence(privmine) -> None:
    """And the forms, where it is not understood."""
    asked = ["--like", "zipf", "--transactions", "2000", "--method", "privbasis", "--runs", "2"]
    code, out, _ = privmine("plan", *asked, "--wanted", "find everything above 10 %")
    assert code == 0
    assert out.startswith("Wanted: to find everything above 10 %, spend ε = ")
    code, _, err = privmine("plan", *asked, "--wanted", "everything")
    assert code == 2
    assert '"tell 2 % from 3 %" or "find everything above 2 %"' in err


def test_private_transactions_are_not_read_for_likeness(privmine, tmp_path) -> None:
    """The shell names its own option, and the file is not read without it."""
    path = tmp_path / "orders.csv"
    path.write_text("order,item\n" + "".join(f"{row},{item}\n" for row in range(60) for item in "abc"))
    code, out, err = privmine("plan", "-k", "3", "-e", "1", "--like", str(path))
    assert (code, out) == (2, "")
    assert "say so: --like-is-public" in err
    code, out, _ = privmine("plan", "-k", "3", "-e", "1", "--like", str(path), "--like-is-public", "--runs", "2")
    assert code == 0
    assert "60 transactions over 3 items" in out


def test_a_plan_learns_from_a_release(privmine, tmp_path) -> None:
    """Its file is enough."""
    path = tmp_path / "may.csv"
    pm.mine(pm.groceries(), 30, 5).save(path)
    code, out, _ = privmine("plan", "-k", "10", "-e", "1", "--like", str(path), "--method", "privbasis", "--runs", "2")
    assert code == 0
    assert "an earlier release of 30 itemsets" in out
