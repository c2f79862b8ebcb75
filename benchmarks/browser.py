"""What a person waits for, in a real browser: reading the collection, and from Start to the first words; and what watching costs.

The app runs as a server in its own process, on the same machine as the browser.
"""

from __future__ import annotations

import re
import statistics
import time
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from benchmarks.data import add_corpus_arguments, corpus_name, find_corpus, load_corpus
from benchmarks.machine import describe_machine
from benchmarks.options import Lengths, add_options, read_options
from benchmarks.report import table, write_page, write_rows
from benchmarks.running_app import headless_browser, running_app
from pages.parts.cards import cards_html
from pages.parts.charts import perplexity_svg
from pages.parts.workspace import REFRESH_SECONDS, Workspace
from spdp_engine.corpus import Corpus
from spdp_engine.jobs import Job, Queue
from spdp_engine.sampling import SamplerSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAME = "browser"
CLAIM = "seconds until a collection is read and until the first topics are on screen; what watching costs the sampler"
LENGTHS = Lengths(iterations=5, quick_iterations=1)
WATCH_SECONDS = 8.0
WINDOWS = 4
LONG_ENOUGH = 100_000
"""Iterations of the watched run, so that it does not end while it is watched."""


@dataclass(frozen=True)
class Visit:
    """One visit to the app.

    Attributes:
        visit: 1 for the first after the server's start, with nothing compiled yet in this process.
        loading_seconds: from choosing the file until its report is on screen.
        first_words_seconds: from pressing Start until words are on the cards.
    """

    visit: int
    loading_seconds: float
    first_words_seconds: float


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_corpus_arguments(parser)
    add_options(parser, LENGTHS, "visits")


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    options = read_options(arguments, LENGTHS)
    path = find_corpus(arguments.corpus)
    machine = describe_machine(options.device)
    with running_app() as address, headless_browser() as browser:
        visits = [
            _visit(browser, address, path, options.topics, number)
            for number in tqdm(range(1, options.iterations + 1), desc=NAME, unit="visit")
        ]
        watched, alone = _watching(browser, address, path, options.topics, 1 if options.quick else WINDOWS)
    corpus = load_corpus(arguments).arrays
    assert isinstance(corpus, Corpus)
    served, idle = _serving(corpus, options.topics, 1 if options.quick else WINDOWS)
    common = {"topics": options.topics, **machine.columns()}
    name = corpus_name(path)
    write_rows(options.result(NAME, name, "csv"), [{**asdict(visit), **common} for visit in visits])
    loading = [visit.loading_seconds for visit in visits]
    words = [visit.first_words_seconds for visit in visits]
    print(write_page(
        options.result(NAME, name, "md"), f"In the browser: {name}, {options.topics} topics", machine,
        [
            table(
                ["", "median", "min", "max"],
                [
                    ["file chosen to report on screen, s", *_spread(loading)],
                    ["Start to first words on screen, s", *_spread(words)],
                    ["iterations a second, page open", *_spread(watched)],
                    ["iterations a second, page closed", *_spread(alone)],
                    ["iterations a second, page served", *_spread(served)],
                    ["iterations a second, page not served", *_spread(idle)],
                ],
            ),
            f"Refreshing leaves the sampler {_kept(served, idle):.0%} of its speed: a sample is copied, read and written as HTML "
            f"every {REFRESH_SECONDS} seconds, as for a browser on another machine. With a headless browser on the sampler's own "
            f"{machine.cores} cores, drawing in software, it is {_kept(watched, alone):.0%}. Each is the median of {len(served)} "
            f"pairs of {WATCH_SECONDS:.0f} seconds, with and without, in turn.",
        ],
    ))  # fmt: skip


def _kept(with_page: list[float], without: list[float]) -> float:
    """The share of its speed that the sampler keeps: median over pairs."""
    return statistics.median(a / b for a, b in zip(with_page, without, strict=True))


def _spread(values: list[float]) -> list[str]:
    return [f"{statistics.median(values):.2f}", f"{min(values):.2f}", f"{max(values):.2f}"]


def _visit(browser: Browser, address: str, path: Path, topics: int, number: int) -> Visit:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    loading = _bring(page, address, path)
    _explore(page, topics)
    begin = time.perf_counter()
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".px-card li").first.wait_for(timeout=60_000)
    words = time.perf_counter() - begin
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Compare the groups").wait_for(timeout=60_000)
    page.context.close()
    return Visit(number, loading, words)


def _bring(page: Page, address: str, path: Path) -> float:
    """Uploads the file; returns the seconds until its report is there."""
    page.goto(address)
    page.locator("input[type=file]").first.wait_for(state="attached", timeout=60_000)
    page.wait_for_timeout(1000)  # the page must have settled, or the upload is measured with its start
    begin = time.perf_counter()
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_role("button", name="Explore topics").wait_for(timeout=120_000)
    return time.perf_counter() - begin


def _explore(page: Page, topics: int, iterations: int | None = None) -> None:
    """Opens Explore and fills in the form; a person would take a few seconds too, in which the kernels are compiled."""
    page.get_by_role("button", name="Explore topics").click()
    page.get_by_role("spinbutton", name="How many topics?").fill(str(topics))
    if iterations:
        page.get_by_text("Advanced settings").click()
        page.get_by_role("spinbutton", name="Iterations").fill(str(iterations))
    page.wait_for_timeout(4000)


def _watching(browser: Browser, address: str, path: Path, topics: int, windows: int) -> tuple[list[float], list[float]]:
    """Iterations a second with the page open, and with it closed, in turn."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    _bring(page, address, path)
    _explore(page, topics, LONG_ENOUGH)
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".px-card li").first.wait_for(timeout=60_000)
    where = page.url
    watched, alone = [], []
    for _ in tqdm(range(windows), desc="watching", unit="pair"):
        page.wait_for_timeout(2000)
        first, begin = _iteration(page), time.perf_counter()
        page.wait_for_timeout(1000 * WATCH_SECONDS)
        last, end = _iteration(page), time.perf_counter()
        watched.append((last - first) / (end - begin))
        alone.append(_closed(page, where))
    page.get_by_role("button", name="Stop").click()
    page.context.close()
    return watched, alone


def _serving(corpus: Corpus, topics: int, windows: int) -> tuple[list[float], list[float]]:
    """Iterations a second while what a refresh shows is read and written at its pace, and while it is not, in turn; no browser."""
    workspace = Workspace("benchmark")
    job = Job(corpus, SamplerSettings(topics=topics), LONG_ENOUGH, Queue())
    workspace.start(job)
    job.wait_for_sample(60)
    served: list[float] = []
    idle: list[float] = []
    for _ in tqdm(range(windows), desc="serving", unit="pair"):
        for rates, draws in ((served, True), (idle, False)):
            first, begin = job.status().iteration, time.perf_counter()
            while time.perf_counter() < begin + WATCH_SECONDS:
                due = time.perf_counter() + REFRESH_SECONDS
                reading = workspace.reading() if draws else None
                if reading:
                    cards_html(reading, reading.shown, workspace.findings())
                    perplexity_svg(job.records())
                time.sleep(max(0.0, due - time.perf_counter()))
            rates.append((job.status().iteration - first) / (time.perf_counter() - begin))
    job.discard()
    job.join(10)
    return served, idle


def _closed(page: Page, address: str) -> float:
    """Iterations a second while the page is closed.

    It is left and opened again after a short while and after a long one. Leaving and opening cost the sampler something too, but
    the same both times: the difference of the two is time with the page closed, and nothing else.
    """
    counts, seconds = [], []
    for away in (2.0, 2.0 + WATCH_SECONDS):
        before, begin = _iteration(page), time.perf_counter()
        page.goto("about:blank")
        page.wait_for_timeout(1000 * away)
        page.goto(address)
        page.locator(".px-stats b").first.wait_for(timeout=60_000)
        counts.append(_iteration(page) - before)
        seconds.append(time.perf_counter() - begin)
    return (counts[1] - counts[0]) / (seconds[1] - seconds[0])


def _iteration(page: Page) -> int:
    """The number of iterations that the page shows."""
    text = page.locator(".px-stats b").first.inner_text()
    return int(re.sub(r"\D", "", text))
