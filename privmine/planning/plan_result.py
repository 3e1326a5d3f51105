"""A plan: what a run would spend on what, and how exact its counts would be."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from privmine.errors import InputError
from privmine.extras import import_extra
from privmine.model import BasisSet
from privmine.planning.advice import Advice
from privmine.planning.question import ErrorTarget
from privmine.planning.rehearsal import Choice
from privmine.planning.sizes import SizeErrors, SizeRange
from privmine.privacy.cost import Cost
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.unit import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@frozen
class Share:
    """What a stage may spend, and by which component."""

    stage: str
    component: str
    cost: Cost


@frozen
class Shape:
    """A basis set that a run may build.

    Attributes:
        lam: the λ that was assumed; None where the method has none.
        pattern: how the frequent pairs were assumed to be spread; empty where that makes no difference.
        basis: the bases, of made-up items.
        sizes: the errors of its counts, by itemset size.
    """

    lam: int | None
    pattern: str
    basis: BasisSet
    sizes: tuple[SizeErrors, ...] = ()


@frozen
class CurvePoint:
    """What another ε would give.

    Attributes:
        epsilon: the ε of the whole run.
        sizes: the ranges of errors, by itemset size.
        choices: what the selection would tell apart.
    """

    epsilon: Fraction
    sizes: tuple[SizeRange, ...]
    choices: tuple[Choice, ...]


@frozen(repr=False)
class Plan:
    """What a run would cost and how exact it would be, from public facts only.

    Attributes:
        method: the name of the method that the pipeline started from.
        k: how many itemsets would be asked for.
        epsilon: the budget of the run.
        items: how many items there are to choose from.
        transactions: about how many transactions there are, if that was said.
        lams: the values of λ that were assumed; empty where the method has none.
        unit: who would be protected.
        shares: how the budget is divided.
        shapes: the basis sets that were tried, each with its errors.
        sizes: the range of errors over them, by itemset size.
        choices: what the selection can tell apart, for the smallest and the largest λ.
        points: the same over a range of ε, in rising order.
        target: the error that was wanted, if any.
        target_epsilon: the ε that it takes.
        unknown: why errors are not known, if they are not; `sizes` is then empty.
        dataset: whose budget was looked up.
        remaining: what the ledger would have left afterwards.
        refusal: why the ledger would refuse the run, if it would.
        advice: what would be found and what is sensible, where that was simulated; the rest is then about that.
        delta: the δ of the run; None for pure ε.
        pure: the same plan at pure ε, where a δ was given and nothing was simulated.
    """

    method: str
    k: int
    epsilon: Fraction
    items: int
    transactions: int | None
    lams: tuple[int, ...]
    unit: Unit
    shares: tuple[Share, ...]
    shapes: tuple[Shape, ...]
    sizes: tuple[SizeRange, ...]
    choices: tuple[Choice, ...]
    points: tuple[CurvePoint, ...]
    target: ErrorTarget | None = None
    target_epsilon: Fraction | None = None
    unknown: str | None = None
    dataset: str | None = None
    remaining: Fraction | None = None
    refusal: str | None = None
    advice: Advice | None = None
    delta: Fraction | None = None
    pure: Plan | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What the run would promise."""
        return Guarantee(self.epsilon, self.delta)

    def __repr__(self) -> str:
        from privmine.planning.plan_text import headline

        told = "" if self.advice is None else f". {self.advice.advised()}"
        return f"<Plan: {headline(self)}{told}>"

    def __str__(self) -> str:
        from privmine.planning.plan_text import lines

        return "\n".join(lines(self))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from privmine.planning.plan_text import lines

        advice = "" if self.advice is None else self.advice._repr_html_()
        return f"{advice}<pre>{escape(chr(10).join(lines(self, advice=False)))}</pre>"

    def errors(self, size: int) -> SizeRange:
        """The range of the errors of counts of itemsets of this size."""
        for found in self.sizes:
            if found.size == size:
                return found
        raise InputError(self.unknown or f"No itemset of size {size!r} would be counted.")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each ε and itemset size; frequencies only where the number of transactions is known."""
        for point in self.points:
            for found in point.sizes:
                row: dict[str, Any] = {"epsilon": float(point.epsilon), **asdict(found)}
                if self.transactions is not None:
                    row |= {f"{name}_frequency": row[name] / self.transactions for name in ("low", "high", "most")}
                yield row

    def to_pandas(self) -> Any:
        """The rows as a data frame."""
        return import_extra("pandas", "A data frame needs").DataFrame(list(self.rows()))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; exact amounts become text, so that nothing is rounded."""
        facts = asdict(
            self, filter=lambda field, _: field.name not in ("advice", "pure"),
            value_serializer=lambda _owner, _field, value: _plain(value),
        )  # fmt: skip
        facts["advice"] = None if self.advice is None else self.advice.to_dict()
        facts["pure"] = None if self.pure is None else self.pure.to_dict()
        for shape in facts["shapes"]:
            basis = shape.pop("basis")
            shape["lengths"] = sorted((len(found) for found in basis["bases"]), reverse=True)
        for share, own in zip(facts["shares"], self.shares, strict=True):
            share[own.cost.definition.field] = share.pop("cost")["amount"]
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the typical standard error of a count against ε, by itemset size.

        Args:
            ax: where to draw; without it, in a new figure.
        """
        from privmine.planning.plan_plot import plot

        return plot(self, ax)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value
