"""One finished run that the tests of what is read from a run share, since making it takes longer than reading it."""

from __future__ import annotations

import pytest
from visitor import Visitor, as_csv, talk


@pytest.fixture(scope="session")
def finished() -> str:
    """Key of a workspace of two groups whose run of three topics is finished."""
    visitor = Visitor().upload(("harbour and school.csv", as_csv(talk())))
    return visitor.run_topics(3, 30).key
