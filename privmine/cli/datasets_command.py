"""`privmine datasets`: what is known by name, what is at hand, and how to get the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from privmine.cli.screen import console, print_json, progress, table, text
from privmine.datasets import DatasetInfo, all_datasets, describe, make_available

data_option = click.option(
    "--data", "data_dir", type=click.Path(path_type=Path), help="Where your copies are.  [default: PRIVMINE_DATA]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")

STATUS_STYLES = {"at hand": "green", "cached": "green", "missing": "yellow"}


@click.group()
def datasets() -> None:
    """List the datasets that are known by name, describe one, or check that it is there.

    A dataset is looked for in --data DIR or in the directory that the environment variable PRIVMINE_DATA
    names, then in the cache (PRIVMINE_CACHE). All of them are public or generated: no budget is spent.

    Example:  privmine datasets list
    """


@datasets.command(name="list")
@data_option
@json_option
def list_datasets(data_dir: Path | None, as_json: bool) -> None:
    """List all datasets, and whether each is at hand, cached, fetchable, generated or missing.

    Example:  privmine datasets list --data ~/fimi
    """
    known = all_datasets(data_dir)
    if as_json:
        print_json([info.to_dict() for info in known])
        return
    rows = table(
        "dataset", "transactions", "items", "length", "status", "what it is", right=("transactions", "items", "length")
    )
    for info in known:
        style = STATUS_STYLES.get(info.status, "default")
        rows.add_row(
            text(info.name),
            f"{info.transactions:,}",
            f"{info.items:,}",
            f"{info.mean_length:.1f}",
            f"[{style}]{info.status}{', proxy' if info.proxy else ''}[/]",
            text(info.title),
        )
    console().print(rows)


@datasets.command()
@click.argument("name")
@data_option
@json_option
def info(name: str, data_dir: Path | None, as_json: bool) -> None:
    """Show all that is known of the dataset NAME; nothing is opened or fetched.

    Example:  privmine datasets info kosarak
    """
    found = describe(name, data_dir)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)


@datasets.command()
@click.argument("name")
@data_option
@json_option
def fetch(name: str, data_dir: Path | None, as_json: bool) -> None:
    """See that the dataset NAME is there and undamaged: download it into the cache, or generate it, if need be.

    Example:  privmine datasets fetch retail
    """
    with progress(f"Looking for {name}, fetching or generating it …"):
        make_available(name, data_dir)
    found = describe(name, data_dir)
    if as_json:
        print_json(found.to_dict())
        return
    where = "is generated each time it is opened" if found.path is None else f"is in {text(found.path)}"
    console().print(f"{text(found.name)} {where}.", soft_wrap=True)
    for warning in warnings_of(found):
        console().print(f"[bold yellow]{text(warning)}[/]", soft_wrap=True)


def show(found: DatasetInfo) -> None:
    """A dataset in words."""
    out = console()
    out.print(f"[bold]{text(found.name)}[/]: {text(found.title)}\n")
    for name, value in facts(found):
        out.print(f"[bold]{name}:[/] {text(value)}", soft_wrap=True)
    for warning in warnings_of(found):
        out.print(f"\n[bold yellow]{text(warning)}[/]", soft_wrap=True)


def facts(found: DatasetInfo) -> list[tuple[str, Any]]:
    """What there is to tell, each with the word for it."""
    told: list[tuple[str, Any]] = [
        ("Size", f"{found.transactions:,} transactions over {found.items:,} items, {found.mean_length:g} on average"),
        ("Source", found.source),
        ("Licence", found.licence),
        ("Status", found.status),
    ]
    if found.path is not None:
        told.append(("File", found.path))
    if found.url is not None:
        told.append(("Download", found.url))
    if found.synthetic is None:
        checksum = found.sha256 or "unknown, so it cannot be fetched; for a copy, the number of transactions is checked"
        told.append(("SHA-256 of the text", checksum))
    if found.note:
        told.append(("Note", found.note))
    return told


def warnings_of(found: DatasetInfo) -> list[str]:
    """What must not be overlooked."""
    return [warning for warning in (found.proxy, found.synthetic) if warning is not None]
