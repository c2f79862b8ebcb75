"""The app as a server in a process of its own, and a headless Chromium to use it with."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spdp_engine.errors import ParallaxError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-component-update",
]


def find_browser() -> str | None:
    """Path of a Chromium, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


@contextlib.contextmanager
def running_app(timeout: float = 60.0) -> Iterator[str]:
    """Starts the app on a free port; yields its address; ends it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true",
               "--server.address", "127.0.0.1", "--server.port", str(port)]  # fmt: skip
    server = subprocess.Popen(
        command, cwd=ROOT, env=os.environ.copy(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(server, address, timeout)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait_until_healthy(server: subprocess.Popen[bytes], address: str, timeout: float) -> None:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if server.poll() is not None:
            raise ParallaxError(f"The app ended at once, with status {server.returncode}.")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
            return
        time.sleep(0.1)
    raise ParallaxError(f"The app did not answer within {timeout:.0f} seconds.")


@contextlib.contextmanager
def headless_browser() -> Iterator[Browser]:
    """A headless Chromium, driven by Playwright.

    Raises:
        ParallaxError: there is no Chromium, or no Playwright.
    """
    path = find_browser()
    if path is None:
        raise ParallaxError("No Chromium was found; install it, on Debian with “apt install chromium”.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise ParallaxError("Playwright is missing; run “pip install -r tests/requirements.txt”.") from error
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
