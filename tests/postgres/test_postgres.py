"""Queries against a real PostgreSQL server: one select, in a transaction that can only read."""

import pytest

import privmine as pm
from privmine.errors import PrivmineError
from privmine.io.readers.postgres_in import _mistake

pytestmark = pytest.mark.postgres

SECRET = "TELLNOBODY"  # noqa: S105 - the password of the server, and a cell: no message may show it
#: How many rows the table has, whether the sequence was used, and whether there is another table.
STATE = (
    "select (select count(*) from orders), (select is_called from numbers), "
    "(select count(*) from pg_tables where tablename = 'stolen')"
)
ROWS = [(1, "milk"), (1, SECRET), (2, "milk")]


@pytest.fixture(scope="module")
def shop(server):
    """A server with a table, a sequence, and functions that write or quote data."""
    server.run(
        "create table orders (order_id int, product text)",
        f"insert into orders values {', '.join(map(str, ROWS))}",  # noqa: S608
        "create sequence numbers",
        "create function writes() returns int language sql as 'delete from orders; select 1'",
        "create function quotes(name text) returns text language plpgsql as "
        "$$ declare found text; begin execute 'select ' || quote_ident(name) into found; return found; end $$",
        "create function newest() returns text stable language sql as 'select product from orders where order_id = 1 "
        "order by product limit 1'",
        "create role guest login password 'guest'",
    )
    return server


def refused(match, **options):
    """Check that a query is refused with such a sentence, and that nothing of the data comes with the error."""
    with pytest.raises(PrivmineError, match=match) as caught:
        pm.read(**options)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "sql",
    [
        "select * from orders",
        " select order_id, product from orders ; ",
        "select * from orders -- all of them",
        "with few as (select * from orders) select * from few",
        "table orders",
        "select v.order_id, v.product from (values (1, 'milk'), (1, 'tea'), (2, 'milk')) v (order_id, product)",
        "(select * from orders limit 2) union all (select * from orders offset 2)",
    ],
)
def test_a_select(shop, sql):
    """Whatever selects is read, also where it ends with a semicolon or a comment."""
    found = pm.read(sql=sql, database=shop.address(), transaction="order_id", item="product", items=["milk"])
    assert found.store.item_supports().tolist() == [2]
    assert SECRET not in repr(found)
    receipt = pm.mine(found, k=1, epsilon=1, simulate=True, seed=1).receipt
    assert any("the query treats the rows of each unit by themselves" in line for line in receipt.assumptions)


#: Queries that are no single select.
MORE = [
    "delete from orders",
    "delete from orders returning *",
    "insert into orders values (9, 'x') returning *",
    "with gone as (delete from orders returning *) select * from gone",
    "with more as (insert into orders values (9, 'x') returning *) select * from more",
    "select * into stolen from orders",
    "create table stolen as select * from orders",
    "copy orders to stdout",
    "copy orders to '/tmp/stolen'",
    "copy orders to program 'true'",
    "select * from orders; delete from orders",
    "select * from orders; commit; delete from orders; commit",
    "commit",
    "rollback; delete from orders; select 1",
    "set transaction read write",
    "explain analyze delete from orders",
    "select * from orders for update",
    "do $$ begin delete from orders; end $$",
    "call writes()",
    "-- nothing",
]
#: Selects of a function that writes: the transaction can only read, and stays so.
WRITING = [
    "select writes() as order_id, 'a' as product",
    "select nextval('numbers') as order_id, 'a' as product",
    "select * from orders where writes() = 1",
    "select set_config('transaction_read_only', 'off', true) as order_id, writes() as product",
]


@pytest.mark.parametrize(
    ("message", "sql"),
    [
        *(("one select, and nothing else|only reads", sql) for sql in MORE),
        *(("only reads|withheld", sql) for sql in WRITING),
    ],
)
def test_a_query_that_does_more(shop, message, sql):
    """It is refused, and the database is as it was."""
    refused(message, sql=sql, database=shop.address())
    assert shop.run(STATE) == [(len(ROWS), False, 0)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select * from nowhere", 'PostgreSQL says: relation "nowhere" does not exist'),
        ("select order_idd, product from orders", 'PostgreSQL says: column "order_idd" does not exist'),
        ("selec 1", 'PostgreSQL says: syntax error at or near "selec"; it must be one select'),
        ("select * from orders; select 1", "cannot insert multiple commands.*; it must be one select"),
        ("select nope(product) from orders", r"PostgreSQL says: function nope\(text\) does not exist"),
        ("select order_id, cast(product as int) as item from orders", "withheld"),
        ("select order_id, quotes(product) as item from orders", "withheld"),
        ("select order_id, 1 / (order_id - 2) as item from orders", "withheld"),
        ("select order_id as a, product as b, 1 as c from orders", "Its columns are: a, b, c"),
    ],
)
def test_wrong_queries(shop, sql, message):
    """What is wrong with the query is told; what the server says while it runs may be data, and is not."""
    refused(message, sql=sql, database=shop.address())


@pytest.mark.parametrize("comment", ["", f"-- {SECRET}", f"/* {SECRET} */"])
@pytest.mark.parametrize(
    "name",
    [
        "quote_ident(newest())::regclass::oid",
        "quote_ident(newest())::regtype::oid",
        "(quote_ident(newest()) || '(int)')::regprocedure::oid",
        "to_number(to_char(has_table_privilege(newest(), 'select')::int, '9'), '9')::int::oid",
    ],
)
def test_a_query_whose_plan_looks_at_data(shop, comment, name):
    """The planner runs stable functions, whose errors quote data as a name; no word of it, even if the query has it."""
    sql = f"{comment}\nselect order_id, product from orders where order_id::oid = {name}"
    refused("withheld, because it may contain data", sql=sql, database=shop.address())


@pytest.mark.parametrize(
    ("message", "sql", "told"),
    [
        ('relation "n138" does not exist', "select * from orders", "a table, column or function that it names is not"),
        ('relation "orders" does not exist', "select * from Orders", 'PostgreSQL says: relation "orders" does not'),
        ('relation "order" does not exist', "select * from orders", "a table, column or function that it names is not"),
        ("column o.nope does not exist", "select o.nope from orders o", "PostgreSQL says: column o.nope does not"),
        ("column o.n138 does not exist", "select o.nope from orders o", "a table, column or function that it names"),
        ("orders has 138 rows", "select * from orders", "a table, column or function that it names is not known"),
    ],
)
def test_words_of_the_server(message, sql, told):
    """They are quoted if they are of a known form, and name nothing that is not in the query."""
    error = Exception(f"[libpq] ERROR:  {message}\nLINE 1: 138")
    error.sqlstate = "42P01"
    found = _mistake(sql, error)
    assert found.startswith(told)
    assert "138" not in found


def test_a_table_that_is_forbidden(shop):
    """That the user may not read something is told."""
    address = shop.address(user="guest", password="guest")  # noqa: S106
    refused("may not read what it selects from; ask", sql="select * from orders", database=address)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"host": "nowhere.invalid"}, "its host is unknown"),
        ({"port": 1}, "nothing answers at its host and port"),
        ({"port": 99999999}, "the address is not valid"),
        ({"name": "nothing"}, "the server has no database of this name"),
        ({"user": "nobody"}, "the user or the password is wrong"),
        ({"password": f"not{SECRET}"}, "the user or the password is wrong"),
        ({"password": ""}, "it needs a password"),
        ({"name": "postgres?sslmode=require"}, "the server and the address do not agree on encryption"),
        ({"name": f"postgres?{SECRET}=1"}, "the address is not valid"),
    ],
)
def test_no_connection(server, monkeypatch, tmp_path, wrong, message):
    """Which part of the address is wrong is told, and neither the address nor the server's words."""
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    refused(f"The PostgreSQL database: {message}", sql="select 1", database=server.address(**wrong))


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("1.50::numeric", ["1.50"]),
        ("date '2026-01-02'", ["2026-01-02"]),
        ("timestamp '2026-01-02 03:04:05'", ["2026-01-02 03:04:05"]),
        ("7::bigint", [7]),
        ("2.0::float8", [2]),
        ("true", ["true"]),
        ("'ä''b'::varchar", ["ä'b"]),
        ("array['b', 'a', 'b']", ["a", "b"]),
        ("array[2, 1]", [1, 2]),
        ("array[]::text[]", []),
    ],
)
def test_values(server, value, labels):
    """Values read as they do in other tables, and an array is a basket."""
    options = {"item": "item"} if value.startswith("array") else {"transaction": "basket", "item": "item"}
    found = pm.read(sql=f"select 1 as basket, {value} as item", database=server.address(), **options)
    assert found.universe.labels.tolist() == labels
    assert found.store.count() == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (r"'\x4142'::bytea", "contains bytes, not labels"),
        ("'127.0.0.1'::inet", "contains bytes, not labels"),
        ("row(1, 2)", "it fails; the reason is withheld"),
        ("null::text", "missing values in the column 'item'"),
        ("array['a', null]", "missing values in the column 'item'"),
    ],
)
def test_values_that_are_no_labels(server, value, message):
    """They are refused in a sentence."""
    options = {"item": "item"} if value.startswith("array") else {"transaction": "basket", "item": "item"}
    refused(message, sql=f"select 1 as basket, {value} as item", database=server.address(), **options)


def test_no_rows(shop):
    """An empty result is data without transactions."""
    found = pm.read(sql="select * from orders where false", database=shop.address(), items=["milk"])
    assert found.store.count() == 0
