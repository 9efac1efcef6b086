"""How many examples does a random test try? Few every day, which keeps ``make test`` short; all in ``make soak``."""

import os

import pytest
from hypothesis import settings

ALL = bool(os.environ.get("AS2D_ALL_EXAMPLES"))


def examples(everyday: int, soak: int):
    """``settings`` with so many examples, for a test whose every example takes some tenths of a second."""

    def with_settings(test):
        return pytest.mark.examples(settings(max_examples=soak if ALL else everyday, deadline=None)(test))

    return with_settings
