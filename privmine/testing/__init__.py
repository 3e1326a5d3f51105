"""The kit for plugin authors: does a component keep the contracts of its stage, does a store count right?

A plugin's tests are three lines:

    @parametrize_components("privmine-mine")
    def test_component_keeps_its_contracts(component):
        check_component(component)

Everything here works on made-up data, so its messages may tell all they know. Neither pytest nor
hypothesis is needed to import it; `privmine.testing.strategies` needs hypothesis.
"""

from __future__ import annotations

from privmine.testing.component_lists import all_components, parametrize_components
from privmine.testing.curators import answers_of, charges_of, curator_for
from privmine.testing.flaws import Flaw, FlawedComponentError
from privmine.testing.kit import audit_component, check_component, find_flaws
from privmine.testing.stores import FlawedStoreError, check_store
from privmine.testing.trial_cases import TrialCase, odd_cases, random_case

__all__ = [
    "Flaw",
    "FlawedComponentError",
    "FlawedStoreError",
    "TrialCase",
    "all_components",
    "answers_of",
    "audit_component",
    "charges_of",
    "check_component",
    "check_store",
    "curator_for",
    "find_flaws",
    "odd_cases",
    "parametrize_components",
    "random_case",
]
