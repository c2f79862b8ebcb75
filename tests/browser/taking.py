"""What is taken away in a browser: a button is pressed, and a file comes."""

from __future__ import annotations

from pathlib import Path

from person import Person
from playwright.sync_api import Locator, expect


def download(person: Person, button: Locator, to: Path) -> Path:
    """Presses a button and keeps the file that comes.

    Streamlit forgets what stands behind a button while its page is drawn anew and somebody else's page is done, and says so; then a
    person presses again, and so does this.
    """
    refused = person.page.get_by_test_id("stDownloadButtonError")
    with person.page.expect_download() as coming:
        button.click()
        expect(button).to_be_enabled()
        if refused.is_visible():
            refused.wait_for(state="hidden")
            button.click()
    path = to / coming.value.suggested_filename
    coming.value.save_as(path)
    return path
