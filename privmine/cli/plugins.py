"""`privmine plugins`."""

from __future__ import annotations

import inspect
from typing import Any

import rich_click as click

from privmine.cli.screen import console, print_json, table, text
from privmine.model import STAGES
from privmine.registry import Registered, Registry, registry


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> None:
    """List the components of each stage, the methods that join them, and plugins that failed to load.

    Example:  privmine plugins --json
    """
    if context.invoked_subcommand is not None:
        return
    known = registry()
    if as_json:
        print_json(as_data(known))
    else:
        show(known)


def components(known: Registry) -> list[Registered]:
    """All components, by stage and name."""
    return sorted(known.components.values(), key=lambda found: (STAGES.index(found.stage), found.name))


def summary(cls: type) -> str:
    """The first line of a class's docstring."""
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def as_data(known: Registry) -> dict[str, Any]:
    """The registry as plain values."""
    return {
        "components": [
            {
                "stage": found.stage,
                "name": found.name,
                "distribution": found.distribution,
                "version": found.version,
                "summary": summary(found.cls),
            }
            for found in components(known)
        ],
        "methods": [
            {
                "name": preset.name,
                "distribution": preset.distribution,
                "summary": preset.summary,
                "stages": dict(preset.stages),
            }
            for preset in known.presets.values()
        ],
        "failures": [
            {"plugin": failure.plugin, "distribution": failure.distribution, "reason": failure.reason}
            for failure in known.failures
        ],
    }


def show(known: Registry) -> None:
    """The registry as tables."""
    out = console()
    rows = table("stage", "component", "from", "what it does")
    last = ""
    for found in components(known):
        stage = found.stage if found.stage != last else ""
        last = found.stage
        origin = f"{found.distribution} {found.version}"
        rows.add_row(stage, text(found.name), text(origin), text(summary(found.cls)))
    out.print(rows)
    methods = table("method", "from", "what it does")
    for preset in known.presets.values():
        methods.add_row(text(preset.name), text(preset.distribution), text(preset.summary))
    out.print()
    out.print(methods)
    for failure in known.failures:
        out.print(
            f"\n[bold red]Failed to load:[/] {text(failure.plugin)} from {text(failure.distribution)}: "
            f"{text(failure.reason)}"
        )
