"""Helpers of the tests of everything but pages."""

from __future__ import annotations

import pytest
from commands import Answer, Call

from spdp_engine.__main__ import main


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """`main` in this process: what it returns, or exits with, and the lines it wrote."""

    def caller(*words: object) -> Answer:
        capfd.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as ended:
            status = ended.code  # type: ignore[assignment]
        out, err = capfd.readouterr()
        return Answer(status, out.splitlines(), err.splitlines())

    return caller
