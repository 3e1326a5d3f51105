"""`privmine mine` on data of one's own: how it is read, what is guessed, and who is protected."""

from __future__ import annotations

import json
import re
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import pytest

import privmine as pm

ROWS = [(order, order // 3, product) for order in range(30) for product in ("bread", "milk", "cocoa")[: 1 + order % 3]]
RUN = ("--k", "4", "--epsilon", "1", "--simulate", "--seed", "1", "--json")


@pytest.fixture
def orders(tmp_path, monkeypatch):
    """A long CSV file with a customer column, and a folder to work in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "orders.csv"
    path.write_text("order_id,customer_id,product\n" + "".join(f"{o},{c},{p}\n" for o, c, p in ROWS))
    return path


@pytest.fixture
def mined(privmine):
    """The release of a simulated run, without what its receipt says of the way in, and what was said on stderr."""

    def run(*arguments: str) -> tuple[dict, str]:
        code, out, err = privmine("mine", *arguments, *RUN)
        assert code == 0, err
        release = json.loads(out)
        receipt = release["receipt"]
        said = ("detected", "query", "quotes around cells")
        receipt["assumptions"] = [line for line in receipt["assumptions"] if not any(words in line for words in said)]
        return release, err

    return run


def test_a_guess_is_told_with_the_options_that_say_the_same(orders, mined) -> None:
    """With these options the release is the same, and nothing is left to tell."""
    guessed, told = mined("orders.csv")
    assert told == (
        "privmine: orders.csv is read in the layout long, which was detected: --transaction order_id --item product\n"
    )
    said, silence = mined("orders.csv", "--transaction", "order_id", "--item", "product")
    assert said == guessed
    assert silence == ""


def test_a_guess_within_a_query_is_told_readably(orders, mined) -> None:
    """In double quotes, since there are single ones in it."""
    _, told = mined("--sql", "select order_id, product from read_csv('orders.csv', all_varchar=true)")
    assert told.endswith("""--sql "read_csv(…, auto_detect=false, columns={…}, delim=…, quote='', header=…)"\n""")


def test_a_file_beside_a_query_is_refused_with_what_to_type(orders, privmine) -> None:
    """The file belongs into the query."""
    code, _, err = privmine("mine", "orders.csv", "--sql", "select 1", *RUN)
    assert code == 2
    assert "Name the file in the query: select … from read_csv('orders.csv', all_varchar=true)." in err


@pytest.mark.parametrize("separator", ["\t", r"\t", "tab"])
def test_a_tab_can_be_typed(orders, mined, separator) -> None:
    """As a tab or as shells let people write it; a guess is told in the way that can be typed."""
    expected, _ = mined("orders.csv", "--transaction", "order_id", "--item", "product")
    (orders.parent / "tabs.txt").write_text(orders.read_text().replace(",", "\t"))
    found, _ = mined("tabs.txt", "--transaction", "order_id", "--item", "product", "--separator", separator)
    assert found == expected
    found, told = mined("tabs.txt", "--transaction", "order_id", "--item", "product")
    assert (found, told) == (expected, "")
    found, told = mined("tabs.txt")
    assert found == expected
    assert told.endswith(r"--separator '\t'" + "\n")


def test_patterns_queries_and_databases(orders, mined) -> None:
    """Files by a pattern, a query over files, and a query in a database give the same release."""
    expected, _ = mined("orders.csv")
    lines = orders.read_text().splitlines(keepends=True)
    for part, body in enumerate((lines[1:20], lines[20:])):
        (orders.parent / f"part{part}.csv").write_text("".join([lines[0], *body]))
    with closing(sqlite3.connect("shop.db")) as connection, connection:
        connection.execute("create table orders (order_id, customer_id, product)")
        connection.executemany("insert into orders values (?, ?, ?)", ROWS)
    for arguments in (
        ("part*.csv",),
        ("--sql", "select order_id, product from read_csv('part*.csv', all_varchar=true)"),
        ("--sql", "select order_id, product from orders", "--database", "shop.db"),
    ):
        assert mined(*arguments)[0] == expected


def test_encodings_missing_values_and_names(orders, mined) -> None:
    """Text of another encoding, rows without an item, and numbers with labels beside them."""
    text = "order_id,product\n1,café\n1,thé\n2,café\n3,\n"
    (orders.parent / "latin.csv").write_bytes(text.encode("latin-1"))
    release, _ = mined("latin.csv", "--encoding", "latin-1", "--drop-missing")
    assert {label for row in release["itemsets"] for label in row["items"]} == {"café", "thé"}
    (orders.parent / "numbers.dat").write_text("0 1\n0\n\n")
    (orders.parent / "names.txt").write_text("café\nthé\n")
    assert mined("numbers.dat", "--names", "names.txt")[0] == release


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "one transaction, not one customer:"),
        (
            ("--unit", "customer_id", "--max-baskets", "2"),
            "one customer_id, of whose transactions at most 2 are counted:",
        ),
        (("--merge-by", "customer_id"), "one customer_id, whose transactions were merged into one:"),
    ],
    ids=["transaction", "bounded", "merged"],
)
def test_the_receipt_and_the_dry_run_say_who_is_protected(orders, privmine, options, words) -> None:
    """The same words before and after."""
    columns = ("orders.csv", "--item", "product", *(() if "--merge-by" in options else ("--transaction", "order_id")))
    _, out, told = privmine("mine", *columns, *options, "--epsilon", "1", "--json")
    release = json.loads(out)
    assert release["receipt"]["protects"].startswith(words)
    assert told == ""
    _, out, _ = privmine("mine", *columns, *options, "--epsilon", "1", "--simulate", "--dry-run")
    assert f"Protects: nobody: the noise is simulated; a private run would protect {words[:-1]}\n" in out
    _, out, _ = privmine("mine", *columns, *options, "--epsilon", "1", "--dry-run")
    assert f"Protects: {words}" in out
    assert "Data: long layout of orders.csv\n" in out
    assert "Items: 3, taken from the data" in out
    _, out, _ = privmine("mine", *columns, *options, "--epsilon", "1", "--dry-run", "--json")
    facts = json.loads(out)
    assert facts["protects"] == release["receipt"]["protects"]
    assert facts["data"] == "long layout of orders.csv"


def test_a_bound_is_noise_and_fewer_baskets(orders, mined) -> None:
    """At most two of each customer's three orders, and twice the error."""
    alone, _ = mined("orders.csv", "--transaction", "order_id", "--item", "product")
    two, _ = mined(
        "orders.csv", "--transaction", "order_id", "--item", "product", "--unit", "customer_id", "--max-baskets", "2"
    )
    assert two["total_error"] == pytest.approx(2 * alone["total_error"])


def test_a_dry_run_tells_nothing_of_the_transactions(orders, privmine) -> None:
    """With the same items, a file with other transactions gives the same words."""
    shown = []
    for rows in (ROWS, ROWS[7:] + [(order, 99, "cocoa") for order in range(100, 150)]):
        orders.write_text("order_id,customer_id,product\n" + "".join(f"{o},{c},{p}\n" for o, c, p in rows))
        shown += [
            privmine("mine", "orders.csv", "--epsilon", "1", "--dry-run", *options)
            for options in ((), ("--json",), ("--unit", "customer_id", "--max-baskets", "2"))
        ]
    assert shown[:3] == shown[3:]


@pytest.mark.parametrize(
    ("options", "columns", "words"),
    [
        (["orders.csv"], {"transaction": "order_id", "item": "product"}, "transaction = order_id, item = product"),
        (
            ["orders.csv", "--transaction", "order_id", "--unit", "customer_id", "--max-baskets", "2"],
            {"transaction": "order_id", "item": "product", "unit": "customer_id"},
            "transaction = order_id, item = product, unit = customer_id",
        ),
        (
            ["orders.csv", "--item", "product", "--merge-by", "customer_id"],
            {"item": "product", "unit": "customer_id"},
            "item = product, unit = customer_id",
        ),
        (
            ["--sql", "select 1 as o, 'bread' as p", "--transaction", "o", "--item", "p"],
            {"transaction": "o", "item": "p"},
            "transaction = o, item = p",
        ),
        (
            ["hot.csv", "--layout", "one-hot", "--transaction", "id"],
            {"transaction": "id"},
            "transaction = id, every other column is an item",
        ),
        (["hot.csv", "--layout", "one-hot"], {}, "every column is an item"),
        (["baskets.dat"], {}, None),
    ],
)
def test_a_dry_run_repeats_which_columns_are_used_as_what(orders, privmine, options, columns, words) -> None:
    """Named or guessed, in words and as JSON; not where a name may be data."""
    (orders.parent / "hot.csv").write_text("id,bread,milk\n1,1,0\n2,1,1\n")
    (orders.parent / "baskets.dat").write_text("1 2\n2\n")
    command = ("mine", *options, "--epsilon", "1", "--dry-run")
    code, out, err = privmine(*command)
    assert code == 0, err
    shown = [line for line in out.splitlines() if line.startswith("Columns: ")]
    assert shown == ([] if words is None else [f"Columns: {words}"])
    assert json.loads(privmine(*command, "--json")[1])["columns"] == columns


def test_a_unit_whose_header_has_blanks_is_charged(orders, privmine) -> None:
    """The column is named as it stands there, and the unit is called without the blanks everywhere."""
    orders.write_text(orders.read_text().replace("customer_id", " Customer-ID ", 1))
    account = ("--ledger", "budget.db", "--dataset", "sales")
    privmine("budget", "init", *account, "--epsilon", "3", "--unit", "Customer-ID")
    named = ("--unit", " Customer-ID ", "--max-baskets", "2", "--k", "4", "--epsilon", "1", *account)
    code, _, err = privmine("plan", "--lam", "3", *named)
    assert code == 0, err
    code, out, err = privmine("mine", "orders.csv", "--transaction", "order_id", "--item", "product", *named, "--json")
    assert code == 0, err
    assert "one Customer-ID, of whose" in json.loads(out)["receipt"]["protects"]


def test_a_ledger_for_customers(orders, privmine) -> None:
    """Runs for customers are charged, one for a transaction is refused, in the dry run as in the run."""
    privmine("budget", "init", "--ledger", "budget.db", "--dataset", "sales", "--epsilon", "3", "--unit", "customer_id")
    run = ("mine", "orders.csv", "--item", "product", "--epsilon", "1", "--ledger", "budget.db", "--dataset", "sales")
    bounded = ("--transaction", "order_id", "--unit", "customer_id", "--max-baskets", "2")
    for options in (("--transaction", "order_id"), ("--transaction", "order_id", "--dry-run")):
        code, out, err = privmine(*run, *options)
        assert (code, out) == (2, "")
        assert "is counted for one customer_id, but this run protects one transaction" in err
    assert pm.Ledger("budget.db").budget("sales").spent_epsilon == 0
    code, out, _ = privmine(*run, *bounded, "--dry-run")
    assert code == 0
    assert "ε = 2 would remain for sales" in out
    assert privmine(*run, *bounded)[0] == 0
    code, _, err = privmine(*run, "--merge-by", "customer_id")
    assert code == 0
    assert "another source" not in err
    assert pm.Ledger("budget.db").budget("sales").spent_epsilon == 2
    Path("other.csv").write_bytes(Path("orders.csv").read_bytes())
    run = ("mine", "other.csv", *run[2:], *bounded)
    for command in ([*run, "--dry-run"], run):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            code, _, err = privmine(*command)
        assert code == 0
        assert err.count("warning: The dataset 'sales' was first charged for another source") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--transaction", "order", "--item", "product"], "Did you mean 'order_id'.*order_id, customer_id, product"),
        (["--item", "produkt"], "Its columns are: order_id, customer_id, product"),
        (["--unit", "customer_id"], "--max-baskets 5"),
        (["--max-baskets", "5"], "--unit"),
        (["--unit", "customer_id", "--max-baskets", "0"], "at least 1"),
        (["--unit", "customer_id", "--max-baskets", "x"], "--max-baskets"),
        (["--unit", "customer_id", "--max-baskets", "2", "--merge-by", "customer_id"], "cannot be combined"),
        (["--unit", "household", "--max-baskets", "2"], "no column 'household'"),
        (["--unit", "customer_id", "--max-baskets", "2", "--n-public"], "--merge-by"),
        (["--layout", "wide"], "wide"),
        (["--separator", ";;"], "one character"),
        (["--encoding", "klingon"], "klingon"),
        (["--database", "shop.db"], "--sql"),
        (["--sql", "select 1"], "takes no other source"),
        (["--names", "missing.txt"], "missing.txt"),
        (["--output", "orders.csv"], "orders.csv is the file that is read, and writing would replace it"),
        (["--items", "items.csv", "--output", "./items.csv"], "items.csv is the file that is read"),
    ],
)
def test_options_that_do_not_fit(orders, privmine, arguments, words) -> None:
    """One sentence that says what to do, exit code 2, and nothing of the data."""
    (orders.parent / "items.csv").write_text("bread\n")
    before = orders.read_bytes()
    code, out, err = privmine("mine", "orders.csv", "--epsilon", "1", *arguments)
    assert (code, out) == (2, ""), err
    assert orders.read_bytes() == before
    assert re.search(words, err), err
    assert not any(product in err for product in ("bread", "milk", "cocoa"))


# Several files, labels, rows of nobody


def test_several_files_are_mined_as_one(orders, mined) -> None:
    """Named one by one, as a shell does with a pattern, they are the release of the whole file."""
    said = ("--transaction", "order_id", "--item", "product")
    expected, _ = mined("orders.csv", *said)
    header, *lines = orders.read_text().splitlines()
    for name, part in (("may.csv", lines[:20]), ("june.csv", lines[20:])):
        (orders.parent / name).write_text("\n".join([header, *part]) + "\n")
    found, told = mined("may.csv", "june.csv", *said)
    assert (found["itemsets"], told) == (expected["itemsets"], "")


def test_a_file_twice_is_refused_and_no_source_is_written_over(orders, privmine) -> None:
    """Before anything is read or charged."""
    code, _, err = privmine("mine", "orders.csv", "orders.csv", *RUN)
    assert (code, "is named twice" in err) == (2, True)
    (orders.parent / "other.csv").write_text(orders.read_text())
    code, _, err = privmine("mine", "orders.csv", "other.csv", *RUN, "--output", "other.csv")
    assert (code, "is the file that is read" in err) == (2, True)


def test_several_files_are_copied_as_one(orders, privmine) -> None:
    """The last name is the copy."""
    (orders.parent / "more.csv").write_text("order_id,customer_id,product\n99,9,tea\n")
    code, _, err = privmine(
        "convert", "orders.csv", "more.csv", "all.parquet", "--transaction", "order_id", "--item", "product"
    )
    assert code == 0, err
    assert pm.read("all.parquet").store.count() == 31


def test_a_catalogue_in_another_case_is_questioned_and_then_folded(orders, mined, privmine) -> None:
    """Nothing of the data decides what is said; with --fold-case the release has the catalogue's labels."""
    said = ("orders.csv", "--transaction", "order_id", "--item", "product", "--items", "items.txt")
    (orders.parent / "items.txt").write_text("BREAD\nMILK\nCOCOA\n")
    for trim in ((), ("--trim",)):
        code, _, err = privmine("mine", *said, *trim, *RUN, "--dry-run")
        assert code == 0
        assert err == (
            "privmine: All labels of --items are in capitals. Items of the data that are written otherwise are dropped "
            "unless you pass --fold-case.\n"
        )
    folded, silence = mined(*said, "--fold-case")
    assert silence == ""
    assert {label for row in folded["itemsets"] for label in row["items"]} <= {"BREAD", "MILK", "COCOA"}
    assert folded["itemsets"][0]["count"] > 10


def test_rows_without_a_unit_are_dropped_on_request(orders, privmine) -> None:
    """The refusal names the option, and the receipt says what was dropped."""
    orders.write_text(orders.read_text() + "99,,tea\n")
    said = ("orders.csv", "--transaction", "order_id", "--item", "product", "--unit", "customer_id")
    code, _, err = privmine("mine", *said, "--max-baskets", "3", *RUN)
    assert (code, "--drop-missing-units" in err) == (2, True)
    code, out, err = privmine("mine", *said, "--max-baskets", "3", "--drop-missing-units", *RUN)
    assert code == 0, err
    assert any("rows without a value for customer_id" in line for line in json.loads(out)["receipt"]["assumptions"])
