"""Verdicts of audits, from a file that `privmine audit --json` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import frozen

from privmine.errors import DataError, PrivmineError
from privmine.pipeline import Pipeline
from privmine.privacy import Receipt


@frozen
class AuditVerdict:
    """What an audit concluded of one pipeline or component.

    Attributes:
        subject: a method, or a component as STAGE=NAME.
        verdict: "holds", "violates", "refused" or "errors".
        pairs: on how many pairs of neighbours runs were replayed.
        differ_by: what one of such a pair has and the other has not.
        effort: how hard the audit tried.
        version: the version of privmine that was audited.
    """

    subject: str
    verdict: str
    pairs: int
    differ_by: str
    effort: str
    version: str

    def concerns(self, receipt: Receipt) -> bool:
        """Whether it is about a component of this release, or about a method that has the same components."""
        used = {stage: described.partition("(")[0] for stage, described in receipt.pipeline.items()}
        stage, equals, name = self.subject.partition("=")
        if equals:
            return used.get(stage) == name
        try:
            parts = Pipeline(self.subject).parts
        except PrivmineError:  # of a plugin that is not installed here
            return False
        return used == {stage: part.name for stage, part in parts.items()}


def read_verdicts(path: Path) -> tuple[AuditVerdict, ...]:
    """Read what an audit concluded.

    Raises:
        DataError: the file cannot be read, or is not what an audit writes.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_verdict(report, str(values["version"])) for report in values["reports"])
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or 'it is not a file'}.") from None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path} is not what `privmine audit --json` writes.") from None


def _verdict(report: Any, version: str) -> AuditVerdict:
    texts = [report[name] for name in ("subject", "verdict", "differ_by", "effort")]
    if not all(isinstance(text, str) for text in texts) or type(report["pairs"]) is not int:
        raise TypeError
    subject, verdict, differ_by, effort = texts
    return AuditVerdict(subject, verdict, report["pairs"], differ_by, effort, version)
