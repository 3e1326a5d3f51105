"""Methods: normalised when they are registered, whole or as changes of another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from attrs import frozen

import privmine.defaults
from privmine.api import Registrar, hookimpl
from privmine.hooks.extensions import Extension
from privmine.hooks.registry import Registry, discover
from privmine.model import STAGES


@frozen
class Methods:
    """A plugin that registers methods."""

    calls: tuple[dict[str, Any], ...]

    @hookimpl
    def privmine_register(self, registry: Registrar) -> None:
        """Register them."""
        for call in self.calls:
            registry.add_preset(**call)


def point(plugin: object, name: str, distribution: str) -> Any:
    """Something like an entry point."""
    return SimpleNamespace(name=name, dist=SimpleNamespace(name=distribution, version="1"), load=lambda: plugin)


def known(**plugins: tuple[dict[str, Any], ...]) -> Registry:
    """A registry with PrivBasis and plugins of methods, by the name of their distribution."""
    own = point(privmine.defaults, "privmine", "privmine")
    return discover([own, *(point(Methods(calls), name, name) for name, calls in plugins.items())])


def test_a_method_has_one_form() -> None:
    """A component's name and a mapping of `use` become the same; every stage is there."""
    by_name = dict.fromkeys(STAGES, "some")
    by_mapping = {stage: {"use": "some"} for stage in STAGES}
    found = known(mine=({"name": "one", "stages": by_name}, {"name": "two", "stages": by_mapping}))
    assert found.preset("one").stages == found.preset("two").stages == by_mapping
    assert found.preset("one").choice("select_elements") == ("some", {})


def test_a_method_changes_another() -> None:
    """A name or `use` replaces the component, parameters alone change those of the base, the rest stays."""
    changed = {
        "select_elements": "votes",
        "construct_basis": {"max_length": 4},
        "reconstruct_counts": {"use": "direct", "scale": 2},
    }
    found = known(mine=({"name": "changed", "stages": changed, "base": "privbasis"},))
    base, made = found.preset("privbasis"), found.preset("changed")
    assert made.choice("select_elements") == ("votes", {})
    assert made.choice("construct_basis") == ("greedy-merge", {"max_length": 4})
    assert made.choice("reconstruct_counts") == ("direct", {"scale": 2})
    assert made.stages["allocate_budget"] == base.stages["allocate_budget"]
    assert base.choice("construct_basis") == ("greedy-merge", {})


def test_a_change_can_be_changed_again() -> None:
    """Parameters add up; another component drops those of the former one."""
    found = known(
        mine=(
            {"name": "first", "stages": {"construct_basis": {"max_length": 4}}, "base": "privbasis"},
            {"name": "second", "stages": {"construct_basis": {"eta": 1}}, "base": "first"},
            {"name": "third", "stages": {"construct_basis": "single"}, "base": "second"},
        )
    )
    assert found.preset("second").choice("construct_basis") == ("greedy-merge", {"max_length": 4, "eta": 1})
    assert found.preset("third").choice("construct_basis") == ("single", {})


def test_the_base_may_come_from_a_plugin_that_is_found_later() -> None:
    """The order of names does not decide; a plugin whose base nobody has fails, and alone."""
    found = known(
        aaa=({"name": "second", "stages": {}, "base": "first"},),
        bbb=({"name": "first", "stages": {}, "base": "privbasis"},),
        ccc=({"name": "third", "stages": {}, "base": "frst"},),
    )
    assert found.preset("second").distribution == "aaa"
    (failure,) = found.failures
    assert failure.distribution == "ccc"
    assert failure.reason.startswith("UnknownNameError: There is no method named 'frst'. Did you mean 'first'?")


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ({"select_elements": "votes"}, "names no component for allocate_budget. Name one, or start from another"),
        (dict.fromkeys(STAGES, 3), "gives int for allocate_budget. Give a component's name, or a mapping"),
        ({stage: {"use": 3} for stage in STAGES}, "must give a component's name as use of allocate_budget"),
        ({"select_element": "votes"}, "There is no stage named 'select_element'. Did you mean 'select_elements'?"),
    ],
)
def test_a_method_that_cannot_run_is_told_when_it_is_registered(stages: dict[str, Any], words: str) -> None:
    """The plugin fails to load, with the reason."""
    (failure,) = known(mine=({"name": "odd", "stages": stages},)).failures
    assert words in failure.reason


# --- names and targets of the other kinds --------------------------------------------------------


@frozen
class Odd:
    """A plugin that registers one thing."""

    method: str
    arguments: tuple[Any, ...]

    @hookimpl
    def privmine_register(self, registry: Registrar) -> None:
        """Register it."""
        getattr(registry, self.method)(*self.arguments)


@pytest.mark.parametrize(
    ("method", "arguments", "words"),
    [
        ("add_command", ("Two Words", "a.b:c", ""), "'Two Words' cannot be the name of a command. Use one word"),
        ("add_command", ("budget burn", "a.b:c", ""), "'budget burn' cannot be the name of a command"),
        (
            "add_command",
            ("fine", "a.b.c", ""),
            "The command 'fine' has the target 'a.b.c'. Give a function or a class, or the place",
        ),
        ("add_metric", ("My metric", "a.b:c", ""), "'My metric' cannot be the name of a metric. Use lower-case"),
        ("add_metric", ("fine", 3, ""), "The metric 'fine' has the target 3."),
        ("add", ("select_elements", "fine", Odd("", ())), "Give a function or a class, or the place to import it from"),
    ],
)
def test_what_cannot_be_used_is_told_when_it_is_registered(method: str, arguments: tuple[Any, ...], words: str) -> None:
    """The plugin fails to load, with the reason and what to do."""
    (failure,) = discover([point(Odd(method, arguments), "odd", "an-odd")]).failures
    assert words in failure.reason


def test_an_object_needs_no_import() -> None:
    """Whoever has the object may register it itself."""
    found = discover([point(Odd("add_metric", ("mine", len, "how many")), "odd", "an-odd")]).extension("metric", "mine")
    assert isinstance(found, Extension)
    assert found.load() is len
