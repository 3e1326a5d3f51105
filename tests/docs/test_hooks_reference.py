"""The reference of the hooks agrees with the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from attrs import frozen

import privmine.api
from privmine.hooks import specs as hookspecs
from privmine.hooks.registrar import Discovery
from privmine.hooks.registry import discover
from privmine.queries import VERIFIED

TEXT = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text(encoding="utf-8")
GROUPS = (hookspecs.Stages, Discovery, hookspecs.Observers)
HOOKS = {
    name: function for group in GROUPS for name, function in vars(group).items() if hasattr(function, "privmine_spec")
}


@frozen
class Votes:
    """The component of the page's example, as simple as it can be."""

    @hookspecs.hookimpl
    def select_elements(self) -> privmine.api.Elements:
        return privmine.api.Elements([0])


def signature(name: str) -> str:
    """A hook as the page writes it: annotations without the quotes of postponed evaluation."""
    return f"def {name}{inspect.signature(HOOKS[name])}".replace("'", "")


def documented() -> dict[str, str]:
    """The signatures on the page, by hook; an example has a body and so ends in a colon."""
    found = re.findall(r"^```py\n(def (\w+)\(.*\) -> .*[^:\n])\n```$", TEXT, re.MULTILINE)
    return {name: line for line, name in found}


def test_every_hook_is_documented_and_no_other() -> None:
    """A hook that is added, renamed or removed shows here."""
    assert set(documented()) == set(HOOKS)
    assert len(HOOKS) == 8


@pytest.mark.parametrize("name", HOOKS)
def test_signature_is_exact(name: str) -> None:
    """Arguments, their order, types and the result."""
    assert documented()[name] == signature(name)


@pytest.mark.parametrize("name", HOOKS)
def test_every_argument_is_explained(name: str) -> None:
    """Each has its line below the signature."""
    section = TEXT[TEXT.index(signature(name)) :].split("\n## ")[0].split("\n### ")[0]
    listed = re.findall(r"^- ((?:`\w+`(?:, )?)+):", section, re.MULTILINE)
    explained = {argument for line in listed for argument in re.findall(r"`(\w+)`", line)}
    assert explained == set(inspect.signature(HOOKS[name]).parameters) - {"self"}


def test_verified_queries_are_all_named() -> None:
    """The page lists what privmine vouches for."""
    sentence = TEXT[TEXT.index("The queries that privmine vouches for:") :].split(". ")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == {query.__name__ for query in VERIFIED}


def test_named_things_can_be_imported() -> None:
    """Every type in a signature is in the module that authors import."""
    types = set(re.findall(r"\b[A-Z]\w+", " ".join(documented().values()))) - {"None"}
    assert types <= set(privmine.api.__all__)


def test_curator_calls_exist() -> None:
    """The table of calls names the curator's own, with their arguments."""
    table = TEXT[TEXT.index("| call | does | costs |") :].split("\n\n")[0]
    calls = re.findall(r"^\| `(\w+)(?:\((.*?)\))?`", table, re.MULTILINE)
    public = {name for name in vars(privmine.api.Curator) if not name.startswith("_")}
    assert {name for name, _ in calls} == public
    for name, arguments in calls:
        member = inspect.getattr_static(privmine.api.Curator, name)
        if not isinstance(member, property):
            names = [word.split("=")[0].strip() for word in arguments.split(",")]
            expected = [
                f"**{parameter.name}" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
                for parameter in list(inspect.signature(member).parameters.values())[1:]
            ]
            assert names == expected


def test_the_example_of_registration_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own lines register a component and a method, which runs."""
    (example,) = re.findall(r"^```py\n(@hookimpl\ndef privmine_register.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    module = ModuleType("privmine_votes")
    vars(module).update(hookimpl=privmine.api.hookimpl, Registrar=privmine.api.Registrar, Votes=Votes)
    exec(compile(example, "docs/hooks.md", "exec"), vars(module))  # noqa: S102 - our own page
    known = discover()
    known.load(module, "votes", "privmine-votes", "1")
    monkeypatch.setattr("privmine.pipeline.choice.registry", lambda: known)
    release = privmine.mine(
        [["bread", "milk"], ["bread"]] * 50, k=2, epsilon=100, method="votes", simulate=True, seed=1
    )
    assert release.receipt.pipeline["select_elements"] == "votes() from privmine-votes"
    assert release.receipt.pipeline["construct_basis"].startswith("greedy-merge(")


def test_every_call_of_the_registry_is_named() -> None:
    """With its arguments."""
    table = TEXT[TEXT.index("| call | registers |") :].split("\n\n")[0]
    calls = dict(re.findall(r"^\| `(\w+)\((.*?)\)`", table, re.MULTILINE))
    adders = {name: member for name, member in vars(privmine.api.Registrar).items() if name.startswith("add")}
    assert {name: ", ".join(list(inspect.signature(member).parameters)[1:]) for name, member in adders.items()} == calls
