"""One finished run that the tests of what is read from a run share, since making it takes longer than reading it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.runtime.pages_manager import PagesManager
from visitor import Visitor, as_csv, talk

from pages.parts.workspace import Workspace
from spdp_engine import sampling


@pytest.fixture(scope="session", autouse=True)
def navigation() -> Iterator[None]:
    """AppTest forgets before every run that the app navigates by itself, and then runs files of pages/ without app.py.

    A server remembers it from the first run of app.py on.
    """
    plain = PagesManager.__init__

    def remember(self: PagesManager, main_script_path: str, *rest: object, **more: object) -> None:
        plain(self, main_script_path, *rest, **more)  # type: ignore[arg-type]
        if (Path(main_script_path).parent / "pages").is_dir():
            PagesManager.uses_pages_directory = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PagesManager, "__init__", remember)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_components() -> Iterator[None]:
    """AppTest looks through every installed package for components, of which the app has none: most of a short test's time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BidiComponentManager, "discover_and_register_components", lambda *_, **__: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_evidence() -> Iterator[None]:
    """Gathered in the background of every run that rests, it would take the cores from other tests; its own ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workspace, "keep_evidence", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_warming_up() -> Iterator[None]:
    """Compiling for whatever a form has been set to takes the cores from other tests; the test that it is done asks for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "warm_up", lambda *_: None)
        yield


@pytest.fixture(scope="session")
def finished() -> str:
    """Key of a workspace of two groups whose run of three topics is finished, and has averaged samples."""
    visitor = Visitor().upload(("harbour and school.csv", as_csv(talk())))
    return visitor.run_topics(3, 60).key
