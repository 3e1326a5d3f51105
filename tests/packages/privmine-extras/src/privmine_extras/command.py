"""A command."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
def greet(name: str) -> None:
    """Greet NAME.

    Example:  privmine greet Ada
    """
    click.echo(f"Hello, {name}.")
