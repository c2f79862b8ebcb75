"""Somebody at the app with a browser: does what a person does, and waits for what a person waits for."""

from __future__ import annotations

import json
import re
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Page, TimeoutError, expect

PAGES = ("Documents", "Explore", "Compare", "Read", "Trust", "Download", "Guide")
MOMENTS = 25
NOISE = re.compile(r"favicon|404")
"""What browsers say of files that nobody needs."""


class Person:
    """A tab. `complaints` are what the browser said in its console, `strangers` the addresses beyond this machine it asked."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        self.page.on("console", lambda message: self._heard(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self._heard(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _heard(self, text: str) -> None:
        if not NOISE.search(text):
            self.complaints.append(text)

    def _asked(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob") and parts.hostname not in ("127.0.0.1", "localhost"):
            self.strangers.append(address)

    # --- moving about

    def open(self, path: str = "", key: str | None = None) -> Person:
        self.page.goto(f"{self.address}/{path}" + (f"?workspace={key}" if key else ""))
        return self.settle()

    def settle(self) -> Person:
        """Waits until the page is drawn. While a run goes on it is drawn again and again; then this is the first time."""
        self.page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        self.page.get_by_role("heading", level=1).wait_for()
        return self

    def go(self, page: str) -> Person:
        """Follows the link at the top of the page."""
        self.page.get_by_role("link", name=page).click()
        path = "" if page == "Documents" else page.lower()  # the first page has the bare address
        self.page.wait_for_url(re.compile(rf":\d+/{path}(\?|$)"))
        return self.settle()

    def press(self, name: str) -> Person:
        self.button(name).click()
        return self

    def press_until(self, button: Locator, seen: Locator | None = None) -> Person:
        """Presses a button, again where nothing comes of it: one that moves or is drawn anew under the mouse takes no click.

        `seen`: what is to be seen then; None: the button no more.
        """
        for _ in range(3):
            button.click()
            with suppress(TimeoutError):
                (seen or button).wait_for(timeout=7000, state="visible" if seen else "hidden")
                return self
        raise AssertionError(f"{button} was pressed, and nothing came of it")

    def compare(self) -> Person:
        """Goes to Compare by the button that stands beside a run, or documents that have one."""
        return self.press_until(
            self.button("Compare the groups"), self.page.get_by_role("heading", name="Compare the groups", level=1)
        ).settle()

    def button(self, name: str) -> Locator:
        """The button whose name is this word, behind its icon."""
        return self.page.get_by_role("button", name=re.compile(rf"(^|\s){re.escape(name)}$"))

    @property
    def key(self) -> str:
        found = re.search(r"[?&]workspace=([\w-]+)", self.page.url)
        assert found, self.page.url
        return found[1]

    # --- documents

    def upload(self, *paths: Path, label: str | None = None) -> Person:
        """Gives files to the uploader of that label; to the first of the page."""
        place = self.page.get_by_role("region", name=label) if label else self.page
        place.locator("input[type=file]").first.set_input_files(list(paths))
        return self

    def bring(self, path: Path) -> Person:
        """Uploads and waits for the report."""
        self.upload(path)
        self.button("Explore topics").wait_for()
        return self.settle()

    # --- a run

    def start(self, topics: int, iterations: int) -> Person:
        """Goes to Explore, fills in the form, and waits for the first words."""
        if "/explore" not in self.page.url:
            self.press("Explore topics")
        field = self.page.get_by_role("spinbutton", name="How many topics?")
        field.fill(str(topics))
        self.page.get_by_text("Advanced settings").click()
        self.page.get_by_role("spinbutton", name="Iterations").fill(str(iterations))
        self.press_until(self.button("Start"))
        expect(self.page.locator(".px-card")).to_have_count(topics)  # of a run before there are others
        self.page.locator(".px-card li").first.wait_for()
        return self

    @property
    def iterations(self) -> int:
        text = self.page.get_by_role("group", name="Progress").locator(".px-stats b").first.inner_text()
        return int(text.replace(",", ""))

    def wait_for_iterations(self, more_than: int) -> Person:
        self.page.wait_for_function(
            """least => {
                const shown = document.querySelector('.px-stats b');
                return shown && parseInt(shown.textContent.replaceAll(',', '')) > least;
            }""",
            arg=more_than,
        )
        return self

    def expect_state(self, word: str) -> Person:
        expect(self.page.get_by_role("group", name="Progress").locator(".px-quiet")).to_have_text(
            re.compile(f"^{word}")
        )
        return self

    # --- what is seen

    @property
    def name_of_topic(self) -> Locator:
        """The field with the name of the topic that is read on Compare."""
        return self.page.get_by_role("textbox", name=re.compile("^Name of topic"))

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window; pictures are given a moment to follow a window that has changed."""
        for _ in range(MOMENTS):
            if (wider := self._overflow()) <= 0:
                break
            self.page.wait_for_timeout(200)
        return wider

    def _overflow(self) -> int:
        return int(
            self.page.evaluate(
                """() => {
                    const main = document.querySelector('[data-testid=stMain]');
                    return Math.max(main.scrollWidth - main.clientWidth,
                                    document.documentElement.scrollWidth - window.innerWidth);
                }"""
            )
        )


def read_zip(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """The tables as text by name, and the manifest."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        texts = {name: archive.read(name).decode("utf-8-sig") for name in archive.namelist()}
    return texts, json.loads(texts["manifest.json"])
