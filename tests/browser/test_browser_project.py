"""A project is saved in one browser and opened in another: the page is what it was, and the run goes on from where it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import expect
from taking import download

pytestmark = pytest.mark.timeout(120)

NAME = "Ports and <i>quays</i>"


def seen(person: Person) -> dict[str, object]:
    """What the page Compare shows of the topic that is read."""
    page = person.settle().page
    words = page.locator("table.px-words")
    expect(words).to_have_count(2)
    return {
        "topics": page.get_by_role("combobox", name="Topic", exact=True).first.input_value(),
        "name": person.name_of_topic.input_value(),
        "words": [re.findall(r"^\w+", table, re.M) for table in words.all_inner_texts()],
        "passages": page.locator(".px-passage .px-open").all_inner_texts(),
    }


def test_a_project_is_opened_by_somebody_else_where_it_was_left(
    visit: Callable[..., Person], table: Path, tmp_path: Path
) -> None:
    author = visit().open().bring(table).start(4, 40)
    author.compare().page.get_by_role("heading", name="All topics at a glance").wait_for()
    author.name_of_topic.fill(NAME)
    author.name_of_topic.press("Enter")
    expect(author.page.locator(".px-topic").first).to_be_visible()
    author.settle().press_until(author.button("Pin"), author.button("Unpin"))
    topic = re.search(r"[?&]topic=(\d+)", author.page.url)
    assert topic
    left = seen(author)
    assert left["name"] == NAME and left["passages"]
    author.go("Explore").expect_state("Finished")
    said = author.page.locator(".px-stats").first.inner_text()
    project = download(author.go("Download"), author.button("Save the project"), tmp_path)
    assert project.suffix == ".parallax"

    # Somebody who has never been here.
    reader = visit(apart=True).open()
    page = reader.upload(project).page
    expect(page.get_by_text("This project holds a run of 4 topics after 40 iterations")).to_be_visible()
    assert reader.settle().key != author.key
    reader.compare()
    page.get_by_role("heading", name="All topics at a glance").wait_for()
    page.goto(f"{reader.address}/compare?workspace={reader.key}&topic={topic[1]}")
    assert seen(reader) == left
    expect(reader.button("Unpin")).to_be_visible()
    assert page.evaluate("window.taken") is None

    # The run is the same, and goes on.
    reader.go("Explore").expect_state("Finished")
    assert page.locator(".px-stats").first.inner_text() == said
    page.get_by_role("button", name=re.compile(r"Run \d+ longer")).click()
    reader.wait_for_iterations(40).expect_state("Finished")
    reader.go("Compare")
    expect(reader.name_of_topic).to_have_value(NAME)
    assert reader.settle().overflow() <= 0

    # What it was can be saved again, and a file that is none is refused in a sentence.
    again = download(reader.go("Download"), reader.button("Save the project"), tmp_path)
    assert again.stat().st_size > 10_000
    damaged = tmp_path / "damaged.parallax"
    damaged.write_bytes(again.read_bytes()[:5000])
    reader.go("Documents").press("Other documents").upload(damaged)
    alert = page.get_by_role("alert").filter(has_text="damaged")
    expect(alert).to_be_visible()
    assert "Traceback" not in alert.inner_text()
    expect(page.get_by_text("4 topics")).to_be_visible()
