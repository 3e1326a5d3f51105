from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from experiment_files import experiment_file

from privmine.cli.experiment_command import experiment
from privmine.errors import DataError, InputError, UnknownNameError

SPEC = experiment_file('"baskets.dat"', 4, [0.5, 2], 2)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """An experiment on a small file beside it."""
    rows = [" ".join(str(item) for item in range(8) if number % (item + 1) == 0) for number in range(200)]
    (tmp_path / "baskets.dat").write_text("\n".join(rows) + "\n")
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


def invoke(*arguments: object) -> Result:
    """Run the command; what it raises is raised here."""
    texts = [str(argument) for argument in arguments]
    return CliRunner().invoke(experiment, texts, catch_exceptions=False, standalone_mode=False)


def test_a_spec_is_run_and_summarised(spec: Path) -> None:
    """A table with error bars, a paired comparison, the results beside the spec, and a word on exact data."""
    output = invoke(spec, "--workers", 1, "--against", "paper").output
    assert "NOT PRIVATE" in output
    assert "false negative rate" in output
    assert "±" in output
    assert "Against paper" in output
    assert len(spec.with_suffix(".csv").read_text().splitlines()) == 1 + 2 * 2 * 3


def test_options_may_come_first(spec: Path) -> None:
    """`experiment --repeats 1 SPEC` is understood as well as `experiment SPEC --repeats 1`."""
    invoke("--repeats", 1, "--workers", 1, spec)
    assert len(spec.with_suffix(".csv").read_text().splitlines()) == 1 + 2 * 2


def test_json_is_for_programs(spec: Path, tmp_path: Path) -> None:
    """Means with intervals, comparisons, and that it is not private."""
    result = invoke(spec, "--workers", 1, "--json", "--against", "paper", "--metric", "fnr", "--metric", "re_strict")
    data = json.loads(result.stdout)
    assert data["private"] is False
    assert len(data["summary"]) == 4
    assert set(data["summary"][0]["fnr"]) == {"mean", "low", "high", "n"}
    assert {found["pipeline"] for found in data["comparisons"]} == {"short"}


def test_a_cell_is_run_alone(spec: Path) -> None:
    """It equals the run of the sweep, and nothing is written."""
    alone = json.loads(invoke(spec, "--cell", "baskets.dat", "short", 4, "0.50", 2, "--json").stdout)
    assert not spec.with_suffix(".csv").exists()
    invoke(spec, "--workers", 1)
    written = spec.with_suffix(".csv").read_bytes()
    assert f",{alone['seed']},".encode() in written
    assert "is the same" in " ".join(invoke(spec, "--cell", "baskets.dat", "short", 4, 0.5, 2).output.split())
    assert spec.with_suffix(".csv").read_bytes() == written


def test_figures_are_drawn(spec: Path, tmp_path: Path) -> None:
    """FNR, RE and the Pareto view become files."""
    invoke(spec, "--workers", 1, "--figures", tmp_path / "figures")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["fnr.png", "pareto.png", "re.png"]


def test_figures_are_drawn_in_several_formats(spec: Path, tmp_path: Path) -> None:
    """Those that are asked for, each figure in each."""
    asked = ("--workers", 1, "--figures", tmp_path, "--figure-format")
    invoke(spec, *asked, "svg", "--figure-format", "pdf")
    assert {path.suffix for path in tmp_path.glob("fnr.*")} == {".svg", ".pdf"}
    assert (tmp_path / "pareto.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in (tmp_path / "re.svg").read_bytes()
    assert not list(tmp_path.glob("*.png"))


def test_an_unknown_name_shows_before_anything_runs(spec: Path) -> None:
    """A pipeline to compare with, and a cell, must be of the experiment."""
    with pytest.raises(UnknownNameError, match="'papers'"):
        invoke(spec, "--against", "papers")
    with pytest.raises(UnknownNameError, match="'none'"):
        invoke(spec, "--cell", "baskets.dat", "none", 4, 1, 0)
    assert not spec.with_suffix(".csv").exists()


def test_an_unusable_output_is_refused(spec: Path, tmp_path: Path) -> None:
    """Before anything runs."""
    with pytest.raises(InputError, match="cannot be written"):
        invoke(spec, "--output", tmp_path / "none" / "results.csv")


def test_the_help_says_that_it_is_not_private() -> None:
    """For the group and for its command."""
    for arguments in (["--help"], ["run", "--help"]):
        assert "not private" in " ".join(CliRunner().invoke(experiment, arguments).output.replace("│", " ").split())


def test_a_table_beside_the_spec_is_read_and_its_guess_told(spec: Path) -> None:
    """Files of every kind that can be read are data, and how one was read is said."""
    rows = [f"{order},{item}\n" for order in range(50) for item in ("bread", "milk")[: 1 + order % 2]]
    (spec.parent / "orders.csv").write_text("order_id,product\n" + "".join(rows))
    spec.write_text(SPEC.replace("baskets.dat", "orders.csv"))
    result = invoke(spec, "--workers", 1, "--repeats", 1)
    assert "which was detected: --transaction order_id --item product" in result.stderr
    assert len(spec.with_suffix(".csv").read_text().splitlines()) == 1 + 2 * 2


def test_results_do_not_replace_the_data(spec: Path) -> None:
    """Data that is named like the results is left alone."""
    data = spec.with_suffix(".csv")
    data.write_text("order_id,product\n1,bread\n")
    spec.write_text(SPEC.replace("baskets.dat", data.name))
    with pytest.raises(DataError, match=r"cannot continue .*spec\.csv"):
        invoke(spec, "--workers", 1)
    assert data.read_text() == "order_id,product\n1,bread\n"
