"""From a run that rests to what is sure of it, as a person sees it fill in."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import expect

from tests.pages.visitor import as_csv, talk

pytestmark = pytest.mark.timeout(120)

Visit = Callable[..., Person]


@pytest.fixture
def three_groups(tmp_path: Path) -> Path:
    path = tmp_path / "three groups.csv"
    path.write_bytes(as_csv(talk(180, ("left", "right", "middle"))))
    return path


def test_pages_fill_in_and_any_two_groups_can_be_compared(visit: Visit, three_groups: Path) -> None:
    person = visit().open().bring(three_groups).start(2, 40)
    person.button("Compare the groups").wait_for()
    page = person.go("Trust").page
    checks = page.get_by_role("group", name="Checks")
    expect(checks).to_contain_text("Other seeds")
    expect(checks).to_contain_text("5 runs compared")  # all by itself, without a step of the person's
    expect(checks.get_by_text("✓")).to_have_count(3)
    expect(page.get_by_role("heading", name="Wording gaps against chance")).to_be_visible()
    expect(page.locator(".px-told").first).to_contain_text("of 5 runs")

    person.go("Compare")
    expect(page.locator(".px-shares .px-whisker")).to_have_count(3)
    expect(page.locator(".px-scale .px-chance").first).to_be_visible()
    expect(page.get_by_text("being checked")).to_have_count(0)

    # Keys reach what is shown: the words are buttons, and the two groups can be chosen without a mouse.
    word = page.locator(".px-abreast button.px-word").first
    word.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".px-contexts").first).to_contain_text(word.inner_text())
    page.get_by_text("Any two groups against one another").click()
    matrix = page.locator(".px-matrix")
    expect(matrix.locator("button")).to_have_count(6)
    matrix.get_by_title(re.compile("^middle and right")).click()
    expect(page.get_by_role("combobox", name="One group")).to_have_value("middle")
    expect(page.get_by_role("combobox", name="Another group")).to_have_value("right")
    pair = page.locator(".px-abreast").last
    expect(pair.locator("button.px-word")).not_to_have_count(0)
    assert {"weather", "tide", "storm"} & set(pair.locator("button.px-word").all_inner_texts())

    # On a telephone, and at twice the size, nothing is wider than the window.
    for size in ((390, 844), (720, 450)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for name in ("compare", "trust"):
            assert person.open(name, person.key).settle().overflow() <= 0, (name, size)
