"""Whatever is in a file, reading gives transactions or an error of ours that shows nothing of it."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privmine as pm
from privmine.errors import PrivmineError

fuzzed = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
#: In every cell, so that a message which shows any part of a cell shows it.
SECRET = "QXZJ"  # noqa: S105
ENDINGS = (".csv", ".tsv", ".txt", ".dat", ".json", ".jsonl", ".parquet", "", ".csv.gz", ".jsonl.gz")
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "layout": st.sampled_from(["long", "list", "one-hot", "baskets", "fimi"]),
        "transaction": st.just("order_id"),
        "item": st.just("product"),
        "merge_by": st.just("customer_id"),
        "drop_missing": st.booleans(),
        "separator": st.sampled_from(",;\t| "),
    },
)
cells = st.text(max_size=6).map(lambda text: f"{SECRET}{text}")
values = st.none() | st.booleans() | st.integers() | st.floats() | cells
records = st.lists(
    st.fixed_dictionaries(
        {"order_id": values, "product": values | st.lists(values, max_size=3)}, optional={"customer_id": values}
    )
    | st.lists(values, max_size=3)
    | values,
    max_size=6,
)


def survives(source, **options):
    """Read, and check that what comes out is transactions or an error of ours without data."""
    try:
        found = pm.read(source, **options)
    except PrivmineError as error:
        told = (str(error), repr(error.__cause__), repr(error.__context__))
        assert not any(SECRET in text for text in told)
    else:
        assert SECRET not in repr(found)
        found.store.item_supports()


def mangled(draw, content):
    """The content with a few bytes replaced, left out or doubled."""
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        if not content:
            break
        start = draw(st.integers(0, len(content) - 1))
        stop = min(len(content), start + draw(st.integers(0, 12)))
        content[start:stop] = draw(
            st.binary(max_size=6)
            | st.just(bytes(content[start:stop]) * 2)
            | st.sampled_from([b'"', b"\n", b",", b"\0"])
        )
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content)


@fuzzed
@given(st.binary(max_size=300), st.sampled_from(ENDINGS), OPTIONS, st.booleans())
def test_random_bytes(tmp_path, content, ending, options, compressed):
    """Files of random bytes."""
    path = tmp_path / f"data{ending}"
    path.write_bytes(gzip.compress(content) if compressed else content)
    survives(path, **options)


@fuzzed
@given(st.data(), OPTIONS)
def test_mangled_csv(tmp_path, data, options):
    """CSV with damaged bytes, broken quotes, ragged lines and names that may be missing."""
    text = io.StringIO()
    rows = data.draw(st.lists(st.lists(cells | st.just(""), min_size=3, max_size=3), max_size=8))
    csv.writer(text).writerows(rows)
    # The names stay whole: a line of names and data in one cannot be told from names.
    names = data.draw(st.sampled_from([b"", b"customer_id,order_id,product\n"]))
    path = tmp_path / f"data{data.draw(st.sampled_from(['.csv', '.txt']))}"
    path.write_bytes(names + mangled(data.draw, text.getvalue().encode("utf-8", "surrogatepass")))
    survives(path, **options)


@fuzzed
@given(st.data(), records, OPTIONS)
def test_mangled_json(tmp_path, data, rows, options):
    """JSON with rows of every kind and damaged bytes."""
    text = "\n".join(map(json.dumps, rows)) if data.draw(st.booleans()) else json.dumps(rows)
    path = tmp_path / f"data{data.draw(st.sampled_from(['.jsonl', '.json']))}"
    path.write_bytes(mangled(data.draw, text.encode()))
    options.pop("separator", None)
    survives(path, **options)


@pytest.fixture(scope="module")
def parquet():
    """The bytes of a Parquet file with a long table and lists."""
    table = pa.table(
        {
            "order_id": [1, 1, 2],
            "product": [f"{SECRET}a", f"{SECRET}b", None],
            "customer_id": [1.5, None, 2.0],
            "lists": [[SECRET], [], None],
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


@fuzzed
@given(st.data(), OPTIONS)
def test_mangled_parquet(tmp_path, parquet, data, options):
    """Parquet with damaged bytes, cut off or not."""
    path = tmp_path / "data.parquet"
    path.write_bytes(mangled(data.draw, parquet))
    options.pop("separator", None)
    survives(path, **options)


@fuzzed
@given(
    st.lists(st.lists(values | st.binary(max_size=3) | st.tuples(values), max_size=4) | values, max_size=6),
    st.booleans(),
)
def test_collections(baskets, drop_missing):
    """Python collections of anything."""
    survives(baskets, drop_missing=drop_missing)
    survives(baskets, drop_missing=drop_missing, merge_by=list(range(len(baskets))))
