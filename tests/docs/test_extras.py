"""Pages say what to install for their examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What an example has that needs an extra.
USES = {
    "pandas": r"import pandas|to_pandas\(|\.rules\(",
    "plots": r"\.plot\(|--plot |--figures ",
    "polars": r"to_polars\(",
    "tables": r"pm\.read\(\"|--transaction |to_arrow\(|\.parquet",
}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_a_page_names_the_extras_of_its_examples(page) -> None:
    """Before the first of them; the quickstart and the README install what they use themselves."""
    text = page.read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"^```(?:python|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    install = re.search(r"pip install '\.\[([\w,]+)\]'", text)
    named = install[1].split(",") if install else []
    assert {extra for extra, use in USES.items() if re.search(use, examples)} <= set(named)


def test_the_readme_installs_what_it_shows() -> None:
    """Its first command brings what its examples and its prose call."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "'.[tables,pandas,plots,excel]'" in text
    assert "'.[tables,pandas,plots,excel]'" in (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
