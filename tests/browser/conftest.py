"""A server of the app on a port of its own, and a headless Chromium in front of it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# As root a sandbox cannot be had; the rest keeps the browser from asking anything beyond this machine by itself.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--disable-component-update",
)  # fmt: skip
PATIENCE = 30.0
expect.set_options(timeout=1000 * PATIENCE)
DESKTOP = {"width": 1440, "height": 900}

Visit = Callable[..., Person]


@contextmanager
def app_server() -> Iterator[str]:
    """Runs the app on a free port; gives its address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The sampler takes every core it gets. One is left to the browser here, which otherwise gets little of anything.
    environment = {**os.environ, "POCL_CPU_MAX_CU_COUNT": "1", "POCL_MAX_PTHREAD_COUNT": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true",
         "--server.address", "127.0.0.1"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(process, address)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(process: subprocess.Popen[str], address: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"the app did not start:\n{process.stdout.read() if process.stdout else ''}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    pytest.fail("the app did not answer in time")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with app_server() as address:
        yield address


@pytest.fixture
def fresh_server() -> Iterator[str]:
    """A server that nobody has asked for anything yet."""
    with app_server() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        reason = f"none of {', '.join(PROGRAMS)} is installed"
        if os.environ.get("PARALLAX_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


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
