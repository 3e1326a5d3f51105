"""What was charged, in the names of Google's dp-accounting, for those who count budgets with it.

Each charge becomes an event that costs at least what the charge does, so that an accountant of that library never
states less than it should. It may state less than privmine's receipt, since it composes more tightly.

| charge | event |
|---|---|
| Laplace noise | `LaplaceDpEvent`, scale divided by sensitivity |
| Gaussian noise | `GaussianDpEvent`, standard deviation divided by sensitivity |
| another mechanism under pure ε | `RandomizedResponseDpEvent` of two buckets, which dominates all that is ε-private |
| another mechanism under zCDP | `ZCDpEvent` |

The accountant must be one for `NeighboringRelation.REPLACE_SPECIAL`: one unit comes or goes.

Numbers are rounded to the side of more cost. The part of δ that finding private items may use has no event. Add it to
the δ of the accountant.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, inf, nextafter, sqrt
from typing import Any

from privmine.privacy.cost import Charge

_MODULE = "dp_accounting.dp_event"
_STEPS = 4  # of floating point, more than the few operations here can be off


def accounting_event(charges: Iterable[Charge]) -> dict[str, Any]:
    """All charges as one event, in plain values for JSON.

    `class_name`, `module_name` and the other names are those of the library's `DpEvent.to_named_tuple`.
    """
    return _event("ComposedDpEvent", events=[_of(charge) for charge in charges])


def _of(charge: Charge) -> dict[str, Any]:
    amount, kind = float(charge.cost.amount), charge.noise.distribution if charge.noise else ""
    if charge.cost.definition.field == "rho":
        if "gaussian" in kind:
            return _event("GaussianDpEvent", noise_multiplier=_moved(1 / sqrt(2 * amount), 0.0))
        return _event("ZCDpEvent", rho=_moved(amount, inf), xi=0.0)
    if "laplace" in kind:
        return _event("LaplaceDpEvent", noise_multiplier=_moved(1 / amount, 0.0))
    kept = _moved(2 / (exp(min(amount, 700.0)) + 1), 0.0)
    return _event("RandomizedResponseDpEvent", noise_parameter=kept, num_buckets=2)


def _event(name: str, **parameters: Any) -> dict[str, Any]:
    return {"module_name": _MODULE, "class_name": name, **parameters}


def _moved(value: float, towards: float) -> float:
    for _ in range(_STEPS):
        value = nextafter(value, towards)
    return value
