"""`python -m privmine`."""

from __future__ import annotations

from privmine.cli import main

if __name__ == "__main__":
    main()
