"""Private items: databases that differ in an item which was not released look the same, through every reader."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from click.testing import CliRunner

from privmine.audit.messages import captured_messages
from privmine.audit.odd_cells import THEMES, some_neighbours
from privmine.audit.reading import _printed
from privmine.audit.written_sources import Basket, Neighbours
from privmine.cli.commands import cli
from privmine.errors import PrivmineError
from privmine.ledger import Ledger
from privmine.noise.secure import SecureNoise
from privmine.pipeline import Pipeline
from privmine.planning import plan
from privmine.release.release_files import to_json
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


# Runs that release other items: the release, its files and the ledger

#: Times, and checksums of a ledger, which depend on times.
PASSING = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.+]+Z?|\b[0-9a-f]{32,64}\b")
#: Labels that every source can hold and reads as they are. The last one is not released.
OTHERS, UNRELEASED = ("1", "2", "3"), "7"
#: So much that a few baskets suffice to find an item, and none of one basket.
MUCH: dict[str, Any] = {"k": 5, "epsilon": 100, "delta": DELTA}


class Quiet(SecureNoise):
    """Adds nothing and takes the largest, so that two runs can be compared word by word."""

    def add(self, values: Any, noise: Any) -> Any:
        return values

    def select(self, scores: Any, n: int, rate: Any, tail: Any = None) -> Any:
        return np.argsort(-scores, kind="stable")[:n]


def plain_pair(source: Any, protected: Any) -> tuple[Neighbours, list[Basket], list[Basket]]:
    """Sixty baskets of everyday labels, and the same with one more item in one of them."""
    sizes = [1 + number % len(OTHERS) for number in range(60)]
    baskets = [Basket(str(100 + place), str(500 + place), OTHERS[:size]) for place, size in enumerate(sizes)]
    more = [*baskets]
    more[40] = evolve(more[40], labels=(*more[40].labels, UNRELEASED))
    case = Neighbours(tuple(baskets), (), (*OTHERS, UNRELEASED), protected, given=False, private=True)
    return case, case.files(source.layout)[0], evolve(case, others=tuple(more)).files(source.layout)[0]


def told(source: Any, rows: list[Basket], case: Neighbours) -> dict[str, str]:
    """All that a release says, in every form, and what the ledger has of it."""
    with TemporaryDirectory() as place, captured_messages() as said, _printed() as printed:
        folder = Path(place)
        baskets: Transactions = source.read(folder, rows, case)
        ledger = Ledger(folder / "ledger.db")
        ledger.init("orders", 200, DELTA, unit=baskets.unit.name, private_items=True)
        paid: dict[str, Any] = MUCH | {"ledger": ledger, "dataset": "orders"}
        dry = Pipeline().dry_run(baskets, **paid)
        release = Pipeline().run(baskets, **paid, noise=Quiet(), output=folder / "release.csv")
        found = {
            "dry run": str(dry.to_dict()),
            "json": to_json(release),
            "shown": f"{release!r}\n{release.receipt}",
            "notebook": release._repr_html_(),
            "csv": (folder / "release.csv").read_text(),
            "ledger": str([evolve(row, time=None, checksum="") for row in ledger.log("orders")]),
        }
        with pytest.raises(PrivmineError) as refused:
            plan(3, 1, like=baskets, like_is_public=True)
        found["plan"] = str(refused.value)
    found |= {"said": "\n".join(said), "printed": printed.getvalue()}
    assert {item for row in release for item in map(str, row.items)} == set(OTHERS)
    return {name: PASSING.sub("then", text).replace(place, "…") for name, text in found.items()}


@by_source
def test_a_release_of_other_items_does_not_show_it(source: Any) -> None:
    """Each form of a release, its dry run, its row in the ledger and the refusal to plan with it are the same."""
    case, rows, changed = plain_pair(source, "transaction" if source.owners == "nobody" else "unit")
    assert told(source, rows, case) == told(source, changed, case)


@pytest.mark.parametrize("name", ["csv", "baskets", "fimi", "json lines, lists", "parquet", "store on disk of csv"])
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_the_shell_does_not_show_it(name: str, form: list[str], tmp_path: Path) -> None:
    """The screen and the exit code of a dry run, of a run that is refused and of a plan."""
    source = next(source for source in SOURCES if source.name == name)
    case, *both = plain_pair(source, "transaction")
    seen = []
    for place, rows in enumerate(both):
        folder = tmp_path / str(place)
        folder.mkdir()
        path = str(source.write(folder, rows, case)["source"])
        options = [f"--{option}={value}" for option, value in source.options.items() if isinstance(value, str)]
        private = [] if path.endswith(".privmine") else [*options, "--items=private"]
        asked = ["mine", path, *private, "--k=5", "--epsilon=100", *form]
        commands = [[*asked, "--delta=1e-6", "--dry-run"], [*asked, "--dry-run"], [*asked, "--delta=1e-330"]]
        results = [CliRunner().invoke(cli, command) for command in [*commands, ["plan", "--like", path, *form]]]
        seen.append([(done.exit_code, f"{done.output}{done.exception}".replace(str(folder), "…")) for done in results])
    assert seen[0] == seen[1]
    assert [code for code, _ in seen[0]] == [0, 1, 1, 1]
