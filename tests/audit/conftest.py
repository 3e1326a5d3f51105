"""What the tests of leaking mechanisms share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from types import ModuleType

import pytest

from privmine.audit import AuditReport, Effort, audit
from privmine.pipeline import Pipeline

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


@pytest.fixture
def observed() -> Callable[[object], Pipeline]:
    """Makes pipelines that bring an observer to each of their runs."""

    class Observed(Pipeline):
        observer: object

        def run(self, *arguments, **options):
            return super().run(*arguments, **options, observers=[self.observer])

    return lambda observer: type("Observed", (Observed,), {"observer": observer})()


@pytest.fixture(scope="session")
def importable(tmp_path_factory) -> Callable[[str, str], AbstractContextManager[ModuleType]]:
    """Makes modules that other processes can import as well."""

    @contextmanager
    def imported(name: str, source: str) -> Iterator[ModuleType]:
        folder = tmp_path_factory.mktemp(name)
        (folder / f"{name}.py").write_text(source)
        sys.path.insert(0, str(folder))
        yield import_module(name)
        sys.path.remove(str(folder))
        del sys.modules[name]

    return imported
