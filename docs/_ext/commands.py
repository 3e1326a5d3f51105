"""A directive that shows a command's help as it is when the pages are built, so that it cannot go stale.

```{command} privmine mine
```
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from privmine.cli.commands import cli
from privmine.cli.groups import every_command

EXAMPLE = "Example:"
CODE = re.compile(r"(`[^`]+`|--[a-z][a-z-]*)")


def commands() -> dict[str, click.Command]:
    """All commands, by what a user types."""
    return {" ".join(path): command for path, command in every_command(cli, "privmine").items()}


def paragraphs(command: click.Command) -> list[str]:
    """The help text of a command, one paragraph a text; a backspace character keeps the lines of the next one."""
    return [part.strip() for part in (command.help or "").replace("\f", "").split("\n\n") if part.strip()]


def usage(path: str, command: click.Command) -> str:
    """How the command is called, in one line."""
    context = click.Context(command, info_name=path)
    return " ".join([path, *command.collect_usage_pieces(context)])


class CommandDirective(Directive):
    """The help of one command: how it is called, its text, its example, and its options."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Look the command up, and set its help as text."""
        path = " ".join(self.arguments[0].split())
        command = commands().get(path)
        if command is None:
            return [self.state_machine.reporter.warning(f"There is no command {path}.", line=self.lineno)]
        made: list[nodes.Node] = [_block(usage(path, command))]
        for part in paragraphs(command):
            made += example(part) if part.lstrip("\b\n ").startswith(EXAMPLE) else [_paragraph(part)]
        context = click.Context(command, info_name=path)
        panels: dict[str, list[tuple[str, str]]] = {}
        for option in command.params:
            record = option.get_help_record(context)
            if record is not None and record[1]:
                panels.setdefault(getattr(option, "panel", None) or "", []).append(record)
        for panel, records in panels.items():
            made += [nodes.rubric("", panel)] if panel else []
            made.append(_definitions(records))
        below = [(f"{path} {name}", _first(found)) for name, found in getattr(command, "commands", {}).items()]
        if below:
            made.append(_definitions(below))
        return made


def example(part: str) -> list[nodes.Node]:
    """An example: the commands in a block of their own, words around them as text."""
    lines = part.lstrip("\b\n ").removeprefix(EXAMPLE).strip().splitlines()
    return [nodes.paragraph("", EXAMPLE), _block("\n".join(line.strip() for line in lines))]


def _first(command: click.Command) -> str:
    return " ".join(paragraphs(command)[0].split()) if command.help else ""


def _paragraph(part: str) -> nodes.Node:
    if part.startswith("\b"):
        return _block("\n".join(line.strip() for line in part.lstrip("\b\n").splitlines()))
    return nodes.paragraph("", "", *_inline(" ".join(part.split())))


def _inline(text: str) -> list[nodes.Node]:
    """Text in which options, and names between backticks, are set as code."""
    pieces = CODE.split(text)
    made = [nodes.literal("", piece.strip("`")) if odd % 2 else nodes.Text(piece) for odd, piece in enumerate(pieces)]
    return [node for node in made if node.astext()]


def _block(text: str) -> nodes.literal_block:
    block = nodes.literal_block(text, text)
    block["language"] = "text"
    return block


def _definitions(records: list[tuple[str, str]]) -> nodes.definition_list:
    return nodes.definition_list(
        "",
        *(
            nodes.definition_list_item(
                "",
                nodes.term("", "", nodes.literal("", name)),
                nodes.definition("", nodes.paragraph("", "", *_inline(" ".join(text.split())))),
            )
            for name, text in records
        ),
        classes=["command-options"],
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("command", CommandDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
