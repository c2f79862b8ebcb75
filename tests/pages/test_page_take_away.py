"""What can be taken away, pictures that can be saved, and the guide."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator

import pytest
from visitor import APP, Visitor, as_csv, talk

import spdp_engine.project
import spdp_engine.report
import spdp_engine.results
from spdp_engine.topics.view import View

pytestmark = pytest.mark.timeout(60)

DOWNLOADS = {
    "Download the report": "parallax-harbour-and-school-report.html",
    "Download the workbook": "parallax-harbour-and-school-results.xlsx",
    "Download the CSV files": "parallax-harbour-and-school-results.zip",
    "Save the project": "parallax-harbour-and-school-project.parallax",
}


@pytest.fixture
def visitor(finished: str) -> Iterator[Visitor]:
    """Somebody on the page Download, whose reading of the topics is forgotten afterwards."""
    visitor = Visitor(finished).go("download")
    yield visitor
    visitor.workspace.view = View()


def buttons(visitor: Visitor) -> dict[str, bool]:
    """Names of the buttons that make a file, and whether each can be pressed."""
    return {one.proto.label: not one.proto.disabled for one in visitor.at.get("download_button")}


def test_four_things_can_be_taken_away_each_with_a_word_on_what_for(visitor: Visitor) -> None:
    assert buttons(visitor) == dict.fromkeys(DOWNLOADS, True)
    assert all(one.proto.deferred_file_id and one.proto.ignore_rerun for one in visitor.at.get("download_button"))
    for purpose in ("opens in any browser", "Excel", "R, Python", "opens again"):
        assert purpose in visitor.text
    assert "workbook" in visitor.text.split("formula")[1], "where names that look like formulas are safe"


def test_nothing_is_made_before_it_is_asked_for(finished: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> bytes:
        raise AssertionError("nobody asked")

    monkeypatch.setattr(spdp_engine.report, "report_bytes", asked)
    monkeypatch.setattr(spdp_engine.results, "workbook_bytes", asked)
    monkeypatch.setattr(spdp_engine.results, "zip_bytes", asked)
    monkeypatch.setattr(spdp_engine.project, "project_bytes", asked)
    visitor = Visitor(finished).go("download").reload()
    assert len(buttons(visitor)) == 4 and not visitor.errors


def test_the_report_has_a_title_and_a_note_that_stay(visitor: Visitor) -> None:
    assert visitor.widget("text_input", "Title").value == "harbour and school"
    visitor.step(visitor.widget("text_input", "Title").set_value("Two ports").run)
    visitor.step(visitor.widget("text_area", "Your own note").set_value("What I make of it.").run)
    visitor.go("guide").go("download")
    assert visitor.widget("text_input", "Title").value == "Two ports"
    assert visitor.widget("text_area", "Your own note").value == "What I make of it."


def topics_field(visitor: Visitor) -> list[str]:
    (control,) = [one for one in visitor.at.segmented_control if one.label == "Topics"]
    return list(control.options)


def choose(visitor: Visitor, which: str) -> Visitor:
    (control,) = [one for one in visitor.at.segmented_control if one.label == "Topics"]
    return visitor.step(control.set_value(which).run)


def test_which_topics_go_in(visitor: Visitor) -> None:
    assert topics_field(visitor) == ["All", "Chosen"], "none is pinned"
    visitor.workspace.view = View(names={2: "Ships"}, hidden=frozenset({0}), pinned=(2,))
    assert topics_field(visitor.reload()) == ["All", "Pinned", "Chosen"]
    assert "One topic is hidden and left out" in visitor.captions
    choose(visitor, "Chosen")
    (chosen,) = visitor.at.multiselect
    assert [option.split(":")[0] for option in chosen.options] == ["Ships", "Topic 2"], "pinned first, hidden not"
    visitor.step(chosen.set_value([]).run)
    assert not buttons(visitor)["Download the report"] and "at least one" in visitor.captions
    assert buttons(choose(visitor, "Pinned"))["Download the report"]
    visitor.workspace.view = View(hidden=frozenset(range(3)))
    assert not buttons(visitor.reload())["Download the report"]
    assert buttons(visitor)["Download the workbook"], "which tells of hidden topics"


# --- pictures


def camera(visitor: Visitor) -> dict[str, object]:
    """What the camera of the page's first picture does."""
    config = json.loads(visitor.at.get("plotly_chart")[0].proto.config)
    assert config["modeBarButtons"] == [["toImage"]] and config["displaylogo"] is False, "nothing but a camera"
    options: dict[str, object] = config["toImageButtonOptions"]
    return options


def test_the_camera_makes_what_was_chosen_once_on_every_page(finished: str) -> None:
    visitor = Visitor(finished).go("explore")
    assert camera(visitor) == {"format": "png", "filename": "parallax-harbour-and-school-perplexity", "scale": 2}
    (control,) = [one for one in visitor.at.segmented_control if one.label == "Save pictures as"]
    visitor.step(control.set_value("SVG").run)
    assert camera(visitor)["format"] == "svg"
    assert camera(visitor.go("compare"))["format"] == "svg"
    assert "perplexity" not in str(camera(visitor)["filename"]), "the name tells what it is"
    assert camera(visitor.go("explore"))["format"] == "svg"


@pytest.mark.parametrize(("theme", "ground"), [("light", "#FCFBF8"), ("dark", "#12171D")])
def test_a_saved_picture_has_the_ground_of_the_page(theme: str, ground: str, finished: str) -> None:
    """What is drawn in pale ink for the dark could not be read on white paper."""
    (picture,) = Visitor(finished, theme).go("explore").at.get("plotly_chart")
    assert json.loads(picture.proto.spec)["layout"]["paper_bgcolor"] == ground


def test_names_of_files_have_no_characters_that_systems_dislike() -> None:
    visitor = Visitor().upload(('../a "b": <c>|d?*é.csv', as_csv(talk()))).run_topics(2, 3)
    for one in visitor.go("download").at.get("download_button"):
        name = re.search(r"[^/]*$", one.proto.url or "") and one.proto.label
        assert name
    assert re.fullmatch(r"parallax-[\w-]+-perplexity", str(camera(visitor.go("explore"))["filename"]))


# --- the guide


def said(visitor: Visitor) -> str:
    """All that the page says."""
    texts = [str(one.value) for kind in ("title", "subheader", "markdown") for one in getattr(visitor.at, kind)]
    return re.sub(r"[*#-]", " ", "\n".join(texts)) + visitor.text


def test_the_guide_can_be_read_in_three_minutes() -> None:
    words = re.findall(r"[^\W_][\w’']*", said(Visitor().go("guide")))
    assert 400 <= len(words) <= 650, len(words)


@pytest.mark.parametrize("page", sorted(path.stem for path in (APP.parent / "pages").glob("[!_]*.py")))
def test_every_page_sees_to_it_that_the_app_has_run(page: str) -> None:
    """The first page that a new server is asked for would else have neither style nor navigation; the guide needs no workspace."""
    source = (APP.parent / "pages" / f"{page}.py").read_text(encoding="utf-8")
    assert re.search(r"\b(current|by_way_of_the_app)\(\)", source)


def test_the_guide_warns_of_what_fools_people() -> None:
    told = said(Visitor().go("guide")).casefold()
    for warning in ("too few documents", "prolific author", "which belong together", "boilerplate", "duplicates", "dates",
                    "hidden topics", "labels",
                    "too many topics", "group sizes", "bag of words", "interval", "baseline", "5 of 5", "how much"):  # fmt: skip
        assert warning in told, warning


TERMS = {
    "coherence": "coherence", "diversity": "diversity", "pmi": "pmi", "learned": "learned", "averaged": "averages",
    "iteration": "averages", "apart": "wording gap", "gap": "wording gap", "per 1,000": "per 1,000", "%": "share",
    "share": "share", "runs": "found in", "found": "found in", "chance": "by chance", "interval": "interval",
    "rank": "rank", "perplexity": "perplexity", "stability": "stability", "words on this topic": "share",
}  # fmt: skip
"""Words by which figures are known on pages, and the line of the guide that explains each."""


def test_every_figure_that_pages_explain_is_in_the_guide(finished: str) -> None:
    """Figures that are underlined with dots, and heads of their columns."""
    visitor = Visitor(finished).go("guide")
    lines = {html.unescape(line).casefold() for line in re.findall(r"<th[^>]*>(.*?)</th>", "".join(visitor.markup))}
    assert set(TERMS.values()) <= lines
    unexplained = set()
    for page in ("explore", "compare", "read", "trust"):
        for hint in re.findall(
            r'class="px-hint"[^>]*>(.*?)</span>', "\n".join(visitor.go(page).markup), flags=re.DOTALL
        ):
            label = html.unescape(re.sub(r"<[^>]*>", " ", hint)).casefold()
            if re.search(r"\d", label) and not any(term in label for term in TERMS):
                unexplained.add(label.strip())
    assert not unexplained
