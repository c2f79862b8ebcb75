"""Pictures of every page, light and dark, on a desk and on a phone: the app used on a sample, from the first page to the last."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from benchmarks.report import RESULTS
from benchmarks.running_app import headless_browser, running_app

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "screenshots"
CLAIM = "pictures of every page, light and dark, wide and narrow"
SIZES = {1440: 900, 390: 844}
THEMES = ("light", "dark")
DEFAULT_TOPIC = "port"
"""A word of the topic that is compared: the sample's own advice on what to look for."""


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    parser.add_argument("--output", type=Path, default=RESULTS / "screenshots", metavar="FOLDER", help="where they go")


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    with running_app() as address, headless_browser() as browser, tqdm(total=4, desc=NAME, unit="walk") as bar:
        for theme in THEMES:
            for width, height in SIZES.items():
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light"
                )
                _walk(context.new_page(), address, folder, f"{theme}-{width}")
                context.close()
                bar.update()
    print(f"Wrote {len(list(folder.glob('*.png')))} pictures to {folder}.")


def _walk(page: Page, address: str, folder: Path, suffix: str) -> None:
    """From the first page to the last, with a picture of each."""

    def take(name: str, after: int = 1500) -> None:
        page.wait_for_timeout(after)  # charts are drawn a moment after they are there
        page.screenshot(path=folder / f"{name}-{suffix}.png")

    def visit(name: str) -> None:
        page.goto(re.sub(r"/\w*\?", f"/{name}?", page.url))  # on a telephone the links are folded away

    page.goto(address)
    page.get_by_role("button", name="Open this sample").first.wait_for(timeout=60_000)
    take("home")
    page.get_by_role("button", name="Open this sample").first.click()
    page.get_by_role("button", name="Explore topics").wait_for(timeout=60_000)
    take("documents")
    page.get_by_role("button", name="Explore topics").click()
    page.get_by_role("button", name="Start", exact=True).wait_for(timeout=60_000)
    take("ready")
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".px-card li").first.wait_for(timeout=60_000)
    take("explore-live", after=300)
    page.get_by_role("button", name="Compare the groups").wait_for(timeout=120_000)
    take("explore")
    page.get_by_role("button", name="Compare the groups").click()
    page.get_by_text("How they word it").wait_for(timeout=60_000)
    visit("trust")
    page.get_by_role("heading", name="How sure is it?").wait_for(timeout=60_000)
    page.wait_for_function("() => !document.querySelector('.st-key-evidence_cancel')", timeout=180_000)
    take("trust")
    visit("compare")
    page.get_by_text("How they word it").wait_for(timeout=60_000)
    page.get_by_label("Topic", exact=True).click()
    page.get_by_role("option").filter(has_text=DEFAULT_TOPIC).first.click()
    take("compare")
    page.get_by_text("How they word it").scroll_into_view_if_needed()
    page.locator(".px-word[data-pick]").first.click()
    take("words")
    page.get_by_text("Where it shows").or_(page.get_by_text("in its contexts")).first.scroll_into_view_if_needed()
    take("contexts")
    for name in ("read", "download", "guide"):
        visit(name)
        page.get_by_role("heading", level=1).wait_for(timeout=60_000)
        take(name)
