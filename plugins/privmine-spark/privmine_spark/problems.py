"""What can be wrong with the rows of a frame: a number on the executors, a sentence on the driver.

Privacy: an exception on an executor would be logged there with what it says, and Spark repeats it on the driver. So
executors raise none of their own. They report a number, and the sentence names columns only.
"""

from __future__ import annotations

from privmine.api import DataError

NO_ITEM, NO_TRANSACTION, NO_UNIT, NEW_LABEL, FAILED = 1, 2, 3, 4, 5

#: What is said of a frame that gives other rows when it is computed again.
CHANGED = (
    "the data changed while it was read or counted: Spark computed it again, for example after an executor was lost, "
    "and got other rows. Save the data first, for example frame.write.parquet('orders.parquet'), and read what was "
    "saved"
)


class WorkerProblem(Exception):  # noqa: N818 - never raised out of this package
    """Something is wrong with rows on an executor; caught there."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(str(number))


def data_error(number: int, columns: dict[int, str]) -> DataError:
    """What to tell the user.

    Args:
        number: what is wrong.
        columns: the name of the column that each number is about.
    """
    if number in (NO_ITEM, NO_TRANSACTION):
        return DataError(
            f"The Spark frame has missing values in the column {columns[number]!r}. Check the name of the column, or "
            "pass drop_missing=True: then rows without a transaction id are dropped, and missing items are ignored."
        )
    if number == NO_UNIT:
        return DataError(
            f"The Spark frame has missing values in the column {columns[number]!r}. Every row must say whose it is, or "
            "it could not be protected; check the name of the column, or leave such rows out where the data is made."
        )
    if number == NEW_LABEL:
        return DataError(f"{CHANGED[:1].upper()}{CHANGED[1:]}.")
    return DataError(
        "Some row of the Spark frame cannot be read; the reason is withheld, because it may contain data. Check that "
        "its texts are valid UTF-8 and that executors have enough memory."
    )
