"""PostgreSQL as a way in: one unit never decides how the rows of others are read."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pyarrow as pa
import pytest
from adbc_driver_postgresql import dbapi

from privmine.audit.reading import audit_source
from privmine.audit.written_sources import COLUMNS, Source

# By its path: early versions of pytest cannot import one test module from another.
_spec = spec_from_file_location("reading_sources", Path(__file__).parents[1] / "audit" / "reading_sources.py")
assert _spec is not None
assert _spec.loader is not None
_sources = module_from_spec(_spec)
_spec.loader.exec_module(_sources)
LONG, QUERY, long_table = _sources.LONG, _sources.QUERY, _sources.long_table

pytestmark = pytest.mark.postgres


def test_one_unit_does_not_decide_about_others(server) -> None:
    """Two neighbours in a table differ by the added unit's transactions, and by nothing else."""
    server.run(f"create table audited ({', '.join(f'{column} text' for column in COLUMNS)})")

    def write(folder, rows, case):
        server.run("delete from audited")
        with dbapi.connect(server.address(), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("audited", long_table(rows), mode="append")
        return {"sql": f"{QUERY}audited", "database": server.address()}

    report = audit_source(Source("PostgreSQL", write, LONG, carries=lambda text: "\0" not in text), 30)
    print(report)
    assert report.ok, str(report)
    assert report.read == report.pairs


def test_types_of_a_column_are_those_of_the_table(server) -> None:
    """A column of numbers reads each of them by itself."""
    server.run("create table counted (customer_id bigint, order_id bigint, product numeric)")

    def write(folder, rows, case):
        server.run("delete from counted")
        table = long_table(rows)
        cells = [table[name].cast(pa.int64()) for name in COLUMNS]
        with dbapi.connect(server.address(), autocommit=True) as connection, connection.cursor() as cursor:
            for row in zip(*(column.to_pylist() for column in cells), strict=True):
                cursor.execute(f"insert into counted values ({', '.join(map(str, row))})")  # noqa: S608
        return {"sql": f"{QUERY}counted", "database": server.address()}

    numbers = Source(
        "PostgreSQL, numbers", write, LONG, carries=str.isdigit, cell=lambda random, theme: str(random.randint(0, 99))
    )
    report = audit_source(numbers, 10)
    print(report)
    assert report.ok, str(report)
    assert report.read == report.pairs
