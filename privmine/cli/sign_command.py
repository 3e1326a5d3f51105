"""`privmine sign` and `privmine verify`."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click

from privmine.cli.screen import console, print_json, table, text
from privmine.errors import InputError
from privmine.release import load
from privmine.release.signatures import sign as sign_file
from privmine.release.signatures import signed_by

#: Where the password of a key is looked for: on a command line everybody could read it.
_PASSWORD = "PRIVMINE_KEY_PASSWORD"  # noqa: S105 - a name, not a password


@click.command()
@click.argument("releases", metavar="RELEASE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path),
    help=f"Your private SSH key, Ed25519 or RSA. Its password, if it has one, is read from {_PASSWORD}.",
)
def sign(releases: tuple[Path, ...], key: Path) -> None:
    """Sign RELEASE, so that others can tell that it is unchanged.

    The signature is written to a file beside it that ends in .sig. `ssh-keygen -Y verify -n privmine` reads it, too.

    Example:  privmine sign top100.csv --key ~/.ssh/id_ed25519
    """
    for release in releases:
        load(release)  # a signature of something else would say nothing
    for release in releases:
        for made in sign_file(release, key, os.environ.get(_PASSWORD)):
            console().print(f"[bold]Signed:[/] {text(made)}")


@click.command()
@click.argument("releases", metavar="RELEASE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--signer",
    "signers",
    required=True,
    type=click.Path(path_type=Path),
    help="The public key that you trust: a .pub file, or a list of allowed signers. Get it from the signer, not with "
    "the release.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def verify(releases: tuple[Path, ...], signers: Path, as_json: bool) -> None:
    """Tell whether RELEASE is unchanged since its signer signed it.

    The exit code is 0 if all are, and 1 if one is not. Whether a ledger paid for it tells `privmine budget verify`.

    Example:  privmine verify top100.csv --signer officer.pub
    """
    found: list[dict[str, str | bool]] = []
    for release in releases:
        try:
            found.append({"release": str(release), "unchanged": True, "told": signed_by(release, signers)})
        except InputError as error:
            found.append({"release": str(release), "unchanged": False, "told": str(error)})
    if as_json:
        print_json(found)
    else:
        rows = table("release", "unchanged", "signed by, or why not")
        for row in found:
            rows.add_row(text(row["release"]), "yes" if row["unchanged"] else "[bold red]no[/]", text(row["told"]))
        console().print(rows)
    if not all(row["unchanged"] for row in found):
        raise SystemExit(1)
