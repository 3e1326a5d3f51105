"""Mutation testing of the privacy core: `python tests/mutants/run.py [MODULE …]`, for instance `curator.py`.

Every mutant of a module meets the tests that run the changed function, quickest first, until one fails.
`mutants.toml` says which tests a module has, and which survivors are harmless, each with its reason.

mutmut makes the mutants (`operators.py`) but does not run them: it leaves out all decorated functions, and here
these are the `sensitivity` of every query and the stages of every component. Instead a pytest session
collects the tests once; for each mutant a fork of it puts the changed code into the functions that exist, and
runs the tests. Where code that runs at import was changed, a fork that has not imported privmine yet starts anew.
"""

from __future__ import annotations

import argparse
import fnmatch
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

import pytest
from attrs import define
from hypothesis import Phase, settings
from operators import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "privmine"
#: Imported before any fork, so that only privmine and its tests are imported after it.
LIBRARIES = ("attrs", "cattrs", "igraph", "numpy", "opendp.prelude", "pandas", "pluggy", "rich", "scipy.stats")
#: Memory that a mutant may take; some of them ask for all there is.
MEMORY = 4 * 2**30
#: Seconds after which a test that waits, rather than computes, is ended.
LONGEST_WAIT = 600
TIMERS = (signal.SIGALRM, signal.SIGPROF)
#: Hypothesis is imported before pytest could rewrite its assertions.
REWRITING = ("-W", "ignore::pytest.PytestAssertRewriteWarning")


@define(eq=False)
class Trial:
    """A mutant of a module, and what became of it."""

    module: str
    mutant: Mutant
    outcome: str = ""

    def __str__(self) -> str:
        return f"{self.module} {self.mutant.where}: {self.mutant.change}"


def written_by_hand(module: str, entries: list[dict[str, Any]]) -> list[Mutant]:
    """The mutants that `mutants.toml` spells out: mistakes of several lines, which no tool makes."""
    source = (PACKAGE / module).read_text("utf-8")
    mutants = []
    for entry in entries:
        if entry["module"] == module:
            changed, line = source, 0
            for before, after in entry["edits"]:
                if changed.count(before) != 1:
                    sys.exit(f"The mutant {entry['mistake']!r} of {module} does not fit the source any more: {before}")
                line = line or source[: source.index(before)].count("\n") + 1
                changed = changed.replace(before, after)
            mutants.append(Mutant("by hand", line, entry["mistake"], changed))
    return mutants


def in_fork(work: Callable[[], str]) -> str:
    """What the work returns in a process of its own: "timeout" if that was ended by a timer, "crash" if it died."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setpgid(0, 0)
            os.close(reading)
            nowhere = os.open(os.environ.get("MUTANTS_LOG", os.devnull), os.O_RDWR | os.O_APPEND)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            with os.fdopen(writing, "w") as answer:
                answer.write(work())
            status = 0
        except BaseException:  # noqa: BLE001 - a mutant may end in any way
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if status:
        return "timeout" if os.WIFSIGNALED(status) and os.WTERMSIG(status) in TIMERS else "crash"
    return text


def limit_time(seconds: float) -> None:
    """End this process if it computes much longer than this, or waits for ever."""
    signal.setitimer(signal.ITIMER_PROF, 3 + 5 * seconds)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT)


class Outcomes:
    """What became of mutants, in a file that forks share."""

    def __init__(self, place: Path, trials: list[Trial]) -> None:
        self._place = place
        self._trials = trials
        place.touch()

    def __call__(self, trial: Trial) -> None:
        """Note the outcome of a trial."""
        with self._place.open("a") as file:
            file.write(json.dumps([self._trials.index(trial), trial.outcome, str(trial)]) + "\n")

    def all(self) -> dict[int, str]:
        """The outcomes so far, by the number of the trial."""
        return {number: outcome for number, outcome, _ in map(json.loads, self._place.read_text().splitlines())}

    def __contains__(self, trial: Trial) -> bool:
        return self._trials.index(trial) in self.all()


class Known:
    """What a first run of the tests, without any mutant, has told."""

    def __init__(self, seconds: dict[str, float], touching: dict[str, dict[int, list[str]]]) -> None:
        self.seconds = seconds
        self._touching = {module: {int(n): tests for n, tests in lines.items()} for module, lines in touching.items()}

    def tests_of(self, module: str, lines: Iterable[int]) -> list[str]:
        """The tests that run any of these lines, quickest first."""
        found = {test for line in lines for test in self._touching.get(module, {}).get(line, ())}
        return sorted(found & set(self.seconds), key=self.seconds.__getitem__)


#: A trial, the tests that it meets with their times, and what to put into which function.
Job: TypeAlias = tuple[Trial, list[tuple[pytest.Item, float]], list[tuple[FunctionType, CodeType]]]


class Session:
    """A pytest plugin that runs mutants instead of the tests."""

    def __init__(self, trials: list[Trial], report: Outcomes, notes: dict[str, Any]) -> None:
        self._trials = trials
        self._report = report
        self._notes = notes

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure the tests, then try the mutants that need no new import."""
        items = {item.nodeid: item for item in session.items}
        modules = sorted({trial.module for trial in self._trials})
        text = in_fork(lambda: measure(session, items, modules))
        self._notes.update(json.loads(text))
        known = Known(**self._notes)
        for module in modules:  # Some are imported only when they are used.
            importlib.import_module(name_of(module))
        functions = living_functions(modules)
        gc.collect()
        gc.freeze()  # A collection in a fork would copy all that the forks share.
        jobs = []
        for trial in self._trials:
            swaps = swaps_for(trial, functions)
            if swaps is not None:  # Otherwise it has to be imported anew, which this process cannot do.
                names = known.tests_of(trial.module, lines_of(swaps))
                jobs.append((trial, [(items[name], known.seconds[name]) for name in names], swaps))
        while jobs:
            ended = in_fork(lambda: try_many(session, jobs, self._report))  # noqa: B023
            jobs = [job for job in jobs if job[0] not in self._report]
            if jobs and ended in ("timeout", "crash"):
                jobs[0][0].outcome = ended
                self._report(jobs[0][0])
                jobs = jobs[1:]
        return True


def measure(session: pytest.Session, items: dict[str, pytest.Item], modules: list[str]) -> str:
    """How long each test takes that passes, and which lines of the modules it runs."""
    from coverage import Coverage

    coverage = Coverage(data_file=None, include=[str(PACKAGE / module) for module in modules])
    seconds = {}
    coverage.start()
    for name, item in items.items():
        coverage.switch_context(name)
        begun, failed = time.process_time(), session.testsfailed
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed == failed:
            seconds[name] = time.process_time() - begun
    coverage.stop()
    data = coverage.get_data()
    touching = {module: data.contexts_by_lineno(str(PACKAGE / module)) for module in modules}
    return json.dumps({"seconds": seconds, "touching": touching})


def try_many(session: pytest.Session, jobs: list[Job], report: Outcomes) -> str:
    """Try mutants one after another in this process, until one of them leaves something behind."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for place, (trial, timed, swaps) in enumerate(jobs):
        originals = [(function, function.__code__) for function, _ in swaps]
        for function, code in swaps:
            function.__code__ = code
        failed = first_failure(session, timed)
        for function, code in originals:
            function.__code__ = code
        # Earlier mutants may have left something behind: a test that fails without the mutant as well tells
        # nothing, and a survivor may owe it to a cached value. Both are tried again in a fresh process.
        certain = bool(failed) and not first_failure(session, failed)
        if place and not certain:
            break
        trial.outcome = failed[0][0].nodeid if failed else "survived"
        report(trial)
        if not certain:
            break
    return ""


def first_failure(session: pytest.Session, timed: list[tuple[pytest.Item, float]]) -> list[tuple[pytest.Item, float]]:
    """The first test that fails, with its time, or nothing."""
    before = session.testsfailed
    for item, seconds in timed:
        limit_time(seconds)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed > before:
            return [(item, seconds)]
    return []


def living_functions(modules: list[str]) -> dict[str, dict[CodeType, list[FunctionType]]]:
    """All functions of the modules, wherever a decorator or a closure has put them."""
    found: dict[str, dict[CodeType, list[FunctionType]]] = {module: defaultdict(list) for module in modules}
    modules_of = {str(PACKAGE / module): module for module in modules}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename in modules_of:
            found[modules_of[thing.__code__.co_filename]][thing.__code__].append(thing)
    return found


def swaps_for(
    trial: Trial, functions: dict[str, dict[CodeType, list[FunctionType]]]
) -> list[tuple[FunctionType, CodeType]] | None:
    """The functions to change, with their new code; None where the change is not in the body of a function."""
    name = str(PACKAGE / trial.module)
    before = compile((PACKAGE / trial.module).read_text("utf-8"), name, "exec", dont_inherit=True)
    after = compile(trial.mutant.source, name, "exec", dont_inherit=True)
    changed = changed_codes(before, after)
    if changed is None:
        return None
    swaps = [(function, new) for old, new in changed for function in functions[trial.module].get(old, ())]
    if not swaps or any(len(f.__code__.co_freevars) != len(code.co_freevars) for f, code in swaps):
        return None
    return swaps


def changed_codes(before: CodeType, after: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions whose code differs; None if code outside of functions does."""
    inner = [const for const in before.co_consts if isinstance(const, CodeType)]
    outer = [const for const in after.co_consts if isinstance(const, CodeType)]
    if len(inner) != len(outer) or _plain(before) != _plain(after):
        return None
    changed: list[tuple[CodeType, CodeType]] = []
    for old, new in zip(inner, outer, strict=True):
        if old.co_flags & 0x2:  # CO_NEWLOCALS: a function, not the body of a class
            if _deep(old) != _deep(new):
                changed += _with_inner(old, new)
        else:
            deeper = changed_codes(old, new)
            if deeper is None:
                return None
            changed += deeper
    return changed


def _plain(code: CodeType) -> tuple[Any, ...]:
    """A code without the code inside it, and without the numbers of its lines."""
    constants = tuple(repr(const) for const in code.co_consts if not isinstance(const, CodeType))
    return code.co_name, code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _deep(code: CodeType) -> tuple[Any, ...]:
    return *_plain(code), *(_deep(const) for const in code.co_consts if isinstance(const, CodeType))


def _with_inner(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]]:
    """A function and those inside it: closures may exist already."""
    pairs = [(old, new)]
    inner = [const for const in old.co_consts if isinstance(const, CodeType)]
    outer = [const for const in new.co_consts if isinstance(const, CodeType)]
    for one, other in zip(inner, outer, strict=False):
        pairs += _with_inner(one, other)
    return pairs


def lines_of(swaps: list[tuple[FunctionType, CodeType]]) -> set[int]:
    """The lines of the functions as they are."""
    return {line for function, _ in swaps for _, _, line in function.__code__.co_lines() if line}


def name_of(module: str) -> str:
    """The name under which Python imports a module."""
    return ".".join(Path("privmine", module).with_suffix("").parts).removesuffix(".__init__")


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module of privmine from another source."""

    def __init__(self, module: str, source: str) -> None:
        self._path = PACKAGE / module
        self._name = name_of(module)
        self._source = source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Only that module."""
        if name != self._name:
            return None
        package = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, self._path, loader=self, submodule_search_locations=package)

    def exec_module(self, module: Any) -> None:
        """Run the changed source."""
        exec(compile(self._source, str(self._path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102


class Quickest:
    """A pytest plugin that sorts the tests by how long they took, and stops at the first failure."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what failed without a mutant as well."""
        items[:] = sorted((i for i in items if i.nodeid in self._seconds), key=lambda i: self._seconds[i.nodeid])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Give each test its time."""
        limit_time(self._seconds[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the test that failed."""
        if report.failed:
            self.failed = report.nodeid


def import_and_run(trial: Trial, tests: list[str], seconds: dict[str, float], place: Path) -> str:
    """Run the tests in a process that imports the changed module, until one fails."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, Changed(trial.module, trial.mutant.source))
    quickest = Quickest(seconds)
    status = pytest.main([*options(place), "-x", *tests], plugins=[quickest])
    return "survived" if status == pytest.ExitCode.OK else quickest.failed or "import"


def options(place: Path) -> list[str]:
    """Of pytest: as the project says, without what costs time."""
    return ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), f"--basetemp={place}", "-s", "-q", *REWRITING]


def run_group(
    tests: list[str], trials: list[Trial], place: Path, report: Callable[[Trial], None], *, bodies: bool
) -> None:
    """All trials that have the same tests; with `bodies`, not those of code that runs at import."""
    notes: dict[str, Any] = {}
    outcomes = Outcomes(place / f"{len(list(place.iterdir()))}.jsonl", trials)

    def hot() -> str:
        status = pytest.main([*options(place / "hot"), *tests], plugins=[Session(trials, outcomes, notes)])
        return json.dumps(notes["seconds"]) if status != pytest.ExitCode.INTERNAL_ERROR else "crash"

    text = in_fork(hot)
    if text in ("timeout", "crash"):
        sys.exit(f"The tests {tests} could not be run.")
    seconds = json.loads(text)
    for number, outcome in outcomes.all().items():
        trials[number].outcome = outcome
        report(trials[number])
    for trial in trials:
        if not trial.outcome and bodies:
            trial.outcome = "left out"
        elif not trial.outcome:
            trial.outcome = in_fork(lambda: import_and_run(trial, tests, seconds, place / "cold"))  # noqa: B023
            report(trial)


@cache
def survived_in(output: Path) -> frozenset[str]:
    """The mutants that survived an earlier run, whatever line they stand on by now."""
    lines = (line.rstrip("\n").split("\t") for line in output.open() if line.startswith(("SURVIVED", "EXPLAINED")))
    return frozenset(fields[-1] for fields in lines)


def main() -> None:
    """Try the mutants of the modules that are named, or of all, and print the score of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="paths inside privmine/, such as curator.py; all by default")
    parser.add_argument("--sample", type=int, help="at most so many mutants of each module, at random")
    parser.add_argument("--seed", type=int, default=11, help="of that choice")
    parser.add_argument(
        "--again", type=Path, metavar="FILE", help="only what survived in this output of an earlier run"
    )
    parser.add_argument(
        "--bodies",
        action="store_true",
        help="only changes inside of functions, not code that runs at import",
    )
    arguments = parser.parse_args()
    table = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text("utf-8"))
    explained = {
        (entry["module"], entry["where"], entry["change"]): entry["why"] for entry in table.get("survivor", [])
    }
    wanted = [module.removeprefix("privmine/") for module in arguments.modules]
    chosen = [m for m in table["modules"] if not wanted or any(fnmatch.fnmatch(m, pattern) for pattern in wanted)]
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.chdir(ROOT)
    settings.register_profile("mutants", database=None, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutants")
    for library in LIBRARIES:
        importlib.import_module(library)

    groups: dict[tuple[str, ...], list[Trial]] = defaultdict(list)
    for module in chosen:
        mutants = list(mutants_of((PACKAGE / module).read_text("utf-8")))
        if arguments.sample is not None and arguments.sample < len(mutants):
            mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)  # noqa: S311 - no secret
        mutants += written_by_hand(module, table.get("mutant", []))
        trials = [Trial(module, mutant) for mutant in mutants]
        if arguments.again:
            trials = [trial for trial in trials if str(trial) in survived_in(arguments.again)]
        if trials:
            groups[tuple(table["tests"][table["modules"][module]])] += trials

    def report(trial: Trial) -> None:
        known = explained.get((trial.module, trial.mutant.where, trial.mutant.change))
        fate = trial.outcome if trial.outcome != "survived" else "EXPLAINED" if known else "SURVIVED"
        print(f"{fate}\tline {trial.mutant.line}\t{trial}", flush=True)

    begun = time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        for tests, trials in groups.items():
            run_group(list(tests), trials, place, report, bodies=arguments.bodies)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    tried = [trial for trials in groups.values() for trial in trials if trial.outcome != "left out"]
    open_ones = summarise(tried, explained)
    print(f"{(time.monotonic() - begun) / 60:.1f} minutes")
    sys.exit(bool(open_ones))


def summarise(trials: list[Trial], explained: dict[tuple[str, str, str], str]) -> int:
    """Print the table of scores; how many survivors nobody has explained."""
    print("| module | mutants | killed | explained | open |\n|---|---|---|---|---|")
    unexplained = 0
    for module in dict.fromkeys(trial.module for trial in trials):
        mine = [trial for trial in trials if trial.module == module]
        survivors = [t for t in mine if t.outcome == "survived"]
        known = sum((t.module, t.mutant.where, t.mutant.change) in explained for t in survivors)
        row = [len(mine), len(mine) - len(survivors), known, len(survivors) - known]
        print(f"| `{module}` | {' | '.join(map(str, row))} |")
        unexplained += row[-1]
    return unexplained


if __name__ == "__main__":
    main()
