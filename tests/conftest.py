"""What tests of every kind share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

# The package is run from its folder, not installed: so that `pytest` finds it as `python -m pytest` does.
if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))


@pytest.hookimpl(tryfirst=True)  # groups must be there when pytest-xdist asks for them
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deals the tests out to processes: a file at a time, which prepares its things once; those in a browser together."""
    for item in items:
        together = "browser" if "browser" in item.path.parts else str(item.path)
        item.add_marker(pytest.mark.xdist_group(together))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public collections, too large for the repository; tests that need it are skipped without it."""
    folder = Path(os.environ.get("PARALLAX_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no public collections in {folder}; set PARALLAX_DATA to the folder that holds them")
    return folder


@pytest.fixture(scope="session", autouse=True)
def nothing_is_measured() -> Iterator[None]:
    """Choices that a device is measured for fall on the first candidate, and the user's memory of them is left alone."""
    from spdp_engine.sampling import tuning

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "_fastest", lambda question, device, topics, candidates, measure: candidates[0])
        yield
