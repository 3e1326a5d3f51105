"""What the tests of all plugins share."""

from __future__ import annotations

import os

from hypothesis import settings

# A busy machine, or the first import of a library, must not fail a test that is right.
settings.register_profile("patient", deadline=None)
# As in tests/conftest.py: whether a change lands must not be a matter of luck.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")
