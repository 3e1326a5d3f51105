"""Every method and component that ships passes the quick audit, on every commit; docs/audit.md tells of longer ones.

PrivBasis, its components and TF are audited in the default run, all the others in `tox -e statistics`.
"""

from __future__ import annotations

import pytest
from slow_cases import slow_unless

from privmine.audit import Evidence, quick_audit, subject_of
from privmine.audit.subjects import all_names
from privmine.pipeline import Pipeline

#: The components of one pipeline share its runs.
EVIDENCE = Evidence()


SHIPPED = {"privmine", "privmine-tf", "privmine-bases", "privmine-plus"}
FAST = ["privbasis", "tf", *(f"{stage}={part.name}" for stage, part in Pipeline().parts.items())]


def shipped_names() -> list[str]:
    """Not what else may be installed here."""
    subjects = map(subject_of, all_names())
    return [
        found.name for found in subjects if {part.distribution for part in found.pipeline.parts.values()} <= SHIPPED
    ]


@pytest.mark.parametrize("name", slow_unless(FAST, shipped_names()))
def test_what_ships_passes_its_audit(name) -> None:
    """Nothing is found on a hundred pairs of neighbours, nor in some hundred runs."""
    report = quick_audit(name, evidence=EVIDENCE)
    assert report.verdict == "holds", str(report)
