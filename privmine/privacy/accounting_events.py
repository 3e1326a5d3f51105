"""What was charged, in the names of Google's dp-accounting, for those who count budgets with it.

Each charge becomes an event that costs at least what the charge does, so that an accountant of that library never
states less than it should. It may state less than privmine's receipt, since it composes more tightly.

| charge under | event | accountant |
|---|---|---|
| pure ε | `DiscreteLaplaceDpEvent` of sensitivity 1, which dominates all that is ε-private | `PLDAccountant` |
| zCDP | `ZCDpEvent` | `RdpAccountant` |

The events of continuous noise would state too little. Discrete Laplace noise of scale 1/ε on a count multiplies each
probability by e^ε or e^(−ε), and by nothing between: no other ε-private mechanism tells more, and continuous noise
tells less. Discrete Gaussian noise has Rényi divergences that are no larger than those of continuous noise, but at some
ε a larger δ. `RandomizedResponseDpEvent` compares an answer with no answer under `NeighboringRelation.REPLACE_SPECIAL`,
so that it costs less than its ε.

The accountant must be one for `NeighboringRelation.REPLACE_SPECIAL`: one unit comes or goes.

Numbers are rounded to the side of more cost. The part of δ that finding private items may use has no event. Add it to
the δ of the accountant.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nextafter
from typing import Any

from privmine.privacy.cost import Charge

_MODULE = "dp_accounting.dp_event"
_STEPS = 4  # of floating point, more than a conversion can be off


def accounting_event(charges: Iterable[Charge]) -> dict[str, Any]:
    """All charges as one event, in plain values for JSON.

    `class_name`, `module_name` and the other names are those of the library's `DpEvent.to_named_tuple`.
    """
    return _event("ComposedDpEvent", events=[_of(charge) for charge in charges])


def _of(charge: Charge) -> dict[str, Any]:
    amount = _moved(float(charge.cost.amount), inf)
    if charge.cost.definition.field == "rho":
        return _event("ZCDpEvent", rho=amount, xi=0.0)
    return _event("DiscreteLaplaceDpEvent", noise_parameter=amount, sensitivity=1)


def _event(name: str, **parameters: Any) -> dict[str, Any]:
    return {"module_name": _MODULE, "class_name": name, **parameters}


def _moved(value: float, towards: float) -> float:
    for _ in range(_STEPS):
        value = nextafter(value, towards)
    return value
