"""The path from a file to rows, audited on neighbours: does one unit decide how the rows of others are read?

A mechanism is private for neighbours in memory. The promise is about neighbours in a file, so that reading must turn
the one into the other. A `Source` writes a made-up database in some format and says with which options it is read.
`compared` writes two neighbours and compares everything that comes of reading them.

The property, for a database D and the same one with the rows of one more unit, D′, inserted at any place:

1. If both are read, D′ has the transactions of D, and besides them exactly those of the added unit. Of a unit with
   more transactions than count, those are kept that it would keep alone. Where rows are written carelessly, so that
   nobody can say what they should read as, D′ has the transactions of D and at most as many more as count.
2. The universe is the same if it is given. If it is private, there is none. If it is taken from the data, it differs by
   labels of the added unit only.
3. What was guessed or assumed, the unit, the receipt of a simulated run and the decision of strict mode are the same.
   A guess may differ only if strict mode refuses both databases, since a guess looks at data, and says so.
   Where something is left to be guessed, strict mode refuses it, also if both guesses are the same.
4. If one is read and the other one refused, rows of the added unit are written carelessly, and the refusal is a
   `DataError`. If both are refused, the words are the same, but for numbers such as that of a line, unless rows of the
   added unit are written carelessly. A database without any item may be refused if its universe is taken from the data:
   that universe is empty, which is refused anyhow.
5. Warnings and log records are the same. Nothing is printed.
6. No message contains a label or an id, and neither does the context of an error.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from attrs import field, frozen

from privmine.audit.findings import Finding
from privmine.audit.messages import captured_messages, words_of
from privmine.audit.odd_cells import simpler, some_neighbours
from privmine.audit.written_sources import COLUMNS, MOST, Basket, Contents, Neighbours, Source, contents_of
from privmine.errors import DataError, PrivmineError
from privmine.pipeline import Pipeline
from privmine.store.transactions import Transactions

#: Texts that are shorter may stand in a message by chance.
_TELLING = 6
_NUMBER = re.compile(r"\d[\d,]*")


@frozen
class Outcome:
    """Everything that results from reading one database.

    Attributes:
        contents: its transactions; None if it was refused.
        labels: the universe.
        public: what the result tells about how it was read.
        receipt: what the receipt of a simulated run says; None if there is nothing to release.
        strict: what strict mode says; empty if it accepts the data.
        refusal: the error that refused it.
        said: warnings and log records.
        printed: what reached standard output or standard error.
    """

    contents: Contents | None = None
    labels: frozenset[str] = frozenset()
    public: tuple[str, ...] = ()
    receipt: tuple[str, ...] | None = None
    strict: str = ""
    refusal: BaseException | None = field(default=None, eq=False)
    said: tuple[str, ...] = ()
    printed: str = ""

    @property
    def passes(self) -> bool:
        """Whether strict mode would release something of this data."""
        return self.contents is not None and not self.strict


def outcome(source: Source, rows: Sequence[Basket], case: Neighbours) -> Outcome:
    """Write a database, read it, and describe a simulated run on it."""
    with TemporaryDirectory() as place, captured_messages() as said, _printed() as printed:
        folder = Path(place)
        told: dict[str, Any] = {}
        try:
            transactions = source.read(folder, rows, case)
            told = _described(transactions)
        except Exception as error:  # noqa: BLE001 - a reader under audit may raise anything, and that is a finding
            told = {"refusal": error}
        _hide(told, place)
    return Outcome(**told, said=tuple(word.replace(place, "…") for word in said), printed=printed.getvalue())


@cache
def _pipeline() -> Pipeline:
    return Pipeline()


def _described(transactions: Transactions) -> dict[str, Any]:
    delta = "1e-6" if transactions.universe.private else None
    run = partial(_pipeline().run, transactions, k=1, epsilon=1, delta=delta, simulate=True, seed=0)
    strict, release = "", None
    try:
        release = run(strict=True)
    except PrivmineError as error:
        strict = str(error)
        with suppress(PrivmineError):  # nothing to release, which a universe taken from the data tells anyway
            release = run()
    receipt = None if release is None else (release.receipt.protects, *release.receipt.assumptions)
    labels = frozenset(str(label) for label in transactions.universe.labels.tolist())
    return {
        "contents": contents_of(transactions),
        "labels": labels,
        "public": (
            str(transactions.origin),
            str(transactions.unit),
            str(transactions.universe.given),
            repr(transactions) if transactions.universe.private else "",
        ),
        "receipt": receipt,
        "strict": strict,
    }


def _hide(told: dict[str, Any], place: str) -> None:
    """Remove the folder's name from all text, because it differs each time."""
    for name in ("public", "receipt"):
        if told.get(name):
            told[name] = tuple(word.replace(place, "…") for word in told[name])
    if "strict" in told:
        told["strict"] = told["strict"].replace(place, "…")


@contextmanager
def _printed() -> Iterator[io.StringIO]:
    """Record what Python and the libraries print."""
    printed = io.StringIO()
    with TemporaryFile("w+") as file:
        kept = {number: os.dup(number) for number in (1, 2)}
        try:
            for number in kept:
                os.dup2(file.fileno(), number)
            with redirect_stdout(printed), redirect_stderr(printed):
                yield printed
        finally:
            for number, copy in kept.items():
                os.dup2(copy, number)
                os.close(copy)
            file.seek(0)
            printed.write(file.read())


@frozen
class ReadingComparison:
    """Two neighbours, read.

    Attributes:
        smaller: what came of the database without the unit.
        larger: what came of the one with it.
        findings: what tells them apart, beside the transactions of the added unit; nothing if the source is sound.
    """

    smaller: Outcome
    larger: Outcome
    findings: tuple[Finding, ...]

    @property
    def read(self) -> bool:
        """Whether neither was refused."""
        return self.smaller.contents is not None and self.larger.contents is not None


def compared(source: Source, case: Neighbours) -> ReadingComparison:
    """Write two neighbours, read them, and compare all results."""
    files = case.files(source.layout)
    smaller, larger = (outcome(source, rows, case) for rows in files)
    public = frozenset((*COLUMNS, "items", *(case.catalogue if source.layout == "one-hot" else ())))
    found = [
        *_indiscretions(smaller, files[0], public),
        *_indiscretions(larger, files[1], public),
        *_other_words(smaller, larger),
    ]
    if source.guesses and (smaller.passes or larger.passes):
        found.append(Finding("strict", "", "strict mode accepts the data, although something was guessed"))
    if not (source.guesses and _guessed_otherwise(smaller, larger)):
        found.extend(_differences(source, case, smaller, larger, files))
    return ReadingComparison(smaller, larger, tuple(found))


def _guessed_otherwise(smaller: Outcome, larger: Outcome) -> bool:
    """Whether the guesses differ. Strict mode refuses them, and otherwise the receipt states them as assumptions."""
    differs = smaller.public != larger.public or smaller.contents is None or larger.contents is None
    return differs and not smaller.passes and not larger.passes


def _differences(
    source: Source, case: Neighbours, smaller: Outcome, larger: Outcome, files: Sequence[Sequence[Basket]]
) -> Iterator[Finding]:
    if smaller.contents is None or larger.contents is None:
        if not case.publishes_items or any(row.labels for row in files[0]):
            yield from _other_refusal(smaller, larger, source.is_careful(case.extra))
        return
    # What a wrong guess makes of a row nobody can say; it must still be the row's own matter.
    predictable = not source.guesses and source.is_careful(files[1])
    yield from _other_contents(source, case, smaller, larger, files if predictable else None)
    if smaller.public != larger.public:
        yield Finding("origin", "", _contrast(smaller.public, larger.public))
    if smaller.receipt is not None and larger.receipt is not None and smaller.receipt != larger.receipt:
        yield Finding("receipt", "", _contrast(smaller.receipt, larger.receipt))
    if case.publishes_items:
        return  # strict mode refuses it anyhow
    if smaller.strict != larger.strict:
        yield Finding("strict", "", _contrast([smaller.strict or "accepted"], [larger.strict or "accepted"]))
    elif smaller.strict and not source.guesses:
        yield Finding("strict", "", f"strict mode refuses the data, although nothing was guessed: {smaller.strict}")


def _other_words(smaller: Outcome, larger: Outcome) -> Iterator[Finding]:
    if smaller.said != larger.said:
        yield Finding("warning", "", f"{smaller.said} without the unit, {larger.said} with it")


def _indiscretions(outcome: Outcome, rows: Sequence[Basket], public: frozenset[str]) -> Iterator[Finding]:
    """What an outcome must not show, whatever its neighbour shows."""
    if outcome.printed:
        yield Finding("printed", "", repr(outcome.printed[:200]))
    if outcome.refusal is None:
        return
    if not isinstance(outcome.refusal, PrivmineError):
        yield Finding("failure", "", f"{type(outcome.refusal).__name__} is not one of privmine's errors")
    # The context too, if a traceback would not show it: whatever logs an error may.
    words, error = words_of(outcome.refusal), outcome.refusal.__context__
    while error is not None:
        words, error = [*words, *words_of(error)], error.__context__
    cells = {cell for row in rows for cell in (row.unit, row.key, *row.labels) if len(cell.strip()) >= _TELLING}
    for cell in cells:
        if not any(cell.strip() in word for word in public) and any(
            cell in word or repr(cell)[1:-1] in word for word in words
        ):
            yield Finding("quoted", "", f"a message quotes {cell!r}")


def _other_refusal(smaller: Outcome, larger: Outcome, added_carefully: bool) -> Iterator[Finding]:
    """What is wrong when at least one of two neighbours is refused."""
    one, other = smaller.refusal, larger.refusal
    if one is None and not added_carefully and isinstance(other, DataError):
        return  # the added unit's own rows are at fault
    if one is not None and other is not None and (not added_carefully or _words(one) == _words(other)):
        return
    yield Finding("refusal", "", f"{_words(one)!r} without the unit, {_words(other)!r} with it")


def _words(error: BaseException | None) -> str:
    """What an error says, without numbers and names of folders."""
    if error is None:
        return "read"
    return _NUMBER.sub("#", re.sub(r"\S*/(?=[^/\s]*)", "", f"{type(error).__name__}: {error}"))


def _other_contents(
    source: Source, case: Neighbours, smaller: Outcome, larger: Outcome, files: Sequence[Sequence[Basket]] | None
) -> Iterator[Finding]:
    """The differences between two neighbours other than the transactions of the added unit."""
    assert smaller.contents is not None
    assert larger.contents is not None
    lost, won = smaller.contents - larger.contents, larger.contents - smaller.contents
    most = MOST if case.protected == "unit" else 1
    if lost or won.total() > most:
        yield Finding("rows", "", f"adding the unit removes {_short(lost)} and adds {_short(won)}")
    elif files is not None:
        for what, found, rows in (("without", smaller, files[0]), ("with", larger, files[1])):
            expected = source.expected(rows, case)
            if found.contents != expected:
                told = f"{_short(expected)} was written, but {_short(found.contents)} was read {what} the unit"
                yield Finding("rows", "", told)
                break
    own = {source.label(label) for basket in case.extra for label in basket.labels}
    if not case.publishes_items or files is not None:
        allowed = own if case.publishes_items else set()
        if smaller.labels - larger.labels or larger.labels - smaller.labels - allowed:
            yield Finding("universe", "", f"{_short(smaller.labels)} without the unit, {_short(larger.labels)} with it")


def _short(value: Any) -> str:
    text = repr(dict(value) if isinstance(value, Counter) else set(value))
    return text if len(text) < 300 else f"{text[:300]}…"


def _contrast(one: Sequence[str], other: Sequence[str]) -> str:
    return " | ".join(f"{first} / {second}" for first, second in zip(one, other, strict=False) if first != second)


@frozen
class SourceReport:
    """The result of auditing one source.

    Attributes:
        source: its name.
        pairs: how many pairs of neighbours were tried.
        refused: those of which at least one was refused.
        counterexample: the smallest pair found that breaks the property.
        findings: how it does.
    """

    source: str
    pairs: int
    refused: tuple[Neighbours, ...] = ()
    counterexample: Neighbours | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def read(self) -> int:
        """Of how many pairs both were read."""
        return self.pairs - len(self.refused)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        verdict = "holds" if self.ok else "VIOLATES"
        lines = [f"{self.source:<44} {self.pairs:>6,} pairs, {self.read:>6,} read, {verdict}"]
        lines += [f"    {finding}" for finding in self.findings]
        return "\n".join([*lines, *([] if self.ok else [f"    {self.counterexample}"])])


def audit_source(source: Source, pairs: int = 60, seed: int = 0, *, shrink: bool = True) -> SourceReport:
    """Compare pairs of neighbours until one breaks the property, then make it smaller and report it.

    Args:
        source: what to audit.
        pairs: how many pairs at most.
        seed: other seeds make other pairs.
        shrink: whether to make a counterexample smaller, which takes longer.
    """
    random = Random(f"{source.name} {seed}")  # noqa: S311 - made-up data
    refused: list[Neighbours] = []
    for tried in range(1, pairs + 1):
        case = some_neighbours(source, random)
        comparison = compared(source, case)
        if not comparison.read:
            refused.append(case)
        if not comparison.findings:
            continue
        smaller: Neighbours | None = case
        while shrink and smaller is not None:
            case, rules = smaller, {finding.rule for finding in comparison.findings}
            smaller = None
            for other in simpler(case):
                again = compared(source, other)
                if rules & {finding.rule for finding in again.findings}:
                    smaller, comparison = other, again
                    break
        return SourceReport(source.name, tried, tuple(refused), case, comparison.findings)
    return SourceReport(source.name, pairs, tuple(refused))
