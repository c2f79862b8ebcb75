"""How many topics? A comparison from its button to the number that is taken, and what becomes of it meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts import choosing as section
from pages.parts.choosing import MEASURES
from spdp_engine.choosing import Choosing, Plan
from spdp_engine.corpus import Corpus
from spdp_engine.jobs import JobState
from spdp_engine.sampling import Sampler

pytestmark = pytest.mark.timeout(60)

TALK = ("talk.csv", as_csv(talk()))
BEGIN = "Compare numbers of topics"


@pytest.fixture(autouse=True)
def short_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits of a few iterations."""

    def plan(_: Corpus, suggested: int) -> Plan:
        return Plan((2, 3), iterations=5)

    monkeypatch.setattr(section, "plan_for", plan)


@pytest.fixture
def ready() -> Iterator[Visitor]:
    """Somebody who has brought documents and is on Explore; the test's end ends what goes on."""
    visitor = Visitor().upload(TALK).go("explore")
    yield visitor
    visitor.workspace.let_go()


@pytest.fixture
def compared(ready: Visitor) -> Visitor:
    """... and has compared two numbers of topics."""
    ready.press(BEGIN)
    choosing_of(ready).wait(PATIENCE)
    return ready.reload()


def choosing_of(visitor: Visitor) -> Choosing:
    choosing = visitor.workspace.choosing
    assert choosing is not None
    return choosing


def endless(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> Choosing:
    """Begins a comparison that goes on until it is cancelled."""
    monkeypatch.setattr(section, "plan_for", lambda *_: Plan((2, 3), iterations=10**9))
    return choosing_of(visitor.press(BEGIN))


def taking(visitor: Visitor) -> int:
    """The number that the page offers to take."""
    (label,) = [label for label in visitor.buttons if re.fullmatch(r"Take \d+ topics", label)]
    return int(label.split()[1])


def test_it_is_offered_before_a_run(ready: Visitor) -> None:
    assert "How many topics?" in [one.value for one in ready.at.subheader]
    assert "about a minute" in ready.text and BEGIN in ready.buttons
    assert ready.widget("text_input", "Numbers to compare").value == "2, 3"


def test_from_the_button_to_the_recommendation(compared: Visitor) -> None:
    assert choosing_of(compared).status().state is JobState.FINISHED
    topics = taking(compared)
    assert topics in (2, 3)
    assert any(f"**{topics} topics are recommended.**" in str(one.value) for one in compared.at.markdown)
    charts = [json.loads(one.proto.spec) for one in compared.at.get("plotly_chart")]
    assert len(charts) == len(MEASURES)
    for chart in charts:
        assert chart["layout"]["xaxis"]["ticktext"] == ["2", "3"]
        assert chart["data"][1]["marker"]["symbol"].count("diamond") == 1, "one is marked, and not by colour alone"
    for measure in MEASURES:
        assert measure.name in compared.text and measure.about in compared.text
    (table,) = compared.at.dataframe
    assert list(table.value.columns) == ["Topics", *(measure.name for measure in MEASURES), "Seconds"]
    assert table.value["Topics"].tolist() == [2, 3] and not table.value.isna().any().any()
    assert "2 runs of 5 iterations" in compared.captions


def test_the_recommended_number_is_taken_into_the_field_and_the_run(compared: Visitor) -> None:
    compared.step(compared.widget("number_input", "How many topics?").set_value(7).run)
    topics = taking(compared)
    compared.press(f"Take {topics} topics")
    assert compared.widget("number_input", "How many topics?").value == topics
    compared.fill("number_input", "Iterations", 4).press("Start")
    job = compared.workspace.job
    assert job is not None and job.settings.topics == topics


def test_a_number_that_was_filled_in_stays(ready: Visitor) -> None:
    ready.step(ready.widget("number_input", "How many topics?").set_value(7).run)
    assert ready.reload().widget("number_input", "How many topics?").value == 7


def test_numbers_of_ones_own_and_what_is_chosen_for_a_run_are_taken(ready: Visitor) -> None:
    ready.choose_model("lda").fill("number_input", "Seed", 9)
    ready.fill("text_input", "Numbers to compare", "4; 2 3,3").press(BEGIN)
    choosing = choosing_of(ready)
    assert (choosing.plan.numbers, choosing.settings.model, choosing.settings.seed) == ((2, 3, 4), "lda", 9)
    choosing.wait(PATIENCE)
    assert "the groups word all topics alike" in ready.reload().captions, "stability of LDA"
    assert len(ready.at.get("plotly_chart")) == len(MEASURES) - 1


@pytest.mark.parametrize(
    ("text", "words"), [("5, many", "“many” is not"), ("5", "nothing to compare"), ("", "nothing"), ("2, 900", "900")]
)
def test_numbers_that_cannot_be_compared_are_answered_in_a_sentence(ready: Visitor, text: str, words: str) -> None:
    ready.fill("text_input", "Numbers to compare", text).press(BEGIN)
    (sentence,) = ready.errors
    assert words in sentence and sentence.endswith(".")
    assert ready.workspace.choosing is None and BEGIN in ready.buttons


def test_it_goes_on_while_pages_change_and_in_another_tab(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    choosing = endless(ready, monkeypatch)
    assert "0 of 4 fits are measured" in ready.text and "Cancel" in ready.buttons and BEGIN not in ready.buttons
    for page in ("documents", "compare", "explore"):
        ready.go(page)
    assert "0 of 4 fits are measured" in Visitor(ready.key).go("explore").text
    assert choosing_of(ready) is choosing and choosing.status().state in (JobState.RUNNING, JobState.WAITING)


def test_cancelled_it_can_begin_again(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    choosing = endless(ready, monkeypatch)
    ready.press("Cancel")
    assert choosing.status().state is JobState.STOPPED
    assert BEGIN in ready.buttons and "Cancel" not in ready.buttons


def test_what_was_measured_before_it_was_cancelled_is_shown(compared: Visitor) -> None:
    choosing = choosing_of(compared)
    choosing._state = JobState.STOPPED
    choosing._candidates.pop()
    compared.reload()
    assert "was cancelled" in compared.captions and len(compared.at.dataframe[0].value) == 1
    assert not [label for label in compared.buttons if label.startswith("Take")], "one number leaves nothing to choose"
    assert not compared.at.get("plotly_chart")


def test_a_run_ends_it_and_what_it_found_is_at_the_foot_of_the_page(compared: Visitor) -> None:
    compared.run_topics(2, 4)
    assert "How many topics?" in [one.label for one in compared.at.expander]
    topics = taking(compared)
    compared.press(f"Take {topics} topics")
    assert compared.widget("number_input", "How many topics?").value == topics, "of the next run"


def test_starting_a_run_cancels_it(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    choosing = endless(ready, monkeypatch)
    ready.run_topics(2, 4)
    assert choosing.status().state is JobState.STOPPED
    job = ready.workspace.job
    assert job is not None and job.status().state is JobState.FINISHED


def test_other_documents_or_words_discard_it(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    choosing = endless(ready, monkeypatch)
    ready.go("documents").fill("text_area", "More words to leave out", "harbour").press("Use these settings")
    assert choosing.status().state is JobState.STOPPED and ready.workspace.choosing is None
    choosing = endless(ready.go("explore"), monkeypatch)
    ready.go("documents").upload(TALK)
    assert choosing.status().state is JobState.STOPPED and ready.workspace.choosing is None
    assert BEGIN in ready.go("explore").buttons


def test_a_fit_that_fails_is_told_in_a_sentence(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_: Sampler) -> None:
        raise RuntimeError("boom")

    with monkeypatch.context() as broken:
        broken.setattr(Sampler, "step", die)
        ready.press(BEGIN)
        assert choosing_of(ready).wait(PATIENCE).state is JobState.FAILED
    (sentence,) = ready.reload().errors
    assert sentence.startswith("The comparison ended at 2 topics.") and "boom" not in sentence
    choosing_of(ready.press(BEGIN)).wait(PATIENCE)
    assert not ready.reload().errors and taking(ready)


def test_the_dark_theme_has_pictures_of_its_own(compared: Visitor) -> None:
    def colours(visitor: Visitor) -> set[str]:
        return {json.loads(one.proto.spec)["data"][1]["line"]["color"] for one in visitor.at.get("plotly_chart")}

    dark = Visitor(compared.key, theme="dark").go("explore")
    assert len(colours(dark)) == 1 and colours(dark) != colours(compared)
