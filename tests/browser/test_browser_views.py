"""Every page on a small screen and in the dark, and what is said of files that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(120)

Visit = Callable[..., Person]
TELEPHONE = (390, 844)


def lightness(person: Person) -> tuple[float, float]:
    """Of the page's ground and of its title's ink, 0 (black) to 1 (white)."""
    ground, ink = person.page.evaluate(
        """() => {
            const light = colour => colour.match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 765;
            return [light(getComputedStyle(document.querySelector('.stApp')).backgroundColor),
                    light(getComputedStyle(document.querySelector('h1')).color)];
        }"""
    )
    return ground, ink


def test_every_page_on_a_telephone_in_the_dark(visit: Visit, finished: str) -> None:
    """Each is opened by its address, which is all it takes to come back to documents and run."""
    person = visit(size=TELEPHONE, dark=True).open()
    assert person.overflow() <= 0, "home"
    for path, sign in {"": ".px-notes", "explore": ".px-card li", "compare": ".px-passage", "download": "h3"}.items():
        person.open(path, finished)
        person.page.locator(sign).first.wait_for()
        if path == "explore":
            person.page.get_by_text("How good are the topics?").click()
            person.page.get_by_test_id("stDataFrame").first.wait_for()
        assert person.overflow() <= 0, path or "documents"
        ground, ink = lightness(person)
        assert ground < 0.2 < 0.7 < ink, path or "documents"
        assert person.key == finished


CUT = """() => [...document.querySelectorAll('.px-card header :is(b, span), .px-card h6 .px-group')]
    .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
    .map(one => one.textContent)"""
"""Labels on cards that are wider than the room they have."""

NAMES = """() => {
    const ground = document.querySelector('.js-plotly-plot .bglayer, .js-plotly-plot .cartesianlayer .bg').getBoundingClientRect();
    const names = [...document.querySelectorAll('.js-plotly-plot text[style*="-screens"]')];
    return names.filter(name => name.getClientRects().length).map(name => {
        const place = name.getBoundingClientRect();
        return [name.style.fontFamily.split(',')[0], place.left - ground.left, ground.right - place.right];
    });
}"""
"""Of each name that is seen in the picture: the font that says for which screens it is, and its distance from both sides."""


@pytest.mark.parametrize(("size", "screens"), [(TELEPHONE, "for-narrow-screens"), ((1440, 900), "for-wide-screens")])
def test_labels_and_names_in_the_picture_are_not_cut(
    visit: Visit, finished: str, size: tuple[int, int], screens: str
) -> None:
    person = visit(size=size).open("explore", finished)
    person.page.locator(".px-card li").first.wait_for()
    assert person.page.evaluate(CUT) == []
    person.open("compare", finished).page.locator(".js-plotly-plot .textpoint").first.wait_for()
    names = person.page.evaluate(NAMES)
    assert len(names) == 3 and {name[0] for name in names} == {screens}
    assert all(left > -2 and right > -2 for _, left, right in names), names


def test_light_is_light(visit: Visit) -> None:
    ground, ink = lightness(visit().open())
    assert ground > 0.9 > 0.3 > ink


def test_names_without_a_space_do_not_widen_the_page(visit: Visit, tmp_path: Path) -> None:
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützen"
    rows = [
        f'{"left" if n % 2 else long},{long}{n},"{long.lower()} harbour ship {long.lower()}{n % 3} school"'
        for n in range(40)
    ]
    path = tmp_path / f"export_of_all_{long}_2031_final.csv"
    path.write_text("\n".join(["group,title,text", *rows]), encoding="utf-8")
    person = visit(size=TELEPHONE).open().bring(path)
    assert person.overflow() <= 0, "documents"
    person.start(2, 5)
    person.button("Compare the groups").wait_for()
    assert person.overflow() <= 0, "explore"
    person.compare().page.locator(".px-passage").first.wait_for()
    assert person.settle().overflow() <= 0, "compare"


def test_the_form_stays_open_while_model_and_associations_are_chosen(visit: Visit, table: Path, tmp_path: Path) -> None:
    """What can be set depends on what was chosen, so the form is drawn anew at every change, and by itself."""
    (tmp_path / "links.csv").write_text(
        "group,word,base word,weight\n*,harbour,ship,1\n*,ship,ship,1\n*,harbour,harbour,1\n"
    )
    person = visit().open().bring(table).press("Explore topics")
    page = person.page
    page.get_by_text("Advanced settings").click()
    model = page.get_by_role("radiogroup", name="Model")
    method = page.get_by_role("group", name="Progress").locator(".px-method")
    model.get_by_text("LDA", exact=True).click()
    expect(page.get_by_text("Associations (optional)")).to_have_count(0)
    expect(page.locator(".px-method").first).to_contain_text("LDA")
    beta = page.get_by_role("button", name="Beta", exact=True)
    person.settle().press_until(beta, page.get_by_role("spinbutton", name="Beta, fixed at"))
    person.press("Start")
    person.button("Compare the groups").wait_for()
    expect(method.first).to_contain_text("LDA · schedule blocks · fixed: beta 0.01")
    person.compare()
    expect(page.locator(".px-lead").filter(has_text="LDA words each topic alike")).to_be_visible()
    person.go("Explore").press("New run")
    page.get_by_text("Advanced settings").click()
    expect(page.get_by_role("spinbutton", name="Beta, fixed at")).to_be_visible()
    model.get_by_text("SPDP", exact=True).click()
    page.get_by_role("button", name="Gamma", exact=True).wait_for()
    person.upload(tmp_path / "links.csv", label="Associations (optional)")
    expect(page.get_by_text("3 of 3 associations of links.csv were used")).to_be_visible()
    person.press("Start")
    expect(method.first).to_contain_text("associations of links.csv")
    person.button("Compare the groups").wait_for()


def test_files_that_cannot_be_read_are_answered_in_a_sentence_and_lose_nothing(
    visit: Visit, finished: str, tmp_path: Path
) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 64)
    person = visit().open()
    page = person.page
    for name in ("empty.csv", "binary.csv"):
        person.upload(tmp_path / name)
        alert = page.get_by_test_id("stAlert").filter(has_text=name)
        expect(alert).to_be_visible()
        assert "Traceback" not in alert.inner_text() and alert.inner_text().strip().endswith(".")
    # With documents at hand the uploader is behind a button, and what is there stays there.
    person.open("", finished).press("Other documents")
    person.upload(tmp_path / "binary.csv")
    expect(page.get_by_test_id("stAlert").filter(has_text="binary.csv")).to_be_visible()
    page.keyboard.press("Escape")
    expect(person.button("Explore topics")).to_be_visible()
    person.go("Explore")
    expect(page.locator(".px-card")).to_have_count(3)
