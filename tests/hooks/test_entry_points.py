"""Plugins as separately installed distributions: found, listed, run by name; a broken one stops nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from slow_cases import slow_after

from privmine.api import Registrar, hookimpl
from privmine.hooks.registry import discover
from privmine.model import STAGES

SAMPLE = {
    "allocate_budget": "sample-halves",
    "estimate_lambda": "sample-fixed",
    "select_elements": "sample-items",
    "construct_basis": "sample-singletons",
    "reconstruct_counts": "sample-supports",
}


@pytest.fixture(scope="module")
def site(site_with: Callable[..., Path]) -> Path:
    """A directory with the sample plugin and the broken one."""
    return site_with("privmine-sample", "privmine-broken")


@pytest.fixture
def privmine(site: Path, run_python: Callable[..., Any]) -> Callable[..., Any]:
    """Run the command line where both plugins are installed."""
    return lambda *arguments, **environment: run_python("-m", "privmine", *arguments, site=site, **environment)


def test_installed_components_are_listed_and_the_broken_plugin_is_told(privmine: Callable[..., Any]) -> None:
    """All five are found beside the defaults; the broken plugin is listed with its error."""
    listed = json.loads(privmine("plugins", "--json").stdout)
    found = {entry["stage"]: entry for entry in listed["components"] if entry["distribution"] == "privmine-sample"}
    assert {stage: entry["name"] for stage, entry in found.items()} == SAMPLE
    assert {entry["version"] for entry in found.values()} == {"1.2.3"}
    assert "privbasis" in [method["name"] for method in listed["methods"]]
    assert "sample" in [method["name"] for method in listed["methods"]]
    assert {
        "plugin": "broken",
        "distribution": "privmine-broken",
        "reason": "RuntimeError: this plugin is broken on purpose",
    } in listed["failures"]


def test_table_names_the_broken_plugin(privmine: Callable[..., Any]) -> None:
    """People see the failure too, and the exit code is still 0."""
    shown = privmine("plugins")
    assert shown.returncode == 0
    assert "Failed to load: broken from privmine-broken: RuntimeError: this plugin is broken" in shown.stdout


@pytest.mark.parametrize("stage", slow_after(1, STAGES))
def test_component_runs_by_name(privmine: Callable[..., Any], stage: str) -> None:
    """One stage of the default method is replaced by the installed component."""
    settings = ["--set", f"{stage}={SAMPLE[stage]}", "--k", "4", "--epsilon", "1", "--simulate", "--seed", "1"]
    release = json.loads(privmine("mine", *settings, "--json").stdout)
    assert release["receipt"]["pipeline"][stage].startswith(f"{SAMPLE[stage]}(")
    assert release["receipt"]["pipeline"][stage].endswith(") from privmine-sample")


def test_method_runs_by_name(privmine: Callable[..., Any]) -> None:
    """A release, with exact noise, by a method that a plugin brought."""
    release = json.loads(privmine("mine", "--method", "sample", "--k", "4", "--json").stdout)
    assert {text.rpartition(" ")[2] for text in release["receipt"]["pipeline"].values()} == {"privmine-sample"}
    assert release["receipt"]["private"] is True


def test_unknown_name_mentions_the_plugin_that_failed(privmine: Callable[..., Any]) -> None:
    """Who asks for a component that is missing is told what did not load."""
    failed = privmine("mine", "--method", "broken")
    assert failed.returncode == 2
    assert "There is no method named 'broken'." in failed.stderr
    words = "Plugins that failed to load: broken from privmine-broken (RuntimeError: this plugin is broken on purpose)"
    assert words in failed.stderr


def test_requirements_reproduce_the_environment(privmine: Callable[..., Any]) -> None:
    """Distributions that components come from, privmine first; a broken one is not among them."""
    lines = privmine("plugins", "--requirements").stdout.splitlines()
    assert lines[0].startswith("privmine==")
    assert "privmine-sample==1.2.3" in lines
    assert not [line for line in lines if line.startswith("privmine-broken")]


@pytest.mark.parametrize(
    ("limit", "loaded"),
    [("", set()), ("privmine-sample", {"privmine-sample"}), (" Privmine_Sample , other", {"privmine-sample"})],
)
def test_environment_limits_what_is_loaded(privmine: Callable[..., Any], limit: str, loaded: set[str]) -> None:
    """PRIVMINE_LOAD_PLUGINS names the distributions to load; privmine itself always is."""
    listed = json.loads(privmine("plugins", "--json", PRIVMINE_LOAD_PLUGINS=limit).stdout)
    assert {entry["distribution"] for entry in listed["components"]} == {"privmine", *loaded}
    assert listed["failures"] == []


# --- discovery itself, without installing anything ----------------------------------------------


def point(plugin: object, name: str, distribution: str) -> Any:
    """Something like an entry point."""
    return SimpleNamespace(name=name, dist=SimpleNamespace(name=distribution, version="1"), load=lambda: plugin)


class Taker:
    """A plugin that wants a default's name."""

    @hookimpl
    def privmine_register(self, registry: Registrar) -> None:
        """Register a class that privmine registers too."""
        from privmine.defaults.allocate import FixedShares

        registry.add("allocate_budget", "one-more", FixedShares)
        registry.add("allocate_budget", "fixed-shares", FixedShares)


def own_point() -> Any:
    """The entry point of privmine."""
    import privmine.defaults

    return point(privmine.defaults, "privmine", "privmine")


def test_taken_name_names_both_distributions() -> None:
    """The later plugin fails as a whole, whatever the order in which they are found; the first keeps the name."""
    registry = discover([point(Taker(), "taker", "a-taker"), own_point()])
    (failure,) = registry.failures
    assert failure.reason == (
        "DuplicateNameError: a-taker registers allocate_budget=fixed-shares, but privmine has registered that name "
        "already. One of the two must choose another name."
    )
    assert registry.find("allocate_budget", "fixed-shares").distribution == "privmine"
    assert registry.names("allocate_budget") == ["fixed-shares"]


def test_plugin_without_the_hook_is_told() -> None:
    """An entry point to something that registers nothing is a failure, not silence."""
    registry = discover([point(SimpleNamespace(), "empty", "an-empty")])
    assert registry.failures[0].reason == "PluginError: The plugin 'empty' implements no privmine_register hook."
