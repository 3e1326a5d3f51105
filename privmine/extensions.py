"""What a plugin can bring besides components and methods: commands, datasets and metrics."""

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


@frozen
class Extension:
    """Something that a plugin registered under a name.

    Attributes:
        kind: "command", "dataset" or "metric".
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
        if not isinstance(target, str):
            return target
        module, _, name = target.partition(":")
        try:
            return getattr(import_module(module), name)
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
class Dataset:
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

    name: str
    title: str
    source: str
    licence: str
    transactions: int
    items: int
    mean_length: float
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


def check_target(what: str, target: object) -> None:
    """Refuse what is neither an object that can be called nor an import path."""
    if not (callable(target) or (isinstance(target, str) and _IMPORT_PATH.fullmatch(target))):
        raise PluginError(
            f"The {what} has the target {target!r}. Give a function, or where to import it from: 'package.module:name'."
        )


def check_command_name(name: str) -> None:
    """A command is one word, or the name of an open group and one word."""
    *group, word = name.split(" ")
    if not _COMMAND.fullmatch(word) or len(group) > 1 or not set(group) <= set(OPEN_GROUPS):
        raise PluginError(
            f"{name!r} cannot be the name of a command. Use one word of lower-case letters, digits and hyphens; "
            f"a command of the groups {' and '.join(OPEN_GROUPS)} is named by two, for example '{OPEN_GROUPS[0]} mine'."
        )


def check_metric_name(name: str) -> None:
    """A metric is a column name."""
    if not _METRIC.fullmatch(name):
        raise PluginError(f"{name!r} cannot be the name of a metric. Use lower-case letters, digits and underscores.")
