from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from slow_cases import slow_after

import privmine as pm
from privmine.cli.commands import cli

FIMI = "1 2 3\n1 2\n\n2 3 3\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text(FIMI)
    return path


def test_without_data_the_embedded_baskets_are_mined() -> None:
    """The first command anybody runs prints itemsets, noisy supports and the receipt."""
    done = subprocess.run([sys.executable, "-m", "privmine", "mine"], capture_output=True, text=True, check=True)
    assert "private frequent itemsets of about" in done.stdout
    assert "whole milk" in done.stdout
    assert "Total: ε = 1 in" in done.stdout
    assert done.stderr == ""


def test_charges_on_80_columns_break_no_words(monkeypatch) -> None:
    """Stages and mechanisms can be read, and no bracket stands alone."""
    monkeypatch.setattr("privmine.cli.screen.PIPE_WIDTH", 80)
    words = CliRunner().invoke(cli, ["mine", "-k", "50", "-e", "0.5", "--simulate", "--seed", "1"]).output.split()
    assert {"reconstruct_counts", "(basis-frequencies)", "(items-and-pairs)", "exponential", "mechanism,"} <= {*words}


def test_a_simulation_says_so() -> None:
    """On the screen as in the files."""
    result = CliRunner().invoke(cli, ["mine", "--simulate", "--seed", "1"])
    assert "SIMULATED, NOT PRIVATE" in result.output
    assert "NOT PRIVATE: simulated noise" in result.output


def test_json_on_stdout_is_the_release(data) -> None:
    """--json prints what `save` would write, and nothing else."""
    arguments = ["mine", str(data), "--epsilon", "1", "--k", "2", "--simulate", "--seed", "1", "--json"]
    result = CliRunner().invoke(cli, arguments)
    found = json.loads(result.stdout)
    assert found["format"] == "privmine release"
    assert len(found["itemsets"]) == 2


def test_output_is_saved_and_reads_back(data, tmp_path, privmine) -> None:
    """--output writes the release with its receipt."""
    target = tmp_path / "top.csv"
    code, out, _ = privmine("mine", str(data), "--epsilon", "0.5", "--k", "3", "--output", str(target))
    assert code == 0
    release = pm.load(target)
    assert release.receipt.cost == pm.Receipt.from_dict(release.receipt.to_dict()).spent
    assert f"Saved: {target}" in out


def test_an_earlier_release_is_not_replaced_unawares(data, tmp_path, privmine) -> None:
    """It was paid for; refused before anything is charged, and replaced with --force."""
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 3)
    target = tmp_path / "top.csv"
    command = ["mine", str(data), "--epsilon", "1", "--ledger", str(ledger), "--dataset", "orders"]
    command += ["--output", str(target)]
    assert privmine(*command)[0] == 0
    first = target.read_bytes()
    for again in (command, [*command, "--dry-run"]):
        code, out, err = privmine(*again)
        assert (code, out) == (2, "")
        assert "exists" in err
        assert "--force" in err
    assert target.read_bytes() == first
    assert pm.Ledger(ledger).budget("orders").spent_epsilon == 1
    assert privmine(*command, "--force")[0] == 0
    assert pm.load(target).receipt.entry == 4


def test_gzip_items_and_strict(tmp_path) -> None:
    """A gzip file with a named universe passes --strict and assumes nothing."""
    path = tmp_path / "baskets.dat.gz"
    path.write_bytes(gzip.compress(FIMI.encode()))
    items = tmp_path / "items.txt"
    items.write_text("3\n2\n1\n7\n")
    arguments = ["mine", str(path), "--epsilon", "2", "--items", str(items), "--strict", "--json", "--simulate"]
    result = CliRunner().invoke(cli, arguments)
    receipt = json.loads(result.stdout)["receipt"]
    assert not any("universe" in sentence for sentence in receipt["assumptions"])


def test_components_and_parameters_from_the_command_line(data) -> None:
    """--set chooses components and parameters, and the receipt shows them."""
    arguments = ["mine", str(data), "--epsilon", "1", "--simulate", "--json"]
    for setting in ("construct_basis=greedy-merge", "construct_basis.max_length=5", "estimate_lambda.eta=1.3"):
        arguments += ["--set", setting]
    receipt = json.loads(CliRunner().invoke(cli, arguments).stdout)["receipt"]
    assert receipt["pipeline"]["construct_basis"] == "greedy-merge(max_length=5) from privmine"
    assert receipt["pipeline"]["estimate_lambda"] == "rank-gap(eta=13/10) from privmine"


def test_a_pipeline_file_on_the_command_line(data, tmp_path) -> None:
    """--pipeline reads it, --set goes on top."""
    path = tmp_path / "mine.toml"
    path.write_text('[stages.construct_basis]\nuse = "greedy-merge"\nmax_length = 7\n')
    arguments = ["mine", str(data), "--epsilon", "1", "--simulate", "--json", "--pipeline", str(path)]
    receipt = json.loads(CliRunner().invoke(cli, arguments).stdout)["receipt"]
    assert "max_length=7" in receipt["pipeline"]["construct_basis"]


def test_a_dry_run_draws_and_charges_nothing(data, tmp_path) -> None:
    """It shows the split, and a ledger stays as it was."""
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 2)
    arguments = ["mine", str(data), "--epsilon", "0.5", "--dry-run", "--ledger", str(ledger), "--dataset", "orders"]
    result = CliRunner().invoke(cli, arguments)
    assert "nothing was drawn or charged" in result.output
    assert "ε = 1.5 would remain" in result.output
    assert pm.Ledger(ledger).budget("orders").spent_epsilon == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.dat", "--epsilon", "1"], "missing.dat"),
        (["bad.dat", "--epsilon", "1"], "bad.dat, line 3|bad.dat.*line 3"),
        (["negative.dat", "--epsilon", "1"], "line 1"),
        (["binary.dat", "--epsilon", "1"], "binary.dat"),
        (["good.dat"], "--epsilon"),
        (["good.dat", "--epsilon", "0"], "greater than 0"),
        (["good.dat", "--epsilon", "nan"], "number"),
        (["good.dat", "--epsilon", "inf"], "number"),
        (["good.dat", "--epsilon", "1", "--k", "0"], "at least 1"),
        (["good.dat", "--epsilon", "1", "--k", "2.5"], "k"),
        (["good.dat", "--epsilon", "1", "--method", "privbassi"], "'privbasis'"),
        (["good.dat", "--epsilon", "1", "--set", "construct_basis=greedy"], "'greedy-merge'"),
        (["good.dat", "--epsilon", "1", "--set", "construct_basis.max_len=3"], "'max_length'"),
        (["good.dat", "--epsilon", "1", "--set", "allocate_budget.alpha3=0.6"], "exceeds 1"),
        (["good.dat", "--epsilon", "1", "--seed", "1"], "--simulate"),
        (["good.dat", "--epsilon", "1", "--items", "twice.txt"], "more than once"),
        (["good.dat", "--epsilon", "1", "--items", "words.txt"], "whole numbers"),
        (["good.dat", "--epsilon", "1", "--strict"], "--items"),
        (["good.dat", "--epsilon", "1", "--dataset", "x"], "--ledger"),
        (["good.dat", "--epsilon", "1", "--ledger", "new.db"], "--dataset"),
        (["good.dat", "--epsilon", "1", "--ledger", "new.db", "--dataset", "x"], "budget init"),
        (["good.dat", "--epsilon", "1", "--output", "top.doc"], "format"),
        (["good.dat", "--epsilon", "1", "--pipeline", "none.toml"], "none.toml"),
        (["--items", "twice.txt"], "--items.*Add a file"),
        (["--max-baskets", "3"], "--max-baskets.*Add a file"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path, monkeypatch, privmine, arguments, words) -> None:
    """On stderr, without a traceback and without the content of the file."""
    files = {
        "good.dat": FIMI,
        "bad.dat": "1 2\n3\n4 secret 5\n",
        "negative.dat": "1 -7654\n",
        "twice.txt": "1\n2\n1\n",
        "words.txt": "milk\nbread\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "binary.dat").write_bytes(bytes(range(256)))
    monkeypatch.chdir(tmp_path)
    code, out, err = privmine("mine", *arguments)
    assert code == 2, err
    assert out == ""
    assert "secret" not in err
    assert "7654" not in err
    assert re.search(words, err), err
    assert not (tmp_path / "new.db").exists()


def test_an_unforeseen_error_keeps_its_details_to_itself(monkeypatch, capsys) -> None:
    """Its message may quote data, so only its kind is shown."""
    from privmine.cli import commands, main

    def explode(*_, **__):
        raise RuntimeError("basket 42 had beer")

    monkeypatch.delenv("PRIVMINE_DEBUG", raising=False)
    monkeypatch.setattr(commands.cli, "main", explode)
    with pytest.raises(SystemExit) as caught:
        main()
    shown = capsys.readouterr().err
    assert caught.value.code == 1
    assert "RuntimeError" in shown
    assert "beer" not in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seed", "1"], "--simulate"),
        (["--strict"], "--items"),
        (["--dataset", "x"], "--ledger"),
        (["--ledger", "budget.db"], "--dataset"),
        (["--ledger", "budget.db", "--dataset", "x", "--simulate"], "simulate"),
        (["--ledger", "budget.db", "--dataset", "x", "--n-public"], "--n-public"),
        (["--items", "long.txt"], "whole numbers|universe|not"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would_refuse(data, monkeypatch, privmine, arguments, words) -> None:
    """It checks everything that can be known before a charge."""
    monkeypatch.chdir(data.parent)
    (data.parent / "long.txt").write_text(f"{'9' * 23}\nmilk\n")
    code, _, err = privmine("mine", str(data), "--epsilon", "1", "--dry-run", *arguments)
    assert code == 2
    assert re.search(words, err), err


def test_a_release_that_cannot_be_saved_is_rescued(data, tmp_path, monkeypatch, privmine) -> None:
    """It is paid for, so it goes to another file, and the message names that one."""
    from privmine.release import release_files as files

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(files.Path, "replace", full_disk)
    code, _, err = privmine("mine", str(data), "--epsilon", "1", "--output", str(tmp_path / "top.csv"))
    assert code == 1
    assert "No space left on device" in err
    rescued = Path(re.search(r"It is in (\S+\.json) instead", err).group(1))
    assert pm.load(rescued).receipt.spent.amount == 1


def test_a_pipe_without_greek_letters_still_shows_the_release() -> None:
    """An ASCII pipe gets escapes, not a crash after the charge."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "privmine", "mine"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "whole milk" in done.stdout


def test_an_interrupt_says_what_was_charged(monkeypatch, tmp_path, privmine) -> None:
    """Ctrl-C after the charge: the sum that is gone, and the ledger knows that the run failed."""
    from privmine.noise.secure import SecureNoise

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 2)
    monkeypatch.setattr(SecureNoise, "laplace", interrupt)
    code, _, err = privmine("mine", "--ledger", str(ledger), "--dataset", "orders")
    assert code == 130
    assert "ε = 1 was charged and stays charged" in err
    states = [entry.state for entry in pm.Ledger(ledger).log() if entry.event == "charge"]
    assert len(states) == 1
    assert "failed" in states[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--k", "99999999999999999999", "--dry-run"], "at most 10,000"),
        (["--simulate", "--seed", "-1"], "at least 0"),
        (["--set", "construct_basis.max_length=5.5"], "max_length must be a whole number, not '5.5'"),
        (["--set", "construct_basis.max_length=abc"], "max_length must be a whole number, not 'abc'"),
        (["--set", "estimate_lambda.eta=abc"], "eta must be a number such as 0.5 or 1/3, not 'abc'"),
        (["--trust", "none"], "no installed distribution named 'none'.*Known: privmine,.*Those have components"),
        (["https://user:secret@host/orders.csv", "--epsilon", "1"], r"^privmine: This is an address, .*download"),
        (["--sql", "select 1", "--database", "mysql://x", "--epsilon", "1"], "only PostgreSQL is known"),
        (["--pipeline", "use.toml"], "by its name"),
        (["--pipeline", "top.toml"], r"\[stages.construct_basis\]"),
        (["--set", "select_elements.single_basis=-3"], "negative"),
        (["--epsilon", ""], "number"),
    ],
)
def test_more_bad_input(tmp_path, monkeypatch, privmine, arguments, words) -> None:
    """Each has its sentence and exit code 2."""
    (tmp_path / "use.toml").write_text("[stages.construct_basis]\nuse = 4\n")
    (tmp_path / "top.toml").write_text("[construct_basis]\nmax_length = 4\n")
    monkeypatch.chdir(tmp_path)
    code, out, err = privmine("mine", *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert re.search(words, err), err


def test_a_full_disk_behind_the_pipe_does_not_lose_the_release(tmp_path) -> None:
    """What cannot be shown is kept in a file, and the message names it."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "privmine", "mine"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
    assert done.returncode == 1
    (kept,) = tmp_path.glob("privmine-release-*.json")
    assert f"It is in {kept}" in done.stderr
    assert pm.load(kept).receipt.spent.amount == 1


def test_a_release_with_nowhere_to_go_is_printed_on_stderr(tmp_path) -> None:
    """A full disk, and no folder for temporary files: what is paid for is not lost, and the charge is told."""
    program = """
import tempfile
from privmine.cli import main
tempfile.mkstemp = lambda **_: open("/dev/full/nowhere")
main()
"""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, "mine", "--k", "5"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    printed, _, sentence = done.stderr.rpartition("privmine: ")
    assert sentence.startswith("The release is made and charged, but it could not be shown completely. It is above")
    (tmp_path / "kept.json").write_text(printed)
    assert pm.load(tmp_path / "kept.json").receipt.spent.amount == 1


@pytest.mark.parametrize(
    "command", slow_after(2, ["--help", "plugins", "plugins --json", "plan --epsilon 1 --k 5", "mine --dry-run"])
)
def test_a_full_disk_behind_the_pipe_is_no_internal_error(command) -> None:
    """One sentence, and exit code 2: an audit has 1 for a violation."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "privmine", *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert re.fullmatch(r"privmine: The result cannot be written: No space left on device. .*\n", done.stderr)


def test_an_interrupt_while_loading_is_no_traceback() -> None:
    """What takes long to load is loaded where an interrupt is met, also all that comes with the package."""
    program = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "attrs":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from privmine.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "privmine: Interrupted.\n")


@pytest.mark.parametrize("options", slow_after(1, [[], ["--json"]]))
def test_a_pipe_that_nobody_reads_does_not_lose_the_release(tmp_path, options) -> None:
    """It is charged, so that it is kept in a file, and the message names it."""
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 2)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "privmine", "mine", "--ledger", ledger, "--dataset", "orders", *options],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    os.close(writing)
    assert done.returncode == 1
    (kept,) = tmp_path.glob("privmine-release-*.json")
    made = "The release is made and charged, but it could not be shown completely."
    assert done.stderr == f"privmine: {made} It is in {kept}.\n"
    assert pm.load(kept).receipt.spent.amount == 1


def test_other_commands_end_quietly_when_nobody_reads() -> None:
    """There is nothing to rescue, and nothing to complain of."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "privmine", "plan", "--epsilon", "1", "--k", "5"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_closed_output_is_refused_before_the_charge(tmp_path, monkeypatch) -> None:
    """Where the release could go nowhere, nothing is spent."""
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", 2)
    command = f"{sys.executable} -m privmine mine --ledger {ledger} --dataset orders >&-"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "--output" in done.stderr
    assert pm.Ledger(ledger).budget("orders").spent_epsilon == 0


def test_a_dry_run_says_how_many_itemsets_can_exist(data, privmine) -> None:
    """Three items make seven; a smaller k is all there is to say."""
    command = ["mine", str(data), "--epsilon", "1", "--dry-run"]
    assert "k = 9, of which at most 7 can exist, ε = 1" in privmine(*command, "--k", "9")[1]
    assert "k = 7, ε = 1" in privmine(*command, "--k", "7")[1]
    facts = json.loads(privmine(*command, "--k", "9", "--json")[1])
    assert (facts["requested"], facts["k"]) == (9, 7)


@pytest.mark.parametrize("options", [[], ["--dry-run"]])
def test_a_file_without_items_is_refused_before_the_charge(tmp_path, privmine, options) -> None:
    """A line of names alone, or a query that selects nothing."""
    path, ledger = tmp_path / "orders.csv", tmp_path / "budget.db"
    path.write_text("order_id,product\n")
    pm.Ledger(ledger).init("orders", 1)
    account = ["--ledger", str(ledger), "--dataset", "orders"]
    for source in ([str(path)], ["--sql", "select 1 as order_id, 'a' as product where false"]):
        named = ["--transaction", "order_id", "--item", "product"]
        code, out, err = privmine("mine", *source, *named, "--epsilon", "1", *account, *options)
        assert (code, out) == (2, "")
        assert "no items" in err
    assert pm.Ledger(ledger).budget("orders").spent_epsilon == 0


def test_a_dry_run_that_would_be_refused_says_so(tmp_path, privmine) -> None:
    """Exit code 2, as the run itself would have."""
    ledger = tmp_path / "budget.db"
    pm.Ledger(ledger).init("orders", "0.5")
    code, _, err = privmine("mine", "--ledger", str(ledger), "--dataset", "orders", "--dry-run")
    assert code == 2
    assert "ε = 0.5 is left" in err
