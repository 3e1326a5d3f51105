"""What the tests of leaking mechanisms share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from privmine.audit import AuditReport, Effort, audit

REPLAY = Effort("replay only", pairs=40, examples=0, samples=0, cases=0)


@pytest.fixture
def replayed() -> Callable[..., AuditReport]:
    """Audits by replay alone, and prints the report: `pytest -s` shows the verdict on every mutation."""

    def replay_and_print(target, **options) -> AuditReport:
        report = audit(target, effort=REPLAY, **options)
        print(report)
        return report

    return replay_and_print


@pytest.fixture
def rules(replayed) -> Callable[..., set[str]]:
    """Audits by replay; gives the rules that the smallest counterexample breaks."""

    def rules_broken(target, **options) -> set[str]:
        report = replayed(target, **options)
        if report.counterexample is None:
            return set()
        assert report.verdict in ("violates", "refused")
        return {finding.rule for finding in report.counterexample.findings}

    return rules_broken
