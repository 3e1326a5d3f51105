"""What a query for DuckDB does, told by DuckDB's own parser before anything is read.

Privacy: DuckDB finds the types of a text file by looking at its rows, so one person's row would decide how the labels
of all others read: 250.00 is a number until somebody has a V27.0. The check lists what may stand in a query, not what
may not. The parser names every table and every table function, however it is written or nested. A table function
passes if its types are known without the data: of itself, as that of Parquet, or because its arguments fix all of
them. The name of a file passes if DuckDB reads it as Parquet. Functions that read what a text names when the query
runs, such as query_table('o.' || 'csv'), are not on the list, nor are functions that DuckDB may get later. Where
DuckDB looks at rows to find the separator, the quotes or the form of a text file, that is a guess, and told as one. So
is a CSV file with quotes: one that is not closed takes the rows of others with it, until another one closes it.
The names of folders decide about types, too: DuckDB makes a column of product=7/a.parquet, and numbers of it until
there is a folder product=x. So files pass only if they are all in one folder, or if the query turns this off.
Whatever is not a select, such as a copy in a common table expression, could write exact rows and is refused as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from attrs import frozen

from privmine.errors import InputError
from privmine.io.readers.options import QUOTES_MATCH

NO_SELECT = "The query gives no table; it must be one select, and nothing else."
#: Table functions whose types do not depend on what is in a file.
_KNOWN_TYPES = frozenset(
    {"generate_series", "glob", "json_each", "json_tree", "parquet_scan", "range", "read_blob", "read_json_objects"}
    | {"read_ndjson_objects", "read_parquet", "read_text", "repeat", "unnest"}
)
#: Table functions that find types by looking at a file, unless their arguments fix them.
_TEXT_READERS = frozenset(
    {"read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_ndjson_auto"}
)
#: Table functions that read no files.
_NO_READERS = frozenset({"generate_series", "glob", "json_each", "json_tree", "range", "repeat", "unnest"})
_CSV_READERS = frozenset({"read_csv", "read_csv_auto"})
#: Arguments of read_csv that leave every line a row by itself, if there are no quotes; "" is the file. With others a
#: line may go on into the next one: strict_mode=false lets an escape do so, and new_line= any other end of a line.
_LINE_BY_LINE = frozenset(
    {"", "all_varchar", "auto_detect", "columns", "compression", "dateformat", "decimal_separator", "delim", "filename"}
    | {"header", "hive_partitioning", "hive_types_autocast", "nullstr", "quote", "sep", "skip", "timestampformat"}
)
_SELECT_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE"})
#: DuckDB reads `a.csv?b.parquet` as CSV: what stands before a question mark counts as an ending, too.
_PARQUET_FILE = re.compile(r"(?!.*\.\w+\?).*\.parquet", re.DOTALL)
_TRUE, _FALSE = frozenset({"t", "true", "1"}), frozenset({"f", "false", "0"})


@frozen
class Catalog:
    """What a database file has, by names in lower case.

    Attributes:
        tables: tables and views, each with and without its schema and database.
        macros: table functions that were made in the database.
    """

    tables: Set[str] = frozenset()
    macros: Set[str] = frozenset()


def serialized(connection: Any, sql: str) -> Any:
    """The syntax tree of a query, as DuckDB's parser gives it."""
    ((text,),) = connection.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()
    return json.loads(text)


@frozen
class Reads:
    """What a query reads of text files.

    Attributes:
        names: whether names of columns may come from the contents of a file.
        dialect: whether DuckDB looks at rows to find the separator, the quotes or the form of a file.
        multiline: whether a row of a CSV file may go on into the next line.
    """

    names: bool = False
    dialect: bool = False
    multiline: bool = False

    def __or__(self, other: Reads) -> Reads:
        return Reads(self.names or other.names, self.dialect or other.dialect, self.multiline or other.multiline)

    @property
    def guessed(self) -> dict[str, str]:
        """What was guessed by looking at rows, as the query would say it; empty if nothing was."""
        if not self.dialect and not self.multiline:
            return {}
        return {"sql": "read_csv(…, auto_detect=false, columns={…}, delim=…, quote='', header=…)"}

    @property
    def assumes(self) -> tuple[str, ...]:
        """What it takes for granted, as sentences for the receipt."""
        return QUOTES_MATCH if self.multiline else ()


def check_query(tree: Any, catalog: Catalog) -> Reads:
    """Refuse what is not a select, and a select whose types may depend on the rows of a text file.

    Args:
        tree: the syntax tree of the query.
        catalog: what the database has; of a view or macro there, the receipt says what it assumes.

    Returns:
        What it reads of text files.
    """
    if tree["error"]:
        raise InputError(NO_SELECT)
    reads = Reads()
    for node in _nodes(tree["statements"]):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _SELECT_NODES:
            raise InputError(NO_SELECT)
        if kind == "BASE_TABLE":
            _check_table(node, catalog)
        elif kind == "TABLE_FUNCTION":
            reads |= _check_function(node["function"], catalog)
        elif kind == "PIVOT":
            reads |= Reads(names=True)
    return reads


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for branch in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(branch)


def _check_table(node: dict[str, Any], catalog: Catalog) -> None:
    # DuckDB looks for a file of this name if there is no such table, also where the name is not in quotes: from o.csv.
    name = ".".join(filter(None, (node["catalog_name"], node["schema_name"], node["table_name"])))
    known = name.lower()
    if "." in known and known not in catalog.tables and not _PARQUET_FILE.fullmatch(known):
        raise InputError(f"The query selects from {name}, which is neither a table nor a Parquet file. {_ADVICE}")
    if "." in known and known not in catalog.tables and not _in_one_folder(name):
        raise InputError(_FOLDERS)


def _check_function(function: dict[str, Any], catalog: Catalog) -> Reads:
    name = function["function_name"].lower()
    if name in _NO_READERS or name in catalog.macros:
        return Reads()
    if name not in _KNOWN_TYPES | _TEXT_READERS:
        raise InputError(
            f"The query uses the function {name}(), and privmine does not know whether the types of its columns depend "
            f"on the data. Use tables, Parquet files, or one of these functions: "
            f"{', '.join(sorted(_KNOWN_TYPES | _TEXT_READERS))}; or pass the result as a frame."
        )
    arguments = list(_arguments(function))
    ignores_folders = _ignores_folders(arguments)
    if name in _KNOWN_TYPES and ignores_folders:
        return Reads()
    every_text = [_is_boolean(value, _TRUE) for argument, value in arguments if argument == "all_varchar"]
    columns = [value.get("function_name") == "struct_pack" for argument, value in arguments if argument == "columns"]
    if name in _TEXT_READERS and (not all(every_text + columns) or not every_text + columns):
        raise InputError(f"The query reads a text file without fixed types. {_ADVICE}")
    if not ignores_folders:
        raise InputError(_FOLDERS)
    detects = [not _is_boolean(value, _FALSE) for argument, value in arguments if argument == "auto_detect"]
    dialect = any(detects) or not detects
    quotes = [_constant(value) != "" for argument, value in arguments if argument == "quote"]
    # What DuckDB detects may be a mode in which lines go on as well, whatever the quotes are.
    by_line = not dialect and quotes and not any(quotes) and {argument for argument, _ in arguments} <= _LINE_BY_LINE
    return Reads(names=True, dialect=dialect, multiline=name in _CSV_READERS and not by_line)


def _ignores_folders(arguments: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether no type depends on the names of the folders that a table function finds."""
    columns = [value for argument, value in arguments if argument == "hive_partitioning"]
    casts = [value for argument, value in arguments if argument == "hive_types_autocast"]
    if columns and all(_is_boolean(value, _FALSE) for value in columns):
        return True
    if columns and casts and all(_is_boolean(value, _TRUE) for value in columns):
        return all(_is_boolean(value, _FALSE) for value in casts)
    files = [value for argument, value in arguments if not argument]
    names = [_constant(name) for value in files for name in _elements(value)]
    return bool(names) and all(isinstance(name, str) and _in_one_folder(name) for name in names)


def _elements(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The elements of a list, or a value by itself."""
    return [element for _, element in _arguments(value)] if value.get("function_name") == "list_value" else [value]


def _in_one_folder(name: str) -> bool:
    """Whether all files that a name matches are in the folder that it names, which DuckDB makes no column of."""
    *folders, last = re.split(r"[/\\]", name)
    if any(set("*?[=") & set(folder) for folder in folders) or "**" in last or name.lower().startswith("file:"):
        return False
    try:
        return not Path(name).expanduser().is_dir()  # DuckDB reads all that is in it
    except (OSError, RuntimeError, ValueError):
        return True  # there is no such folder


def _arguments(function: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments that have names, in the trees of DuckDB 2 ("arguments") and of earlier versions ("children")."""
    for entry in function.get("arguments") or function.get("children") or ():
        value = entry.get("expression", entry)
        if value.get("type") == "COMPARE_EQUAL":  # all_varchar = true
            yield ".".join(value["left"].get("column_names", ())).lower(), value["right"]
        else:  # all_varchar := true, all_varchar => true
            yield (entry.get("name") or value.get("alias") or "").lower(), value


def _is_boolean(value: dict[str, Any], words: Set[str]) -> bool:
    """Whether a value is written in one of these ways; earlier versions of DuckDB write true as 't'::boolean."""
    if value.get("type") == "OPERATOR_CAST" and value["cast_type"].get("id") == "BOOLEAN":
        value = value["child"]
    return str(_constant(value)).lower() in words


def _constant(value: dict[str, Any]) -> Any:
    """A value that is written as it is, such as 'a' or 1; None if it is an expression."""
    constant = value.get("literal") or value.get("value")
    return constant.get("text", constant.get("value")) if isinstance(constant, dict) else None


_FOLDERS = (
    "The query may take the names of folders for data: DuckDB makes columns of names such as product=7, and finds "
    "their types by looking at all of them, so that one person's folder could change how others' labels read. Name the "
    "files of one folder whose name has no =, such as 'orders/*.parquet'; or say that folders are no columns: from "
    "read_parquet('orders/*/*.parquet', hive_partitioning=false), or that they are texts: hive_partitioning=true, "
    "hive_types_autocast=false."
)
_ADVICE = (
    "DuckDB finds the types of a text file by looking at its rows, so that one person's row could change how others' "
    "labels read. Fix the types: from read_csv('orders.csv', all_varchar=true), or for JSON from "
    "read_json('orders.json', columns={'order_id': 'VARCHAR', 'product': 'VARCHAR'}); or read the file itself instead "
    "of a query."
)
