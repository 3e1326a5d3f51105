"""`privmine convert`: the same data in another format, and the same release of it."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

import privmine as pm
from privmine.cli.commands import cli
from privmine.errors import InputError
from privmine.io.writers.destinations import FORMATS

WAYS = [(suffix, layout) for suffix, layouts in FORMATS.items() for layout in layouts]
LABELS = [
    "comma, inside",
    'quo"te',
    '"',
    "new\nline",
    "carriage\rreturn",
    "both\r\nof them",
    "<b>html</b> & co",
    "🥛 émoji",
    " blanks around ",
    "#hash",
    "semi;colon",
    "tab\tinside",
    "pipe|inside",
    "'",
    "Milk",
    "milk",
    "transaction",
    "item",
    "NULL",
    "NA",
    "nan",
    "None",
    "true",
    "007",
    "1e3",
    "-5",
    "line\u2028separator",
    "[list]",
    "{object}",
    "back\\slash",
    "*",
    "=1+1",
]
#: Those that a file of lines can hold.
ONE_LINE = [label for label in LABELS if label.isprintable() or label == "tab\tinside"]
SAME_NOISE = ("--k", "15", "--epsilon", "1", "--simulate", "--seed", "7", "--json")


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    """What the command prints on stdout and stderr."""
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def mined(*arguments: object) -> dict:
    """The release of data, with the same noise every time."""
    return json.loads(run("mine", *arguments, *SAME_NOISE)[0])


def suggested(shown: str) -> list[str]:
    """The arguments by which a copy says that it can be mined."""
    [line] = [line for line in shown.splitlines() if line.startswith("To mine it: ")]
    command, name, *arguments = shlex.split(line.removeprefix("To mine it: "))
    assert (command, name) == ("privmine", "mine")
    return arguments


def original(path: Path, baskets: list[list[str]]) -> Path:
    """A file that holds baskets, written by nothing of privmine's."""
    path.write_text("".join(json.dumps({"items": basket}) + "\n" for basket in baskets), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("suffix", "layout"), [*WAYS[:2], *(pytest.param(*way, marks=pytest.mark.statistics) for way in WAYS[2:])]
)
def test_the_release_of_a_copy_is_the_release_of_the_data(tmp_path, suffix, layout) -> None:
    """Groceries through every format and layout: with the same noise every number and label is the same."""
    pm.write(pm.groceries(), tmp_path / "groceries.jsonl")
    # The public order of the embedded baskets' items is their own; a file's is that of its labels.
    expected = mined(tmp_path / "groceries.jsonl", "--layout", "list", "--item", "items")
    said = "--layout", "list", "--item", "items"
    shown, _ = run("convert", tmp_path / "groceries.jsonl", tmp_path / f"copy{suffix}", "--to", layout, *said)
    assert mined(*suggested(shown)) == expected
    # And the copy of the copy, from the options that the copy says.
    shown, _ = run("convert", *suggested(shown)[:1], tmp_path / "again.parquet", *suggested(shown)[1:])
    assert mined(*suggested(shown)) == expected


@pytest.mark.parametrize(("suffix", "layout"), WAYS)
def test_labels_of_all_kinds_and_empty_transactions(tmp_path, suffix, layout) -> None:
    """Whatever is in a label is in the release of the copy; empty transactions are counted."""
    labels = ONE_LINE if layout == "fimi" else [*LABELS, ""] if layout in ("long", "list") else LABELS
    baskets = [labels[start : start + 1 + start % 4] for start in range(len(labels))] * 40 + [[]] * 100
    path = original(tmp_path / "odd.jsonl", baskets)
    expected = mined(path, "--layout", "list", "--item", "items")
    said = "--layout", "list", "--item", "items"
    shown, _ = run("convert", path, tmp_path / f"copy{suffix}", "--to", layout, *said)
    found = mined(*suggested(shown))
    assumed = found["receipt"]["assumptions"]
    found["receipt"]["assumptions"] = [line for line in assumed if "the quotes around cells match" not in line]
    assert (len(assumed) > len(found["receipt"]["assumptions"])) == (suffix in (".csv", ".tsv", ".txt"))
    assert found == expected
    known = pm.read(path, item="items")
    assert found["total"] == pytest.approx(known.store.count(), abs=60)
    assert known.universe.labels.tolist() == sorted(labels)


def test_a_copy_says_that_it_is_private(tmp_path) -> None:
    """On stderr, beside where it went; and only its owner may read it."""
    path = original(tmp_path / "data.jsonl", [["a", "b"], ["a"]])
    shown, told = run("convert", path, tmp_path / "copy.csv")
    assert f"Written: {tmp_path / 'copy.csv'}\n" in shown
    assert "as private as the data" in told
    assert "data.jsonl is read in the layout list, which was detected: --layout list --item items" in told
    assert stat.S_IMODE((tmp_path / "copy.csv").stat().st_mode) == 0o600


def test_nothing_is_replaced_unless_told(tmp_path) -> None:
    """A file that exists stays without --force; with it, it is replaced."""
    path = original(tmp_path / "data.jsonl", [["a", "b"], ["a"]])
    copy = tmp_path / "copy.csv"
    copy.write_text("precious")
    with pytest.raises(InputError, match=r"copy\.csv exists. Choose another name, or add --force"):
        run("convert", path, copy)
    assert copy.read_text() == "precious"
    run("convert", path, copy, "--force")
    assert copy.read_text().startswith("transaction,item\n")


def test_a_file_of_names_is_not_replaced_either(tmp_path) -> None:
    """FIMI text has labels in a second file, which is spared as well."""
    path = original(tmp_path / "data.jsonl", [["a", "b"], ["a"]])
    (tmp_path / "copy.dat.names").write_text("precious")
    with pytest.raises(InputError, match=r"copy\.dat\.names exists"):
        run("convert", path, tmp_path / "copy.dat")
    assert not (tmp_path / "copy.dat").exists()


@pytest.mark.parametrize("out", ["data.jsonl", "../here/data.jsonl", "link.jsonl", "items.txt"])
def test_what_is_read_is_never_replaced(tmp_path, monkeypatch, out) -> None:
    """Neither the data under any of its names, nor the item file, not even by force."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    original(Path("data.jsonl"), [["a", "b"], ["a"]])
    Path("items.txt").write_text("a\nb\n")
    Path("link.jsonl").symlink_to("data.jsonl")
    before = Path("data.jsonl").read_bytes()
    for data in ("data.jsonl", "dat*.jsonl"):
        with pytest.raises(InputError, match="is the file that is read, and writing would replace it"):
            run("convert", data, out, "--items", "items.txt", "--force")
    assert Path("data.jsonl").read_bytes() == before
    assert Path("items.txt").read_text() == "a\nb\n"


def test_a_query_needs_no_data(tmp_path) -> None:
    """With --sql, OUT stands alone."""
    csv = tmp_path / "orders.csv"
    csv.write_text("order_id,product\n1,bread\n1,milk\n2,bread\n")
    query = f"select order_id, product from read_csv('{csv}', all_varchar=true)"  # noqa: S608 - our own file
    shown, told = run("convert", "--sql", query, tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_text() == "bread,milk\nbread\n"
    assert "--transaction order_id --item product" in told
    assert suggested(shown) == [str(tmp_path / "copy.txt"), "--layout", "baskets", "--separator", ","]


def test_items_restrict_the_copy(tmp_path) -> None:
    """Other items are left out, and their transactions stay."""
    path = original(tmp_path / "data.jsonl", [["a", "b"], ["b"], ["c", "a"]])
    (tmp_path / "items.txt").write_text("a\nc\n")
    run("convert", path, tmp_path / "copy.txt", "--items", tmp_path / "items.txt")
    assert (tmp_path / "copy.txt").read_text() == "a\n\na,c\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Name the source and the copy"),
        (["data.jsonl"], "Name the source and the copy"),
        (["data.jsonl", "a.csv", "b.csv"], "a.csv does not exist"),
        (["data.jsonl", "wide.jsonl", "data.jsonl"], "is the file that is read"),
        (["data.jsonl", "a.csv", "--sql", "select 1"], "With a query, name OUT only"),
        (["data.jsonl", "copy.xlsx"], "Cannot tell a format"),
        (["data.jsonl", "copy.csv", "--unit", "customer_id"], "no column for the unit. Drop --unit"),
        (["data.jsonl", "copy.csv", "--merge-by", "customer_id"], "no column for the unit. Drop --merge-by"),
        (["data.jsonl", "copy.csv", "--to", "list"], "not as list"),
        (["data.jsonl", "nowhere/copy.csv"], "There is no directory"),
        (["missing.jsonl", "copy.csv"], "missing.jsonl"),
        (["data.jsonl", "copy.dat"], "line break"),
        (["data.jsonl", "copy.csv", "--item", "things"], "'things'. Check the name of the column"),
        (["wide.jsonl", "copy.csv", "--to", "one-hot"], "2,001 columns"),
    ],
)
def test_what_cannot_be_copied(tmp_path, monkeypatch, privmine, arguments, words) -> None:
    """One sentence that says what to do, no traceback, no data, and no file."""
    monkeypatch.chdir(tmp_path)
    original(Path("data.jsonl"), [["secret\nlabel"], ["b"]])
    original(Path("wide.jsonl"), [[f"secret{n}" for n in range(2001)]])
    code, _, err = privmine("convert", *arguments)
    assert code == 2, err
    assert words in err
    assert len(err.splitlines()) <= 2  # a guess, and the sentence
    assert "secret" not in err
    assert {file.name for file in tmp_path.iterdir()} == {"data.jsonl", "wide.jsonl"}
