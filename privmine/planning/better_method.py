"""Whether another method that is installed would have found more, as far as a release itself tells.

Privacy: nothing but the release is looked at, which is public. So what is said here costs no budget.
"""

from __future__ import annotations

from privmine.errors import InputError
from privmine.pipeline import DEFAULT_METHOD
from privmine.planning.adviser import installed_methods
from privmine.planning.forecast import Attempt, Forecast, Simulator
from privmine.planning.population import population_of
from privmine.privacy.definition import PureDP
from privmine.privacy.unit import Unit
from privmine.release import Release

#: The method that is held against the default one.
RIVAL = "plus"
#: It must miss so much less, and by more than chance explains, to be worth a word.
_NOTABLE = 0.05
_RUNS = 4
#: More itemsets would keep the user waiting.
MOST_ITEMSETS = 400


def better_method(release: Release, max_length: int | None = None) -> tuple[Forecast, Forecast] | None:
    """What the default method and its rival are expected to miss, if the rival misses notably less; else None.

    Baskets are made up that resemble the release, and a few runs of each method are simulated on them.
    """
    methods = installed_methods()
    if RIVAL not in methods or DEFAULT_METHOD not in methods or release.requested > MOST_ITEMSETS:
        return None
    if not isinstance(release.receipt.definition, PureDP):
        return None  # Methods are compared at equal ε.
    try:
        like = population_of(
            release, is_public=False, transactions=None, items=None, unit=release.receipt.unit or Unit()
        )
        simulator = Simulator(like, methods, max_length)
        budget = release.receipt.cost.amount
        usual, rival = (
            simulator.forecast(Attempt(name, release.requested, budget), _RUNS, _RUNS)
            for name in (DEFAULT_METHOD, RIVAL)
        )
    except InputError:
        return None  # All is noise, and the verdict of the release says so.
    chance = 2 * (usual.missed_error**2 + rival.missed_error**2) ** 0.5
    return (usual, rival) if usual.missed - rival.missed > max(_NOTABLE, chance) else None


def hint(release: Release, max_length: int | None = None) -> str | None:
    """The same in a sentence."""
    found = better_method(release, max_length)
    if found is None:
        return None
    usual, rival = found
    return (
        f"The method {rival.method} is installed and would probably have found more. On made-up baskets with the "
        f"supports of this release it misses {_range(rival)} of the top {release.requested:,}, and {usual.method} "
        f"{_range(usual)}. On your data both may miss more: these baskets lack what this release missed. "
        f"For the next release: method={rival.method}."
    ).replace("%", " %")


def _range(found: Forecast) -> str:
    least, most = f"{found.least_missed:.0%}", f"{found.most_missed:.0%}"
    return least if least == most else f"{least} to {most}"
