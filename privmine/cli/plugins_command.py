"""`privmine plugins`: what is known by name, and everything about one component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rich_click as click
from attrs import asdict

from privmine.cli.groups import OpenGroup
from privmine.cli.screen import console, print_json, table, text
from privmine.errors import InputError
from privmine.hooks import descriptions as describe
from privmine.hooks.components import Registered
from privmine.hooks.extensions import Extension
from privmine.hooks.presets import Preset
from privmine.hooks.registry import Registry, own_version, registry
from privmine.model import STAGES
from privmine.pipeline import Pipeline

#: What else plugins bring, with the key of its list.
KINDS = {"command": "commands", "dataset": "datasets", "metric": "metrics", "reader": "readers"}


@click.group(cls=OpenGroup, within="plugins", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.option(
    "--requirements",
    "as_requirements",
    is_flag=True,
    help="Print the distributions in use as lines for pip, to make the same environment elsewhere.",
)
@click.pass_context
def plugins(context: click.Context, as_json: bool, as_requirements: bool) -> None:
    """List everything that is known by name, where it comes from, and plugins that failed to load.

    These are the components of each stage, the methods that join them, commands, datasets, metrics and
    readers.

    The environment variable PRIVMINE_LOAD_PLUGINS, a comma-separated list of distributions, limits what is
    loaded besides privmine itself; empty, it loads nothing else.

    Example:  privmine plugins --requirements > requirements.txt
    """
    if context.invoked_subcommand is not None:
        return
    if as_json and as_requirements:
        raise InputError("--json and --requirements print different things. Choose one.")
    known = registry()
    if as_requirements:
        click.echo("\n".join(requirements(known)))
    elif as_json:
        print_json(as_data(known))
    else:
        show_list(known)


@plugins.command()
@click.argument("component", metavar="STAGE=NAME|METHOD")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(component: str, as_json: bool) -> None:
    """Show one component: what it does, why it is private, its parameters, and where its code lives.

    Of a method, such as privbasis, show the component of each stage.

    Example:  privmine plugins show select_elements=items-and-pairs
    """
    stage, separator, name = component.partition("=")
    if not separator:
        preset = registry().presets.get(component)
        if preset is None:
            raise InputError(
                f"{component!r} is no method, and it does not have the form STAGE=NAME, for example "
                "select_elements=items-and-pairs."
            )
        if as_json:
            print_json(method_data(preset))
        else:
            show_method(preset)
        return
    found = registry().find(stage, name)
    if as_json:
        print_json(component_data(found))
    else:
        show_component(found)


def components(known: Registry) -> list[Registered]:
    """All components, by stage and name."""
    return sorted(known.components.values(), key=lambda found: (STAGES.index(found.stage), found.name))


def requirements(known: Registry) -> list[str]:
    """The distributions that plugins come from, privmine first, each at its version."""
    everything: list[Registered | Preset | Extension] = [
        *known.components.values(),
        *known.presets.values(),
        *known.extensions.values(),
    ]
    versions = {found.distribution: found.version for found in everything}
    own = versions.pop("privmine", own_version())
    return [f"privmine=={own}", *(f"{name}=={versions[name]}" for name in sorted(versions))]


def as_data(known: Registry) -> dict[str, Any]:
    """The registry as plain values."""
    return {
        "components": [
            {
                "stage": found.stage,
                "name": found.name,
                "distribution": found.distribution,
                "version": found.version,
                "summary": describe.summary(found.cls),
            }
            for found in components(known)
        ],
        "methods": [method_data(preset) for preset in known.presets.values()],
        **{
            plural: [
                {
                    "name": found.name,
                    "distribution": found.distribution,
                    "version": found.version,
                    "summary": found.summary,
                }
                for found in known.all_of(kind).values()
            ]
            for kind, plural in KINDS.items()
        },
        "failures": [
            {"plugin": failure.plugin, "distribution": failure.distribution, "reason": failure.reason}
            for failure in known.failures
        ],
    }


def _short(choice: Mapping[str, Any]) -> Any:
    """A component without parameters by its name alone."""
    return choice["use"] if len(choice) == 1 else dict(choice)


def method_data(preset: Preset) -> dict[str, Any]:
    """What a method is made of, as plain values."""
    return {
        "name": preset.name,
        "distribution": preset.distribution,
        "summary": preset.summary,
        "stages": {stage: _short(choice) for stage, choice in preset.stages.items()},
    }


def component_data(found: Registered) -> dict[str, Any]:
    """All that is known of one component, as plain values."""
    return {
        "stage": found.stage,
        "name": found.name,
        "distribution": found.distribution,
        "version": found.version,
        "class": f"{found.cls.__module__}.{found.cls.__qualname__}",
        "file": describe.source_file(found),
        "description": describe.description(found.cls),
        "privacy": describe.privacy_argument(found.cls) or None,
        "bias": describe.bias_statement(found.cls) or None,
        "parameters": [asdict(parameter) for parameter in describe.parameters(found.cls)],
    }


def show_list(known: Registry) -> None:
    """The registry as tables."""
    out = console()
    rows = table("stage", "component", "from", "what it does")
    last = ""
    for found in components(known):
        stage = found.stage if found.stage != last else ""
        last = found.stage
        origin = f"{found.distribution} {found.version}"
        rows.add_row(stage, text(found.name), text(origin), text(describe.summary(found.cls)))
    out.print(rows)
    methods = table("method", "from", "what it does")
    for preset in known.presets.values():
        methods.add_row(text(preset.name), text(preset.distribution), text(preset.summary))
    out.print()
    out.print(methods)
    for kind in filter(known.all_of, KINDS):
        rows = table(kind, "from", "what it is")
        for extension in known.all_of(kind).values():
            rows.add_row(text(extension.name), text(extension.distribution), text(extension.summary))
        out.print()
        out.print(rows)
    for failure in known.failures:
        out.print(
            f"\n[bold red]Failed to load:[/] {text(failure.plugin)} from {text(failure.distribution)}: "
            f"{text(failure.reason)}"
        )


def show_method(preset: Preset) -> None:
    """A method in words, with a table of its components."""
    out = console()
    out.print(f"[bold]{text(preset.name)}[/] from {text(preset.distribution)} {text(preset.version)}\n")
    out.print(f"{text(preset.summary)}\n")
    rows = table("stage", "component")
    for stage, component in Pipeline(preset.name).describe().items():
        rows.add_row(stage, text(component))
    out.print(rows)
    out.print("\nShow a component with  privmine plugins show STAGE=COMPONENT")


def show_component(found: Registered) -> None:
    """One component in words, with a table of its parameters."""
    facts = component_data(found)
    out = console()
    out.print(f"[bold]{found.stage}={text(found.name)}[/] from {text(found.distribution)} {text(found.version)}\n")
    out.print(text(facts["description"]))
    out.print(f"\n[bold]Privacy:[/] {text(facts['privacy'] or 'its docstring has no Privacy: paragraph.')}")
    if facts["bias"]:
        out.print(f"\n[bold]Bias:[/] {text(facts['bias'])}")
    out.print(f"\n[bold]Code:[/] {text(facts['class'])} in {text(facts['file'])}\n")
    parameters = describe.parameters(found.cls)
    if not parameters:
        out.print("It has no parameters.")
        return
    rows = table("parameter", "type", "default", "meaning")
    for parameter in parameters:
        default = "(required)" if parameter.default is None else parameter.default
        rows.add_row(text(parameter.name), text(parameter.type), text(default), text(parameter.help))
    out.print(rows)
    first = parameters[0]
    value = "VALUE" if first.default is None else first.default
    component = f"{found.stage}={text(found.name)}"
    out.print(f"\nSet a parameter with  --set {component} --set {found.stage}.{text(first.name)}={text(value)}")
