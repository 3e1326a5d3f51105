"""What the tests of all plugins share."""

from __future__ import annotations

from hypothesis import settings

# A busy machine, or the first import of a library, must not fail a test that is right.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
