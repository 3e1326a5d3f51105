"""What an audit concludes, for people and for programs."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from attrs import frozen

from privmine.audit.cases import Case
from privmine.audit.replay import Counterexample
from privmine.audit.statistical import Bound

Verdict: TypeAlias = Literal["holds", "violates", "refused"]


@frozen
class SampledCase:
    """The lower bounds on ε from many runs on one pair of neighbours."""

    case: Case
    noise: str
    bounds: tuple[Bound, ...]


@frozen
class AuditReport:
    """The verdict on a pipeline or a component, with all evidence.

    Attributes:
        subject: what was audited.
        stage: the component's stage; None for a whole pipeline.
        effort: how hard the audit tried.
        pairs: on how many pairs of neighbours runs were replayed.
        counterexample: the smallest pair found on which a rule was broken.
        sampled: lower bounds on ε, for each pair of neighbours that was sampled.
    """

    subject: str
    stage: str | None
    effort: str
    pairs: int
    counterexample: Counterexample | None
    sampled: tuple[SampledCase, ...]

    @property
    def verdict(self) -> Verdict:
        """Violates if anything leaked; refused if the engine stopped it before it could; else holds."""
        found = self.counterexample.findings if self.counterexample else ()
        if any(finding.violates for finding in found) or any(bound.violates for bound in self.bounds):
            return "violates"
        return "refused" if found else "holds"

    @property
    def ok(self) -> bool:
        """Whether no rule was found broken."""
        return self.verdict == "holds"

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """All lower bounds, of all stages and pairs."""
        return tuple(bound for sampled in self.sampled for bound in sampled.bounds)

    @property
    def best_bound(self) -> Bound | None:
        """The bound that says most: of the stage in question, the one nearest to its claim, or beyond it."""
        claimed = [bound for bound in self.bounds if bound.claim > 0 or bound.violates]
        own = [bound for bound in claimed if self.stage in (None, bound.group) or bound.violates]
        return max(
            own or claimed,
            key=lambda bound: (bound.violates, bound.lower / float(bound.claim) if bound.claim else bound.lower),
            default=None,
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The report in words."""
        lines = [f"{self.subject}: {self.verdict.upper()}"]
        lines.append(f"  replayed on {self.pairs} pairs of neighbours ({self.effort})")
        if self.counterexample:
            lines.extend(f"  {finding}" for finding in self.counterexample.findings)
            lines.extend(f"    {line}" for line in self.counterexample.snippet().splitlines() if line)
        bound = self.best_bound
        if bound is not None:
            lines.append(f"  sampled: {bound}; confidence {bound.confidence:.4g}")
        lines.extend(
            f"    on {sampled.case.code()} with {sampled.noise} noise"
            for sampled in self.sampled
            if any(found.violates for found in sampled.bounds)
        )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = self.counterexample
        return {
            "subject": self.subject,
            "stage": self.stage,
            "verdict": self.verdict,
            "effort": self.effort,
            "pairs": self.pairs,
            "counterexample": None
            if found is None
            else {
                "findings": [
                    {"rule": finding.rule, "stage": finding.stage, "message": finding.message}
                    for finding in found.findings
                ],
                "neighbours": found.case.code(),
                "snippet": found.snippet(),
            },
            "sampled": [
                {
                    "neighbours": sampled.case.code(),
                    "noise": sampled.noise,
                    "bounds": [_plain_bound(bound) for bound in sampled.bounds],
                }
                for sampled in self.sampled
            ],
        }


def _plain_bound(bound: Bound) -> dict[str, Any]:
    return {
        "group": bound.group,
        "claim": str(bound.claim),
        "lower": bound.lower,
        "confidence": bound.confidence,
        "event": bound.event,
        "hits": list(bound.hits),
        "runs": bound.runs,
        "violates": bound.violates,
    }
