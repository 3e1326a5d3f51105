import gzip
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import DataError
from privmine.io.readers import fimi
from privmine.io.readers.fimi import read_fimi

untimed = settings(deadline=None, max_examples=100)
numbers = st.integers(0, 30) | st.integers(0, 10**18 - 1) | st.integers(0, 10**18 - 1).map(lambda n: n >> 20)
lines = st.lists(st.lists(numbers, max_size=6), max_size=20)


def read(tmp_path, content: bytes, **options):
    """Read a file of this content."""
    path = tmp_path / "data.dat"
    path.write_bytes(content)
    return read_fimi(path, **options)


def as_sets(transactions):
    """The transactions as sets of labels, in their order."""
    rows = transactions.store._rows
    return [set(transactions.universe.named(rows.between(r, r + 1).items)) for r in range(rows.count)]


@untimed
@given(
    rows=lines,
    blank=st.sampled_from([" ", "\t", "  ", " \t"]),
    edge=st.sampled_from(["", " "]),
    newline=st.sampled_from(["\n", "\r\n"]),
    ended=st.booleans(),
    compressed=st.booleans(),
    block=st.sampled_from([1, 7, 1 << 18]),
)
def test_reads_what_was_written(tmp_path_factory, rows, blank, edge, newline, ended, compressed, block):
    """Lines are transactions, however blanks, newlines and compression are, and wherever blocks end."""
    text = newline.join(edge + blank.join(map(str, row)) + edge for row in rows)
    # A last line that is empty and has no newline is none.
    ended = ended or text.endswith("\n") or not text
    text += newline if ended and rows else ""
    content = gzip.compress(text.encode()) if compressed else text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fimi, "_BLOCK_BYTES", block)
        transactions = read(tmp_path_factory.mktemp("fimi"), content)
    assert as_sets(transactions) == [set(row) for row in rows]
    assert transactions.universe.labels.tolist() == sorted({item for row in rows for item in row})
    assert not transactions.universe.given


@pytest.mark.parametrize(
    ("content", "count"),
    [(b"", 0), (b"\n", 1), (b"1", 1), (b"1\n", 1), (b"1\n\n", 2), (b"\n\n1", 3), (b" \n", 1), (b"1\r\n\r\n", 2)],
)
def test_which_lines_are_transactions(tmp_path, content, count):
    """Empty lines count, the end of the last line makes no further one, an empty file has none."""
    assert read(tmp_path, content).store.count() == count


def test_items_give_the_universe(tmp_path):
    """Given items keep their order; others are dropped while their transactions count."""
    transactions = read(tmp_path, b"1 2 3\n4\n2 2\n", items=[3, 2, 9])
    assert as_sets(transactions) == [{2, 3}, set(), {2}]
    assert transactions.universe.labels.tolist() == [3, 2, 9]
    assert transactions.store.item_supports().tolist() == [1, 2, 0]


def test_the_largest_numbers(tmp_path):
    """Numbers of 18 digits and leading zeros are read exactly."""
    assert as_sets(read(tmp_path, b"999999999999999999 0 007 123456789")) == [{999999999999999999, 0, 7, 123456789}]


def test_gzip_is_told_by_content(tmp_path):
    """The name of a file says nothing of its compression, and members of a gzip file follow one another."""
    (tmp_path / "plain.gz").write_bytes(b"1 2\n")
    assert as_sets(read_fimi(tmp_path / "plain.gz")) == [{1, 2}]
    assert as_sets(read(tmp_path, gzip.compress(b"1 2\n3") + gzip.compress(b"4\n"))) == [{1, 2}, {34}]
    assert read(tmp_path, gzip.compress(b"")).store.count() == 0


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"1 2\n3 secret\n", 2),
        (b"1 -2\n3\n", 1),
        (b"1\n2\n+3", 3),
        (b"1\n\n2,3\n", 3),
        (b"1.5\n", 1),
        (b"1\n2 \r 3\n", 2),
        (b"1\n1e3\n", 2),
        ("1\n2 ½\n".encode(), 2),
        (b"1\n2\n3 \xff\n", 3),
        (b"\xef\xbb\xbf1\n", 1),
        (b"1\n1234567890123456789\n", 2),
        (b"9999999999999999999999999 1\n-1", 1),
        (b"1\n9223372036854775808", 2),
        (b"1\n" * 200_000 + b"x\n", 200_001),
        (b"1\n" * 200_000 + b"1111111111111111111 1\n", 200_001),
    ],
)
def test_a_bad_line_is_named_and_not_shown(tmp_path, content, line):
    """What is not FIMI text is refused by file and line, without a word of the line."""
    with pytest.raises(DataError, match=rf"data\.dat, line {line}: ") as caught:
        read(tmp_path, content)
    # Behind the path: a temporary folder's name may hold any number.
    sentence = str(caught.value).partition("data.dat")[2]
    for word in ("secret", "-2", "1.5", "1e3", "½", "1234567890", "9223372036854775808"):
        assert word not in sentence
    assert caught.value.__context__ is None


@pytest.mark.parametrize("content", [b"1 2\n\x00\x01", "1 2\n".encode("utf-16"), bytes(range(256))])
def test_a_binary_file_is_refused(tmp_path, content):
    """A file with NUL bytes is no text."""
    with pytest.raises(DataError, match="binary file"):
        read(tmp_path, content)


@pytest.mark.parametrize("keep", [2, 9, 15, 60, -8, -1])
def test_a_cut_off_gzip_file_is_refused(tmp_path, keep):
    """A gzip file that ends too early is refused, wherever it was cut."""
    content = gzip.compress(" ".join(map(str, range(900))).encode())
    with pytest.raises(DataError, match="is cut off") as caught:
        read(tmp_path, content[:keep])
    assert caught.value.__context__ is None


@untimed
@given(position=st.integers(2, 120), change=st.integers(1, 255))
def test_a_corrupt_gzip_file_is_refused_or_harmless(tmp_path_factory, position, change):
    """A changed byte in a gzip file is a DataError, or one of the bytes that carry no data."""
    whole = b"".join(b"%d %d\n" % (number, number * 37 % 101) for number in range(200))
    content = bytearray(gzip.compress(whole, mtime=0))
    content[position] ^= change
    directory = tmp_path_factory.mktemp("fimi")
    try:
        transactions = read(directory, bytes(content))
    except DataError:
        return
    assert as_sets(transactions) == as_sets(read(directory, whole))


def test_a_wrong_checksum_is_refused(tmp_path):
    """A gzip file whose checksum does not fit is corrupt."""
    content = bytearray(gzip.compress(b"1 2\n" * 50))
    content[-6] ^= 1
    with pytest.raises(DataError, match="corrupt gzip"):
        read(tmp_path, bytes(content))


def test_files_that_cannot_be_opened(tmp_path):
    """A missing file and a directory are refused by name."""
    with pytest.raises(DataError, match=r"nowhere\.dat does not exist"):
        read_fimi(tmp_path / "nowhere.dat")
    with pytest.raises(DataError, match="is a directory"):
        read_fimi(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        read_fimi("nul\0byte")
    with pytest.raises(DataError, match="cannot be read"):
        read_fimi(tmp_path / ("x" * 5000))


def test_no_permission(tmp_path, monkeypatch):
    """A file that may not be read is refused by name."""
    path = tmp_path / "locked.dat"
    path.write_bytes(b"1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # an administrator may read everything

        def refuse(self, mode):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match=r"locked\.dat cannot be read: permission denied"):
        read_fimi(path)
