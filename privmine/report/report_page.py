"""The whole report as one page that needs nothing else: no network, no other file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files

from privmine.hooks.registry import own_version
from privmine.ledger import Ledger
from privmine.release import Release
from privmine.report import composition_part, keeping_part, manager_part, officer_part
from privmine.report.audit_verdicts import AuditVerdict
from privmine.report.contents import Contents
from privmine.report.fill_ins import Filled
from privmine.report.markup import Html, element, joined, paragraph
from privmine.report.outline import FOR_EVERYBODY, FOR_THE_OFFICER
from privmine.report.paid import NamedRelease, books_of


def report_html(
    releases: Mapping[str, Release],
    ledger: Ledger | None = None,
    *,
    filled: Filled | None = None,
    verdicts: Sequence[AuditVerdict] = (),
    made: datetime | None = None,
) -> str:
    """A report of releases as one HTML page.

    Privacy: it is made from releases and from the ledger's log, both of which hold noisy answers and public facts only.

    Args:
        releases: the releases by the names of their files.
        ledger: where they were charged; without it, what they cost beside others is not known.
        filled: what a person said of purpose, retention and so on.
        verdicts: what audits concluded.
        made: when the report is made, in UTC; by default now.

    Raises:
        InputError: there is no release, or the same one twice.
        LedgerError: the ledger cannot be read.
    """
    named = [NamedRelease(name, release) for name, release in releases.items()]
    contents = Contents(books_of(named, ledger), made or now(), filled or Filled(), tuple(verdicts))
    return page(contents)


def now() -> datetime:
    """The time of this moment, in UTC."""
    return datetime.now(UTC)


def page(contents: Contents) -> str:
    """The page itself."""
    datasets = dict.fromkeys(paid.named.receipt.dataset or paid.named.name for paid in contents.paid)
    simulated = any(not paid.named.receipt.private for paid in contents.paid)
    title = ("NOT PRIVATE: " if simulated else "") + f"Privacy report: {', '.join(datasets)}"
    alarm = (
        paragraph(
            "NOT PRIVATE: a release in this report has simulated noise. It must not be published.", class_="alarm"
        )
        if simulated
        else Html()
    )
    header = element(
        "header",
        element("h1", title),
        paragraph(
            f"Made by privmine {own_version()} on {contents.made:%Y-%m-%d at %H:%M} UTC from "
            f"{', '.join(paid.named.name for paid in contents.paid)}."
        ),
        alarm,
    )
    everybody = (
        manager_part.in_short(contents.books, len(contents.filled.missing)),
        manager_part.found(contents.books),
        manager_part.rules(contents.books),
        manager_part.trust(contents.books),
        manager_part.protected(contents.books),
    )
    officer = (
        officer_part.unit(contents),
        officer_part.definition(contents),
        officer_part.charges(contents),
        composition_part.composition(contents),
        officer_part.contribution(contents),
        officer_part.public(contents),
        officer_part.not_protected(contents),
        officer_part.mechanisms(contents),
        keeping_part.floating_point(contents),
        keeping_part.side_channels(contents),
        keeping_part.holders(contents),
        keeping_part.versions(contents, own_version()),
        keeping_part.audit(contents),
        keeping_part.date(contents),
        keeping_part.fill_in(contents),
        keeping_part.questions(contents),
    )
    body = joined(
        (
            element("a", "Skip to the report", href="#main", class_="skip"),
            header,
            _contents(),
            element(
                "main",
                *everybody,
                element("h2", "For the privacy officer", class_="part", id="officer"),
                *officer,
                id="main",
                tabindex="-1",
            ),
        )
    )
    return _document(title, body)


def _contents() -> Html:
    def links(anchors: Mapping[str, str], tag: str) -> Html:
        return element(tag, *(element("li", element("a", name, href=f"#{anchor}")) for anchor, name in anchors.items()))

    return element(
        "nav", links(FOR_EVERYBODY, "ul"), paragraph("For the privacy officer:"), links(FOR_THE_OFFICER, "ol"),
        aria_label="Contents",
    )  # fmt: skip


def _document(title: str, body: Html) -> str:
    """Around the body: style and script, and a policy that lets nothing else run and nothing be fetched."""
    home = files("privmine.report")
    style, script = (home.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"{element('title', title)}<style>{style}</style></head>\n"
        f"<body>{body}\n<script>{script}</script></body></html>\n"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
