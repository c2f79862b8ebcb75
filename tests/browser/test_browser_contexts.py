"""From word to passage to whole document, and the search that leads there, with a mouse and with keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from person import Person
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.timeout(120)

Visit = Callable[..., Person]
TELEPHONE = (390, 844)


def drawer(person: Person) -> Locator:
    return person.page.get_by_role("dialog")


def unharmed(person: Person) -> None:
    """Markup of the documents was shown, and nowhere became part of the page."""
    assert person.page.evaluate("window.taken") is None
    assert person.page.locator("img[src=x], .stApp a[href*='bad.example']").count() == 0


def test_from_word_to_passage_to_document_and_by_search(visit: Visit, finished: str) -> None:
    person = visit().open("compare", finished)
    page = person.page
    page.locator(".px-passage .px-open").first.wait_for()

    # A word in its contexts, in each group.
    button = page.locator("button.px-word").filter(has_text=re.compile(r"^(strike|union|picket)$")).first
    word = button.inner_text()
    button.click()
    contexts = page.locator(".px-contexts")
    expect(contexts).to_have_count(2)
    expect(contexts.first.locator(".px-kwic")).to_have_count(8)
    expect(contexts.nth(1)).to_contain_text("Never uses this word.")
    assert set(contexts.first.locator(".px-kwic > b").all_inner_texts()) == {word}
    middle = [
        box["x"] + box["width"] / 2
        for box in map(Locator.bounding_box, contexts.first.locator(".px-kwic > b").all())
        if box
    ]
    assert max(middle) - min(middle) < 3, "the word stands in one column"
    page.get_by_role("button", name="8 more").click()
    expect(contexts.first.locator(".px-kwic")).to_have_count(16)

    # The whole document, from one to the next, one topic alone; all with keys.
    first = contexts.first.locator(".px-open").first
    title = first.inner_text()
    first.focus()
    page.keyboard.press("Enter")
    expect(drawer(person).locator(".px-title")).to_have_text(title)
    expect(drawer(person).locator(".px-text")).to_contain_text("<script>window.taken=1</script>")
    expect(drawer(person).locator(".px-text mark").first).to_have_text(word)
    coloured = drawer(person).locator(".px-t[title]").count()
    assert coloured > 20
    page.keyboard.press("Escape")
    expect(drawer(person)).to_have_count(0)
    first.click()
    expect(drawer(person).locator(".px-title")).to_have_text(title)
    page.keyboard.press("ArrowRight")
    expect(drawer(person).locator(".px-title")).not_to_have_text(title)
    expect(drawer(person)).to_contain_text(re.compile(r"2 of \d+ in this list"))
    topics = drawer(person).locator(".px-topics button")
    topics.first.focus()
    page.keyboard.press("Enter")
    expect(topics.first).to_have_attribute("aria-pressed", "true")
    expect(drawer(person).locator(".px-only").first).to_be_visible()
    expect(drawer(person).locator(".px-texts .px-t:not(.px-only)")).to_have_count(0)
    assert drawer(person).locator(".px-only").count() <= coloured
    second = drawer(person).locator(".px-title").inner_text()
    unharmed(person)

    # On a page of its own, with an address that leads back to it.
    drawer(person).get_by_role("link", name="Open it on a page of its own").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(second)
    address = page.url
    assert "document=" in address and person.key == finished
    person.button("Back to the documents").click()
    expect(page.locator(".px-result")).to_have_count(10)
    expect(page.locator(".px-found")).to_contain_text("600 documents")

    # Search, narrowed down by a topic and a group; on to the topics of a word.
    search = page.get_by_role("searchbox", name="Search titles and texts")
    search.fill(word)
    search.press("Enter")
    expect(page.locator(".px-result mark").first).to_have_text(word)
    expect(page.locator(".px-found")).to_contain_text("0 of 300")
    expect(page).to_have_url(re.compile(f"search={word}"))
    found = page.locator(".px-found b").first.inner_text()
    page.locator(".px-aside button").first.click()
    expect(page.locator(".px-found b").first).not_to_have_text(found)
    expect(page.locator(".px-found")).to_contain_text("at least 20%")
    page.get_by_role("button", name=re.compile("Filters")).click()
    page.get_by_role("button", name=re.compile("Leave all filters out")).click()
    expect(page.locator(".px-found b").first).to_have_text(found)
    page.keyboard.press("Escape")
    unharmed(person)
    page.locator(".px-result .px-open").nth(1).click()
    expect(page.locator(".px-text mark").first).to_have_text(word)
    person.button("Back to the documents").click()
    page.locator(".px-chip").first.click()
    page.get_by_role("heading", name=f"“{word}” in its contexts").wait_for()
    expect(page.locator(".px-contexts").first.locator(".px-kwic").first).to_be_visible()

    # Whoever has the address comes to the same document, on a telephone too.
    other = visit(size=TELEPHONE, dark=True)
    other.page.goto(address)
    expect(other.page.get_by_role("heading", level=1)).to_have_text(second)
    other.page.locator(".px-text").first.wait_for()
    assert other.overflow() <= 0
    other.open("read", finished).page.locator(".px-result").first.wait_for()
    assert other.overflow() <= 0
    other.open("compare", finished).page.locator(".px-open").first.click()
    drawer(other).locator(".px-title").wait_for()
    assert drawer(other).evaluate("element => getComputedStyle(element).colorScheme") == "dark", (
        "colours of the dark theme"
    )
    unharmed(other)
