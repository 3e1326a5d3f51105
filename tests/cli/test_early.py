"""A cheap mistake is told before the data is read."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import privmine as pm

#: By its name, since the package has a function of the same name.
READER = import_module("privmine.io.readers.dispatch")
#: Enough rows that a look at the first ones does not come to the last.
ROWS = 40_000
COLUMNS = ("--transaction", "order_id", "--item", "product")
EPSILON = ("--epsilon", "1")
#: Bytes that are text in no encoding that is tried: whoever comes to them has read all rows.
POISON = b"1,1,\xff\n"
#: What they are told.
POISONED = "orders.csv: it is not UTF-8 text"


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Path:
    """A folder with a poisoned table, ledgers and catalogues."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{row // 3},{row // 9},p{row % 7}\n" for row in range(ROWS))
    Path("orders.csv").write_bytes(f"order_id,customer_id,product\n{rows}".encode() + POISON)
    ledger = pm.Ledger("budget.db")
    ledger.init("orders", 3)
    ledger.init("spent", "0.5")
    ledger.init("customers", 3, unit="customer_id")
    Path("damaged.db").write_bytes(Path("budget.db").read_bytes()[:4000])
    Path("earlier.csv").write_text("an earlier release")
    catalogues = {
        "good.txt": "p1\np2\n",
        "quoted.txt": '"p1"\n"p2"\n',
        "blank.txt": "p1\np2 \n",
        "header.txt": "product\np1\n",
        "table.txt": "p1,2\np2,3\n",
        "twice.txt": "p1\np1\n",
        "empty.txt": "",
    }
    for name, content in catalogues.items():
        Path(name).write_text(content)
    Path("wide.txt").write_bytes("p1\np2\n".encode("utf-16"))
    return tmp_path


def named(value: object) -> str | None:
    return " ".join(value) or "nothing" if isinstance(value, list) else ""


def account(dataset: str, ledger: str = "budget.db") -> list[str]:
    return [*EPSILON, "--ledger", ledger, "--dataset", dataset]


#: A ledger or an account that is not there.
NO_ACCOUNT = [
    (account("orders", "nowhere.db"), "budget init"),
    (account("orders", "damaged.db"), "damaged.db"),
    (account("order"), "'orders'"),
]
#: What the options alone tell, or a small file that they name.
KNOWN_FROM_OPTIONS = [
    ([], "Specify the privacy budget: --epsilon"),
    (["--epsilon", "0"], "greater than 0"),
    (["--epsilon", "-1"], "greater than 0"),
    (["--epsilon", "lots"], "ε must be a number"),
    (["--epsilon", "nan"], "ε must be a number"),
    (["--epsilon", "inf"], "ε must be a number"),
    (["--epsilon", "100000"], "between 1e-06 and 10000"),
    (["--epsilon", "1e-9"], "between 1e-06 and 10000"),
    ([*EPSILON, "--k", "0"], "k, the number of itemsets, must be at least 1"),
    ([*EPSILON, "--k", "10001"], "k must be at most 10,000"),
    ([*EPSILON, "--max-length", "0"], "--max-length.*at least 1"),
    ([*EPSILON, "--seed", "1"], "--simulate"),
    ([*EPSILON, "--simulate", "--seed", "-1"], "at least 0"),
    ([*EPSILON, "--strict"], "--items"),
    ([*EPSILON, "--dataset", "orders"], "--ledger"),
    ([*EPSILON, "--ledger", "budget.db"], "Pass --dataset as well"),
    *NO_ACCOUNT,
    (account("spent"), "exceeds the budget of 'spent'"),
    (account("customers"), "counted for one customer_id, but this run protects one transaction"),
    ([*account("orders"), "--unit", "customer_id", "--max-baskets", "2"], "counted for one transaction"),
    ([*account("orders"), "--simulate"], "simulated run protects nobody"),
    ([*account("orders"), "--n-public"], "--n-public"),
    ([*EPSILON, "--n-public", "--unit", "customer_id", "--max-baskets", "2"], "does not cover publishing it"),
    ([*EPSILON, "--output", "top.doc"], "format"),
    ([*EPSILON, "--output", "nowhere/top.csv"], "no directory nowhere"),
    ([*EPSILON, "--output", "earlier.csv"], "--force"),
    ([*EPSILON, "--output", "orders.csv", "--force"], "orders.csv is the file that is read"),
    ([*EPSILON, "--method", "privbassi"], "'privbasis'"),
    ([*EPSILON, "--set", "construct_basis=greedy"], "'greedy-merge'"),
    ([*EPSILON, "--set", "construct_basis.max_len=3"], "'max_length'"),
    ([*EPSILON, "--set", "estimate_lambda.eta=abc"], "eta must be a number"),
    ([*EPSILON, "--pipeline", "nowhere.toml"], "nowhere.toml"),
    ([*EPSILON, "--trust", "nobody"], "no installed distribution named 'nobody'"),
    ([*EPSILON, "--items", "nowhere.txt"], "Cannot read the item file nowhere.txt"),
    ([*EPSILON, "--items", "quoted.txt"], "quotes"),
    ([*EPSILON, "--items", "blank.txt"], "blanks"),
    ([*EPSILON, "--items", "header.txt"], "name of a column"),
    ([*EPSILON, "--items", "table.txt"], "one label a line"),
    ([*EPSILON, "--items", "twice.txt"], "more than once"),
    ([*EPSILON, "--items", "empty.txt"], "no label"),
    ([*EPSILON, "--items", "wide.txt"], "Save it as UTF-8"),
    ([*EPSILON, "--names", "nowhere.txt"], "nowhere.txt"),
    ([*EPSILON, "--max-baskets", "2"], "--unit"),
    ([*EPSILON, "--unit", "customer_id"], "--max-baskets 5"),
    ([*EPSILON, "--unit", "customer_id", "--max-baskets", "0"], "at least 1"),
    ([*EPSILON, "--unit", "transaction", "--max-baskets", "2"], "cannot be called 'transaction'"),
    ([*EPSILON, "--unit", "customer_id", "--max-baskets", "2", "--merge-by", "customer_id"], "cannot be combined"),
    ([*EPSILON, "--layout", "wide"], "wide"),
    ([*EPSILON, "--separator", ";;"], "one character"),
    ([*EPSILON, "--encoding", "klingon"], "klingon"),
]

#: What the first lines of the file tell.
KNOWN_FROM_FIRST_LINES = [
    (["--transaction", "order", "--item", "product"], "Did you mean 'order_id'"),
    (["--transaction", "order_id", "--item", "produkt"], "Did you mean 'product'"),
    (["--unit", "customer", "--max-baskets", "2"], "Did you mean 'customer_id'"),
    (["--merge-by", "household"], "no column 'household'"),
    (["--transaction", "product", "--item", "product"], "at once"),
    (["--unit", "product", "--max-baskets", "2", "--item", "product"], "at once"),
    ([*COLUMNS, "--separator", ";"], "no column 'order_id'.*first line is a single cell.*--separator"),
    ([*COLUMNS, "--encoding", "utf-16"], "encoding utf-16"),
    ([*COLUMNS, "--layout", "list"], "holds no lists"),
    ([*COLUMNS, "--layout", "one-hot"], "Drop --item"),
    (["--layout", "one-hot"], "other values than numbers from 0.* in the column 'product'"),
    (["--layout", "one-hot", "--items", "good.txt"], "other values than numbers from 0.* in the column 'product'"),
    (["--layout", "fimi"], "line 1: not FIMI text"),
    ([*COLUMNS, "--names", "good.txt"], "its own labels"),
    (["--database", "shop.db"], "--sql"),
    (["--sql", "select 1"], "takes no other source"),
]


def refused(result: tuple[int, str, str], words: str) -> None:
    """One sentence about the mistake, which is not the poison."""
    code, out, err = result
    assert (code, out) == (2, ""), err
    assert re.search(words, err), err
    assert POISONED not in err


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize(("options", "words"), KNOWN_FROM_OPTIONS, ids=named)
def test_what_options_tell_is_told_before_the_file_is_opened(
    shop, monkeypatch, privmine, options, words, dry_run
) -> None:
    """Nothing is read, nor charged."""

    def never(*_, **__):
        pytest.fail("the data was read")

    monkeypatch.setattr(READER, "_read", never)
    refused(privmine("mine", "orders.csv", *options, *dry_run), words)
    assert all(not budget.spent_epsilon for budget in pm.Ledger("budget.db").show())


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize(("options", "words"), KNOWN_FROM_FIRST_LINES, ids=named)
def test_what_the_first_lines_tell_is_told_before_the_rows_are_read(shop, privmine, options, words, dry_run) -> None:
    """A wrong column, separator or layout."""
    refused(privmine("mine", "orders.csv", *EPSILON, *options, *dry_run), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [case for case in KNOWN_FROM_FIRST_LINES if not {"--unit", "--merge-by", "--sql"} & set(case[0])],
    ids=named,
)
def test_convert_tells_as_early(shop, privmine, options, words) -> None:
    """Of the same first lines; it has no units, and takes a query instead of a file."""
    refused(privmine("convert", "orders.csv", "copy.parquet", *options), words)
    assert not Path("copy.parquet").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--transaction", "order_id", "--item", "produkt"], "'produkt'. Check the name of the column"),
        (["--transaction", "order", "--item", "product"], "'order'. Check the name of the column"),
        ([*COLUMNS, "--unit", "customer", "--max-baskets", "2"], "'customer'. Every row must say whose it is"),
        (["--layout", "one-hot"], "other values than numbers from 0"),
        ([*COLUMNS, "--layout", "list"], "'product' holds something else than a list in some row"),
        (["--layout", "fimi"], "is for text files"),
        ([*COLUMNS, "--separator", ";"], "Drop it"),
    ],
    ids=named,
)
def test_what_the_first_rows_of_json_tell_is_told_before_the_others_are_read(shop, privmine, options, words) -> None:
    """A column that no row has, which in JSON is a column of missing values, and values that are no flags."""
    row = '{"order_id": 1, "customer_id": 2, "product": "p1"}\n'
    Path("orders.jsonl").write_bytes(row.encode() * 3000 + b"\xff\n")
    refused(privmine("mine", "orders.jsonl", *EPSILON, *options), words)
    assert "not UTF-8" in privmine("mine", "orders.jsonl", *EPSILON, *COLUMNS)[2]


@pytest.mark.parametrize("command", [["mine", "orders.csv", *EPSILON], ["convert", "orders.csv", "copy.parquet"]])
def test_whoever_reads_all_rows_meets_the_poison(shop, privmine, command) -> None:
    """So the tests above can fail."""
    code, _, err = privmine(*command, *COLUMNS)
    assert code == 2
    assert POISONED in err
    assert not Path("copy.parquet").exists()


def test_a_guess_that_strict_refuses_is_refused_before_the_rows_are_read(shop, privmine) -> None:
    """The layout is known from the first lines; once it is named, the rows are read."""
    strict = ("mine", "orders.csv", *EPSILON, "--items", "good.txt", "--strict")
    refused(privmine(*strict), "Strict mode.*what was detected: --transaction order_id --item product")
    assert POISONED in privmine(*strict, *COLUMNS)[2]


def test_a_guess_is_told_before_the_rows_are_read(shop, privmine) -> None:
    """Whoever sees a wrong guess need not wait for the end."""
    _, _, err = privmine("mine", "orders.csv", *EPSILON)
    guess, poison = err.splitlines()
    assert "--transaction order_id --item product" in guess
    assert POISONED in poison


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["copy.xyz"], "copy.xyz"),
        (["nowhere/copy.parquet"], "nowhere"),
        (["earlier.csv"], "--force"),
        (["orders.csv", "--force"], "orders.csv is the file that is read"),
        (["copy.parquet", "--items", "quoted.txt"], "quotes"),
        (["copy.parquet", "--items", "twice.txt"], "more than once"),
        (["copy.parquet", "--unit", "customer_id"], "convert does not know units"),
        (["copy.parquet", "--encoding", "klingon"], "klingon"),
    ],
)
def test_convert_opens_no_file_for_a_wrong_wish(shop, monkeypatch, privmine, options, words) -> None:
    """The copy's place and the options come first."""

    def never(*_, **__):
        pytest.fail("the data was read")

    monkeypatch.setattr(READER, "_read", never)
    refused(privmine("convert", "orders.csv", *options), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "0"], "greater than 0"),
        ([*EPSILON, "--k", "0"], "at least 1"),
        ([*EPSILON, "--method", "privbassi"], "'privbasis'"),
        ([*EPSILON, "--plot", "plan.doc"], "plan.doc"),
        *NO_ACCOUNT,
        (account("customers"), "counted for one customer_id"),
    ],
    ids=named,
)
def test_a_plan_is_not_begun_for_a_wrong_wish(shop, monkeypatch, privmine, options, words) -> None:
    """No stage is rehearsed."""

    def never(*_, **__):
        pytest.fail("a stage was rehearsed")

    monkeypatch.setattr("privmine.pipeline.run.Run.stage", never)
    refused(privmine("plan", *options), words)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"epsilon": "0"}, "epsilon must lie between"),
        ({"k": "0"}, "k must be at least 1"),
        ({"k": "20000"}, "k must be at most 10,000"),
        ({"repeats": "0"}, "repeats"),
        ({"method": '"privbassi"'}, "'privbasis'"),
    ],
)
def test_an_experiment_opens_no_file_for_a_wrong_wish(shop, monkeypatch, privmine, changed, words) -> None:
    """The whole experiment file is checked first, and where results go."""

    def never(*_, **__):
        pytest.fail("the data was read")

    monkeypatch.setattr("privmine.evaluation.data_sources.read", never)
    values = {"epsilon": "1", "k": "5", "repeats": "1", "method": '"privbasis"', **changed}
    Path("spec.toml").write_text(
        f'data = ["./orders.csv"]\nk = {values["k"]}\nepsilon = {values["epsilon"]}\nrepeats = {values["repeats"]}\n'
        f"[pipelines.a]\nmethod = {values['method']}\n"
    )
    refused(privmine("experiment", "spec.toml", "--workers", "1"), words)
