"""The page Trust, and evidence that is gathered in the background of a run that rests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from given import all_of, given, topics_of
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts.workspace import Workspace
from spdp_engine.evidence import Phase
from spdp_engine.jobs import JobState
from spdp_engine.topics.findings import Findings
from tests.unit.engine.hand_made import Known, drawn_shares

pytestmark = pytest.mark.timeout(90)

KEEP = Workspace.keep_evidence


@pytest.fixture
def gathering(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in the app: evidence of a run that rests is gathered by itself."""
    monkeypatch.setattr(Workspace, "keep_evidence", KEEP)
    yield


def topics_table(visitor: Visitor) -> object:
    (table,) = [one.value for one in visitor.at.dataframe if "Wording gap" in one.value.columns]
    return table


# --- the page


def test_without_a_run_it_leads_to_one() -> None:
    visitor = Visitor().go("trust")
    assert visitor.title == "How sure is it?" and "There are no topics yet" in visitor.text
    visitor.press("Choose documents")
    visitor.upload(("talk.csv", as_csv(talk()))).go("trust").press("Find topics")
    assert "Start" in visitor.buttons


def test_nothing_known_is_said_to_be_so(finished: str) -> None:
    visitor = Visitor(finished)
    with given(visitor, Findings(), JobState.RUNNING, phase=Phase.SAMPLES):
        visitor.go("trust")
        assert "Samples of the run, 40% done, 12 s left" in visitor.text and visitor.text.count("to come") == 2
        assert "Nothing is sure yet" in visitor.text and "Real" not in topics_table(visitor).columns
        assert len(visitor.at.get("plotly_chart")) == 0


def test_what_is_known_in_a_table_a_picture_and_sentences(finished: str) -> None:
    visitor = Visitor(finished)
    topics = topics_of(visitor)
    with given(visitor, all_of(topics)):
        visitor.go("trust")
        table = topics_table(visitor)
        assert len(table) == 3 and (table["Found in runs"] == 5).all() and table["Real"].all()
        assert {"Coherence", "Without chance", "From", "To", "Chance up to", "Own: left", "Own: right"} <= set(
            table.columns
        )
        assert table["From"].tolist() == pytest.approx([0.28] * 3) and table["Own: left"].sum() > 0
        (picture,) = visitor.at.get("plotly_chart")
        bars, real, unreal = json.loads(picture.proto.spec)["data"][:3]
        assert bars["name"] == "as far as chance goes" and real["name"] == "more than chance"
        assert len(real["customdata"]) == 3 and not unreal["customdata"]
        assert "3 of 3 topics are worded more differently" in visitor.text
        text = re.sub(r"\s+", " ", visitor.text)
        assert "Found in 5 of 5 runs with different seeds." in text
        assert re.search(r"Own words of ● left : [^.]*\(5 of 5 runs\)", text)
        assert re.search(r"Not surely own words of ● left : [^.]*\(1 of 5 runs\)", text)
        assert "The groups word it differently, by more than chance." in text and "nan" not in text.lower()


def test_what_may_be_chance_is_on_the_other_side(finished: str) -> None:
    visitor = Visitor(finished)
    with given(visitor, all_of(topics_of(visitor), real=False, deviation=0.4)):
        visitor.go("trust")
        assert not topics_table(visitor)["Real"].any()
        stand, fall = [html for html in visitor.markup if "px-told" in html]
        assert "may differ by chance alone" in fall and "more than chance" not in stand
        assert fall.count("may be chance.") == 3 and "0 of 3 topics" in visitor.text


def test_evidence_that_failed_or_was_cancelled_can_be_gathered_again(finished: str) -> None:
    visitor = Visitor(finished)
    with given(visitor, Findings(), JobState.FAILED, error="The device was lost."):
        assert visitor.go("trust").errors == ["The device was lost."] and "Check again" in visitor.buttons
    found = Known(prevalence_draws=drawn_shares(topics_of(visitor), 0.01))
    with given(visitor, found, JobState.RUNNING) as evidence:
        visitor.go("trust").press("Cancel")
        assert evidence.state is JobState.STOPPED and "Cancel" not in visitor.buttons
        assert "intervals of 90%" in visitor.text and "not done" in visitor.text
        again = visitor.press("Check again").workspace.evidence
        assert again is not evidence and again is not None
        again.cancel()


@pytest.mark.parametrize("page", ["compare", "explore"])
def test_a_quiet_line_tells_how_far_it_is(finished: str, page: str) -> None:
    visitor = Visitor(finished)
    with given(visitor, Findings(), JobState.RUNNING, phase=Phase.CHANCE):
        assert "being checked: groups dealt out at random, 40% done, 12 s left" in visitor.go(page).text
    with given(visitor, Findings()):
        assert "being checked" not in visitor.go(page).text


def test_names_and_words_of_others_are_written_as_they_are() -> None:
    names = ('<img src=x onerror="window.taken=1">left', "**right** `code`")
    rows = [(group, title, f"{text} {'<b>loud</b> **soft** ' * 4}") for group, title, text in talk(48, names)]
    visitor = Visitor().upload(("talk.csv", as_csv(rows)))
    visitor.fill("checkbox", "The text is prepared", True).press("Use these settings").run_topics(2, 10)
    visitor.workspace.view = visitor.workspace.view.named(0, "<script>x</script>")
    with given(visitor, all_of(topics_of(visitor))):
        for page in ("trust", "compare", "explore"):
            html = "\n".join(visitor.go(page).markup)
            assert "&lt;" in html and not re.search(r"<(img|script)\b|<b>loud", html)
        (picture, *_) = visitor.go("trust").at.get("plotly_chart")
        assert not re.search(
            r"<(script|b>loud|img)", json.dumps(json.loads(picture.proto.spec)["data"][1]["customdata"])
        )


# --- in the background


def test_evidence_is_gathered_when_a_run_rests(gathering: None) -> None:
    """From a real run to a page that is filled in."""
    visitor = Visitor().upload(("talk.csv", as_csv(talk(96)))).run_topics(2, 30)
    workspace = visitor.workspace
    evidence = workspace.evidence
    assert workspace.at_rest and evidence is not None
    assert evidence.wait(PATIENCE).state is JobState.FINISHED
    found = workspace.findings()
    assert found.seeds is not None and found.prevalence_interval(0) is not None
    visitor.go("trust")
    assert visitor.text.count("✓") == 3 and "5 runs compared" in visitor.text
    assert visitor.go("compare").workspace.evidence is evidence, "it is gathered once"
    assert "px-whisker" in "".join(visitor.markup)


def test_a_run_that_goes_on_ends_evidence_and_begins_it_anew(gathering: None) -> None:
    visitor = Visitor().upload(("talk.csv", as_csv(talk()))).run_topics(2, 5)
    workspace = visitor.workspace
    job, first = workspace.job, workspace.evidence
    assert job is not None and first is not None
    job.extend(100_000)
    visitor.reload()
    assert first.wait(PATIENCE).state is not JobState.RUNNING and workspace.findings() is not first.findings()
    assert workspace.findings().prevalence_draws is None, "what was known is of the run as it was"
    while job.status().iteration < 10:
        job.wait(0.01)
    job.pause()
    job.wait(PATIENCE)
    assert visitor.reload().workspace.evidence is first, "nothing is gathered of a run that pauses"
    assert "The run is not at its end" in visitor.go("trust").text
    job.stop()
    job.wait(PATIENCE)
    second = visitor.reload().workspace.evidence
    assert second is not None and second is not first
    workspace.let_go()
    assert second.status().state is JobState.STOPPED


def test_a_new_run_ends_the_evidence_of_the_one_before(gathering: None) -> None:
    visitor = Visitor().upload(("talk.csv", as_csv(talk()))).run_topics(2, 5)
    first = visitor.workspace.evidence
    assert first is not None
    visitor.run_topics(3, 5)
    assert first.status().state in (JobState.STOPPED, JobState.FINISHED)
    second = visitor.workspace.evidence
    assert second is not None and second is not first
    second.cancel()
    assert visitor.reload().workspace.evidence is second, "what was cancelled is not begun again by itself"
