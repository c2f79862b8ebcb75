"""What tests of every kind share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

# The package is run from its folder, not installed: so that `pytest` finds it as `python -m pytest` does.
if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deals the tests out to processes: a file at a time, which prepares its things once; those in a browser together, first."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return "browser" if "browser" in Path(path).parts else path

    return ByFile(config, log)


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
