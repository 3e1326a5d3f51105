"""Published frequent itemsets: the supports of the itemsets of some data whose transactions are not at hand."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from privmine.api import DataError, Itemset


@frozen
class PublishedItemsets:
    """The supports of the frequent items and pairs, and of longer itemsets.

    Attributes:
        supports: the support of each itemset, its items in increasing order.
    """

    supports: Mapping[Itemset, int]

    def of_length(self, length: int) -> dict[Itemset, int]:
        """The itemsets of one length, by falling support, then in item order."""
        chosen = [(found, support) for found, support in self.supports.items() if len(found) == length]
        return dict(sorted(chosen, key=lambda entry: (-entry[1], entry[0])))

    def top(self, n: int) -> dict[Itemset, int]:
        """The n itemsets of largest support; ties go to the shorter, then to item order."""
        ranked = sorted(self.supports.items(), key=lambda entry: (-entry[1], len(entry[0]), entry[0]))
        return dict(ranked[:n])


def read_published(path: Path) -> PublishedItemsets:
    """Read lines of `items… support frequency`, plain or compressed by gzip.

    Raises:
        DataError: the file cannot be read, or a line is not of that form.
    """
    supports: dict[Itemset, int] = {}
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("ascii")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or 'it is a corrupt gzip file'}.") from None
    except (EOFError, zlib.error, UnicodeDecodeError):
        raise DataError(f"{path} is corrupt: it is not text, plain or compressed by gzip.") from None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        try:
            *items, support = (int(word) for word in words[:-1])
        except ValueError:
            items = []
        if not items:
            raise DataError(f"{path}, line {number}: not of the form `items… support frequency`.")
        supports[tuple(sorted(items))] = support
    if any((item,) not in supports for found in supports for item in found):
        raise DataError(f"{path} lists an itemset without listing each of its items.")
    return PublishedItemsets(supports)
