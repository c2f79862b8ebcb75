"""What is taken away, opened as a colleague would: the report without a network, on paper and on a telephone, and pictures."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from person import Person
from playwright.sync_api import Browser, expect
from taking import download

pytestmark = pytest.mark.timeout(120)

Visit = Callable[..., Person]
SVG = "{http://www.w3.org/2000/svg}"


def open_offline(browser: Browser, report: Path, size: tuple[int, int], paper: Path | None = None) -> None:
    """Opens a report where there is no network, and looks at it in both themes, and on paper."""
    context = browser.new_context(offline=True, viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()] and not heard, "one file, and nothing to complain of"
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbour & <school>")
    expect(page.get_by_label("The author’s note")).to_contain_text("<script>window.taken=1</script> of mine")
    expect(page.locator("section.topic")).to_have_count(3)
    expect(page.locator("blockquote").first).to_contain_text("<script>window.taken=1</script>")
    expect(page.locator(".group").first).to_contain_text("<b>left</b>")
    assert page.evaluate("window.taken") is None and page.locator("img, script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    page.locator("table.all a").last.click()
    assert re.search(r"#topic-\d$", page.url), "from the table to the topic"
    ground = "getComputedStyle(document.body).backgroundColor"
    lights = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        lights.append(sum(map(int, re.findall(r"\d+", page.evaluate(ground))[:3])))
    assert lights[0] > 700 > 150 > lights[1]
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)", "paper is white, whatever the screen is"
    assert page.locator("table.all thead").evaluate("head => getComputedStyle(head).display") == "table-header-group"
    assert page.locator("table.all tr").first.evaluate("row => getComputedStyle(row).breakInside") == "avoid"
    if paper:
        page.pdf(path=paper, prefer_css_page_size=True)
    context.close()


def test_a_report_is_opened_without_a_network_and_printed(
    visit: Visit, browser: Browser, finished: str, tmp_path: Path
) -> None:
    person = visit().open("download", finished)
    page = person.page
    page.get_by_role("textbox", name="Title").fill("Harbour & <school>")
    page.get_by_role("textbox", name="Your own note").fill("A <script>window.taken=1</script> of mine.")
    report = download(person, page.get_by_role("button", name="Download the report"), tmp_path)
    assert report.suffix == ".html" and report.stat().st_size < 300_000
    paper = tmp_path / "report.pdf"
    open_offline(browser, report, (1440, 900), paper)
    open_offline(browser, report, (390, 844))
    printed = paper.read_bytes()
    assert printed.startswith(b"%PDF") and 3 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 20
    book = download(person, page.get_by_role("button", name="Download the workbook"), tmp_path)
    assert book.suffix == ".xlsx" and book.read_bytes().startswith(b"PK")
    project = download(person, page.get_by_role("button", name="Save the project"), tmp_path)
    assert project.suffix == ".parallax" and project.stat().st_size > 10_000


def save_picture(person: Person, what: str, to: Path) -> Path:
    """Chooses PNG or SVG below the first picture, and has its camera make one; by the keyboard."""
    page = person.page
    page.locator("[class*=st-key-px-format-]").first.get_by_text(what).click()
    person.settle()
    says = {"PNG": "Download plot as a PNG", "SVG": "Download plot"}[what]
    camera = page.locator(".js-plotly-plot").first.get_by_role("button", name=says, exact=True)
    camera.focus()
    with page.expect_download() as coming:
        page.keyboard.press("Enter")
    path = to / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def test_a_picture_is_saved_as_png_and_as_svg(visit: Visit, finished: str, tmp_path: Path) -> None:
    person = visit().open("explore", finished)
    plot = person.page.locator(".js-plotly-plot").first
    plot.locator(".trace").last.wait_for()
    box = plot.bounding_box()
    assert box
    png = save_picture(person, "PNG", tmp_path)
    data = png.read_bytes()
    assert png.name == "parallax-talk-of-u-two-u-groups-perplexity.png" and data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert width == pytest.approx(2 * box["width"], abs=4) and height == pytest.approx(2 * box["height"], abs=4)
    svg = save_picture(person, "SVG", tmp_path)
    assert svg.suffix == ".svg"
    drawing = ElementTree.parse(svg).getroot()
    texts = list(drawing.iter(f"{SVG}text"))
    assert {"iteration", "perplexity"} <= {"".join(text.itertext()) for text in texts}, "words are words, not outlines"
    assert all("font-family" in text.get("style", "") for text in texts)
    assert not list(drawing.iter(f"{SVG}foreignObject")) and not list(drawing.iter(f"{SVG}script"))
    ground = drawing.find(f"{SVG}rect")
    assert ground is not None and "252, 251, 248" in ground.get("style", "")


def test_a_saved_picture_has_each_name_once(visit: Visit, finished: str, tmp_path: Path) -> None:
    """Names that are written for telephones have no ink in it."""
    person = visit().open("compare", finished)
    person.page.locator(".js-plotly-plot .textpoint").first.wait_for()
    drawing = ElementTree.parse(save_picture(person, "SVG", tmp_path)).getroot()
    styles = [text.get("style", "") for text in drawing.iter(f"{SVG}text")]
    wide, narrow = ([style for style in styles if f"for-{screens}-screens" in style] for screens in ("wide", "narrow"))
    assert len(wide) == 3 and all("fill-opacity: 1;" in style for style in wide)
    assert all("fill-opacity: 0;" in style for style in narrow)
