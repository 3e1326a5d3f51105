"""Notebooks, prompts and scripts: nothing but our own words reaches an output, and no exact number."""

import re
import subprocess
import sys

import duckdb
import nbformat
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nbclient import NotebookClient
from slow_cases import slow_after

#: How many orders have each product; with the numbers of orders and of rows these occur nowhere else.
SUPPORTS = {"milk": 6007, "bread": 4513, "tea": 3001}
ORDERS = 7919
EXACT = {ORDERS, sum(SUPPORTS.values()), *SUPPORTS.values()}
#: What a connection of DuckDB would show while it runs this.
BAR = "select 1 as order_id, current_setting('enable_progress_bar')::text as product"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Orders as Parquet, CSV and a view in a database, in the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [(order, product) for product, support in SUPPORTS.items() for order in range(ORDERS - support, ORDERS)]
    table = pa.table(dict(zip(("order_id", "product"), zip(*rows, strict=True), strict=True)))
    pq.write_table(table, "orders.parquet")
    duckdb.from_arrow(table).write_csv("orders.csv")
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("create table orders as from 'orders.parquet'")
        connection.execute("create view lines as from read_csv('orders.csv', all_varchar=true)")
    return tmp_path


#: Cells that read with DuckDB, each with the kinds of its outputs.
READ = [
    ("import duckdb\nimport pandas as pd\nimport privmine as pm", []),
    ("file = pm.read('orders.csv', transaction='order_id', item='product', items=['milk', 'bread', 'tea'])", []),
    ("file", ["execute_result"]),
    ("sql = pm.read(sql=\"select order_id, product from 'orders.parquet'\")", []),
    ("sql", ["execute_result"]),
    ("text = \"select * from read_csv('orders.csv', all_varchar=true)\"", []),
    ("pm.read(sql=text, transaction='order_id', item='product');", []),
    ("pm.read(sql='select order_id, product from orders', database='shop.duckdb');", []),
    ("pm.read(sql='select order_id, product from lines', database='shop.duckdb');", []),
    (f"print(pm.read(sql={BAR!r}).universe.labels)", ["stream"]),
    # DuckDB shows progress after two seconds; here at once.
    ("%%capture\nconnection = duckdb.connect()\nif WIDGETS: connection.execute('set progress_bar_time = 0')", []),
    ("%%capture\nselected = connection.sql(\"select order_id, product from 'orders.parquet'\")", []),
    ("relation = pm.read(selected)", []),
    ("relation", ["execute_result"]),
    ("other = duckdb.connect()", []),
    ("pm.read(other.read_parquet('orders.parquet'));", []),
    ("pm.read(other.read_csv('orders.csv', all_varchar=True), transaction='order_id', item='product');", []),
    ("pm.read(other.read_csv('orders.csv', all_varchar=True))", ["error"]),
    ("pm.read(other.sql(\"select order_id, error(product) as product from 'orders.parquet'\"))", ["error"]),
    ("'shown again'", ["execute_result"]),
    ("%%capture\nshows = connection.execute(\"select current_setting('enable_progress_bar')\").fetchall()", []),
    ("shows == [(WIDGETS,)]", ["execute_result"]),
]
#: Cells that go on to a release.
MINE = [
    ("frame = pm.read(pd.read_parquet('orders.parquet'), items=['milk', 'bread', 'tea'])", []),
    ("frame", ["execute_result"]),
    ("ledger = pm.Ledger('budget.db')\nledger.init('shop', epsilon=1);", []),
    ("ledger.show()", ["execute_result"]),
    ("plan = pm.plan(k=3, epsilon=1, transactions=8000, items=3, lam=3)", []),
    ("plan", ["execute_result"]),
    ("plan.plot();", ["display_data"]),
    ("release = pm.mine(frame, k=3, epsilon=1e-6, ledger=ledger, dataset='shop')", []),
    ("release", ["execute_result"]),
    ("print(release)", ["stream"]),
    ("release.receipt", ["execute_result"]),
    ("print(release.receipt)", ["stream"]),
    ("release.to_pandas()", ["execute_result"]),
    ("release.plot(kind='support');", ["display_data"]),
    ("ledger", ["execute_result"]),
    ("ledger.show()", ["execute_result"]),
    ("ledger.log('shop')", ["execute_result"]),
    ("print(ledger.export())", ["stream"]),
]


def numbers(text):
    """The whole numbers in a text, written with or without separators of thousands."""
    return {int(found) for found in re.findall(r"\b\d+\b", re.sub(r"(?<=\d)[,_](?=\d{3})", "", text))}


def texts(output):
    """What an output shows, but for pictures."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return "\n".join([output.ename, output.evalue, *output.traceback])
    return "\n".join(str(shown) for kind, shown in output.data.items() if not kind.startswith("image/"))


@pytest.mark.parametrize("widgets", slow_after(1, [True, False]), ids=["widgets", "no widgets"])
def test_a_notebook(shop, widgets):
    """A kernel reads, plans, mines, plots and shows: every output is ours, also where DuckDB has no progress bars."""
    without = "" if widgets else "import sys\nsys.modules['ipywidgets'] = None"
    cells = [(f"%matplotlib inline\nWIDGETS = {widgets}\n{without}", []), *READ, *(MINE if widgets else [])]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source, _ in cells])
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True)
    with (shop / "kernel.log").open("wb") as log:
        client.execute(stdout=log, stderr=log, cwd=str(shop))
    for cell, (source, kinds) in zip(notebook.cells, cells, strict=True):
        assert [output.output_type for output in cell.outputs] == kinds, (source, list(map(texts, cell.outputs)))
        for output in cell.outputs:
            assert not numbers(texts(output)) & EXACT, source
            if output.output_type == "error":
                assert output.ename in ("InputError", "DataError")
    shown = {cell.source: texts(cell.outputs[0]) for cell in notebook.cells if cell.outputs}
    assert shown[f"print(pm.read(sql={BAR!r}).universe.labels)"] == "['false']\n"
    assert shown["'shown again'"] == "'shown again'"
    assert shown["shows == [(WIDGETS,)]"] == "True"
    assert not numbers((shop / "kernel.log").read_text()) & EXACT


#: DuckDB takes a program without a file for a prompt, and shows progress there.
PROMPT = f"""
import duckdb
import privmine as pm
connection = duckdb.connect()
assert connection.execute("select current_setting('enable_progress_bar')").fetchall() == [(True,)]
print(pm.read(sql={BAR!r}).universe.labels)
pm.read(sql="select order_id, product from 'orders.parquet'")
pm.read(connection.sql("select order_id, product from 'orders.parquet'"))
"""  # noqa: S608


def test_a_prompt(shop):
    """What is read at a prompt shows nothing either, and queries run without a progress bar."""
    done = subprocess.run([sys.executable, "-c", PROMPT], cwd=shop, capture_output=True, text=True, check=True)
    assert done.stdout == "['false']\n"
    assert not numbers(done.stderr) & EXACT


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="DuckDB 1 has no way to turn a user's own bar off")
def test_a_relation_at_a_prompt(shop):
    """The connection of the user's relation shows no progress while it is read, and as before afterwards."""
    program = f"""{PROMPT}
print(pm.read(connection.sql({BAR!r})).universe.labels)
print(connection.execute("select current_setting('enable_progress_bar')").fetchall())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=shop, capture_output=True, text=True, check=True)
    assert done.stdout == "['false']\n['false']\n[(True,)]\n"
