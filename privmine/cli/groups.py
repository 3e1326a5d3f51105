"""Groups of commands that are imported when they are used, and that plugins can add to."""

from __future__ import annotations

from typing import Any

import rich_click as click

from privmine.errors import PluginError, UnknownNameError
from privmine.hooks.entry_points import third_parties
from privmine.hooks.extensions import Extension


class DeferredCommand(click.RichCommand):
    """A command that is imported when it is used; until then it is a name and a line of help."""

    def __init__(self, found: Extension) -> None:
        super().__init__(name=found.name.rpartition(" ")[2], help=found.summary)
        self._found = found

    def command(self) -> click.Command:
        """The command itself."""
        loaded = self._found.load()
        if not isinstance(loaded, click.Command):
            raise PluginError(
                f"The command {self._found.name!r} of {self._found.distribution} is not a click command, but "
                f"{type(loaded).__name__}. Decorate the function with @click.command()."
            )
        return loaded

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the arguments as the command itself does; it also runs in this context."""
        return self.command().make_context(info_name, args, parent, **extra)


class OpenGroup(click.RichGroup):
    """A group that plugins can add commands to.

    Args:
        within: the name of the group, as plugins write it before the name of a command; empty for `privmine` itself.
    """

    def __init__(self, *arguments: Any, within: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._within = within

    def add_plugins(self) -> None:
        """Add the commands of plugins; it takes a while, so that it is done where the list or one of them is needed."""
        if not third_parties():
            return
        from privmine.hooks.registry import commands_of_plugins  # It takes a while to load.

        for name, found in commands_of_plugins().items():
            group, _, word = name.rpartition(" ")
            if group == self._within and word not in self.commands:
                self.add_command(DeferredCommand(found))

    def get_help(self, ctx: click.Context) -> str:
        """The help, with all commands."""
        self.add_plugins()
        return super().get_help(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        self.add_plugins()
        return super().list_commands(ctx)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; an unknown one is told with the known ones, and with plugins that failed to load."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            self.add_plugins()
            if args[0] not in self.commands:
                self._refuse(args[0])
        return super().resolve_command(ctx, args)

    def _refuse(self, name: str) -> None:
        from privmine.hooks.registry import registry

        raise UnknownNameError(
            "command", name, self.commands, hint=registry().hint("command", f"{self._within} {name}".strip())
        )


def every_command(command: click.Command, *path: str) -> dict[tuple[str, ...], click.Command]:
    """A command and all below it, by the words that a user types; all of them are imported."""
    found = command.command() if isinstance(command, DeferredCommand) else command
    if isinstance(found, OpenGroup):
        found.add_plugins()
    commands = {path: found}
    for name, below in getattr(found, "commands", {}).items():
        commands |= every_command(below, *path, name)
    return commands
