"""Nothing of the data reaches an output, a log or an exception; what goes wrong costs what it must and no more."""

# ruff: noqa: SLF001 - the tests look into the store
from __future__ import annotations

import sys
import traceback
import types
import warnings

import pytest

import privmine as pm
from privmine.api import DataError, PrivmineWarning, SumQuery
from privmine.errors import PrivmineError, QueryError
from privmine.noise.secure import SecureNoise
from privmine.testing import curator_for

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

SECRET = "secret-4711"  # noqa: S105 - a label


@pytest.fixture
def functions(session):
    """Spark's functions; not imported above, since tests are collected where there is no Spark, too."""
    from pyspark.sql import functions

    return functions


@pytest.fixture
def nothing_said(capfd):
    """At the end: that the secret stands in no output, and in no exception that was caught here."""
    caught = []
    yield caught
    told = capfd.readouterr()
    words = told.out + told.err + "".join("".join(traceback.format_exception(error)) for error in caught)
    assert SECRET not in words
    assert "Traceback" not in told.err
    assert "ERROR" not in told.err


def fails(caught, kind, work):
    """The error that work raises."""
    with pytest.raises(kind) as found:
        work()
    error = found.value
    while error is not None:  # what it was raised from is told as well
        assert isinstance(error, PrivmineError)
        error = error.__cause__ or error.__context__
    caught.append(found.value)
    return str(found.value)


def test_an_error_of_the_frame_itself_is_not_quoted(session, nothing_said) -> None:
    """A cast that fails tells the value in Spark's words; they are told neither here nor in Spark's log."""
    bad = session.createDataFrame([("1", SECRET), ("2", "3")], "id string, product string").selectExpr(
        "id", "cast(product as int) as product"
    )
    said = fails(nothing_said, DataError, lambda: pm.read(bad, transaction="id", item="product"))
    assert said.startswith("Spark failed: the reason is withheld")


def test_an_error_of_a_function_of_the_user_is_not_quoted(session, functions, nothing_said) -> None:
    """Nor what Python says on an executor."""

    @functions.udf("string")
    def failing(text):
        raise ValueError(text)

    frame = session.createDataFrame([(1, SECRET)], "id int, product string").select("id", failing("product").alias("p"))
    fails(nothing_said, DataError, lambda: pm.read(frame, transaction="id", item="p", items=["x"]))


def test_texts_that_are_no_texts_are_not_quoted(session, nothing_said) -> None:
    """Bytes that Spark takes for a text, and Python does not."""
    frame = session.sql(f"select 1 as id, cast(concat(x'ff', cast('{SECRET}' as binary)) as string) as product")
    fails(nothing_said, DataError, lambda: pm.read(frame, transaction="id", item="product"))


def test_an_error_in_a_query_keeps_its_charge(session, nothing_said, tmp_path) -> None:
    """The session ends in the midst of a run: a query error, and the ledger keeps what was charged."""
    frame = session.createDataFrame([([SECRET, "b"],)] * 30, "items array<string>")
    data = pm.read(frame, item="items")
    store = data.store
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", epsilon=2)
    asked = store._ask

    def broken(method, *arguments):
        if method != "item_supports":
            store._packed = store._packed.map(lambda row: int(SECRET))
        return asked(method, *arguments)

    store._ask = broken
    fails(nothing_said, PrivmineError, lambda: pm.mine(data, k=2, epsilon=1, ledger=ledger, dataset="orders"))
    (charge,) = [entry for entry in ledger.log("orders") if entry.event == "charge"]
    assert str(charge.epsilon) == "1"
    assert charge.state == "failed (stays charged)"


def test_contributions_that_fail_are_zeros_and_silent(session, nothing_said) -> None:
    """A function of a stranger raises what it likes on an executor, and is clipped there."""

    def failing(transaction):
        raise ValueError(SECRET, transaction)

    def too_much(transaction):
        return [1000, 1]

    frame = session.createDataFrame([([SECRET],), (["b", SECRET],)], "items array<string>")
    store = pm.read(frame, item="items").store
    assert store.sum(failing, 2, 10).tolist() == [0, 0]
    assert store.sum(too_much, 2, 10).tolist() == [20, 0]


def test_a_function_of_a_module_that_executors_lack_is_told(session, nothing_said, monkeypatch) -> None:
    """With what to do about it."""
    module = types.ModuleType("only_here")
    exec("def one(transaction):\n    return [1]", vars(module))  # noqa: S102 - two lines of ours
    monkeypatch.setitem(sys.modules, "only_here", module)
    store = pm.read(session.createDataFrame([(["a"],)], "items array<string>"), item="items").store
    assert "a module that the executors lack" in fails(nothing_said, DataError, lambda: store.sum(module.one, 1, 1))


def test_a_function_that_cannot_travel_is_told(session, nothing_said) -> None:
    """In words, without what Spark says of it."""
    import threading

    lock = threading.Lock()
    store = pm.read(session.createDataFrame([(["a"],)], "items array<string>"), item="items").store
    said = fails(nothing_said, DataError, lambda: store.sum(lambda transaction: [1 if lock else 0], 1, 1))
    assert "cannot be sent to the executors" in said


def test_data_that_changes_is_noticed_before_the_charge(session, tmp_path, nothing_said) -> None:
    """Spark forgot what it kept, and the rows are others since: refused, and nothing is charged."""
    data = changing(session)
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", epsilon=2)
    with pytest.warns(PrivmineWarning, match="The data changed"):
        said = fails(nothing_said, DataError, lambda: pm.mine(data, k=1, epsilon=1, ledger=ledger, dataset="orders"))
    assert "Save the data first" in said
    assert [entry.event for entry in ledger.log("orders")] == ["init"]


def changing(session):
    """Data that Spark computes again, and never the same."""
    from pyspark.sql import functions

    @functions.udf("array<int>")
    def some(number):
        import os

        return list({byte % 3 for byte in os.urandom(3)})

    frame = session.range(400).select(some("id").alias("items"))
    data = pm.read(frame, item="items", items=[0, 1, 2])
    data.store.close()
    return data


def test_data_that_changes_in_a_run_gives_no_answer(session) -> None:
    """A frame of random rows that was computed again fails the query; the charge is kept by the curator."""
    curator = curator_for(changing(session), 10, noise=SecureNoise())
    with pytest.warns(PrivmineWarning, match="The data changed"), pytest.raises(QueryError):
        curator.measure(SumQuery(lambda transaction: [len(transaction)], 1, l1=3))


def test_new_labels_between_two_passes_are_noticed(session) -> None:
    """The universe is taken from one pass; a label that comes up in the next is no item of it."""
    from pyspark.sql import functions

    @functions.udf("array<string>")
    def some(number):
        import uuid

        return [str(uuid.uuid4())]

    frame = session.range(50).select(some("id").alias("items"))
    with pytest.raises(DataError, match="The data changed"):
        pm.read(frame, item="items")


def test_the_progress_bar_is_stopped(session, capfd) -> None:
    """It would show how many tasks there are, which is told by the size of the data."""
    bar = session.sparkContext._jsc.sc().progressBar()
    pm.read(session.createDataFrame([(["a"],)], "items array<string>"), item="items")
    assert not bar.isDefined() or bar.get() is not None
    assert "Stage" not in capfd.readouterr().err


def test_the_log_is_as_it_was(session) -> None:
    """Afterwards Spark logs what it logged before."""
    logs = session.sparkContext._jvm.org.apache.logging.log4j.LogManager.getContext(False)
    before = logs.getRootLogger().getLevel().toString(), logs.getConfiguration().hasFilter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pm.read(session.createDataFrame([(["a"],)], "items array<string>"), item="items")
    assert (logs.getRootLogger().getLevel().toString(), logs.getConfiguration().hasFilter()) == before
