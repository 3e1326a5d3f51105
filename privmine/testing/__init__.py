"""The kit for plugin authors: does a component keep the contracts of its stage, does a store count right?

A plugin's tests are three lines:

    @parametrize_components("privmine-mine")
    def test_component_keeps_its_contracts(component):
        check_component(component)

Everything here works on made-up data, so its messages may tell all they know. Neither pytest nor
hypothesis is needed to import it; `privmine.testing.strategies` needs hypothesis.
"""

from __future__ import annotations

from privmine.testing.cases import Case, odd_cases, random_case
from privmine.testing.components import all_components, parametrize_components
from privmine.testing.flaws import Flaw, FlawedComponentError
from privmine.testing.kit import audit_component, check_component, find_flaws
from privmine.testing.stores import FlawedStoreError, check_store

__all__ = [
    "Case",
    "Flaw",
    "FlawedComponentError",
    "FlawedStoreError",
    "all_components",
    "audit_component",
    "check_component",
    "check_store",
    "find_flaws",
    "odd_cases",
    "parametrize_components",
    "random_case",
]
