"""Private items: databases that differ in an item which was not released look the same, through every reader."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from attrs import evolve

from privmine.audit.messages import captured_messages
from privmine.audit.odd_cells import THEMES, some_neighbours
from privmine.audit.reading import _printed
from privmine.audit.written_sources import Basket, Neighbours
from privmine.errors import PrivmineError
from privmine.pipeline import Pipeline
from privmine.store.transactions import Transactions

# By its path: early versions of pytest cannot import one test module from another.
_spec = spec_from_file_location("reading_sources", Path(__file__).with_name("reading_sources.py"))
assert _spec is not None
assert _spec.loader is not None
_sources = module_from_spec(_spec)
_spec.loader.exec_module(_sources)

#: The columns of a one-hot table are known to all, so that its items cannot be private.
SOURCES = [source for source in _sources.SOURCES if "one-hot" not in (source.layout, source.options.get("layout"))]
by_source = pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
DELTA = "1e-6"
ASKED: dict[str, Any] = {"k": 3, "epsilon": 1}


def pair(source: Any, random: Random) -> tuple[Neighbours, list[Basket], list[Basket]] | None:
    """A database, and the same with an item more in one of its transactions; None if it has no transaction."""
    case = evolve(some_neighbours(source, random), given=False, private=True)
    rows = case.files(source.layout)[1]
    used = {source.label(label) for row in rows for label in row.labels}
    texts = [text for text in _more(source, random) if source.label(text) not in used]
    if not rows or not texts:
        return None
    place = random.randrange(len(rows))
    row = rows[place]
    if source.layout == "list":
        changed = [*rows[:place], evolve(row, labels=(*row.labels, texts[0])), *rows[place + 1 :]]
    else:
        changed = [*rows[: place + 1], evolve(row, labels=(texts[0],)), *rows[place + 1 :]]
    return case, rows, changed


def _more(source: Any, random: Random) -> list[str]:
    """Texts that this source can hold, of any theme."""
    from privmine.audit.odd_cells import odd_cell

    cell = source.cell or odd_cell
    texts = (cell(random, theme) for theme in random.choices(list(THEMES), k=20))
    return [text for text in texts if source.carries(text) and source.careful(text)]


def seen(source: Any, rows: list[Basket], case: Neighbours) -> dict[str, Any]:
    """All that anybody sees of a database before and after a run: words, dry run, receipt, messages."""
    with TemporaryDirectory() as place, captured_messages() as said, _printed() as printed:
        found: dict[str, Any] = {}
        try:
            baskets: Transactions = source.read(Path(place), rows, case)
        except PrivmineError as error:
            found["refused"] = str(error)
        else:
            found |= {"words": repr(baskets), "origin": str(baskets.origin), "universe": repr(baskets.universe)}
            pipeline = Pipeline()
            found["dry run"] = pipeline.dry_run(baskets, **ASKED, delta=DELTA).to_dict()
            found["at a frequency"] = pipeline.dry_run(baskets, epsilon=1, theta="1/10", k_max=3, delta=DELTA).to_dict()
            for name, options in {"pure": {}, "strict": {"delta": DELTA, "strict": True}}.items():
                try:
                    pipeline.dry_run(baskets, **ASKED, **options)
                except PrivmineError as error:
                    found[name] = str(error)
            release = pipeline.run(baskets, **ASKED, delta=DELTA, simulate=True, seed=0)
            found["released"] = [row.items for row in release]
            found["receipt"] = release.receipt.to_dict()
    texts = {name: str(value).replace(place, "…") for name, value in found.items()}
    return texts | {"said": [word.replace(place, "…") for word in said], "printed": printed.getvalue()}


@by_source
def test_an_item_that_was_not_released_does_not_show(source: Any) -> None:
    """Dry run, refusals, receipt, warnings, logs and the screen are the same with it and without it."""
    random = Random(source.name)  # noqa: S311 - made-up data
    compared = 0
    for _ in range(4):
        made = pair(source, random)
        if made is None:
            continue
        case, rows, changed = made
        before, after = seen(source, rows, case), seen(source, changed, case)
        assert before.get("released", "[]") == after.get("released", "[]") == "[]"  # so few transactions release none
        if {"refused"} <= before.keys() & after.keys() and not source.is_careful([*rows, *changed]):
            continue  # a text that cannot be read, with one item more
        if source.guesses and before != after:
            # What is detected may depend on any cell, and the receipt says so; strict mode releases nothing then.
            assert "Strict mode" in before["strict"]
            assert "Strict mode" in after["strict"]
            continue
        assert before == after, (rows, changed)
        compared += "receipt" in before
    assert compared or source.guesses or "careless" in source.name


@pytest.mark.parametrize(
    "leak",
    [
        lambda self: f"<Transactions over {len(self.counted)} private items>",
        lambda self: (
            f"<Transactions, longest label {max((len(str(x)) for x in self.counted.labels.tolist()), default=0)}>"
        ),
    ],
)
def test_words_that_tell_of_an_item_are_found(leak: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of items, or the length of a label, in what the data says of itself."""
    monkeypatch.setattr(Transactions, "__repr__", leak)
    source = next(source for source in SOURCES if source.name == "parquet")
    with pytest.raises(AssertionError):
        test_an_item_that_was_not_released_does_not_show(source)
