"""Sources that plugins read.

Privacy: a reader of a plugin is trusted as its author is, and the receipt says so. What can be checked of what it
returns is checked: who is protected, and the item universe. Its errors may quote data, so that they are withheld.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from attrs import evolve, fields

from privmine.errors import DataError, InputError, PluginError, PrivmineError, PrivmineWarning
from privmine.hooks.entry_points import third_parties
from privmine.hooks.extensions import Extension
from privmine.hooks.registry import registry
from privmine.io.readers.options import ReadOptions
from privmine.model import PRIVATE
from privmine.store.transactions import Transactions, given_universe


def plugin_readers() -> dict[str, Extension]:
    """The readers of plugins by name."""
    # Looking for plugins reads the metadata of all that is installed, so that a registry that is there is asked first.
    is_filled = registry.cache_info().currsize > 0
    return registry().all_of("reader") if is_filled or third_parties() else {}


def reader_of(source: Any) -> Extension | None:
    """The reader that takes a source, or None where privmine itself has to read it."""
    willing = [found for found in plugin_readers().values() if _takes(found, source)]
    if len(willing) > 1:
        names = " and ".join(f"{found.name} of {found.distribution}" for found in willing)
        raise InputError(f"Several readers take this source: {names}. Uninstall one of them.")
    return willing[0] if willing else None


def read_text(texts: Mapping[str, str], options: ReadOptions) -> Transactions:
    """Read what the text after a reader's option stands for.

    Args:
        texts: the text by the name of its reader; one of them.
        options: the options of `read`.
    """
    ((name, text),) = texts.items()
    found = plugin_readers()[name]
    _given(found, found.follow(found.value.read), options)  # first, since a source may take long to open
    opens = found.follow(found.value.opens)
    transactions = read_by(found, _guarded(found, lambda: opens(text)), options)
    return evolve(transactions, origin=evolve(transactions.origin, reference=f"--{name} {text}"))


def read_by(found: Extension, source: Any, options: ReadOptions) -> Transactions:
    """Read a source by a plugin's reader, and check what it returns."""
    read = found.follow(found.value.read)
    given = _given(found, read, options)
    transactions = _guarded(found, lambda: read(source, **given))
    if not isinstance(transactions, Transactions):
        raise PluginError(f"{_title(found)} returned {type(transactions).__name__}, not Transactions. {_REPORT}")
    if transactions.unit != options.protected:
        raise PluginError(
            f"{_title(found)} was asked to protect one {options.protected.name} and protects one "
            f"{transactions.unit.name}, or with another number of transactions. {_REPORT}"
        )
    if options.items is not None and options.items != PRIVATE:
        wanted = given_universe(options.items)
        if not transactions.universe.given or transactions.universe != wanted:
            raise PluginError(f"{_title(found)} did not keep to the item universe that items= names. {_REPORT}")
    relies = f"privmine relies on {_title(found, 'the')} to read each unit's rows without regard to those of others"
    origin = evolve(transactions.origin, assumes=(*transactions.origin.assumes, relies))
    if options.listener is not None:
        options.listener(origin)
    found_all = evolve(transactions, origin=origin)
    return found_all.hiding_items() if options.items == PRIVATE else found_all


_REPORT = "Report this to its author."


def _title(found: Extension, article: str = "The") -> str:
    return f"{article} reader {found.name!r} of {found.distribution}"


def _takes(found: Extension, source: Any) -> bool:
    """Whether a reader takes a source; one that fails takes nothing, so that others go on."""
    try:
        return bool(found.follow(found.value.takes)(source))
    except Exception as error:  # noqa: BLE001 - a plugin may fail in any way
        warnings.warn(
            f"{_title(found)} could not be asked whether it reads the source: {type(error).__name__}. It is left out.",
            PrivmineWarning,
            stacklevel=2,
        )
        return False


def _given(found: Extension, read: Callable[..., Any], options: ReadOptions) -> dict[str, Any]:
    """The options that were given, all of which the reader must know."""
    own = ("listener", "respelling")  # what `read` itself goes by, not options
    values = {option.name: getattr(options, option.name) for option in fields(ReadOptions) if option.name not in own}
    if values["items"] == PRIVATE:
        values["items"] = None  # a reader takes them from the data, and `read_by` hides them
    given = {name: value for name, value in values.items() if value is not None and value is not False}
    parameters = signature(read).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return given
    for name in given:
        if name not in parameters:
            known = ", ".join(f"{known}=" for known in list(parameters)[1:]) or "none"
            raise InputError(f"{_title(found)} does not take {name}=. It takes: {known}.")
    return given


def _guarded(found: Extension, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except PrivmineError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it says may quote data
        kind = type(error).__name__
    # Outside the block, so that the error has no context that could be shown.
    raise DataError(f"{_title(found)} failed ({kind}). What it says may contain data and is withheld. {_REPORT}")
