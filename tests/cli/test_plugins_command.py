"""`privmine plugins`: the list, one component in full, and the lines that reproduce the environment."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any

import pytest
from attrs import field, frozen
from click.testing import CliRunner, Result

from privmine.api import BudgetPlan, Registrar, hookimpl, parameter
from privmine.cli.plugins_command import plugins
from privmine.errors import InputError, UnknownNameError
from privmine.hooks.registry import Registry, discover


def invoke(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(plugins, list(arguments))


@frozen
class Odd:
    """Has parameters of every kind.

    More of what it does,
    over two lines.

    Privacy: looks at
    nothing [sic].

    Bias: none that
    [anybody] knows.

    Attributes:
        required: not shown twice.
    """

    required: int
    _private: Fraction = parameter(Fraction(1, 3), help="a third [of it]")
    words: list[str] = field(factory=list)
    computed: int = field(default=0, init=False)

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Give nothing."""
        return BudgetPlan()


class Plugin:
    """Registers the component."""

    @hookimpl
    def privmine_register(self, registry: Registrar) -> None:
        """Register."""
        registry.add("allocate_budget", "odd", Odd)


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry with the component above and nothing else."""
    known = discover([])
    known.load(Plugin(), "odd", "privmine-odd", "3.1")
    # The package's attribute `plugins` is the command, so the module is found by its name only.
    monkeypatch.setattr(sys.modules["privmine.cli.plugins_command"], "registry", lambda: known)
    return known


def test_list_names_stage_component_and_distribution() -> None:
    """Everything that privmine ships is listed with its first line."""
    output = invoke().output
    assert "items-and-pairs" in output
    assert "Selects λ items" in output
    assert "privbasis" in output


def test_list_as_json() -> None:
    """Programs get the same list."""
    listed = json.loads(invoke("--json").output)
    assert {"stage", "name", "distribution", "version", "summary"} == set(listed["components"][0])
    assert listed["methods"][0]["stages"]["select_elements"] == "items-and-pairs"


def test_show_has_all_there_is_to_know() -> None:
    """What it does, why it is private, where its code lives, and its parameters with help."""
    output = invoke("show", "select_elements=items-and-pairs").output
    assert output.startswith("select_elements=items-and-pairs from privmine ")
    assert "Privacy: two runs of the exponential mechanism" in output
    assert "Code: privmine.defaults.select.ItemsAndPairs in " in output
    assert "defaults/select.py" in output
    assert "safety margin on k (η)" in output
    assert "--set select_elements=items-and-pairs --set select_elements.eta=11/10" in output


def test_show_as_json(odd: Registry) -> None:
    """Parameters with type, default and help; a fraction stays exact, and what cannot be set is not listed."""
    facts = json.loads(invoke("show", "allocate_budget=odd", "--json").output)
    assert facts["description"] == "Has parameters of every kind.\n\nMore of what it does, over two lines."
    assert facts["privacy"] == "looks at nothing [sic]."
    assert facts["bias"] == "none that [anybody] knows."
    assert (facts["distribution"], facts["version"]) == ("privmine-odd", "3.1")
    assert facts["class"].endswith(".Odd")
    assert facts["file"] == __file__
    assert facts["parameters"] == [
        {"name": "required", "type": "int", "required": True, "default": None, "help": ""},
        {"name": "private", "type": "Fraction", "required": False, "default": "1/3", "help": "a third [of it]"},
        {"name": "words", "type": "list[str]", "required": False, "default": "computed", "help": ""},
    ]


def test_brackets_are_shown_as_they_are(odd: Registry) -> None:
    """A help text with brackets is no markup."""
    output = invoke("show", "allocate_budget=odd").output
    assert "a third [of it]" in output
    assert "looks at nothing [sic]." in output
    assert "Bias: none that [anybody] knows." in output
    assert "(required)" in output


def test_component_without_parameters_says_so() -> None:
    """No empty table."""
    output = invoke("show", "reconstruct_counts=basis-frequencies").output
    assert "It has no parameters." in output
    assert "Bias:" not in output


def test_show_of_a_method_has_its_components() -> None:
    """Each stage with the parameters that the method gives it."""
    output = " ".join(invoke("show", "privbasis").output.split())
    assert "PrivBasis (VLDB 2012)" in output
    assert "construct_basis greedy-merge(max_length=12) from privmine" in output
    assert json.loads(invoke("show", "privbasis", "--json").output)["stages"]["estimate_lambda"] == "rank-gap"


@pytest.mark.parametrize(
    ("component", "error", "words"),
    [
        ("items-and-pairs", InputError, "does not have the form STAGE=NAME"),
        ("select_elements=items-and-pair", UnknownNameError, "Did you mean 'items-and-pairs'?"),
        ("select_element=items-and-pairs", UnknownNameError, "There is no stage named 'select_element'"),
    ],
)
def test_unknown_component_is_told(component: str, error: type[Exception], words: str) -> None:
    """What is known stands in the message."""
    result = invoke("show", component)
    assert isinstance(result.exception, error)
    assert words in str(result.exception)


def test_requirements_are_sorted_and_start_with_privmine(odd: Registry) -> None:
    """Lines that pip reads."""
    lines = invoke("--requirements").output.splitlines()
    assert lines[0].startswith("privmine==")
    assert lines[1:] == ["privmine-odd==3.1"]


def test_two_formats_at_once_are_refused() -> None:
    """--json and --requirements exclude each other."""
    result: Any = invoke("--json", "--requirements")
    assert isinstance(result.exception, InputError)
