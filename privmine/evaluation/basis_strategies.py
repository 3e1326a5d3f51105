"""Running construct_basis alone: it works on selected elements and needs no data."""

from __future__ import annotations

import pluggy

from privmine.errors import ContractError
from privmine.hooks.components import Registered, build
from privmine.hooks.registry import registry
from privmine.hooks.specs import PROJECT, Stages
from privmine.model import BasisSet, Elements, Request
from privmine.pipeline.run import flaw_of

STAGE = "construct_basis"


def strategies() -> list[Registered]:
    """All components for construct_basis, by name."""
    known = registry()
    return [known.find(STAGE, name) for name in known.names(STAGE)]


def bases_of(strategy: Registered, request: Request, elements: Elements) -> BasisSet:
    """What a strategy builds with its default parameters; it is called and checked as in a run.

    Raises:
        ContractError: what it returned is not what the stage must return.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Stages)
    manager.register(build(strategy, {}))
    result = manager.hook.construct_basis(request=request, elements=elements, answers=())
    flaw = flaw_of(STAGE, result, request)
    if flaw:
        raise ContractError(f"It broke its contract: {flaw}")
    assert isinstance(result, BasisSet)
    return result
