"""The app as a server in a process of its own, and a headless Chromium to use it with."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spdp_engine.errors import ParallaxError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# As root a sandbox cannot be had; the rest keeps the browser from asking anything beyond this machine by itself.
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
def running_app(environment: Mapping[str, str] | None = None, timeout: float = 60.0) -> Iterator[str]:
    """Starts the app on a free port; yields its address; ends it.

    Args:
        environment: variables beside those of this process.
        timeout: seconds it may take until it answers.

    Raises:
        ParallaxError: it does not start; with the last words it wrote.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true",
               "--server.address", "127.0.0.1", "--server.port", str(port)]  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            if not _answers(server, address, timeout):
                log.seek(0)
                raise ParallaxError(f"The app did not start:\n{log.read()[-2000:]}")
            yield address
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _answers(server: subprocess.Popen[bytes], address: str, timeout: float) -> bool:
    """Waits until the app answers; False where it has ended or takes too long."""
    end = time.monotonic() + timeout
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
            return True
        time.sleep(0.05)
    return False


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
