"""What no program knows of a release, and a person must say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from privmine.errors import InputError, UnknownNameError
from privmine.report.markup import Html, element, joined

#: What a person is asked, by the name that `--fill` takes.
WANTED: dict[str, str] = {
    "purpose": "What is the release for, and who decided that?",
    "legal-basis": "On which legal basis is the data processed and the release made?",
    "controller": "Who is responsible for the data (the controller)?",
    "contact": "Whom can people and authorities ask?",
    "collection": "How, when and where was the data collected, and what were people told?",
    "necessity": "Why is this release needed, and would fewer itemsets or a smaller ε do?",
    "epsilon-reason": "Why this ε (and δ), and who approved it?",
    "tuning": "Was anything chosen after looking at the data, such as k, the bound or the list of items?",
    "other-releases": "Which other statistics of the same people were published, also without privmine?",
    "data-holder": "Who can read the exact data, where is it kept, and how is access controlled?",
    "ledger-holder": "Who keeps the ledger and its backups?",
    "recipients": "Who gets the release and this report?",
    "retention": "How long are the data, the ledger, the release and this report kept?",
    "rights": "How can people object, and what does a release that is out already mean for them?",
    "review": "When is this assessment looked at again?",
}


@frozen
class Filled:
    """What a person said, by the names of `WANTED`."""

    answers: Mapping[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for name, answer in self.answers.items():
            if name not in WANTED:
                raise UnknownNameError("field that a person fills in", name, WANTED)
            if not answer.strip():
                raise InputError(
                    f"The answer for {name!r} is empty. Leave it out, so that the report marks it as open."
                )

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Filled:
        """Read texts such as "purpose=Which products to place together"."""
        answers: dict[str, str] = {}
        for text in texts:
            name, equals, answer = text.partition("=")
            if not equals:
                raise InputError(f"{text!r} has no =. Write a name and an answer, such as purpose='Shelf planning'.")
            if name.strip() in answers:
                raise InputError(f"{name.strip()!r} was filled in twice. Keep one of the answers.")
            answers[name.strip()] = answer.strip()
        return cls(answers)

    @property
    def missing(self) -> list[str]:
        """The names of what is still open."""
        return [name for name in WANTED if name not in self.answers]

    def shown(self, name: str) -> Html:
        """The answer, or a mark that one is missing."""
        if name in self.answers:
            return joined((self.answers[name],))
        return element("mark", "To be filled in by a person", class_="open")

    def asked(self, *names: str) -> Html:
        """Questions with their answers, where a part of the report needs them."""
        rows = [element("li", WANTED[name], " ", self.shown(name)) for name in names]
        return element("ul", *rows, class_="asked")
