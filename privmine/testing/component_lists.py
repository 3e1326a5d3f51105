"""The registered components, for tests that run over all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privmine.errors import UnknownNameError
from privmine.hooks.components import Registered
from privmine.hooks.registry import registry
from privmine.model import STAGES


def all_components(distribution: str | None = None) -> list[Registered]:
    """All registered components, or those of one distribution, by stage and name.

    A distribution that registers nothing is an error: a test over none of its components would pass.
    """
    known = registry()
    if distribution is not None and all(found.distribution != distribution for found in known.components.values()):
        failed = [failure.reason for failure in known.failures if failure.distribution == distribution]
        hint = f"It failed to load: {failed[0]}" if failed else "Is it installed, and does it have an entry point?"
        raise UnknownNameError(
            "distribution with components",
            distribution,
            {found.distribution for found in known.components.values()},
            hint=hint,
        )
    chosen = [found for found in known.components.values() if distribution in (None, found.distribution)]
    return sorted(chosen, key=lambda found: (STAGES.index(found.stage), found.name))


def parametrize_components(distribution: str | None = None) -> Callable[[Any], Any]:
    """Run a pytest function once for each component, which it takes as `component`; ids are STAGE=NAME.

    Args:
        distribution: only the components of this one; by default all that are installed.
    """
    import pytest

    found = all_components(distribution)
    return pytest.mark.parametrize(
        "component", [pytest.param(entry, id=f"{entry.stage}={entry.name}") for entry in found]
    )
