"""Shaping topics in a browser: a name, a merge, a hidden topic, all taken back or kept; and going on without a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(120)


def number_of(person: Person) -> int:
    """Of the topic that is read, from 1."""
    found = re.search(r"[?&]topic=(\d+)", person.page.url)
    assert found, person.page.url
    return int(found[1])


def expect_topic(person: Person, number: str) -> None:
    """The header and the address both tell it."""
    expect(person.page.locator(".px-topic")).to_have_text(re.compile(rf"Topic {re.escape(number)}$"))
    person.page.wait_for_url(re.compile(rf"[?&]topic={number.split()[0]}(&|$)"))


def test_topics_are_named_merged_hidden_and_found_without_a_word(visit: Callable[..., Person], table: Path) -> None:
    person = visit().open().bring(table).start(4, 60)
    page = person.compare().page
    page.get_by_role("heading", name="All topics at a glance").wait_for()
    first = number_of(person.settle())
    expect_topic(person, str(first))

    # Walking by keys; letters that are written into a field do not walk.
    page.locator("h1").click()
    page.keyboard.press("n")
    expect(page.locator(".px-topic")).not_to_have_text(re.compile(rf"Topic {first}$"))
    page.keyboard.press("p")
    expect_topic(person, str(first))
    person.name_of_topic.fill("Ports and <i>nnn</i>")
    person.name_of_topic.press("Enter")
    expect(page.get_by_role("combobox", name="Topic", exact=True).first).to_have_value(
        re.compile(r"^Ports and <i>nnn</i> \(")
    )
    expect_topic(person, str(first))

    # Another one is read as part of it, and apart again.
    person.settle().press("Merge")
    page.get_by_role("combobox", name=re.compile("^Read as one with")).click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Read them as one").click()
    expect(page.get_by_text("Read as one: Topic")).to_be_visible()
    expect(person.name_of_topic).to_have_value("Ports and <i>nnn</i>")
    assert " + " in page.locator(".px-topic").inner_text()
    person.settle().press("Undo")
    expect(page.get_by_text("Read as one: Topic")).to_have_count(0)

    # The next one is hidden, and comes back.
    person.settle().press_until(person.button("Pin"), person.button("Unpin"))
    page.locator("h1").click()
    page.keyboard.press("n")
    expect(page.locator(".px-topic")).not_to_have_text(re.compile(rf"Topic {first}$"))
    hidden = number_of(person.settle())
    person.press("Hide")
    page.get_by_text("Hidden topics (1)").click()
    expect(page.get_by_text(re.compile(rf"^Topic {hidden} \("))).to_be_visible()
    person.press("Show again")
    expect(page.get_by_text("Hidden topics")).to_have_count(0)

    # A link leads another tab to the topic, with its name.
    page.goto(f"{person.address}/compare?workspace={person.key}&topic={first}")
    person.settle()
    expect(person.name_of_topic).to_have_value("Ports and <i>nnn</i>")

    # A word that was clicked becomes a stop word; the run goes on, and the topics keep their numbers and names.
    word = page.locator("button.px-word").first
    said = word.inner_text()
    word.click()
    page.get_by_role("button", name="Make it a stop word").first.click()
    expect(page.get_by_role("button", name=re.compile(f"leave out “{said}”"))).to_be_visible()
    person.settle().press("Continue with these changes")
    page.get_by_text(re.compile("topics? ha(s|ve) other words among")).wait_for()
    expect_topic(person.settle(), str(first))
    expect(person.name_of_topic).to_have_value("Ports and <i>nnn</i>")
    assert said not in page.locator("button.px-word").all_inner_texts()
    person.go("Documents")
    page.get_by_text("Words and passages").click()
    expect(page.get_by_role("textbox", name="More words to leave out")).to_have_value(said)
    person.go("Compare").press("Bring the earlier words back")
    expect(page.locator("button.px-word", has_text=re.compile(f"^{said}$")).first).to_be_visible()
    assert person.settle().overflow() <= 0
