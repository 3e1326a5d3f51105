"""From a file to rows: one unit never decides how the rows of others are read, whatever the way in.

The sources are in `reading_sources.py`. `pytest -s` prints the table. The environment variable `PRIVMINE_PAIRS` sets
how many pairs of neighbours are read from each source; without it they are few, and `tox -e statistics` reads more.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privmine.audit.odd_cells import THEMES, neighbours, simpler, some_neighbours
from privmine.audit.reading import audit_source, compared
from privmine.audit.written_sources import Basket, Neighbours
from privmine.io import label_codes as labels
from privmine.io.readers import assembly, csv_in, csv_rows, duckdb_in, excel_in
from privmine.io.readers.duckdb_queries import Reads
from privmine.io.respelling import Respelling
from privmine.store import disk, parts, transactions
from privmine.store.labels import text_of, unit_of

# By its path: early versions of pytest cannot import one test module from another.
_spec = spec_from_file_location("reading_sources", Path(__file__).with_name("reading_sources.py"))
assert _spec is not None
assert _spec.loader is not None
_sources = module_from_spec(_spec)
_spec.loader.exec_module(_sources)
CSV, SLOW, SOURCES, query_csv = _sources.CSV, _sources.SLOW, _sources.SOURCES, _sources.query_csv

#: The module, not the function of this name.
read = import_module("privmine.io.readers.dispatch")
PAIRS = int(os.environ.get("PRIVMINE_PAIRS", "10"))
THOROUGH = 100
#: Enough to find a mutation.
MANY = 400
BY_NAME = {source.name: source for source in SOURCES}
every_source = pytest.mark.parametrize("source", SOURCES, ids=BY_NAME)


def check(source, pairs) -> None:
    """Audit a source, and print what came of it."""
    report = audit_source(source, pairs)
    print(report)
    assert report.ok, str(report)
    assert [case for case in report.refused if not may_be_refused(source, case)] == []
    assert report.read >= report.pairs / 4, "too few pairs were read, so that little was compared"


def may_be_refused(source, case) -> bool:
    """A wrong guess, careless cells, or no item in the smaller database where the universe is taken from the data."""
    no_item = case.publishes_items and not any(row.labels for row in case.others)
    return source.guesses or no_item or not source.is_careful((*case.others, *case.extra))


@every_source
def test_one_unit_does_not_decide_about_others(source) -> None:
    """Two neighbours differ by the added unit's transactions, and by nothing else."""
    check(source, PAIRS)


@pytest.mark.statistics
@every_source
def test_one_unit_does_not_decide_about_others_on_many_pairs(source) -> None:
    """The same, on many more pairs; fewer of slow sources."""
    check(source, THOROUGH // 4 if source.name in SLOW else THOROUGH)


# The pairs


def test_no_two_sources_have_the_same_name() -> None:
    """The table has a line for each; the slow ones are among them."""
    assert len(BY_NAME) == len(SOURCES)
    assert set(BY_NAME) >= SLOW


@every_source
def test_pairs_are_neighbours_that_the_source_can_hold(source) -> None:
    """One file has the rows of the other and those of one unit, or of one transaction, that the other has not."""
    random = Random(1)  # noqa: S311 - made-up data
    for case in (some_neighbours(source, random) for _ in range(50)):
        smaller, larger = case.files(source.layout)
        alone = evolve(case, others=()).files(source.layout)[1]
        assert Counter(larger) == Counter(smaller) + Counter(alone)
        cells = {cell for row in larger for cell in (row.unit, row.key, *row.labels)}
        assert all(map(source.carries, cells))
        if case.protected == "transaction":
            assert len(case.extra) == 1
            assert not {source.key(row.key) for row in case.others} & {source.key(row.key) for row in case.extra}
        else:
            assert len({source.unit(row) for row in case.extra}) == 1
            assert not {source.unit(row) for row in case.others} & {source.unit(row) for row in case.extra}


def test_pairs_have_every_theme_place_and_protection() -> None:
    """Odd cells of every theme occur, at any place, for transactions and units; universes are given, private or not."""
    random = Random(1)  # noqa: S311 - made-up data
    cases = [some_neighbours(BY_NAME["parquet"], random) for _ in range(500)]
    cells = {cell for case in cases for row in (*case.others, *case.extra) for cell in (row.key, *row.labels)}
    assert [theme for theme, texts in THEMES.items() if not cells & set(texts)] == []
    assert {case.place for case in cases} == {"first", "last", "middle", "scattered"}
    assert {case.protected for case in cases} == {"transaction", "unit", "merged"}
    assert {(case.given, case.private) for case in cases} == {(True, False), (False, True), (False, False)}


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_hypothesis_makes_pairs_too(data) -> None:
    """The strategy is for tests of one's own."""
    assert compared(CSV, data.draw(neighbours(CSV))).findings == ()


# Mutations: each hole put back is found


def found_by(name_or_source, pairs=MANY) -> set[str]:
    """The rules that a source breaks; the report is printed."""
    source = BY_NAME[name_or_source] if isinstance(name_or_source, str) else name_or_source
    report = audit_source(source, pairs, shrink=False)
    print(report)
    return {finding.rule for finding in report.findings}


def test_a_plan_that_is_displayed_is_found(monkeypatch) -> None:
    """A library that prints the plan of a query, with the number of rows, as DuckDB does in a notebook."""
    original = read.relation_table

    def displayed(relation, asked):
        print(relation.explain())
        return original(relation, asked)

    monkeypatch.setattr(read, "relation_table", displayed)
    assert "printed" in found_by("DuckDB relation")


def test_a_guess_that_is_not_recorded_is_found(monkeypatch) -> None:
    """A comma that was guessed, and that the origin does not tell."""
    original = read.Origin

    def silent(layout="", source="", guessed=(), assumes=()):
        told = {name: value for name, value in dict(guessed).items() if (name, value) != ("separator", ",")}
        return original(layout, source, told, assumes)

    monkeypatch.setattr(read, "Origin", silent)
    assert found_by("baskets, careless, guessed") & {"strict", "rows", "refusal"}


def test_a_cell_that_goes_on_over_lines_is_found(monkeypatch) -> None:
    """A quote that opens in one row and closes in another takes the rows between with it."""
    original = csv_rows.csv_rows
    monkeypatch.setattr(csv_in, "csv_rows", lambda *args, **how: original(*args, **{**how, "multiline_cells": True}))
    assert found_by("csv, careless") & {"rows", "refusal"}


def test_types_that_depend_on_rows_are_found(monkeypatch) -> None:
    """A query over text without fixed types: 250.00 is 250 until somebody has V27.0."""
    monkeypatch.setattr(duckdb_in, "check_query", lambda tree, catalog: Reads(names=True))
    sniffed = evolve(
        BY_NAME["DuckDB over CSV"],
        write=partial(query_csv, reader="'{}'"),
        themes=("nearly numbers", "times", "words"),
    )
    assert found_by(sniffed) & {"rows", "refusal"}


def test_keys_that_are_numbers_only_if_all_are_are_found(monkeypatch) -> None:
    """Orders 17 and 017 are one order until somebody has the order A-4711."""
    monkeypatch.setattr(labels, "_are_canonical", lambda texts: True)
    codes = ("7", "07", "007", "17", "017", "bread", "A-4711")
    assert "rows" in found_by(evolve(BY_NAME["parquet"], cell=lambda random, theme: random.choice(codes)))


def test_a_separator_that_the_first_row_decides_is_found(monkeypatch) -> None:
    """The separator is looked for although it was said."""

    def first_row(path, asked):
        return max(",;\t|", key=path.read_text().partition("\n")[0].count)

    for module in (read, csv_in):
        monkeypatch.setattr(module, "said_separator", first_row)
    assert "rows" in found_by(evolve(BY_NAME["baskets, careless"], themes=("separators",)))


def test_baskets_that_are_kept_by_their_place_are_found(monkeypatch) -> None:
    """Which baskets of a unit count goes by the number of rows of all."""
    original = parts.bounded

    def by_place(rows, units, unit_salts, item_salts, most, shelf):
        return original(rows, units, unit_salts + np.uint64(rows.count), item_salts, most, shelf)

    monkeypatch.setattr(parts, "bounded", by_place)
    assert "rows" in found_by("parquet, lists")


def test_a_unit_that_is_written_in_two_ways_and_counts_twice_is_found(monkeypatch) -> None:
    """17 and 17.0 are one customer."""
    for module in (assembly, transactions):
        monkeypatch.setattr(module, "unit_of", text_of)
    assert "rows" in found_by("arrow")


def test_an_order_of_two_units_is_found(monkeypatch) -> None:
    """The order 17 of one customer takes the rows of another customer's order 17."""
    original = assembly.paired

    def shared(owners, count, keys, bound):
        first = {}
        for owner, key in zip(owners.tolist(), keys.tolist(), strict=True):
            first.setdefault(key, owner)
        return original(np.array([first[key] for key in keys.tolist()], dtype=np.int32), count, keys, bound)

    monkeypatch.setattr(assembly, "paired", shared)
    assert "rows" in found_by("pandas, objects")


def test_labels_that_are_numbers_only_if_all_are_are_found(monkeypatch) -> None:
    """007 and 7 are one item until somebody buys bread."""
    monkeypatch.setattr(
        transactions, "_reads_as_integer", lambda text: text.isascii() and text.isdigit() and len(text) < 19
    )
    assert "rows" in found_by(evolve(CSV, themes=("nearly numbers",)))


def test_a_message_that_quotes_a_row_is_found(monkeypatch) -> None:
    """What Arrow says about a line has the line."""
    # Such a line is told by its number, before anybody hears what Arrow says.
    monkeypatch.setattr(csv_rows, "_uneven_line", lambda *args: None)
    monkeypatch.setattr(csv_in, "complaint_of", lambda error, encoding: str(error))
    assert "quoted" in found_by("csv, careless")


def test_a_warning_with_a_number_is_found(monkeypatch) -> None:
    """A reader that tells how many transactions it has read."""
    original = assembly.grouped

    def telling(*args):
        found = original(*args)
        warnings.warn(f"{len(found.keys)} transactions", stacklevel=2)
        return found

    monkeypatch.setattr(assembly, "grouped", telling)
    assert "warning" in found_by("arrow")


def test_a_guess_that_a_store_on_disk_forgets_is_found(monkeypatch) -> None:
    """A file that does not say that its layout was guessed passes in strict mode."""
    monkeypatch.setattr(disk, "_pairs", lambda origin: {"guessed": {}, "columns": {}, "reference": ""})
    assert found_by("store on disk of csv, guessed") & {"strict", "rows", "refusal"}


def test_baskets_that_a_limit_of_memory_keeps_by_their_place_are_found(monkeypatch) -> None:
    """Rows that go through files are bounded by another rule."""
    original = parts.bounded

    def by_place(rows, units, unit_salts, item_salts, most, shelf):
        shift = np.uint64(rows.count if shelf.is_full else 0)
        return original(rows, units, unit_salts + shift, item_salts, most, shelf)

    monkeypatch.setattr(parts, "bounded", by_place)
    assert "rows" in found_by("parquet, lists, memory limit")


def test_a_refusal_that_a_sound_row_causes_is_found(monkeypatch) -> None:
    """A reader that does not take some label."""
    original = assembly.Codes.encode

    def choosy(self, column):
        if "null" in column.to_pylist():
            raise assembly.DataError("Some label is not to be read.")
        return original(self, column)

    monkeypatch.setattr(assembly.Codes, "encode", choosy)
    assert "refusal" in found_by(evolve(BY_NAME["arrow"], themes=("words",)))


def test_a_label_that_reads_as_it_is_first_written_is_found(monkeypatch) -> None:
    """Whoever stands first in the file decides how the item of all others reads."""
    first: dict[str, str] = {}

    def as_first_written(self, text):
        return first.setdefault(self.alike(text), text)

    original = read.read_asked

    def fresh(*args, **how):
        first.clear()
        return original(*args, **how)

    monkeypatch.setattr(Respelling, "__call__", as_first_written)
    monkeypatch.setattr(read, "read_asked", fresh)
    assert found_by("csv, trimmed and folded") & {"rows", "universe"}


def test_a_catalogue_that_is_not_folded_is_found(monkeypatch) -> None:
    """The labels of the data are made alike, those of the public universe are not."""
    monkeypatch.setattr(Respelling, "of_catalogue", lambda self, labels: (self, [label.upper() for label in labels]))
    assert "rows" in found_by("baskets, trimmed and folded")


def test_rows_of_nobody_that_are_somebodys_are_found(monkeypatch) -> None:
    """All rows without a unit are taken for one unit's."""
    monkeypatch.setattr(assembly, "unit_of", lambda text: unit_of(text) or "somebody")
    assert "rows" in found_by("parquet, rows that are nobody's")


def test_cells_of_a_workbook_that_are_numbers_only_if_all_are_are_found(monkeypatch) -> None:
    """A column of numbers reads 17.0 until somebody has text in it, as a frame of pandas would have it."""
    original = excel_in.column_of

    def as_one_type(cells, name, *, lists):
        known = [cell for cell in cells if cell is not None]
        are_numbers = all(type(cell) is int for cell in known)
        texts = [f"{cell}.0" if are_numbers and cell is not None else cell for cell in cells]
        return original(texts, name, lists=lists)

    monkeypatch.setattr(excel_in, "column_of", as_one_type)
    assert "rows" in found_by("excel, numbers and truths", pairs=60)


def test_a_number_of_rows_that_a_workbook_tells_is_found(monkeypatch) -> None:
    """A reader that tells how many rows a workbook has."""
    original = excel_in._rows

    def telling(path, sheet):
        rows = list(original(path, sheet))
        warnings.warn(f"{len(rows)} rows", stacklevel=2)
        return iter(rows)

    monkeypatch.setattr(excel_in, "_rows", telling)
    assert "warning" in found_by("excel", pairs=30)


def test_a_counterexample_is_made_small(monkeypatch) -> None:
    """It breaks the same rule with fewer transactions, and nothing simpler does."""
    for module in (assembly, transactions):
        monkeypatch.setattr(module, "unit_of", text_of)
    source = BY_NAME["arrow"]
    first, small = (audit_source(source, MANY, shrink=shrink).counterexample for shrink in (False, True))
    assert "rows" in broken(source, small)
    assert len(small.others + small.extra) <= 3 < len(first.others + first.extra)
    assert not any("rows" in broken(source, case) for case in simpler(small))


def broken(source, case) -> set[str]:
    """The rules that a pair breaks."""
    return {finding.rule for finding in compared(source, case).findings}


# The expectation itself


def test_what_is_expected_is_what_was_written() -> None:
    """Rows of one order are one transaction; of a unit with many, some are kept; merged, they are one."""
    rows = [Basket("1", "5", ("a",)), Basket("1.0", "5", ("b",)), Basket("1", "6", ("a",)), Basket("1", "7", ("c",))]
    case = Neighbours((), (), ("a", "b", "c"), given=False)
    assert CSV.expected(rows, case) == {("a", "b"): 1, ("a",): 1, ("c",): 1}
    assert CSV.expected(rows, evolve(case, protected="merged")) == {("a", "b", "c"): 1}
    kept = CSV.expected(rows, evolve(case, protected="unit"))
    assert kept.total() == 2
    assert kept <= CSV.expected(rows, case)
    assert unit_of("1.0") == "1"
