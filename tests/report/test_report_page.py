"""The report as a page: complete, in a fixed order, whole without a network, and safe with any label."""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_releases import NASTY, SPENT, orders

import privmine as pm
from privmine.release.display import items_text
from privmine.release.verdict import told_from_zero
from privmine.report import Filled, report_html
from privmine.report.audit_verdicts import AuditVerdict
from privmine.report.fill_ins import WANTED
from privmine.report.markup import html_of
from privmine.report.officer_questions import DPIA, NIST, QUESTIONS, REGISTRY
from privmine.report.outline import FOR_EVERYBODY, FOR_THE_OFFICER, WITHIN

OLD = Path(__file__).parents[1] / "release"
#: The sentence that claims protection.
ODDS = "After reading this release they can be right in at most"
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
#: What may be fetched by an attribute, or run.
FETCHING = {"src", "srcset", "data", "action", "formaction", "poster", "background", "xlink:href", "style"}


class Page(HTMLParser):
    """The tags, identities and links of a page, and the text a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[str] = []
        self.identities: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.raw: dict[str, str] = {}
        self.policy = ""
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self._open.append(tag)
        self.attributes |= set(values)
        self.identities += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]

    def handle_endtag(self, tag) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data) -> None:
        inner = self._open[-1] if self._open else ""
        if inner in ("style", "script"):
            self.raw[inner] = data
        else:
            self.text += data + " "

    def part(self, anchor: str) -> str:
        """The HTML from an anchor on to the next section of the same kind."""
        return re.split(r'<(?:section|div) id="', self.html.split(f'id="{anchor}"')[1])[0]


def page_of(path: Path, ledger: Path | None = None, **options) -> Page:
    given = None if ledger is None else pm.Ledger(ledger)
    return Page(report_html({path.name: pm.load(path)}, given, made=NOW, **options))


@pytest.fixture(scope="module")
def page(customers) -> Page:
    return page_of(*customers)


def test_every_part_is_there_in_the_fixed_order(page: Page) -> None:
    """The manager's pages first, then the officer's, as the outline has them."""
    order = [anchor for anchor in page.identities if anchor in {**FOR_EVERYBODY, **FOR_THE_OFFICER}]
    assert order == [*FOR_EVERYBODY, *FOR_THE_OFFICER]
    assert set(WITHIN) <= set(page.identities)
    assert len(page.identities) == len(set(page.identities))


def test_every_question_leads_to_its_answer(page: Page) -> None:
    """At least 25 questions, of all three sources; each anchor exists, and so does every other link."""
    assert len(QUESTIONS) >= 25
    assert {question.source for question in QUESTIONS} == {NIST, REGISTRY, DPIA}
    assert len({question.text for question in QUESTIONS}) == len(QUESTIONS)
    assert {question.anchor for question in QUESTIONS} <= set(page.identities)
    assert {link.removeprefix("#") for link in page.links} <= set(page.identities)
    assert all(f'href="#{question.anchor}"' in page.part("questions") for question in QUESTIONS)


def test_the_page_needs_nothing_else(page: Page) -> None:
    """No address, nothing fetched, and a policy that allows the one style and the one script by their hashes."""
    assert not re.search(r"(https?:)?//\w", page.html)
    assert not page.attributes & FETCHING
    assert not any(name.startswith("on") for name in page.attributes)
    for kind in ("style", "script"):
        digest = b64encode(sha256(page.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in page.policy
    assert "default-src 'none'" in page.policy
    assert "unsafe" not in page.policy
    assert not {"link", "img", "iframe", "object", "form", "details"} & set(page.tags)


def test_every_epsilon_is_told(page: Page, customers) -> None:
    """Those of this release, step by step, of earlier charges, their sums, the budget and what is left."""
    receipt = pm.load(customers[0]).receipt
    for epsilon in SPENT:
        assert f"ε = {epsilon}" in page.part("dataset-1")
    for sentence in ("ε = 3", "ε = 1.875", "ε = 1.125", "ε = 0.75", "ε = 0.875"):
        assert sentence in page.part("dataset-1")
    for charge in receipt.charges:
        assert f"{charge.cost}" in page.part("charges")
    assert "one customer_id, of whose transactions at most 2 are counted" in page.text
    assert "2026-11-18" in page.text
    assert ODDS in page.part("short")
    assert ODDS in page.part("protected-1")


def test_what_a_person_must_say_is_marked_until_it_is_said(customers) -> None:
    """Open answers are marked; an answer takes the place of the mark wherever it is asked for."""
    bare = page_of(customers[0])
    told = page_of(customers[0], filled=Filled({"purpose": "Shelf <planning>", "retention": "two years"}))
    assert bare.part("fill-in").count("<mark") == len(WANTED)
    assert told.part("fill-in").count("<mark") == len(WANTED) - 2
    assert "Shelf &lt;planning&gt;" in told.html
    everything = page_of(customers[0], filled=Filled(dict.fromkeys(WANTED, "said")))
    assert 'class="open"' not in everything.part("fill-in")


def test_labels_that_mean_harm_are_text(nasty) -> None:
    """Scripts, markup and turned directions in labels change nothing of the page but its text."""
    page = page_of(*nasty)
    plain = set(page.tags)
    assert page.tags.count("script") == 1
    assert page.tags.count("img") == 0
    assert not any(name.startswith("on") for name in page.attributes)
    assert not plain & {"b", "img"}
    assert "\u202e" not in page.html
    assert "\u200b" not in page.html
    assert r"bread\u202eklim" in page.html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.html
    assert all(html_of(items_text((label,))) in page.html for label in NASTY)


def test_a_simulated_release_says_so_first(tmp_path) -> None:
    """In the title, in a box, in short, in the payments and in what is not protected; no odds are claimed."""
    file = tmp_path / "simulated.json"
    pm.mine(orders(), k=3, epsilon=1, simulate=True, seed=1).save(file)
    page = page_of(file)
    assert "<h1>NOT PRIVATE" in page.html
    assert 'class="alarm"' in page.html
    assert "Nobody" in page.part("protected-1")
    assert "nobody is protected" in page.part("odds")
    assert "<table" not in page.part("odds")
    assert ODDS not in page.text


@pytest.mark.parametrize("kind", ["private", "simulated"])
@pytest.mark.parametrize("version", ["version1", "version3"])
@pytest.mark.parametrize("ledger", [False, True])
def test_releases_of_earlier_versions_have_a_report(version: str, kind: str, ledger: bool, customers) -> None:
    """What their receipts did not note is told as such, and every question still has its place."""
    page = page_of(OLD / version / f"{kind}.json", customers[1] if ledger else None)
    assert {question.anchor for question in QUESTIONS} <= set(page.identities)
    assert "to be filled in by a person" in page.part("date").lower()
    assert "no payment recorded" in page.part("payments").lower()


def test_delta_is_told(tmp_path) -> None:
    """A release under (ε, δ) says both, ρ, and δ as one in so many."""
    file = tmp_path / "delta.json"
    pm.mine(orders(), k=5, epsilon=1, delta="1e-6").save(file)
    page = page_of(file)
    assert "zero-concentrated" in page.part("definition")
    assert "ρ" in page.part("definition")
    assert "1 in 1,000,000" in page.part("definition")
    for part in ("short", "protected-1"):
        assert "But for a chance of at most 1 in 1,000,000 (δ)" in page.part(part)
    assert "Where there is a δ" in page.part("odds")


@pytest.mark.parametrize(("delta", "words"), [(None, "m times ε."), ("1e-6", "with m² times ρ")])
def test_what_is_promised_to_many_depends_on_the_definition(delta: str | None, words: str, tmp_path) -> None:
    """The ε of m² times ρ is larger than m times that of ρ."""
    file = tmp_path / "release.json"
    pm.mine([["bread", "milk"], ["tea"]] * 500, k=3, epsilon=1, delta=delta).save(file)
    page = page_of(file)
    assert words in page.part("not-protected")
    assert ("with m² times ρ" in page.part("unit")) is (delta is not None)


def test_odds_and_counts_are_those_of_the_release(page: Page, customers) -> None:
    """Every row of the tables, cell by cell: beliefs from the least to the highest, and which counts are clear."""
    assert "Where there is a δ" not in page.part("odds")
    rows = re.findall(r"<tr>.*?</tr>", page.part("odds"))
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    assert cells[1:] == [
        ["top.json", "ε = 1", "0.4 % to 2.7 %", "3.9 % to 23.2 %", "26.9 % to 73.1 %", "76.8 % to 96.1 %"],
        ["all of orders", "ε = 1.875", "0.2 % to 6.2 %", "1.7 % to 42.0 %", "13.3 % to 86.7 %", "58.0 % to 98.3 %"],
    ]
    release = pm.load(customers[0])
    said = re.findall(r"<td>(yes|no)</td></tr>", page.part("found-1"))
    assert said == ["yes" if clear else "no" for clear in told_from_zero(release)]


def test_several_releases_stand_side_by_side(customers) -> None:
    """Each has its part, and the ledger's lines name the files that are here."""
    file, ledger = customers
    files = [file, *sorted(file.parent.glob("earlier*.json"))]
    page = Page(report_html({path.name: pm.load(path) for path in files}, pm.Ledger(ledger), made=NOW))
    for number, path in enumerate(files, 1):
        assert f'id="found-{number}"' in page.html
        assert path.name in page.part("dataset-1")
    assert "The releases in this report together: ε = 1.875" in page.text
    assert "not in this report" not in page.part("dataset-1")


def test_an_audit_of_the_same_components_is_told(customers) -> None:
    """A verdict on another method or component is not taken for one on this pipeline."""

    def verdict(subject: str) -> AuditVerdict:
        return AuditVerdict(subject, "holds", 100, "one transaction", "quick", "0.1.0")

    silent = page_of(customers[0])
    assert "no audit of its pipeline was given" in silent.part("audit")
    for subject in ("privbasis", "select_elements=items-and-pairs"):
        assert "holds" in page_of(customers[0], verdicts=[verdict(subject)]).part("audit")
    for subject in ("no-such-method", "select_elements=another", "construct_basis=items-and-pairs"):
        assert "no audit" in page_of(customers[0], verdicts=[verdict(subject)]).part("audit")


def test_a_release_without_rows_has_a_report(customers, tmp_path) -> None:
    """Nothing is listed, and that is said."""
    from attrs import evolve

    file = tmp_path / "empty.json"
    evolve(pm.load(customers[0]), itemsets=()).save(file)
    page = page_of(file)
    assert "Nothing is listed" in page.part("found-1")


def test_items_that_are_private_are_not_called_public(customers, tmp_path) -> None:
    """Where the list came from is told: named beforehand, taken from the data, or found under noise."""
    baskets = [["bread", "milk"], ["bread"], ["milk", "tea"]] * 300
    told = {"taken from the data": None, "found under noise": "private", "named by whoever": ["bread", "milk", "tea"]}
    for words, items in told.items():
        file = tmp_path / "items.json"
        pm.mine(pm.read(baskets, items=items), k=3, epsilon=1, delta="1e-6").save(file)
        page = page_of(file)
        assert [word for word in told if word in page.part("public-1")] == [words]


def test_accounts_that_share_a_budget_are_told(tmp_path) -> None:
    """Grants, what accounts have left, and who was charged; a part of later people has a sum of its own."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 3)
    ledger.grant("orders", "marketing", "0.5")
    ledger.grow("orders", "new", "june", 2)
    data = pm.read([["bread", "milk"], ["bread"]] * 100, items=["bread", "milk"])
    release = pm.mine(data, k=2, epsilon="0.25", ledger=ledger, dataset="orders", account="marketing")
    pm.mine(data, k=2, epsilon="0.75", ledger=ledger, dataset="orders", part="june")
    page = Page(report_html({"top.json": release}, ledger, made=NOW))
    part = page.part("dataset-1")
    for words in ("orders / marketing", "orders + june", "account marketing", "part june", "rows of new people"):
        assert words in part
    # June's people paid both charges; those of the start only the first, and what is granted is nobody else's.
    assert "<dt>Spent</dt><dd>ε = 1</dd>" in part
    assert "<dt>Left</dt><dd>ε = 0.75</dd>" in part
    assert "all of orders" in page.part("odds")
    assert "<dt>Granted to accounts, not spent</dt><dd>ε = 0.25</dd>" in part
    assert "ε = 0.25 of 3 spent in 1 charge." in part


def test_sums_so_far_are_of_the_people_concerned(tmp_path) -> None:
    """What was charged before a part came is not added to what its people lost; the last sum is what is spent."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 3)
    data = pm.read([["bread", "milk"], ["bread"]] * 100, items=["bread", "milk"])
    release = pm.mine(data, k=2, epsilon="0.5", ledger=ledger, dataset="orders")
    ledger.grow("orders", "new", "june", 2)
    ledger.charge("orders", "0.25", part="june")
    ledger.charge("orders", "0.375", part="june")
    ledger.charge("orders", "0.125")
    page = Page(report_html({"top.json": release}, ledger, made=NOW))
    sums = re.findall(r">ε = ([\d.]+)</td><td[^>]*>ε = ([\d.]+)</td><td>(?:un)?finished", page.part("dataset-1"))
    assert sums == [("0.5", "0.5"), ("0.25", "0.5"), ("0.375", "0.625"), ("0.125", "0.75")]
    assert "<dt>Spent</dt><dd>ε = 0.75</dd>" in page.part("dataset-1")


def test_a_budget_that_was_spent_twice_is_told_first(customers) -> None:
    """The first sentence says what is wrong; the sum of what is here is told beside what the ledger counts."""
    from attrs import evolve

    file, ledger = customers
    first = pm.load(file)
    second = evolve(first, total=first.total + 1)
    page = Page(report_html({"top.json": first, "second.json": second}, pm.Ledger(ledger), made=NOW))
    assert page.part("short").index("To look into") < page.part("short").index("private frequent itemsets")
    assert "All releases of orders together, as far as this ledger knows: ε = 1.875 in 4 charges" in page.part("short")
    assert "all of orders, as far as this ledger knows" in page.part("odds")
    assert re.search(r"all of these.*?ε = 2<", page.part("odds"), re.DOTALL)
    fine = page_of(file, ledger)
    assert "as far as this ledger knows" not in fine.text
    assert "all of these" not in fine.part("odds")
