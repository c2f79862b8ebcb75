"""Helpers of the tests of reading and tokenising."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from spdp_engine.corpus import Collection, InputFile, read_collection


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real and messy files, which is not part of the repository."""
    named = os.environ.get("PARALLAX_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the real data are not here ({folder}); set PARALLAX_DATA to their folder")
    return folder


Read = Callable[..., Collection]


@pytest.fixture
def read() -> Read:
    """read("a.csv", contents) or read("a.csv", contents, "b.csv", contents): uploads held in memory."""

    def reader(*names_and_contents: str | bytes) -> Collection:
        files = []
        for name, contents in zip(names_and_contents[::2], names_and_contents[1::2], strict=True):
            assert isinstance(name, str)
            files.append(InputFile(name, data=contents.encode() if isinstance(contents, str) else contents))
        return read_collection(files)

    return reader
