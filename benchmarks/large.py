"""A large collection in the browser: 50 topics, 12 groups and 20,000 documents; how long each thing that an analyst does takes.

The collection is drawn from the model; its words are made up. The app runs as a server in its own process, on the same machine as
the browser, which draws in software.
"""

from __future__ import annotations

import csv
import re
import statistics
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from benchmarks.machine import describe_machine
from benchmarks.options import Lengths, add_common_options, read_options
from benchmarks.report import table, write_page, write_rows
from benchmarks.running_app import headless_browser, running_app
from sample_data.generator import generate

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "large"
CLAIM = "50 topics, 12 groups, 20,000 documents in the browser: each interaction answers within a second, pages are below 3 MB"
LENGTHS = Lengths(iterations=40, quick_iterations=10)
TOPICS, GROUPS, DOCUMENTS, WORDS, TOKENS = 50, 12, 20_000, 6_000, 60
QUICK_DOCUMENTS = 1_200
PATIENCE = 120_000
"""Milliseconds that anything may take before it counts as failed."""

QUIET = 0.6
"""Seconds without a change on the page after which it has answered."""

WATCH = """
if (!window.parallaxLast) {
  window.parallaxLast = performance.now();
  // A line that says how far something is in the background moves by itself, every second, and answers nobody.
  const moves = (node) => {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    return Boolean(element?.closest('.stElementContainer')?.querySelector('[role=status]'));
  };
  new MutationObserver((changes) => {
    if (changes.some((one) => one.attributeName !== 'data-test-script-state' && !moves(one.target)))
      window.parallaxLast = performance.now();
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}
"""
IDLE = """document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""


@dataclass(frozen=True)
class Answer:
    """How the page answered to something done.

    Attributes:
        action: what was done.
        seconds: from doing it until the page changed for the last time.
        kilobytes: sent to the browser for it, without the files of Streamlit itself.
    """

    action: str
    seconds: float
    kilobytes: float


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_common_options(parser)
    parser.set_defaults(topics=TOPICS, iterations=None)


class Watched:
    """A page whose answers are timed and weighed."""

    def __init__(self, page: Page) -> None:
        self.page, self.answers, self._bytes = page, list[Answer](), 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._weigh))

    def _weigh(self, frame: Any) -> None:
        self._bytes += len(frame)

    def act(self, action: str, do: Callable[[], object]) -> None:
        """Does something and waits until the page is quiet."""
        self.page.evaluate(WATCH)
        before, begin = self._bytes, self.page.evaluate("window.parallaxLast = performance.now()")
        do()
        self.wait()
        last = self.page.evaluate("window.parallaxLast")
        self.answers.append(Answer(action, max(0.0, last - begin) / 1000, (self._bytes - before) / 1000))

    def wait(self) -> None:
        """Waits until the page has not changed for a while."""
        end = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end:
            self.page.wait_for_timeout(100)
            if self.page.evaluate(f"{IDLE} && performance.now() - window.parallaxLast > {1000 * QUIET}"):
                return
        raise TimeoutError("The page does not come to rest.")


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    options = read_options(arguments, LENGTHS)
    machine = describe_machine(options.device)
    documents = QUICK_DOCUMENTS if options.quick else DOCUMENTS
    with tempfile.TemporaryDirectory() as folder, running_app() as address, headless_browser() as browser:
        path = Path(folder) / "large.csv"
        write_collection(path, documents)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(PATIENCE)
        watched = Watched(page)
        bring(watched, address, path, options.topics, options.iterations)
        with tqdm(desc=NAME, unit="interaction") as bar:
            walk(watched, lambda: bar.update())
    answers = watched.answers
    write_rows(options.result(NAME, "pages", "csv"), [{**asdict(answer), **machine.columns()} for answer in answers])
    seconds, sizes = [one.seconds for one in answers], [one.kilobytes for one in answers]
    print(
        write_page(
            options.output / f"{NAME}{'-quick' if options.quick else ''}.md",
            f"A large collection: {options.topics} topics, {GROUPS} groups, {documents:,} documents",
            machine,
            [
                table(
                    ["what is done", "answered after, s", "sent, kB"],
                    [[one.action, f"{one.seconds:.2f}", f"{one.kilobytes:,.0f}"] for one in answers],
                ),
                f"Slowest {max(seconds):.2f} s, median {statistics.median(seconds):.2f} s; most sent at once "
                f"{max(sizes) / 1000:.2f} MB. An answer is over when the page changes for the last time, but for the line that "
                "tells every second how far the checking in the background is; the first three are given while that goes on. "
                f"Headless Chromium draws in software on the {machine.cores} cores of the server. Sent: frames of the page's own "
                "connection, before the browser unpacks them, and without the files of Streamlit, which every page shares.",
            ],
        )
    )


def write_collection(path: Path, documents: int) -> None:
    """A CSV of documents of made-up words, with groups, dates, titles and a further column.

    Args:
        path: of the file.
        documents: how many.
    """
    drawn = generate(GROUPS, documents, WORDS, TOPICS, TOKENS, gamma=0.02, seed=5)
    words = np.array([_made_up(number) for number in range(WORDS)])
    texts = np.split(words[drawn.token_word], np.arange(TOKENS, len(drawn.token_word), TOKENS))
    rng = np.random.default_rng(5)
    days = np.datetime64("2015-01-01") + rng.integers(0, 3650, documents)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "group", "date", "title", "region"])
        for number, (text, group, day) in enumerate(zip(texts, drawn.document_group, days, strict=True)):
            place = ("North", "South", "East", "West", "Centre")[number % 5]
            writer.writerow([" ".join(text), f"Group {chr(65 + group)}", day, f"Paper {number + 1}", place])


def _made_up(number: int) -> str:
    """A word of three syllables that is in no dictionary; another for each number below 10^6."""
    syllables = [f"{consonant}{vowel}" for consonant in "bdfghjklmnprstvwxzcq" for vowel in "aeiou"]
    return "".join(syllables[number // 100**place % 100] for place in range(3))


def bring(watched: Watched, address: str, path: Path, topics: int, iterations: int) -> None:
    """Uploads the collection, lets a run of so many topics and iterations come to its end, and its evidence be gathered."""
    page = watched.page
    page.goto(address)
    page.locator("input[type=file]").first.wait_for(state="attached")
    page.wait_for_timeout(1000)
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_role("button", name="Explore topics").click()
    page.get_by_role("spinbutton", name="How many topics?").fill(str(topics))
    page.get_by_text("Advanced settings").click()
    page.get_by_role("spinbutton", name="Iterations").fill(str(iterations))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Compare the groups").wait_for()
    page.evaluate(WATCH)
    watched.wait()


def walk(watched: Watched, told: Callable[[], object]) -> None:
    """What an analyst does on every page, one thing after another. told: is called after each."""
    page = watched.page

    def button(name: str) -> Callable[[], object]:
        return lambda: page.get_by_role("button", name=re.compile(rf"(^|\s){re.escape(name)}(\s|$)")).first.click()

    def option(name: str) -> Callable[[], object]:
        return lambda: page.get_by_role("radio", name=re.compile(rf"(^|\s){re.escape(name)}$")).first.click()

    def link(name: str) -> Callable[[], object]:
        return lambda: page.get_by_role("link", name=name).click()

    def act(action: str, do: Callable[[], object]) -> None:
        watched.act(action, do)
        told()

    def choose(label: str, option: str) -> None:
        page.get_by_role("combobox", name=label).first.click()
        page.get_by_role("option").filter(has_text=option).first.click()

    def write(place: str, text: str) -> None:
        field = page.locator("input").and_(page.get_by_label(re.compile(place))).first
        field.fill(text)
        field.press("Enter")

    act("open Compare", link("Compare"))
    act("next topic while findings are checked", button("Next"))
    act("open Explore", link("Explore"))
    settle_evidence(watched)
    act("open Compare with its findings", link("Compare"))
    act("next topic", button("Next"))
    act("next topic again", button("Next"))
    act("order by share", lambda: choose("Order", "Most talked about"))
    act("topics as a table", option("Table"))
    act("topics as a picture", option("Picture"))
    act("name the topic", lambda: write("Name of topic", "Harbour"))
    act("pin it", button("Pin"))
    act("hide it", button("Hide"))
    act("undo", button("Undo"))
    act("own words", option("Own words"))
    act("a word in its contexts", lambda: page.locator(".px-word[data-pick]").first.click())
    act("open Read", link("Read"))
    first, second = page.locator(".px-result p").first.inner_text().split()[:2]
    act("search a word", lambda: write("Search titles", first))
    act("search two words", lambda: write("Search titles", f"{first} {second}"))
    act("open a document", lambda: page.locator(".px-result [data-pick]").first.click())
    act("open Trust", link("Trust"))
    act("open Download", link("Download"))
    act("open Guide", link("Guide"))


def settle_evidence(watched: Watched) -> None:
    """Waits on the page Trust until how sure the findings are is measured; nothing of it is timed."""
    page = watched.page
    page.get_by_role("link", name="Trust").click()
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_function("() => !document.querySelector('.st-key-evidence_cancel')", timeout=4 * PATIENCE)
    watched.wait()
