from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_python_examples_of_the_readme_run(capsys) -> None:
    """All blocks, in order, in one namespace."""
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)  # noqa: S102 - our own README
    assert "frequent itemsets of about" in capsys.readouterr().out


def test_the_pages_that_the_readme_links_exist() -> None:
    """No link of the README leads nowhere."""
    text = README.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert targets
    assert [target for target in targets if not (README.parent / target).exists()] == []
