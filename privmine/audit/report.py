"""What an audit concludes, for people and for programs."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10
from typing import Any, Literal, TypeAlias

from attrs import frozen

from privmine.audit.customers import AnyCase
from privmine.audit.outcomes import RELEASE
from privmine.audit.replay import Counterexample
from privmine.audit.statistical import Bound
from privmine.privacy.guarantee import at_epsilon

#: What a finding means that a second look did not show.
ONCE = (
    "It does not happen every time, so the code below may not show it. The component keeps state between runs, "
    "uses the clock, or draws its own random numbers."
)

Verdict: TypeAlias = Literal["holds", "violates", "refused", "errors"]


@frozen
class SampledCase:
    """The lower bounds on ε from many runs on one pair of neighbours.

    Attributes:
        case: the pair.
        noise: where the noise came from.
        bounds: stage by stage.
        runs: how many there were on each database.
        failed: how many of all of them ended with an error.
    """

    case: AnyCase
    noise: str
    bounds: tuple[Bound, ...]
    runs: int = 0
    failed: int = 0

    @property
    def is_void(self) -> bool:
        """Whether every run failed, on both databases."""
        return self.failed >= 2 * self.runs > 0


@frozen
class Replays:
    """The results of replaying runs on pairs of neighbours.

    Attributes:
        pairs: on how many pairs runs were replayed.
        turned_down: on how many of them the request was not taken, on both databases alike.
        failed: on how many of them the component failed by itself, on both databases alike.
        counterexample: the smallest pair found on which a rule was broken.
    """

    pairs: int = 0
    turned_down: int = 0
    failed: int = 0
    counterexample: Counterexample | None = None


@frozen
class AuditReport:
    """The verdict on a pipeline or a component, with all evidence.

    Attributes:
        subject: what was audited.
        stage: the component's stage; None for a whole pipeline.
        effort: how hard the audit tried.
        replays: what came of replaying runs on pairs of neighbours.
        sampled: lower bounds on ε, for each pair of neighbours that was sampled.
        source: lower bounds on ε of the source of noise alone, if it is not privmine's.
        error: what ended the audit before its time, if anything did.
        differ_by: what one database of a pair has and the other has not.
        snippet: Python that shows again what is wrong.
    """

    subject: str
    stage: str | None
    effort: str
    replays: Replays
    sampled: tuple[SampledCase, ...]
    source: tuple[Bound, ...] = ()
    error: str = ""
    differ_by: str = "one transaction"
    snippet: str = ""

    @property
    def pairs(self) -> int:
        """On how many pairs of neighbours runs were replayed."""
        return self.replays.pairs

    @property
    def counterexample(self) -> Counterexample | None:
        """The smallest pair found on which a rule was broken."""
        return self.replays.counterexample

    @property
    def verdict(self) -> Verdict:
        """Violates if anything leaked; refused if the engine stopped it before it could; else holds.

        If the component failed by itself, if no sampled run came to its end, or if the audit was ended by an
        error, and nothing had leaked by then, there is no verdict on privacy: it errors.
        """
        found = self.counterexample.findings if self.counterexample else ()
        if any(finding.violates for finding in found) or any(bound.violates for bound in (*self.bounds, *self.source)):
            return "violates"
        if self.error or any(finding.rule == "failed" for finding in found) or self._is_void:
            return "errors"
        return "refused" if found else "holds"

    @property
    def why(self) -> str:
        """What a verdict rests on, in a word or two: the rule that was broken, or the event that shows a bound."""
        findings = self.counterexample.findings if self.counterexample else ()
        violations = [finding for finding in findings if finding.violates]
        for finding in violations or findings:
            return finding.rule
        if self.error:
            return "see below"
        if self._is_void:
            return "every sampled run failed"
        if any(bound.violates for bound in self.source):
            return "the source of noise"
        return self.best_bound.event if self.best_bound else ""

    @property
    def taken(self) -> str:
        """How many requests were accepted, if the component refused some."""
        replays = self.replays
        return f"{replays.pairs - replays.turned_down:,} of {replays.pairs:,} taken" if replays.turned_down else ""

    @property
    def _is_void(self) -> bool:
        return bool(self.sampled) and all(sampled.is_void for sampled in self.sampled)

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
        """The strongest bound: for the audited stage, the one nearest to its claim or beyond it."""
        claimed = [bound for bound in self.bounds if bound.claim > 0 or bound.violates]
        own = [bound for bound in claimed if self.stage in (None, bound.group) or bound.violates]
        return max(
            own or claimed,
            key=lambda bound: (
                bound.violates,
                bound.lower / float(bound.claim) if bound.claim else bound.lower,
                bound.group == (self.stage or RELEASE),
            ),
            default=None,
        )

    @property
    def epsilons(self) -> tuple[Fraction, ...]:
        """The budgets of the sampled runs."""
        return tuple(dict.fromkeys(sampled.case.epsilon for sampled in self.sampled))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The report in words."""
        lines = [f"{self.subject}: {self.verdict.upper()}"]
        lines.append(
            f"  replayed on {self.pairs:,} pairs of neighbours that differ by {self.differ_by} ({self.effort})"
        )
        turned_down, failed = self.replays.turned_down, self.replays.failed
        if turned_down:
            lines.append(f"  accepted {self.pairs - turned_down:,} of these requests, and refused the others")
        if failed:
            lines.append(f"  failed on {failed:,} of {self.pairs:,} pairs, in the same way on both databases")
        if self.counterexample:
            lines.extend(f"  {finding}" for finding in self.counterexample.findings)
            if not self.counterexample.repeats:
                lines.append(f"  {ONCE}")
        bound = self.best_bound
        if bound is not None:
            epsilon = next(sampled.case.epsilon for sampled in self.sampled if bound in sampled.bounds)
            lines.append(f"  sampled at {at_epsilon(epsilon)}: {bound}; confidence {confidence(bound)}")
        lines.extend(
            f"    on {sampled.case.code()} with {sampled.noise} noise"
            for sampled in self.sampled
            if any(found.violates for found in sampled.bounds)
        )
        lines.extend(
            f"  every sampled run failed on {sampled.case.code()}, so sampling shows nothing"
            for sampled in self.sampled
            if sampled.is_void
        )
        lines.extend(
            f"  the source of noise alone: {bound}; confidence {confidence(bound)}"
            for bound in self.source
            if bound.violates
        )
        if self.error:
            lines.append(f"  ended by an error: {self.error}")
        if self.snippet:
            lines.extend(["  To reproduce it:", "", *self.snippet.splitlines()])
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = self.counterexample
        return {
            "subject": self.subject,
            "stage": self.stage,
            "verdict": self.verdict,
            "effort": self.effort,
            "error": self.error,
            "ok": self.ok,
            "pairs": self.pairs,
            "turned_down": self.replays.turned_down,
            "failed": self.replays.failed,
            "differ_by": self.differ_by,
            "counterexample": None
            if found is None
            else {
                "findings": [
                    {"rule": finding.rule, "stage": finding.stage, "message": finding.message}
                    for finding in found.findings
                ],
                "neighbours": found.case.code(),
                "repeats": found.repeats,
            },
            "snippet": self.snippet,
            "sampled": [
                {
                    "neighbours": sampled.case.code(),
                    "epsilon": str(sampled.case.epsilon),
                    "delta": None if sampled.case.delta is None else str(sampled.case.delta),
                    "noise": sampled.noise,
                    "runs": sampled.runs,
                    "failed": sampled.failed,
                    "bounds": [_plain_bound(bound) for bound in sampled.bounds],
                }
                for sampled in self.sampled
            ],
            "source": [_plain_bound(bound) for bound in self.source],
        }


def confidence(bound: Bound) -> str:
    """The probability that a bound holds, with all its nines and one more digit."""
    nines = max(2, ceil(-log10(1 - bound.confidence)) + 1) if bound.confidence < 1 else 2
    return f"{floor(bound.confidence * 10**nines) / 10**nines:.{nines}f}".rstrip("0")


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
