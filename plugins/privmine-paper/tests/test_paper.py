"""The reproduction of the paper, in small."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner
from privmine_paper import command, plan
from privmine_paper.evidence import Evidence
from privmine_paper.facts import Facts, facts_of, gamma_count, load_facts
from privmine_paper.page import table
from privmine_paper.reproduce import reproduce
from privmine_paper.statements import check_all

from privmine.api import DataError, InputError, UnknownNameError
from privmine.cli.commands import cli
from privmine.datasets import DatasetInfo, Transactions, describe
from privmine.evaluation import columns
from privmine.evaluation.cell_runner import CellRunner

SMALL = tuple(evolve(panel, k=(3, 6), printed=evolve(panel.printed, k=6)) for panel in plan.PANELS)


@pytest.fixture
def by_hand() -> Transactions:
    """Supports: a 6, b 5, c 4, d 1; ab 4, ac 3, bc 3, abc 2; everything else at most 1. The item e never occurs."""
    rows = ["ab", "ab", "abc", "abc", "ac", "bc", "ad"]
    return Transactions.from_lists([list(row) for row in rows], items=list("abcde"))


def small_data(name: str) -> Transactions:
    """Generated data that differs by name."""
    step = len(name)
    return Transactions.from_lists(
        [[item for item in range(8) if (number + step) % (item + 1) == 0] for number in range(300)]
    )


@pytest.mark.parametrize(
    ("k", "items", "m", "printed"),
    [
        (100, 16470, 1, 5768),
        (100, 119, 2, 5433),
        (200, 2088, 3, 21235),
        (200, 41270, 2, 20773),
        (200, 2290685, 1, 16038),
    ],
)
def test_equation_3_gives_the_figures_of_table_2(k: int, items: int, m: int, printed: int) -> None:
    """γ·N at ε = 1 and ρ = 0.9 is the paper's, which misprints Kosarak's 20773 as 20733."""
    assert gamma_count(k, items, m) == pytest.approx(printed, abs=1)


def test_facts_are_counted_by_hand(by_hand: Transactions) -> None:
    """Of the top 6 of the hand-made data three are items and three pairs; the sixth has support 3."""
    panel = evolve(plan.PANELS[0], k=(3, 6), printed=evolve(plan.PANELS[0].printed, k=6))
    facts = facts_of(panel, by_hand, "made up")
    assert (facts.n, facts.items, facts.lam, facts.pairs, facts.triples, facts.kth_support) == (7, 5, 3, 3, 0, 3)
    assert facts.average == pytest.approx(16 / 7)
    assert facts.longer == {"3": {"1": 0, "2": 0, "3": 0}, "6": {"1": 3, "2": 0, "3": 0}}
    assert facts.lams == {"3": 3, "6": 3}
    # Of the 9 itemsets that occur, 5 have a support below 4, and 3 have one below 3.
    assert facts.close == {"3": 5, "6": 3}
    assert facts.close_share == {"3": 0, "6": 0}


def test_the_plan_is_that_of_the_paper() -> None:
    """Five figures with their k, five ε, PrivBasis and TF with m = 1, 2, 3: 240 cells."""
    cells = plan.cells(plan.PANELS, plan.EPSILONS, 1)
    assert len(set(cells)) == 12 * 5 * 4
    assert {cell.k for cell in cells if cell.data == "kosarak"} == {100, 200, 300, 400}
    assert list(plan.recipes()) == ["PB", "TF m=1", "TF m=2", "TF m=3"]


def test_datasets_can_be_chosen() -> None:
    """By name, or all but some; an unknown name lists the known ones."""
    assert [panel.data for panel in plan.chosen_panels(["retail"])] == ["retail"]
    assert len(plan.chosen_panels((), ["aol-like"])) == 4
    with pytest.raises(UnknownNameError, match="mushroom"):
        plan.chosen_panels(["mushrooms"])


def made_up(fnr: dict[str, float], repeats: int = 8) -> Evidence:
    """Evidence in which each pipeline has one FNR everywhere, a little different from run to run."""
    rows = []
    for cell in plan.cells(plan.PANELS, plan.EPSILONS, repeats):
        value = fnr[cell.pipeline] + 0.001 * (cell.repeat % 3)
        row: dict[str, Any] = dict.fromkeys(columns(), 0) | {
            name: getattr(cell, name) for name in ("data", "pipeline", "k", "epsilon", "repeat")
        }
        rows.append(row | {"fnr": value, "re": value / 10, "re_strict": value, "width": 1, "length": 7})
    facts = {
        panel.data: Facts(
            database="", n=1, items=1, average=1.0, lam=panel.printed.lam, pairs=panel.printed.pairs, triples=0,
            kth_support=panel.printed.kth_support, gamma=1.0, gamma_printed_items=1.0,
            lams={str(k): 9 for k in panel.k}, kth_supports={str(k): 100 for k in panel.k},
            longer={str(k): {str(m): 0 for m in plan.LENGTHS} for k in panel.k},
            close={str(k): 10 + (panel.data == "retail") for k in panel.k}, close_share={str(k): 1 for k in panel.k},
        )
        for panel in plan.PANELS
    }  # fmt: skip
    return Evidence(plan.PANELS, plan.EPSILONS, rows, facts)


def verdicts(found: Evidence) -> dict[str, bool | None]:
    """The verdicts by the beginning of the statement."""
    return {statement.quote[:40]: statement.holds for statement in check_all(found)}


def test_statements_follow_the_figures() -> None:
    """With PB near zero and TF at 0.8 the claims of superiority hold, and those of TF's exact figures follow 0.8."""
    found = verdicts(made_up({"PB": 0.01, "TF m=1": 0.9, "TF m=2": 0.8, "TF m=3": 0.85}))
    assert found["PB consistently and significantly out-pe"] is True
    assert found["PB with the larger k significantly outpe"] is True
    assert found["On both the FNR of PB is close to 0 even"] is True
    assert found["TF on Mushroom, k = 100: FNR over 0.6 ev"] is True
    assert found["TF on Mushroom, k = 50, ε = 0.5: FNR abo"] is False
    assert found["Small λ: on Mushroom and Pumsb-star, wit"] is True
    assert found["Larger λ: on Retail and Kosarak a single"] is False
    assert found["There, the bases have a length of 7 each"] is True
    assert found["That is because on Retail many itemsets "] is True


def test_statements_fail_where_tf_is_better() -> None:
    """With PB at 0.9 and TF at 0.2 no claim of superiority holds."""
    found = verdicts(made_up({"PB": 0.9, "TF m=1": 0.9, "TF m=2": 0.2, "TF m=3": 0.5}))
    for beginning in ("PB consistently and significantly out-pe", "PB with the larger k significantly outpe"):
        assert found[beginning] is False
    assert found["On Kosarak PB is accurate even when k = "] is False
    assert found["TF on Mushroom, k = 100: FNR over 0.6 ev"] is False


def test_significance_is_not_judged_on_few_runs() -> None:
    """Two runs cannot give a p-value below 0.05, so that the statement is not checked rather than refuted."""
    found = verdicts(made_up({"PB": 0.01, "TF m=1": 0.9, "TF m=2": 0.8, "TF m=3": 0.85}, repeats=2))
    assert found["PB consistently and significantly out-pe"] is None


def test_the_best_m_is_the_one_with_the_least_fnr() -> None:
    """As the paper chooses it, over all ε."""
    assert made_up({"PB": 0, "TF m=1": 0.9, "TF m=2": 0.4, "TF m=3": 0.5}).best_length("retail", 50) == 2


def test_statements_of_datasets_that_were_not_run_are_not_checked() -> None:
    """They are listed all the same."""
    found = made_up({"PB": 0, "TF m=1": 0.9, "TF m=2": 0.4, "TF m=3": 0.5})
    part = Evidence(plan.PANELS[:1], found.epsilons, found.rows, found.facts)
    statements = check_all(part)
    assert len(statements) == len(check_all(found))
    assert {statement.verdict for statement in statements if "AOL" in statement.quote} == {"not checked"}


def test_a_table_escapes_what_would_break_it() -> None:
    """A bar in a cell does not start another."""
    assert table(("a",), [("|I|",)]) == "| a |\n| --- |\n| \\|I\\| |"


def test_the_whole_reproduction_in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has both tables, every statement and every figure; a second start runs nothing and needs no data."""
    pytest.importorskip("privmine_tf")
    pytest.importorskip("matplotlib")
    panels = (SMALL[0], SMALL[-1])  # Drawing is what takes time.
    arguments = (panels, 2, tmp_path / "docs", tmp_path / "results.csv")
    done = reproduce(
        *arguments,
        small_data,
        lambda name: "a synthetic stand-in" if name == "aol-like" else None,
        epsilons=("0.5", "2"),
    )
    page = done.page.read_text(encoding="utf-8")
    assert done.failures == []
    assert "Table 2(a)" in page
    assert "Table 2(b)" in page
    assert "a synthetic stand-in" in page
    for panel in panels:
        assert f"Figure {panel.number}: {panel.title}" in page
        assert (tmp_path / "docs" / "figures" / f"paper-figure-{panel.number}-{panel.data}.png").stat().st_size > 1000
    for statement in done.statements:
        assert statement.quote.replace("|", "\\|") in page

    def refuse(*_: object) -> Any:
        raise AssertionError

    monkeypatch.setattr(CellRunner, "run", refuse)
    again = reproduce(*arguments, refuse, refuse, epsilons=("0.5", "2"))
    assert [statement.evidence for statement in again.statements] == [
        statement.evidence for statement in done.statements
    ]


def test_facts_of_another_version_are_found_again(tmp_path: Path) -> None:
    """A file of facts that cannot be read is as good as none."""
    path = tmp_path / "facts.json"
    assert load_facts(path) == {}
    path.write_text(json.dumps({"retail": {"unknown": 1}}))
    assert load_facts(path) == {}


def test_the_command_prints_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`privmine experiment paper` on generated data: says that it uses exact data, and where the page is."""
    pytest.importorskip("privmine_tf")
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(plan, "PANELS", SMALL)
    monkeypatch.setattr(command, "data_opener", lambda *_: small_data)
    monkeypatch.setattr(command, "describe", at_hand)
    output = invoke(
        "--only",
        "mushroom",
        "--quick",
        "--workers",
        "1",
        "--output",
        f"{tmp_path / 'docs'}",
        "--results",
        f"{tmp_path / 'r.csv'}",
    )
    assert "NOT PRIVATE" in output
    assert "not checked" in output
    assert "results.md" in output
    assert (tmp_path / "docs" / "results.md").exists()


def at_hand(name: str, data_dir: object) -> DatasetInfo:
    """What the catalogue says, but at hand."""
    return evolve(describe(name), status="at hand", proxy=None)


def test_a_missing_dataset_is_noticed_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it."""
    monkeypatch.setattr(
        command,
        "describe",
        lambda name, data_dir: evolve(at_hand(name, None), status="missing"),
    )
    with pytest.raises(DataError, match="mushroom is not at hand"):
        invoke()


def test_quick_and_aol_exclude_each_other() -> None:
    """The quick form leaves AOL out, so that it cannot be asked for."""
    with pytest.raises(InputError, match="leaves out AOL"):
        invoke("--quick", "--only", "aol-like")


def invoke(*arguments: str) -> str:
    """Run the command; what it raises is raised here."""
    return CliRunner().invoke(command.paper, arguments, catch_exceptions=False, standalone_mode=False).output


def test_the_command_is_found_below_experiment() -> None:
    """`privmine experiment paper` is the command of this distribution."""
    shown = CliRunner().invoke(cli, ["experiment", "paper", "--help"], prog_name="privmine").output
    assert "Usage: privmine experiment paper" in shown
    assert "not private" in " ".join(shown.replace("│", " ").split())


def test_only_the_public_surface_is_used() -> None:
    """What privmine may change without notice is not imported."""
    allowed = {
        "privmine.api",
        "privmine.cli.research",
        "privmine.cli.screen",
        "privmine.datasets",
        "privmine.evaluation",
    }
    imported = {
        node.module
        for path in Path(command.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "privmine"
    }
    assert imported <= allowed
