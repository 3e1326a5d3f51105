"""`privmine new`: a plugin distribution that works, as a start for one's own."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import rich_click as click
from attrs import frozen

from privmine.cli.screen import console, text
from privmine.errors import InputError, UnknownNameError
from privmine.hooks.registry import own_version, registry
from privmine.model import STAGES

#: A normalised distribution name (PEP 503), which begins with a letter so that its package can be imported.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PREFIX = "privmine-"


@frozen
class Example:
    """The component that is written for a stage.

    Attributes:
        module: the module's name, as privmine calls its own for that stage.
        cls: the class's name.
        title: what the distribution is.
        summary: what the component does, a sentence.
    """

    module: str
    cls: str
    title: str
    summary: str


EXAMPLES = {
    "allocate_budget": Example(
        "allocate",
        "EvenShares",
        "A budget allocation",
        "Gives λ a small share of the budget, and selection and counts half of the rest each.",
    ),
    "estimate_lambda": Example(
        "estimate",
        "LengthBasedLambda",
        "A λ estimation",
        "Takes λ as a multiple of the noisy mean length of the transactions.",
    ),
    "select_elements": Example(
        "select",
        "FrequentItems",
        "An element selection",
        "Selects λ frequent items and no larger itemsets.",
    ),
    "construct_basis": Example(
        "construct",
        "GroupsInOrder",
        "A basis strategy",
        "Puts the selected items into bases of equal size, the most promising ones together.",
    ),
    "reconstruct_counts": Example(
        "reconstruct",
        "DirectSupports",
        "A reconstruction",
        "Measures the support of every short candidate directly, each with the same noise.",
    ),
}


@click.command()
@click.argument("name")
@click.option("--stage", metavar="STAGE", help=f"The stage to implement: {', '.join(STAGES)}.")
@click.option(
    "--directory", type=click.Path(path_type=Path), help="The directory to create.  [default: NAME, in this one]"
)
def new(name: str, stage: str | None, directory: Path | None) -> None:
    """Write a plugin distribution called NAME: a working component, its tests, a README and a CI workflow.

    By custom a plugin's name begins with privmine-; the rest is the name of its component.

    Example:  privmine new privmine-mine --stage select_elements
    """
    if stage is None:
        raise InputError(
            f"Name the stage that {name} implements: --stage, one of {', '.join(STAGES)}. "
            "For example --stage construct_basis."
        )
    if stage not in STAGES:
        raise UnknownNameError("stage", stage, STAGES)
    check_name(name, stage)
    target = Path(name) if directory is None else directory
    if target.exists():
        raise InputError(f"{target} exists already. Choose another --directory, or move it away.")
    write(target, rendered(name, stage))
    out = console()
    component = component_name(name)
    out.print(f"[bold]{text(target)}[/] contains {text(name)}, a working plugin for {stage}.\n\nNext:")
    for step in (
        f"cd {target}",
        'python -m pip install -e ".[test]"',
        "python -m pytest",
        f"privmine plugins show {stage}={component}",
        f"privmine audit {stage}={component}",
        f"privmine mine --set {stage}={component}",
    ):
        out.print(f"  {text(step)}")
    out.print(f"\nThen change it: src/{package_name(name)}/{EXAMPLES[stage].module}.py")


def check_name(name: str, stage: str) -> None:
    """Refuse a name that could not be installed, imported or registered."""
    if not NAME.fullmatch(name):
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = f"; {better!r} is possible" if NAME.fullmatch(better) else ""
        raise InputError(
            f"{name!r} is not a valid name of a distribution{hint}. Use lower-case letters, digits "
            "and single hyphens, and begin with a letter."
        )
    package = package_name(name)
    if keyword.iskeyword(package) or find_spec(package) is not None:
        raise InputError(f"{name!r} would be imported as {package}, but Python uses that name. Choose another name.")
    component = component_name(name)
    known = registry().components.get((stage, component))
    if known is not None:
        raise InputError(
            f"{name!r} would register {stage}={component}, but {known.distribution} has registered "
            "that name already. Choose another name."
        )


def package_name(name: str) -> str:
    """What Python imports."""
    return name.replace("-", "_")


def component_name(name: str) -> str:
    """What users choose the component by."""
    return name.removeprefix(PREFIX)


def rendered(name: str, stage: str) -> dict[str, str]:
    """The files of a distribution, by path."""
    example = EXAMPLES[stage]
    package = package_name(name)
    words = {
        "distribution": name,
        "package": package,
        "component": component_name(name),
        "stage": stage,
        "module": example.module,
        "cls": example.cls,
        "title": example.title,
        "summary": example.summary,
        "privmine_version": own_version(),
    }
    templates = {
        "pyproject.toml": "pyproject.toml.txt",
        "README.md": "README.md.txt",
        ".gitignore": "gitignore.txt",
        ".github/workflows/tests.yml": "tests.yml.txt",
        f"src/{package}/__init__.py": "init.py.txt",
        f"src/{package}/{example.module}.py": f"stages/{stage}.py.txt",
        "tests/test_contracts.py": "test_contracts.py.txt",
        f"tests/test_{example.module}.py": f"stages/test_{stage}.py.txt",
    }
    made = {path: Template(template(source)).substitute(words) for path, source in templates.items()}
    return made | {f"src/{package}/py.typed": ""}


def template(path: str) -> str:
    """The text of a template; they are data of this package, so that they are in its wheel."""
    return files("privmine").joinpath("templates", path).read_text(encoding="utf-8")


def write(target: Path, made: dict[str, str]) -> None:
    """Write the files into a directory that must not exist yet."""
    try:
        target.mkdir(parents=True)
        for path, content in made.items():
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write to {target}: {error.strerror}.") from None
