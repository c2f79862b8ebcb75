"""Two runs side by side as a person compares them: a further run, the picture, the table, and a small screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(120)

TELEPHONE = {"width": 390, "height": 844}
PICTURE = ".st-key-pairing_map"
OF_FIRST, OF_SECOND = "Topic of the first run", "Topic of the second run"


def cell(person: Person, row: int, column: int, size: tuple[int, int]) -> tuple[float, float]:
    """Where the middle of a cell of the picture is on the screen."""
    box = person.page.locator(f"{PICTURE} .heatmaplayer image").bounding_box()
    assert box
    return (
        box["x"] + (column + 0.5) / size[1] * box["width"],
        box["y"] + (row + 0.5) / size[0] * box["height"],
    )


def numbers_along(person: Person, axis: str) -> list[int]:
    """The topics' numbers along an axis of the picture, from the top or from the left."""
    found = person.page.locator(f"{PICTURE} .{axis}tick text").evaluate_all(
        f"texts => texts.map(text => [text.getBoundingClientRect().{axis}, text.textContent])"
    )
    return [int(text) for _, text in sorted(found)]


def test_two_runs_are_compared(visit: Callable[..., Person], table: Path) -> None:
    person = visit().open().bring(table).start(3, 60)
    page = person.page
    person.button("Compare the groups").wait_for()
    person.go("Trust").settle()
    first, second = (page.get_by_role("combobox", name=name) for name in (OF_FIRST, OF_SECOND))

    # A further run goes on beside the present one, and is shown beside it when it is finished.
    page.get_by_role("spinbutton", name="Topics").fill("4")
    page.keyboard.press("Enter")
    person.settle()
    person.press("Run beside this one")
    picture = page.locator(f"{PICTURE} .heatmaplayer image")
    picture.wait_for()
    expect(page.locator(".px-lead").filter(has_text="found again")).to_contain_text(
        re.compile(r"[0-3] of the 3 topics of the first run (is|are) found again among the 4 of the second")
    )
    expect(person.button("Cancel")).to_have_count(0)  # what is being checked draws the page again when it is known
    person.settle()

    # A click on a cell shows its two topics, pairs lying on the diagonal.
    picture.scroll_into_view_if_needed()
    down, across = numbers_along(person, "y"), numbers_along(person, "x")
    assert len(down) == 3 and len(across) == 4
    expect(first).to_have_value(re.compile(rf"^Topic {down[0]}:"))
    expect(second).to_have_value(re.compile(rf"^Topic {across[0]}:"))
    x, y = cell(person, 2, 3, (3, 4))
    page.mouse.move(x, y)
    expect(page.locator(f"{PICTURE} .hoverlayer")).to_contain_text(re.compile(r"Topic \d.*0\.\d\d apart"))
    page.mouse.click(x, y)
    expect(first).to_have_value(re.compile(rf"^Topic {down[2]}:"))
    expect(second).to_have_value(re.compile(rf"^Topic {across[3]}:"))
    page.get_by_text("They are not a pair.").wait_for()

    # So does a click on a row of the table, and on a topic that only one run has, by mouse and by keys.
    person.settle()
    rows = page.locator(".st-key-pairing_table").get_by_test_id("stDataFrame")
    rows.scroll_into_view_if_needed()
    box = rows.bounding_box()
    assert box
    page.mouse.click(box["x"] + 16, box["y"] + 35 + 52)
    expect(first).to_have_value(re.compile(rf"^Topic {down[1]}:"))
    expect(second).to_have_value(re.compile(rf"^Topic {across[1]}:"))
    person.settle()
    alone = page.locator(".px-alone button").last
    alone.focus()
    page.keyboard.press("Enter")
    expect(second).to_have_value(re.compile(rf"^{alone.inner_text()}:"))

    # Another run takes the place of the present one, which is kept; on a telephone it is all there.
    person.go("Explore").press("New run").start(2, 30)
    person.button("Compare the groups").wait_for()
    person.go("Trust")
    picture.wait_for()
    page.set_viewport_size(TELEPHONE)  # type: ignore[arg-type]
    picture.wait_for()
    assert person.settle().overflow() <= 0
    person.press("Kept runs")
    expect(person.button("Delete")).to_have_count(2)
    person.button("Delete").first.click()
    expect(person.button("Delete")).to_have_count(0)  # what has been open closes
    person.settle().press("Kept runs")
    expect(person.button("Delete")).to_have_count(1)
    assert page.evaluate("window.taken") is None
