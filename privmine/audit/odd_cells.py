"""Neighbouring databases of odd cells: text in files that readers take for something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING, TypeVar
from unicodedata import normalize

from attrs import evolve

from privmine.audit.neighbours import require_hypothesis
from privmine.audit.written_sources import Basket, Cell, Neighbours, Protected, Source
from privmine.store.labels import unit_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

PLAIN = ("bread", "milk & honey", "A-4711", "Ω")
#: Texts that some reader somewhere takes for something else, by what they look like.
THEMES = {
    "numbers": ("0", "1", "17", "250", "9223372036854775807"),
    "nearly numbers": (
        *("007", "017", "17", "17.0", "1.0", "250", "250.00", "1e3", "+5", "-0", "-7", "1_000", "0x1F", "٣", "1,5"),
        *("9223372036854775808", "1" * 40, "V27.0", "Infinity"),
    ),
    "times": ("2024-01-02", "01/02/2024", "2024-01-02 03:04:05", "12:30", "2024-01-02T03:04:05Z", "1 Jan 2024"),
    "words": ("true", "False", "NA", "null", "None", "nan", "NaN", "NULL", "N/A", "-", "\\N"),
    "blanks": (" ", " bread", "bread ", "two  words", "\u00a0", "\u200b", "\x0b", "\x85", "\u2028", "\x1c", ""),
    "quotes": ('"', '""', '"open', 'closed"', '"both"', '5" pipe', "it's", "'", "`", '"a" b', 'a "b"', '\\"', '"""'),
    "separators": ("a,b", "a;b", "a\tb", "a|b", ",", ";", "bread;milk;tea", "a b"),
    "scripts": (
        "caf\u00e9",
        "cafe\u0301",
        "\u202ereversed",
        "\u05d0\u05d1",
        "\U0001f600",
        "\ufeffmark",
        "ß",
        "İstanbul",
    ),
    "syntax": ("=cmd()", "#comment", "sep=;", "sep=,", "--", "\\", "a\\nb", "%s"),
    "brackets": ("[a, b]", "['a']", "{a}", '{"a": 1}', "[]"),
    "names of columns": ("order_id", "product", "customer_id", "items"),
    "line breaks": ("two\nlines", "two\r\nlines", "two\rlines", "\nbread", "bread\n"),
    "long": ("long " * 300,),
}


#: Characters of texts that nobody has thought of.
_CHARACTERS = "ab1 .-,;|\t\"'\\/#=[]{}()é\u0301\u202e\u200b\ufeff\r\n\x01"


def odd_cell(random: Random, theme: str) -> str:
    """The text of a cell: a plain one, an odd one of the theme or of any other, a number, or any text.

    Cells of one theme come together, since it often takes two to mislead a reader, such as two open quotes.
    """
    kind = random.random()
    if kind < 0.3:
        return random.choice(PLAIN)
    if kind < 0.7:
        return random.choice(THEMES[theme])
    if kind < 0.8:
        return str(random.randint(0, 30))
    if kind < 0.9:
        return random.choice(THEMES[random.choice([*THEMES])])
    return "".join(random.choices(_CHARACTERS, k=random.randint(1, 6)))


def whole_number(random: Random, theme: str) -> str:
    """A number from 0 on, as FIMI text and columns of integers have them."""
    return str(random.randint(0, random.choice((9, 9, 99, 10**18 - 1))))


def neighbours(source: Source) -> SearchStrategy[Neighbours]:
    """A hypothesis strategy for pairs of databases that a source can hold, for your own tests."""
    st = require_hypothesis().strategies
    randoms = st.randoms(use_true_random=False)
    return randoms.map(lambda random: some_neighbours(source, random))  # type: ignore[no-any-return]


def some_neighbours(source: Source, random: Random) -> Neighbours:
    """A pair of databases that a source can hold, of which one has one more unit."""
    theme = random.choice([name for name in source.themes or THEMES if any(map(source.carries, THEMES[name]))])
    catalogue = _different(source, random, theme, random.randint(1, 5), source.label, may_be_blank=True)
    keeps_blanks = source.key(" ") == " "  # else a blank id would be a missing one
    keys = _different(source, random, theme, random.randint(2, 4), source.key, may_be_blank=keeps_blanks)
    owners = _different(source, random, theme, random.randint(2, 4), lambda text: unit_of(source.key(text)))
    protected: Protected = (
        "transaction" if source.owners == "nobody" else random.choice(("transaction", "unit", "merged"))
    )

    def basket(owner: str, key: str) -> Basket:
        labels = random.choices(catalogue, k=random.choice((0, 1, 1, 2, 3)))
        return Basket(random.choice(_spellings(owner, source)), key, tuple(labels))

    if protected == "transaction":
        # Other transactions may share an id, and so be one; the added one is by itself.
        extra = [basket(owners[-1], keys[-1])]
        owned, shared = owners, keys[:-1]
    else:
        extra = [basket(owners[-1], random.choice(keys)) for _ in range(random.randint(1, 4))]
        owned, shared = owners[:-1], keys
    others = [basket(random.choice(owned), random.choice(shared)) for _ in range(random.randint(0, 7))]
    universe = random.random()
    return Neighbours(
        others=tuple(others),
        extra=tuple(extra),
        catalogue=tuple(catalogue),
        protected=protected,
        given=universe < 0.6,
        # The columns of a one-hot table are known to all.
        private=universe >= 0.8 and "one-hot" not in (source.layout, source.options.get("layout")),
        place=random.choice(("first", "last", "middle", "scattered")),
        seed=random.randint(0, 99),
    )


def _different(
    source: Source,
    random: Random,
    theme: str,
    count: int,
    reads: Callable[[str], str],
    *,
    may_be_blank: bool = False,
) -> list[str]:
    """Texts that a source can hold and that do not read the same. A unit is never blank."""
    cell: Cell = source.cell or odd_cell
    found: dict[str, str] = {}
    while len(found) < count:
        text = cell(random, theme)
        if source.carries(text) and (may_be_blank or unit_of(source.key(text))):
            found.setdefault(reads(text), text)
    return [*found.values()]


def _spellings(name: str, source: Source) -> list[str]:
    """How one unit may be written: with blanks around it, with a fraction of zeros, with composed letters or not.

    What is written carelessly reads as something else with a blank before it, so that it would be another unit.
    """
    if not source.careful(name):
        return [name]
    ways = (name, f" {name}", f"{name} ", f"{name}.0", normalize("NFD", name), normalize("NFC", name))
    same = unit_of(source.key(name))
    return [way for way in ways if unit_of(source.key(way)) == same and source.carries(way)]


def simpler(case: Neighbours) -> Iterator[Neighbours]:
    """Pairs with a transaction, an item or an oddity less."""
    for others in _fewer(case.others):
        yield evolve(case, others=others)
    for extra in _fewer(case.extra):
        if extra:
            yield evolve(case, extra=extra)
    if not case.given:
        yield evolve(case, given=True, private=False)
    if case.place != "first":
        yield evolve(case, place="first")


def _fewer(baskets: tuple[Basket, ...]) -> Iterator[tuple[Basket, ...]]:
    """The baskets without one of them, or without one of their items."""
    for place in range(len(baskets)):
        yield _without(baskets, place)
    for place, basket in enumerate(baskets):
        for label in range(len(basket.labels)):
            shorter = evolve(basket, labels=_without(basket.labels, label))
            yield (*baskets[:place], shorter, *baskets[place + 1 :])


def _without(values: tuple[T, ...], place: int) -> tuple[T, ...]:
    return (*values[:place], *values[place + 1 :])
