"""Queries: what a database says of the query is told, what it says of data is not."""

import gzip
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privmine as pm
from privmine.errors import PrivmineError

SECRET = "TELLNOBODY"  # noqa: S105 - no password, but a cell that no message may show


def refused(match, **options):
    """Check that a query is refused with such a sentence, and that nothing of the data comes with the error."""
    with pytest.raises(PrivmineError, match=match) as caught:
        pm.read(**options)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.fixture
def shop(tmp_path):
    """A SQLite database with what a column may hold there: numbers, texts and nothing."""
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("create table orders (order_id, product, customer_id)")
    rows = [(1, "milk", 7), ("1", 5, "7"), (2, 5.0, 8), (2, "5", 8), (3, None, 9)]
    connection.executemany("insert into orders values (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path


def test_sqlite(shop):
    """Any cell of SQLite may be of any type; what reads the same is the same."""
    found = pm.read(sql="select * from orders", database=shop, unit="customer_id", max_baskets=1, drop_missing=True)
    assert found.universe.labels.tolist() == ["5", "milk"]
    assert found.store.item_supports().tolist() == [2, 1]
    assert found.store.count() == 3
    assert "the query" in repr(found)
    refused("missing values in the column 'product'", sql="select * from orders", database=str(shop))
    empty = pm.read(sql="select * from orders where order_id = 99", database=shop)
    assert empty.store.count() == 0


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select order_idd, product from orders", "SQLite says: no such column: order_idd"),
        ("select * from order_lines", "SQLite says: no such table: order_lines"),
        ("selec", 'SQLite says: near "selec": syntax error'),
        ("delete from orders", "one select"),
        ("select json_extract(product, 'x') as item, order_id from orders", "withheld"),
        ("select order_id as a, product as b, customer_id as c from orders", "Its columns are: a, b, c"),
        ("-- nothing", "must be one select"),
        ("", "The query is empty"),
        (" ; ", "The query is empty"),
    ],
)
def test_wrong_queries_of_sqlite(shop, sql, message):
    """A wrong query is told what is wrong with it; the database is never changed."""
    refused(message, sql=sql, database=shop)
    assert pm.read(sql="select * from orders", database=shop, drop_missing=True).store.count() == 3


def test_databases_that_are_none(tmp_path):
    """What is no database is refused by name."""
    refused("cannot be read: No such file", sql="select 1", database=tmp_path / "no.db")
    (tmp_path / "a.db").write_text(SECRET)
    refused("neither a SQLite nor a DuckDB database", sql="select 1", database=tmp_path / "a.db")
    (tmp_path / "b.db").write_bytes(b"SQLite format 3\0" + SECRET.encode() * 500)
    refused("The query: ", sql="select * from orders", database=tmp_path / "b.db")
    (tmp_path / "c.db").write_bytes(bytes(8) + b"DUCK" + SECRET.encode() * 500)
    refused("c.db: DuckDB cannot open it", sql="select * from orders", database=tmp_path / "c.db")
    refused("needs a query", database=tmp_path / "a.db")


def test_duckdb_over_files(tmp_path):
    """A query names files; relative names and patterns are those of the working directory."""
    pq.write_table(pa.table({"order_id": [1, 1, 2], "product": ["a", "b", "b"]}), tmp_path / "orders.parquet")
    sql = f"select order_id, product from '{tmp_path}/*.parquet' where product <> 'a'"  # noqa: S608
    assert pm.read(sql=sql).store.item_supports().tolist() == [2]
    lists = f"select list(product) as basket from '{tmp_path}/*.parquet' group by order_id"  # noqa: S608
    assert pm.read(sql=lists).store.item_supports().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select ordr_id, product from 'PLACE/o.parquet'", r"ordr_id.*order_id"),
        ("select ordr_id, product from read_csv('PLACE/o.csv', all_varchar=true)", "there is no column 'ordr_id'"),
        ("select * from 'PLACE/no.parquet'", "no file of the name"),
        ("select * from nowhere", "nowhere"),
        ("select * from read_csv('PLACE/o.log', all_varchar=true)", "names of its columns are not shown"),
        ("select * from read_csv('PLACE/o.log', all_varchar=true) where false", "names of its columns are not shown"),
        ("selec 1", "DuckDB says: .*syntax error"),
        ("select order_id, cast(product as int) as item from 'PLACE/o.parquet'", "withheld"),
        ("select order_id, error(product) as item from 'PLACE/o.parquet'", "withheld"),
        ("select * from 'PLACE/cut.parquet'", r"withheld.*read that file without sql="),
        ("create table x (a int)", "must be one select"),
        ("select * from 'https://example.invalid/a.parquet'", "extension of DuckDB|no file|withheld"),
        ("select 1 as a, 2 as a", "not clear"),
        (";;", "The query is empty"),
    ],
)
def test_wrong_queries_of_duckdb(tmp_path, sql, message):
    """What is wrong with the query is told; values, and lines that may be data, are not."""
    pq.write_table(pa.table({"order_id": [1], "product": [SECRET]}), tmp_path / "o.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "o.parquet").read_bytes()[:-20])
    (tmp_path / "o.csv").write_text(f"{SECRET},a\n{SECRET},b\n")
    (tmp_path / "o.log").write_text(f"x{SECRET},y{SECRET}\n1,b\n")
    refused(message, sql=sql.replace("PLACE", str(tmp_path)))


def test_views_and_relations_over_text(tmp_path, monkeypatch):
    """Where a query does not show that it reads text, the first line of that text is not shown either."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.log").write_text(f"x{SECRET},y{SECRET}\n1,b\n")
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("create view orders as select * from read_csv('o.log', all_varchar=true)")
        connection.execute("create table sales (order_id int, product text)")
    refused("there is no column 'foo'", sql="select foo from orders", database="shop.duckdb")
    refused("names of its columns are not shown", sql="select * from orders", database="shop.duckdb")
    refused("Its columns are: order_id, product", sql="select * from sales", database="shop.duckdb", item="x")
    with duckdb.connect() as connection:
        refused("names of its columns are not shown", source=connection.sql("select * from read_csv('o.log')"))
        refused("names of its columns are not shown", source=connection.read_csv("o.log"))


@pytest.fixture
def diagnoses(tmp_path, monkeypatch):
    """Codes that all read as numbers but for one, as CSV and JSON in the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [("1", "250.00"), ("2", "401.90"), ("3", "V27.0")]
    (tmp_path / "o.csv").write_text("visit,code\n" + "".join(f"{visit},{code}\n" for visit, code in rows))
    (tmp_path / "o.csv.gz").write_bytes(gzip.compress((tmp_path / "o.csv").read_bytes()))
    (tmp_path / "o.json").write_text("".join(f'{{"visit": {visit}, "code": "{code}"}}\n' for visit, code in rows))
    pq.write_table(pa.table(dict(zip(("visit", "code"), zip(*rows, strict=True), strict=True))), tmp_path / "o.parquet")


@pytest.mark.usefixtures("diagnoses")
@pytest.mark.parametrize(
    "table",
    [
        "'o.csv'",
        '"o.csv"',
        "'*.csv'",
        "'o.csv.gz'",
        "'o.json'",
        "read_csv('o.csv')",
        "READ_CSV_AUTO ('o.csv', header = true)",
        "read_csv('o.csv', all_varchar = false)",
        "read_json('o.json')",
        "read_csv('o.csv', all_varchar = true) union all from 'o.csv'",
        "read_csv('o.csv', all_varchar = true) union all from read_csv('o.csv')",
        "read_csv(concat('o', ').csv'), delim = ',')",
        "read_csv('o.csv', types={'visit': 'BIGINT'})",
        "read_csv('o.csv', header=true /* all_varchar=true */)",
        "read_csv('o.csv', header=true /* /* */ , all_varchar=true */)",
        "read_csv('o.csv', -- all_varchar=true\n header=true)",
        "read_csv('o.csv', comment='all_varchar=true')",
        "\"read_csv\"(concat('o', '.csv'))",
        "(select $$--$$ as q, * from 'o.csv')",
        "(select E'\\'--' as q, * from 'o.csv')",
        "read_json('o.json', columns='auto')",
        "o.csv",
        "(select * from (select 1) where exists (from o.csv)), 'o.parquet'",
        "'o.csv?'",
        "'o.csv?.parquet'",
        "read_csv('o.csv', all_varchar = true, all_varchar = false)",
        "read_csv('o.csv', all_varchar = null)",
        "read_csv('o.csv', all_varchar := false)",
        "read_csv('o.csv', columns => 'auto')",
        "main.read_csv('o.csv')",
        "(with x as (from read_csv('o.csv')) select * from x)",
        "'o.parquet' where code in (select code from 'o.csv')",
        "'o.parquet' order by (select max(code) from 'o.csv')",
    ],
)
def test_a_query_over_text_that_leaves_the_types_open(table):
    """One row would decide how everybody's labels read: refused, with what to write instead."""
    refused(r"read_csv\('orders.csv', all_varchar=true\)", sql=f"select visit, code from {table}")  # noqa: S608
    refused("one select", sql=f"create temp table t as from {table}; select visit, code from t")  # noqa: S608


@pytest.mark.usefixtures("diagnoses")
@pytest.mark.parametrize(
    "table",
    [
        "query_table('o.' || 'csv')",
        "query_table(['o.csv'])",
        "query('from ' || chr(39) || 'o.csv' || chr(39))",
        "json_execute_serialized_sql(json_serialize_sql('from o.csv'))",
        "sniff_csv('o.csv')",
        "read_xlsx('o.xlsx')",
        "duckdb_columns()",
    ],
)
def test_a_query_with_a_function_that_is_not_known(table):
    """What such a function reads, and with which types, cannot be told before it runs: refused by name."""
    refused(r"The query uses the function \w+\(\), and", sql=f"select visit, code from {table}")  # noqa: S608


@pytest.mark.usefixtures("diagnoses")
@pytest.mark.parametrize(
    "table",
    [
        "read_csv('o.csv', all_varchar=true)",
        "read_csv('o.csv', all_varchar := true)",
        "read_csv('o.csv', \"all_varchar\" => 1)",
        "(with lines as (from read_csv('o.csv', all_varchar=true)) from lines)",
        "(select string_split(unnest(string_split(rtrim(content, chr(10)), chr(10))[2:]), ',') c, c[1] as visit, "
        "c[2] as code from read_text('o.csv'))",
        "read_parquet(['o.parquet'])",
        "o.parquet",
        "read_csv_auto('o.csv.gz', ALL_VARCHAR = True)",
        "read_csv('o.csv', columns = {'visit': 'VARCHAR', 'code': 'VARCHAR'})",
        "read_csv('o.csv', /* a comment */ all_varchar=true)",
        "read_json('o.json', columns={'visit': 'BIGINT', 'code': 'VARCHAR'})",
        "'o.parquet'",
    ],
)
@pytest.mark.parametrize("where", ["true", "code <> 'V27.0'"])
def test_a_query_that_fixes_the_types(table, where):
    """Then nobody's labels depend on another's, and what cannot be seen is in the receipt."""
    found = pm.read(
        sql=f"select visit, code from {table} where {where}",  # noqa: S608
        transaction="visit",
        item="code",
        items=["250.00", "401.90", "250", "250.0"],
    )
    assert found.store.item_supports().tolist() == [1, 1, 0, 0]
    assert assumed(found) == [ASSUMED]


ASSUMED = (
    "the query treats the rows of each unit by themselves, and the types of its columns do not depend on what is in "
    "the data"
)


def assumed(transactions):
    """What the receipt says of the way in."""
    receipt = pm.mine(transactions, k=1, epsilon=1, simulate=True, seed=1).receipt
    return [line for line in receipt.assumptions if "query" in line]


def test_what_a_query_assumes_is_in_the_receipt(shop):
    """For any database, and for a relation that is handed over; a frame takes nothing of the kind for granted."""
    table = pa.table({"order_id": [1], "product": ["a"]})
    assert assumed(pm.read(sql="select * from orders", database=shop, drop_missing=True)) == [ASSUMED]
    assert assumed(pm.read(duckdb.from_arrow(table))) == [ASSUMED]
    assert assumed(pm.read(table)) == []


def test_a_query_does_not_see_python_variables():
    """A name in a query is a table or a file, never a variable that happens to be called so."""
    orders = pa.table({"order_id": [1], "product": ["a"]})
    refused("orders", sql="select * from orders")
    assert pm.read(orders).store.count() == 1


def test_a_query_is_read_instead_of_a_source():
    """A source and a query exclude each other, and a query has no encoding."""
    with pytest.raises(PrivmineError, match="takes no other source"):
        pm.read([["a"]], sql="select 1")
    refused("for text files", sql="select 1", encoding="cp1252")


def test_a_relation_that_fails():
    """A DuckDB relation that fails while it is read says nothing of its data."""
    relation = duckdb.connect().sql(f"select 1 as order_id, error('{SECRET}') as item")
    with pytest.raises(PrivmineError, match="withheld") as caught:
        pm.read(relation)
    assert SECRET not in str(caught.value)


ADDRESS = f"postgresql://me:{SECRET}@127.0.0.1:1/shop"


def test_postgres_without_a_server():
    """Where no server answers, the password is not part of the message."""
    refused("nothing answers at its host and port", sql="select 1", database=ADDRESS)


def test_postgres_without_the_driver(monkeypatch):
    """Where the driver is not installed, the sentence says how to get it."""
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(PrivmineError, match=r"pip install 'privmine\[postgres\]'"):
        pm.read(sql="select 1", database=ADDRESS)


@pytest.mark.parametrize("database", [None, "shop.db", "shop.duckdb"])
def test_a_query_writes_no_file(tmp_path, monkeypatch, database):
    """One select is run and nothing else, so that no exact rows leave by another way."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("shop.db")) as connection, connection:
        connection.execute("create table orders (order_id, product)")
        connection.execute("insert into orders values (1, 'a')")
    duckdb.connect("shop.duckdb").close()
    before = set(tmp_path.iterdir())
    select = "select 1 as order_id, 'a' as product"
    assert pm.read(sql=f"{select};", database=database).store.count() == 1
    for first in ("copy (select 1) to 'stolen.csv'", "vacuum into 'stolen.db'", "attach 'stolen.db' as x", select):
        for sql in (f"{first}; {select}", first):
            if sql != select:
                with pytest.raises(PrivmineError, match=r"one select, and nothing else|says:"):
                    pm.read(sql=sql, database=database)
    assert set(tmp_path.iterdir()) == before
    if database != "shop.db":
        copy = "with x as (copy (select 1) to 'stolen.csv') select 1 as order_id, 'a' as product from x"
        refused("one select|says:|fails", sql=copy, database=database)
        assert set(tmp_path.iterdir()) == before


def test_what_does_not_fit_into_memory_lies_where_nobody_else_looks(tmp_path, monkeypatch):
    """DuckDB would make a folder that all may read, where the process runs. Ours goes with the process."""
    path = tmp_path / "shop.duckdb"
    duckdb.connect(str(path)).close()
    monkeypatch.chdir(tmp_path)
    asked = {"sql": "select 1 as o, current_setting('temp_directory') as i", "transaction": "o", "item": "i"}
    for database in (None, path):
        (folder,) = pm.read(database=database, layout="long", **asked).universe.labels.tolist()
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert Path(folder).parent == Path(tempfile.gettempdir())
    code = f"import privmine as pm; print(pm.read(layout='long', **{asked!r}).universe.labels[0])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True, text=True)
    assert not Path(done.stdout.strip()).exists()


def test_a_table_of_duckdb_by_its_whole_name(tmp_path):
    """A name with dots is a table of the database if there is one, else it could be a file."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("create schema sales")
        connection.execute("create table sales.orders as select 1 as order_id, 'a' as product")
        connection.execute("create macro latest() as table from sales.orders")
    for table in ("sales.orders", "shop.sales.orders", "Shop.Sales.Orders", "latest()"):
        assert pm.read(sql=f"select * from {table}", database=path).store.count() == 1  # noqa: S608
    refused("selects from sales.csv, which is neither a table nor", sql="select * from sales.csv", database=path)
    refused(r"uses the function earliest\(\)", sql="select * from earliest()", database=path)


def test_a_view_over_text_without_rows(tmp_path, monkeypatch):
    """The names of its columns are hidden whatever the query leaves of its rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.log").write_text(f"x{SECRET},y{SECRET}\n1,b\n")
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("create view orders as select * from read_csv('o.log', all_varchar=true)")
    refused("names of its columns are not shown", sql="select * from orders where false", database="shop.duckdb")


def test_a_database_that_another_process_has_open(tmp_path):
    """DuckDB lets one process write, and no other read meanwhile: told as that, with what to do."""
    path = tmp_path / "shop.duckdb"
    writes = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    duckdb.connect(path).close()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", writes, path], **pipes) as process:
        assert process.stdout.readline() == b"open\n"
        refused("shop.duckdb: another process has it open for writing; close it there", sql="select 1", database=path)
        process.stdin.close()
    refused("not clear", sql="select 1 as a, 2 as b", database=path)


FIXED = "auto_detect=false, header=true, columns={'order_id': 'VARCHAR', 'product': 'VARCHAR'}"


@pytest.mark.parametrize(
    ("arguments", "is_guess"),
    [
        ("all_varchar=true", True),
        ("all_varchar=true, auto_detect=true", True),
        (f"{FIXED}, quote=''", False),
        (f"{FIXED}, quote := '', delim=','", False),
    ],
)
def test_a_dialect_that_duckdb_finds_in_the_rows_is_a_guess(tmp_path, arguments, is_guess):
    """DuckDB looks for the separator in the rows, unless the query turns that off; strict mode refuses it."""
    path = tmp_path / "orders.csv"
    path.write_text("order_id,product\n1,milk\n1,bread\n2,milk\n")
    baskets = pm.read(
        sql=f"select order_id, product from read_csv('{path}', {arguments})",  # noqa: S608 - words of ours
        layout="long",
        transaction="order_id",
        item="product",
        items=["bread", "milk"],
    )
    assert bool(baskets.origin.guessed) == is_guess
    if is_guess:
        with pytest.raises(pm.PrivmineError, match="auto_detect=false"):
            pm.mine(baskets, k=1, epsilon=1, strict=True)
    else:
        assert len(pm.mine(baskets, k=1, epsilon=1, strict=True)) == 1


@pytest.mark.parametrize(
    ("arguments", "mark"),
    [
        (FIXED, '"'),
        (f"{FIXED}, quote='\"'", '"'),
        (f"{FIXED}, quote=chr(34)", '"'),
        (f"{FIXED}, quote='', strict_mode=false", '"'),
        (f"{FIXED}, quote='', strict_mode=false, escape='@'", "@"),
        (f"{FIXED}, quote='', new_line='\\r\\n', ignore_errors=true", ""),
        ("all_varchar=true, header=true, delim=',', quote=''", ""),
    ],
)
def test_a_quote_that_takes_the_rows_of_others(tmp_path, arguments, mark):
    """Wherever a row may go on into the next line, strict mode refuses it, and the receipt has it as an assumption."""
    if "strict_mode" in arguments and duckdb.__version__.startswith("1.1."):
        pytest.skip("it has no such option")
    path = tmp_path / "orders.csv"
    path.write_text(f"order_id,product\n998,{mark}x\n1,bread\n2,bread\n998,y{mark}\n")
    baskets = pm.read(
        sql=f"select order_id, product from read_csv('{path}', {arguments})",  # noqa: S608 - words of ours
        layout="long",
        transaction="order_id",
        item="product",
        items=["bread"],
    )
    with pytest.raises(pm.PrivmineError, match=r"auto_detect=false, columns={…}, delim=…, quote='', header=…"):
        pm.mine(baskets, k=1, epsilon=1, strict=True)
    receipt = pm.mine(baskets, k=1, epsilon=1, simulate=True, seed=1).receipt
    assert any("the quotes around cells match within each unit's rows" in line for line in receipt.assumptions)


def test_a_quote_that_is_a_character_like_any_other(tmp_path):
    """Then a line is a row, and nothing is assumed."""
    path = tmp_path / "orders.csv"
    path.write_text('order_id,product\n998,"x\n1,bread\n2,bread\n998,y"\n')
    sql = f"select order_id, product from read_csv('{path}', {FIXED}, quote='')"  # noqa: S608 - words of ours
    baskets = pm.read(sql=sql, layout="long", transaction="order_id", item="product", items=["bread", '"x', 'y"'])
    assert baskets.store.item_supports().tolist() == [2, 1, 1]
    receipt = pm.mine(baskets, k=1, epsilon=1, strict=True).receipt
    assert not any("quotes" in line for line in receipt.assumptions)


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Folders that are called by the product of the rows in them, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for place in ("parts/product=2020-1-5", "parts/product=2020-1-6", "all.parquet/product=2020-1-5"):
        (tmp_path / place).mkdir(parents=True)
        pq.write_table(pa.table({"order_id": [1, 2], "n": ["a", "b"]}), tmp_path / place / "a.parquet")
        (tmp_path / place / "a.csv").write_text("order_id\n1\n2\n")
        (tmp_path / place / "a.json").write_text('{"order_id": 1}\n')
    return tmp_path


@pytest.mark.parametrize(
    "table",
    [
        "'parts/*/*.parquet'",
        "'parts/**/*.parquet'",
        "'parts/product=*/a.parquet'",
        "'parts/?roduct=2020-1-5/a.parquet'",
        "'parts/product=2020-1-5/a.parquet'",
        "'all.parquet'",
        "read_parquet('parts/*/*.parquet')",
        "read_parquet(['parts/*/a.parquet'])",
        "read_parquet('parts/' || '*/a.parquet')",
        "read_parquet('parts')",
        "read_parquet('file:PLACE/all.parquet')",
        "read_parquet('file://PLACE/all.parquet')",
        "parquet_scan('parts/*/a.parquet')",
        "read_parquet('parts/*/a.parquet', hive_partitioning=true)",
        "read_parquet('parts/*/a.parquet', hive_types_autocast=false)",
        "read_parquet('parts/*/a.parquet', hive_partitioning=true, hive_types_autocast=true)",
        "read_csv('parts/*/a.csv', all_varchar=true)",
        "read_json('parts/*/a.json', columns={'order_id': 'VARCHAR'})",
        "read_json_objects('parts/*/a.json')",
        "read_text('parts/*/a.json')",
        "read_blob('parts')",
    ],
)
def test_names_of_folders_that_decide_types(parts, table):
    """DuckDB makes a column of product=2020-1-5, and dates of it until there is a folder product=x: refused."""
    sql = f"select order_id, product from {table.replace('PLACE', str(parts))}"  # noqa: S608
    refused("the names of folders", sql=sql, transaction="order_id", item="product")


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("table", "item", "labels"),
    [
        ("read_parquet('parts/*/*.parquet', hive_partitioning=false)", "n", ["a", "b"]),
        (
            "read_parquet('parts/*/*.parquet', hive_partitioning=true, hive_types_autocast=false)",
            "product",
            ["2020-1-5", "2020-1-6"],
        ),
        ("read_csv('parts/*/a.csv', all_varchar=true, hive_partitioning=false)", "order_id", ["1", "2"]),
    ],
)
def test_names_of_folders_that_decide_no_types(table, item, labels):
    """Where the query says that they are no columns, or texts."""
    found = pm.read(sql=f"select order_id as basket, {item} from {table}", transaction="basket", item=item)  # noqa: S608
    assert [str(label) for label in found.universe.labels.tolist()] == labels


def test_a_relation_over_text_is_a_guess(tmp_path):
    """DuckDB may have found its types in the rows, which strict mode refuses; one over Parquet is none."""
    table = duckdb.sql("select * from (values (1, '250.00'), (2, '250.00')) as orders(order_id, product)")
    table.write_csv(str(tmp_path / "orders.csv"))
    table.write_parquet(str(tmp_path / "orders.parquet"))
    options = {"layout": "long", "transaction": "order_id", "item": "product", "items": ["250.00"]}
    text = pm.read(duckdb.sql(f"from '{tmp_path}/orders.csv'"), **options)
    with pytest.raises(pm.PrivmineError, match="Strict mode"):
        pm.mine(text, k=1, epsilon=1, strict=True)
    assert not pm.read(duckdb.sql(f"from '{tmp_path}/orders.parquet'"), **options).origin.guessed


_TAKE_THE_LOCK = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0).execute("begin immediate")
    print("taken")
except sqlite3.OperationalError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX, which a process loses when it closes a file")
def test_a_lock_of_the_caller_on_a_sqlite_file_outlives_a_look_at_it(shop):
    """Whoever is writing to a database reads it meanwhile, or takes it for text, and no other process gets in."""
    query = {"sql": "select order_id, product from orders", "database": shop, "drop_missing": True}

    def another_process() -> str:
        command = [sys.executable, "-c", _TAKE_THE_LOCK, shop]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with closing(sqlite3.connect(shop, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        assert pm.read(**query).store.count() == 3
        with pytest.raises(PrivmineError, match="is a SQLite database"):
            pm.read(shop)
        assert another_process() == "database is locked"
        connection.execute("rollback")
        assert another_process() == "taken"
        connection.execute("begin exclusive")
        refused("another connection is writing to the database; commit or close it there", **query)


def test_a_duckdb_file_that_this_process_has_open_is_not_called_damaged(tmp_path):
    """Its settings are the caller's; what that connection gives is a source."""
    path = tmp_path / "shop.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("create table orders as select 1 as order_id, 'milk' as product")
        words = refused("this process has it open already", sql="select * from orders", database=path)
        assert "damaged" not in words
        assert pm.read(connection.sql("select * from orders")).store.count() == 1
    assert pm.read(sql="select * from orders", database=path).store.count() == 1
