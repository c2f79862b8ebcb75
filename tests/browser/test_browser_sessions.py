"""What outlives a reload and a change of page, and what stays with the person it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from person import PAGES, Person
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(120)

Visit = Callable[..., Person]
CHANGES = 3


def test_a_run_outlives_a_change_of_page_and_a_reload(visit: Visit, table: Path) -> None:
    person = visit(size=(1000, 600)).open().bring(table).start(8, 60_000)
    page, key = person.page, person.key
    try:
        assert farthest_jump(person) <= 2, "the page jumps when the cards are refreshed"
        seen = person.iterations
        person.go("Compare")
        expect(page.locator("table.px-words")).to_have_count(2)
        person.go("Explore").expect_state("Running").wait_for_iterations(seen)
        seen = person.iterations
        page.reload()
        person.wait_for_iterations(seen)
        expect(page.locator(".px-card")).to_have_count(8)
        assert person.key == key
    finally:
        person.press("Stop")
    person.expect_state("Stopped")
    page.reload()
    person.settle().expect_state("Stopped")
    expect(page.locator(".px-card li").first).to_be_visible()


def farthest_jump(person: Person) -> float:
    """Scrolls down and looks in every frame while the cards change a few times: a jump put right at once is seen too."""
    main = person.page.get_by_test_id("stMain")
    main.evaluate("main => main.scrollTo(0, 350)")
    place = main.evaluate("main => main.scrollTop")
    assert place > 200, "there is nothing to scroll"
    return float(
        person.page.evaluate(
            """([place, changes]) => new Promise(done => {
                const main = document.querySelector('[data-testid=stMain]');
                const cards = () => document.querySelector('.px-cards')?.textContent;
                let farthest = 0, seen = 0, last = cards();
                const look = () => {
                    farthest = Math.max(farthest, Math.abs(main.scrollTop - place));
                    const now = cards();
                    if (now && now !== last) { seen += 1; last = now; }
                    if (seen >= changes) done(farthest); else requestAnimationFrame(look);
                };
                look();
            })""",
            [place, CHANGES],
        )
    )


def test_another_person_sees_neither_documents_nor_run(visit: Visit, finished: str) -> None:
    other = visit(apart=True).open()
    assert other.key != finished
    for name in PAGES:
        other.go(name)
        text = other.page.get_by_test_id("stMain").inner_text()
        for trace in ("<b>left</b>", "teacher", "Topic 1", "talk of"):
            assert trace not in text, f"{trace} on {name}"
    assert finished not in other.page.url


def test_the_first_page_asked_of_a_new_server_may_be_any(visit: Visit, fresh_server: str) -> None:
    """After a restart the tabs that stand open come back first, on whatever page they are."""
    person = visit(fresh_server).open("explore", "a-key-of-before-the-restart")
    for name in PAGES:
        expect(person.page.get_by_role("link", name=name, exact=True)).to_be_visible(timeout=3_000)
    expect(person.page.get_by_test_id("stAlert")).to_contain_text("no longer here")
