"""What a plugin can bring besides components and methods: commands, datasets, metrics and readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from privmine.errors import PluginError

if TYPE_CHECKING:
    # Only for annotations: the command line starts without numpy.
    from privmine.model import BasisSet, Itemset

#: An object, or where to import it from when it is used: "package.module:name".
Target: TypeAlias = str | Callable[..., Any]

_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
#: Commands of these groups can be added: `experiment paper` is the command `paper` of `privmine experiment`.
OPEN_GROUPS = ("experiment", "plugins")
_COMMAND = re.compile(r"[a-z][a-z0-9-]*")
#: A metric is a column of results, and a name on the command line.
_METRIC = re.compile(r"[a-z][a-z0-9_]*")
#: Options of the commands that read data; no reader can have one of them.
_OPTIONS = """
    account database dataset delta downward-closed drop-missing drop-missing-units dry-run encoding epsilon
    fold-case force help item items json k k-max layout ledger max-baskets max-length memory-limit merge-by method
    multiline-cells n-public names no-hint output part pipeline plain seed separator set sheet simulate sql strict
    theta to transaction trim trust unit
"""
OWN_OPTIONS = frozenset(_OPTIONS.split())


@frozen
class Extension:
    """Something that a plugin registered under a name.

    Attributes:
        kind: "command", "dataset", "metric" or "reader".
        name: what users call it.
        summary: what it is, in one line.
        value: what was registered; an import path is followed by `load`.
        distribution: where it comes from.
        version: the version of that distribution.
    """

    kind: str
    name: str
    summary: str
    value: Any = field(repr=False)
    distribution: str
    version: str

    def load(self) -> Any:
        """The object itself; it is imported now if only its place is known.

        Raises:
            PluginError: it cannot be imported.
        """
        return self.follow(self.value)

    def follow(self, target: Any) -> Any:
        """What a target of this extension stands for: an import path is followed, an object is returned."""
        try:
            return imported(target)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise PluginError(
                f"The {self.kind} {self.name!r} of {self.distribution} cannot be loaded: {reason.rstrip('.')}. "
                f"Reinstall or uninstall {self.distribution}."
            ) from error


@frozen
class Proxy:
    """What stands in for an original that is not at hand: a part of it, repeated.

    Attributes:
        part: the name of the dataset that is repeated.
        times: how often.
        closeness: what is known of how close it comes.
    """

    part: str
    times: int
    closeness: str


@frozen
class DatasetFacts:
    """What holds for a dataset wherever it is; for attributes see `Dataset`."""

    name: str
    title: str
    source: str
    licence: str
    transactions: int
    items: int
    mean_length: float


@frozen
class Dataset(DatasetFacts):
    """What is known of a dataset without opening it.

    A dataset is a FIMI text file, or it is generated. A file is looked for by the dataset's name, and downloaded if
    `url` and `sha256` are given.

    Attributes:
        name: what users call it, and its file's name without ending.
        title: what it is.
        source: who made or collected it.
        licence: a note, not legal advice.
        transactions: how many it has.
        items: how many items occur in it.
        mean_length: the mean length of its transactions.
        sha256: the checksum of its text, or None where no copy was at hand to compute it from.
        url: where the FIMI text can be downloaded, if there is such a place.
        proxy: what stands in for it.
        labels_sha256: the checksum of the file of item labels, if there is one.
        generator: a function that returns the baskets (or its import path), for a dataset that is generated.
        needs: the files that the generator is given, each with the checksum of its text. They are looked for where
            datasets are, plain or compressed by gzip, and the function gets their paths in this order.
        kept_as: the file in the cache that keeps what was generated; without it, each opening generates anew. Change
            the name when the generator changes.
        note: what else a user should know.
    """

    sha256: str | None = None
    url: str | None = None
    proxy: Proxy | None = None
    labels_sha256: str | None = None
    generator: Target | None = None
    needs: Mapping[str, str] = field(factory=dict)
    kept_as: str | None = None
    note: str = ""

    @property
    def is_fetchable(self) -> bool:
        """Whether it can be downloaded: only what can be checked afterwards is."""
        return self.url is not None and self.sha256 is not None


@frozen
class Reader:
    """How a plugin reads a kind of source that privmine does not know.

    Privacy: what `takes` decides must not depend on anybody's rows. It goes by the type of an object, or by the name
    of a file. What `read` returns must hold at most `unit.baskets` transactions of each unit, and one unit's rows must
    not decide how those of others are read.

    Attributes:
        name: what users call it, and the option `--NAME` of the command line.
        title: what it reads, in one line.
        takes: a function of a source (or its import path) that tells whether this reader reads it.
        read: a function of a source (or its import path) that returns a `Transactions`. It gets the options of
            `pm.read` that were given as keyword arguments; an option that it has no parameter for is refused.
        opens: a function (or its import path) that makes a source of the text after `--NAME`. Without it the command
            line has no such option.
        metavar: what the help calls that text.
    """

    name: str
    title: str
    takes: Target
    read: Target
    opens: Target | None = None
    metavar: str = "TEXT"


@frozen(eq=False)
class ReleaseAndTruth:
    """What a metric is given: a release beside the exact data. Itemsets are tuples of positions in the universe.

    Attributes:
        k: how many itemsets were asked for.
        released: the released itemsets, most frequent first.
        counts: their noisy counts.
        supports: their exact supports.
        top: the true top k; fewer where fewer itemsets occur.
        kth_support: the support of the k-th most frequent itemset, 0 where fewer than k occur.
        basis: the bases that were measured; None where only the release is known.
    """

    k: int
    released: Sequence[Itemset]
    counts: Sequence[float]
    supports: Sequence[int]
    top: Collection[Itemset]
    kth_support: int
    basis: BasisSet | None = None


def imported(target: Any) -> Any:
    """What a target stands for: an import path is followed, an object is returned."""
    if not isinstance(target, str):
        return target
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def check_target(what: str, target: object) -> None:
    """Refuse what is neither an object that can be called nor an import path."""
    if not (callable(target) or (isinstance(target, str) and _IMPORT_PATH.fullmatch(target))):
        raise PluginError(
            f"The {what} has the target {target!r}. Give a function or a class, or the place to import it from: "
            "'package.module:name'."
        )


def check_command_name(name: str) -> None:
    """A command is one word, or the name of an open group and one word."""
    *group, word = name.split(" ")
    if not _COMMAND.fullmatch(word) or len(group) > 1 or not set(group) <= set(OPEN_GROUPS):
        raise PluginError(
            f"{name!r} cannot be the name of a command. Use one word of lower-case letters, digits and hyphens; "
            f"a command of the groups {' and '.join(OPEN_GROUPS)} is named by two, for example '{OPEN_GROUPS[0]} mine'."
        )


def check_reader(reader: Reader) -> None:
    """A reader is named by a word that can be an option, and has functions for targets."""
    if not _COMMAND.fullmatch(reader.name) or reader.name in OWN_OPTIONS:
        raise PluginError(
            f"{reader.name!r} cannot be the name of a reader. Use one word of lower-case letters, digits and hyphens "
            "that is no option of privmine's own commands."
        )
    for target in filter(None, (reader.takes, reader.read, reader.opens)):
        check_target(f"reader {reader.name!r}", target)


def check_metric_name(name: str) -> None:
    """A metric is a column name."""
    if not _METRIC.fullmatch(name):
        raise PluginError(f"{name!r} cannot be the name of a metric. Use lower-case letters, digits and underscores.")
