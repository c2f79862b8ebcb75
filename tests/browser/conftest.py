"""A server of the app on a port of its own, and a headless Chromium in front of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import Browser, BrowserContext, expect

from benchmarks.running_app import BROWSERS, find_browser, headless_browser, running_app

PATIENCE = 30.0
expect.set_options(timeout=1000 * PATIENCE)
DESKTOP = {"width": 1440, "height": 900}

Visit = Callable[..., Person]


# The sampler takes every core it gets. One is left to the browser here, which otherwise gets little of anything.
ONE_CORE = {"POCL_CPU_MAX_CU_COUNT": "1", "POCL_MAX_PTHREAD_COUNT": "1"}


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with running_app(ONE_CORE) as address:
        yield address


@pytest.fixture
def fresh_server() -> Iterator[str]:
    """A server that nobody has asked for anything yet."""
    with running_app(ONE_CORE) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if find_browser() is None:
        reason = f"none of {', '.join(BROWSERS)} is installed"
        if os.environ.get("PARALLAX_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with headless_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser profile for tabs of most tests: what is cached need not be loaded and compiled again for each."""
    context = new_context(browser)
    yield context
    context.close()


def new_context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport=DESKTOP)  # type: ignore[arg-type]
    context.set_default_timeout(1000 * PATIENCE)
    return context


@pytest.fixture
def visit(browser: Browser, shared_context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Makes visitors, each with a tab of their own. When the test is over, none may have heard complaints.

    `visit(address, size, dark, apart)`: at another server; in a window of that size; in the dark; in a profile of its own.
    """
    people: list[Person] = []

    def visitor(
        address: str | None = None, size: tuple[int, int] | None = None, dark: bool = False, apart: bool = False
    ) -> Person:
        context = new_context(browser) if apart else shared_context
        person = Person(context, address or request.getfixturevalue("server"))
        people.append(person)
        if size:
            person.page.set_viewport_size({"width": size[0], "height": size[1]})
        person.page.emulate_media(color_scheme="dark" if dark else "light")
        return person

    yield visitor
    for person in people:
        complaints, strangers = list(person.complaints), list(person.strangers)
        person.page.close()
        if person.page.context is not shared_context:
            person.page.context.close()
        assert not complaints
        assert not strangers, "something was asked beyond this machine"


def hostile_table(path: Path) -> Path:
    """Two groups of documents with HTML and Markdown in the texts, the titles and a group's name."""
    import csv
    import random

    draw = random.Random(11)
    things = (
        ["harbour", "ship", "crane", "cargo", "quay", "sailor", "anchor", "deck"],
        ["school", "teacher", "lesson", "pupil", "class", "desk", "book", "exam"],
    )
    own = (["strike", "union", "picket"], ["stoppage", "employer", "roster"])
    groups = ("<b>left</b>", '<img src=x onerror="window.taken=1">right')
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["group", "title", "text"])
        for number in range(600):
            words = " ".join(draw.choices(things[number // 2 % 2] + own[number % 2], k=40))
            text = f"<script>window.taken=1</script> {words} <img src=x onerror='window.taken=1'> **bold** ![p](http://bad.example/p.png)"
            writer.writerow([groups[number % 2], f"<i>No. {number}</i> [link](http://bad.example)", text])
    return path


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_table(tmp_path_factory.mktemp("upload") / "talk of <u>two<u> groups.csv")


@pytest.fixture(scope="session")
def finished(server: str, shared_context: BrowserContext, table: Path) -> str:
    """Key of a workspace with a finished run of three topics."""
    person = Person(shared_context, server).open().bring(table).start(3, 60)
    person.button("Compare the groups").wait_for()
    key = person.key
    person.page.close()
    return key
