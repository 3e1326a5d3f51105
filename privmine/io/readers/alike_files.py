"""Files of Arrow's formats that are read as one table: they must have the same columns, each name once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from privmine.errors import DataError
from privmine.io.readers.tables import RowGuard

#: Says in words what an error of the source means, without its message.
Complaint = Callable[[Exception], str]


def checked_names(path: Path, schema: Any) -> Any:
    """The schema of a file, unless a name occurs twice."""
    if len(set(schema.names)) < len(schema.names):
        raise DataError(f"{path} has several columns of one name; rename all but one.")
    return schema


def common_columns(
    paths: Sequence[Path], first: Any, schema_of: Callable[[Path], Any], complaint: Complaint
) -> tuple[str, ...]:
    """The names of the columns that all files have.

    Args:
        paths: the files.
        first: the schema of the first one.
        schema_of: reads the schema of another one.
        complaint: for errors of reading it.
    """
    columns = tuple(first.names)
    for path in paths[1:]:
        if tuple(RowGuard(str(path), complaint)(partial(schema_of, path)).names) != columns:
            raise DataError(f"{path} has other columns than {paths[0]}; read only files that are alike.")
    return columns


def complaint_about(kind: str) -> Complaint:
    """A function that says what is wrong with a file of this kind."""

    def complaint(error: Exception) -> str:
        if isinstance(error, FileNotFoundError):
            return "it does not exist"
        if isinstance(error, PermissionError):
            return "it cannot be read: permission denied"
        return f"it is not a whole {kind} file, but cut off or damaged; fetch or write it again"

    return complaint
