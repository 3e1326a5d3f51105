"""Comparing strategies on given elements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from click.testing import CliRunner
from privmine_bases.compare import as_data, compare, compare_strategies
from privmine_bases.elements import read_elements

from privmine.api import (
    BasisSet,
    DataError,
    Elements,
    InputError,
    Public,
    PureDP,
    Registered,
    Request,
    Universe,
    hookimpl,
    parameter,
)
from privmine.cli.commands import cli
from privmine.defaults.construct import GreedyBasis

ELEMENTS = {"items": ["tea", "milk", "jam"], "itemsets": [["milk", "tea"], ["jam", "milk"]]}


def write(folder: Path, content: Any, name: str = "elements.json") -> Path:
    """Write an elements file."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def invoke(*arguments: str) -> str:
    """Run the command; what it raises is raised here."""
    return CliRunner().invoke(compare, arguments, catch_exceptions=False, standalone_mode=False).output


def outcomes(*classes: type, elements: Elements | None = None) -> list[dict[str, Any]]:
    """What the comparison says of some classes."""
    universe = Universe.of(["a", "b", "c", "d"])
    request = Request(5, 5, PureDP().cost(1), Public(universe))
    strategies = [Registered("construct_basis", cls.__name__, cls, "made-up", "1") for cls in classes]
    elements = elements or Elements([2, 0, 1], [(0, 1)])
    found: list[dict[str, Any]] = as_data(compare_strategies(strategies, request, elements), universe, elements)[
        "strategies"
    ]
    return found


@frozen
class Apart:
    """Every item on its own."""

    @hookimpl
    def construct_basis(self, elements: Elements) -> BasisSet:
        """One basis an item."""
        return BasisSet([(item,) for item in elements.items], notes=("Pairs are not covered.",))


@frozen
class Together:
    """One basis; takes every argument that a run would pass."""

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements, answers: tuple[object, ...]) -> BasisSet:
        """All items."""
        assert request.k == 5
        assert answers == ()
        return BasisSet((elements.items,))


@frozen
class Raises:
    """Fails."""

    @hookimpl
    def construct_basis(self) -> BasisSet:
        """Raise."""
        raise ZeroDivisionError("no such luck")


@frozen
class Demanding:
    """Cannot be made without being told a parameter."""

    size: int = parameter(help="no default")

    @hookimpl
    def construct_basis(self) -> BasisSet:
        """Nothing."""
        return BasisSet(((),))


@frozen
class Nothing:
    """Returns nothing."""

    @hookimpl
    def construct_basis(self) -> None:
        """Forget the result."""


@frozen
class Outside:
    """Names an item that does not exist."""

    @hookimpl
    def construct_basis(self) -> BasisSet:
        """A basis of item 99."""
        return BasisSet(((99,),))


def test_the_figures_of_a_strategy() -> None:
    """Width, length, average and worst error variance over what is covered, and the bound."""
    (found,) = outcomes(Together)
    assert found["error"] is None
    assert (found["width"], found["length"], found["bound"], found["not_covered"]) == (1, 3, 8, 0)
    assert found["average_ev"] == (4 + 4 + 4 + 2) / 4
    assert found["worst_ev"] == 4
    assert found["seconds"] >= 0
    assert found["bases"] == [["a", "b", "c"]]


def test_what_is_not_covered_is_counted_and_left_out_of_the_average() -> None:
    """Three items apart at w = 3, and a pair that no basis contains."""
    (found,) = outcomes(Apart)
    assert found["average_ev"] == found["worst_ev"] == 9
    assert found["not_covered"] == 1
    assert found["notes"] == ["Pairs are not covered."]


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Raises, "ZeroDivisionError: no such luck"),
        (Demanding, "construct_basis=Demanding needs a value for its parameter size"),
        (Nothing, "It broke its contract: it returned NoneType, not BasisSet."),
        (Outside, "It broke its contract: it names an item outside the universe of 4 items."),
    ],
)
def test_a_strategy_that_fails_does_not_stop_the_others(cls: type, message: str) -> None:
    """It is shown with its error."""
    before, failed, after = outcomes(Together, cls, Apart)
    assert failed["error"].startswith(message)
    assert "width" not in failed
    assert before["error"] is after["error"] is None


def test_nothing_to_cover_has_no_variance() -> None:
    """An empty selection is measured by the empty basis."""
    (found,) = outcomes(GreedyBasis, elements=Elements(()))
    assert (found["width"], found["length"], found["average_ev"], found["worst_ev"]) == (1, 0, None, None)


def test_every_registered_strategy_is_in_the_table(tmp_path: Path) -> None:
    """The default is among them; the unit is explained below."""
    shown = invoke("construct_basis", "--elements", str(write(tmp_path, ELEMENTS)))
    assert "construct_basis for 3 items and 2 itemsets" in shown
    assert "greedy-merge" in shown
    assert "units of one bin's noise at w = 1" in shown


def test_failures_are_shown_below_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their reason, and the notes of those that did not fail."""
    listed = [Registered("construct_basis", cls.__name__, cls, "x", "1") for cls in (Raises, Apart)]
    monkeypatch.setattr("privmine_bases.compare.strategies", lambda: listed)
    shown = invoke("construct_basis", "--elements", str(write(tmp_path, ELEMENTS)))
    assert "Raises failed: ZeroDivisionError: no such luck" in shown
    assert "Apart: Pairs are not covered." in shown


def test_json_has_the_bases_by_their_labels(tmp_path: Path) -> None:
    """For programs, everything that the table has and the bases themselves."""
    shown = json.loads(invoke("construct_basis", "--elements", str(write(tmp_path, ELEMENTS)), "--k", "3", "--json"))
    assert (shown["stage"], shown["items"], shown["itemsets"]) == ("construct_basis", 3, 2)
    found = {strategy["name"]: strategy for strategy in shown["strategies"]}
    assert found["greedy-merge"]["bases"] == [["jam", "milk", "tea"]]
    assert found["greedy-merge"]["distribution"] == "privmine"


def test_toml_is_read_too(tmp_path: Path) -> None:
    """The two formats say the same."""
    path = write(tmp_path, 'items = ["tea", "milk", "jam"]\nitemsets = [["milk", "tea"], ["jam", "milk"]]\n', "e.toml")
    assert read_elements(path) == read_elements(write(tmp_path, ELEMENTS))


def test_the_order_of_the_file_is_the_order_of_selection(tmp_path: Path) -> None:
    """The universe has the natural order of the labels, numbers as numbers."""
    universe, elements = read_elements(write(tmp_path, {"items": [10, 9, -1], "itemsets": [[10, -1], [9]]}))
    assert universe.labels.tolist() == [-1, 9, 10]
    assert elements == Elements([2, 1, 0], [(0, 2), (1,)])


def test_itemsets_may_be_left_out(tmp_path: Path) -> None:
    """Items alone are a selection, and so is nothing."""
    assert read_elements(write(tmp_path, {"items": [1, 2]}))[1] == Elements([0, 1])
    assert read_elements(write(tmp_path, {"items": []}))[1] == Elements([])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "must hold an object with items and itemsets"),
        ({"itemsets": []}, "has no items; an elements file is like"),
        ({"items": [1], "pairs": []}, "has the key 'pairs'; an elements file has items and itemsets only"),
        ({"items": "tea"}, "must be a list of labels, not a text"),
        ({"items": [1, 2.5]}, "must be texts or whole numbers, not a decimal number"),
        ({"items": [1, True]}, "must be texts or whole numbers, not true or false"),
        ({"items": [None]}, "must be texts or whole numbers, not null"),
        ({"items": [[1]]}, "must be texts or whole numbers, not a list"),
        ({"items": [{}]}, "must be texts or whole numbers, not an object"),
        ({"items": [1, "1"]}, "must be all texts or all whole numbers, not some of each"),
        ({"items": [2**63]}, "must fit into 64 bits"),
        ({"items": ["tea", "tea"]}, "name 'tea' more than once"),
        ({"items": [1], "itemsets": {}}, "must be a list of lists of labels, not an object"),
        ({"items": [1], "itemsets": [1]}, "itemset 1 in .* must be a list of labels, not a whole number"),
        ({"items": [1, 2], "itemsets": [[1, 2], [1, 3]]}, "itemset 2 in .* include 3, which is not among the items"),
        ({"items": [1], "itemsets": [["1"]]}, "include '1', which is not among the items"),
        ({"items": [1, 2], "itemsets": [[1, True]]}, "must be texts or whole numbers, not true or false"),
        ({"items": [1, 2], "itemsets": [[1, 1]]}, "name 1 more than once"),
        ({"items": [1, 2], "itemsets": [[1, 2], [2, 1]]}, "Itemset 2 in .* is there twice"),
        ({"items": [1, 2], "itemsets": [[]]}, "Itemset 1 in .* is empty"),
    ],
)
def test_elements_that_make_no_sense_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    """One sentence that says what is wrong and where."""
    with pytest.raises(InputError, match=message) as caught:
        read_elements(write(tmp_path, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.json", '{"items":\n [1,', "is not valid JSON in line 2"),
        ("e.json", "[" * 100_000, "is not valid JSON"),
        ("e.toml", "items = [", "is not valid TOML"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    """With the place where the format knows one, and without the content."""
    with pytest.raises(DataError, match=message):
        read_elements(write(tmp_path, content, name))


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    """Elements files are UTF-8."""
    path = tmp_path / "e.json"
    path.write_bytes('{"items": ["käse"]}'.encode("latin-1"))
    with pytest.raises(DataError, match="is not valid JSON"):
        read_elements(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """And so is a directory."""
    with pytest.raises(DataError, match="cannot be read: No such file or directory"):
        read_elements(tmp_path / "none.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_elements(tmp_path / "folder.json")


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    """The format must be known from the name."""
    with pytest.raises(InputError, match=r"must end in \.json or \.toml"):
        read_elements(tmp_path / "elements.txt")


def test_other_stages_cannot_be_compared(tmp_path: Path) -> None:
    """They need data, or no elements."""
    with pytest.raises(InputError, match="Only construct_basis can be compared on elements alone, not 'mine'"):
        invoke("mine", "--elements", str(write(tmp_path, ELEMENTS)))


def test_k_must_be_positive(tmp_path: Path) -> None:
    """As everywhere."""
    with pytest.raises(InputError, match="k, the number of itemsets, must be at least 1, not 0"):
        invoke("construct_basis", "--elements", str(write(tmp_path, ELEMENTS)), "--k", "0")


def test_the_command_is_found_below_plugins() -> None:
    """`privmine plugins compare` is the command of this distribution."""
    shown = CliRunner().invoke(cli, ["plugins", "compare", "--help"], prog_name="privmine").output
    assert "Usage: privmine plugins compare" in shown
