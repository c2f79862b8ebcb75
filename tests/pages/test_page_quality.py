"""Averages and how good topics are: what is shown of them, from when on, and a reference text of one's own."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts import workspace as room
from pages.parts.cards import averaging_html, coherence
from pages.parts.charts import MOST_POINTS, perplexity_figure, perplexity_svg
from pages.parts.workspace import Reading
from spdp_engine.jobs import Job
from spdp_engine.models.mean import MeanSample
from spdp_engine.topics import measure_quality
from spdp_engine.types import Iteration

pytestmark = pytest.mark.timeout(60)

TALK = ("talk.csv", as_csv(talk()))
REFERENCE = "A reference text"
TEXT = ("harbour ship crane cargo quay. " * 30 + "school teacher lesson pupil class. " * 30).encode()
SINGLE = "averaging begins when the fit has settled"


@pytest.fixture
def running() -> Iterator[Visitor]:
    """Somebody whose run goes on until it is stopped; the test's end ends it."""
    visitor = Visitor().upload(TALK).go("explore")
    visitor.fill("number_input", "How many topics?", 3).fill("number_input", "Iterations", 100_000).press("Start")
    yield visitor
    job_of(visitor).discard()


@pytest.fixture
def own() -> Visitor:
    """Somebody on Explore with a short run of their own that is finished."""
    return Visitor().upload(TALK).run_topics(3, 5)


def job_of(visitor: Visitor) -> Job:
    job = visitor.workspace.job
    assert job is not None
    return job


def reading_of(visitor: Visitor) -> Reading:
    reading = visitor.workspace.reading()
    assert reading is not None
    return reading


def squeezed(visitor: Visitor) -> str:
    return " ".join(visitor.text.split())


# --- averages


def test_before_the_fit_has_settled_topics_are_a_single_sample(own: Visitor) -> None:
    assert f"Topics as of iteration 5; {SINGLE}." in squeezed(own)
    assert "averaged perplexity" not in own.text and " perplexity " in squeezed(own)
    assert SINGLE in own.go("compare").text


def test_once_it_has_settled_they_are_averages(finished: str) -> None:
    visitor = Visitor(finished).go("explore")
    sample, records = reading_of(visitor).topics.sample, job_of(visitor).records()
    assert isinstance(sample, MeanSample)
    over = f"{sample.samples} samples" if sample.samples > 1 else "one sample"
    sentence = f"Topics are averaged over {over} since iteration {sample.since}."
    assert sentence in squeezed(visitor)
    assert records[-1].averaged is not None
    assert f"{records[-1].averaged:,.0f} averaged perplexity" in squeezed(visitor)
    assert "average of many is what the model believes" in "".join(visitor.markup), "why, on pointing at it"
    assert sentence in squeezed(visitor.go("compare"))


def test_what_is_learned_is_shown(finished: str) -> None:
    visitor = Visitor(finished).go("explore")
    values = job_of(visitor).records()[-1].hyperparameters
    assert f"discount {values['discount']:.3g}" in squeezed(visitor)
    assert f"repeat discount {values['repeat_discount']:.3g}" in squeezed(visitor)


def made_up(count: int, began: int | None) -> list[Iteration]:
    """Records of a run whose averaging began at an iteration."""
    return [
        Iteration(
            i, 0.1, 0.1 * i, 1e6, 900 + 1000 / i, 850 + 1000 / i if began and i >= began else None,
            i - began + 1 if began and i >= began else 0, {"alpha": 0.2, "discount": 0.62, "repeat_discount": 0.5},
        )
        for i in range(1, count + 1)
    ]  # fmt: skip


def lines_of(records: list[Iteration]) -> dict[str, dict[str, Any]]:
    return {trace["name"]: trace for trace in json.loads(perplexity_figure(records).to_json())["data"]}


def test_the_plot_has_one_line_until_averaging_begins() -> None:
    records = made_up(30, None)
    assert list(lines_of(records)) == ["now"]
    drawn = perplexity_svg(records)
    assert drawn.count("<polyline") == 1 and "averaging begins" not in drawn


@pytest.mark.parametrize(("count", "began"), [(60, 60), (60, 25), (100 * MOST_POINTS, 20)])
def test_the_plot_has_both_lines_and_the_mark_afterwards(count: int, began: int) -> None:
    records = made_up(count, began)
    lines = lines_of(records)
    assert set(lines) == {"now", "averaged", "averaging begins"}
    assert set(lines["averaging begins"]["x"]) == {began}
    assert lines["averaged"]["line"]["width"] > lines["now"]["line"]["width"]
    told = lines["now"]["customdata"][-1]
    assert "mean alpha 0.2" in told and "discount 0.62" in told and "repeat discount 0.5" in told
    drawn = perplexity_svg(records)
    assert drawn.count("<polyline") == 2 and "averaging begins" in drawn
    assert f"now {records[-1].perplexity:,.0f}, averaged {records[-1].averaged:,.0f}" in drawn
    points = [float(number) for line in re.findall('points="([^"]*)"', drawn) for number in re.split("[ ,]", line)]
    marks = re.findall(r'x1="([0-9.]+)" x2="\1"', drawn)
    assert 0 <= min(points) <= max(points) <= 300 and len(marks) == 1 and 44 <= float(marks[0]) <= 300


def test_averages_that_are_about_to_follow(own: Visitor) -> None:
    sample = reading_of(own).topics.sample
    assert "their averages are about to follow" in averaging_html(sample, made_up(25, 22))


# --- how good topics are


def test_nothing_is_measured_while_the_run_goes_on(running: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*_: object) -> None:
        raise AssertionError("this takes time that the sampler would like to have")

    monkeypatch.setattr(room, "measure_quality", measure)
    for page in ("explore", "compare", "explore"):
        assert "coherence" not in running.go(page).text
    monkeypatch.undo()
    running.press("Stop")
    assert "coherence" in running.text and "diversity" in running.text


def test_figures_of_a_run_that_rests(finished: str) -> None:
    visitor = Visitor(finished).go("explore")
    reading = reading_of(visitor)
    quality = measure_quality(reading.topics, reading.corpus)
    shown = squeezed(visitor)
    assert f"{coherence(quality.mean_npmi)} coherence {quality.diversity:.2f} diversity" in shown
    assert f"{quality.total_pmi:,.0f} total PMI" in shown
    (cards,) = [piece for piece in visitor.markup if "px-cards" in piece]
    assert [f"coherence {coherence(value)}" for value in quality.npmi] == re.findall(r"coherence [−0-9.]+", cards)
    assert "stand near one another" in cards, "what it is, on pointing at it"
    (table,) = [one.value for one in visitor.at.dataframe if "Coherence" in one.value]
    assert table["Coherence"].to_numpy() == pytest.approx(quality.npmi, abs=0.0051) and list(table["Topic"]) == [
        1,
        2,
        3,
    ]
    assert table["PMI"].to_numpy() == pytest.approx(quality.pmi)
    for group, values in zip(quality.group_names, quality.group_npmi, strict=True):
        assert table[f"Coherence: {group}"].to_numpy() == pytest.approx(values, abs=0.0051)


def test_compare_tells_the_coherence_of_the_topic(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    quality = reading_of(visitor).quality
    topic = visitor.widget("selectbox", "Topic").value
    assert f"Coherence {coherence(quality.npmi[topic])}" in visitor.text
    for value in quality.group_npmi[:, topic]:
        assert f"coherence {coherence(value)}" in visitor.text


def test_it_is_measured_once_for_a_sample(finished: str) -> None:
    visitor = Visitor(finished).go("explore")
    quality = reading_of(visitor).quality
    assert visitor.go("compare").go("explore") and reading_of(visitor).quality is quality


def test_coherence_in_words() -> None:
    assert [coherence(value) for value in (0.126, -0.3, -0.001, float("nan"))] == ["0.13", "−0.30", "0.00", "–"]


# --- a reference text


def test_a_reference_is_shown_beside_the_corpus(own: Visitor) -> None:
    own.upload(("other.txt", TEXT), label=REFERENCE)
    reference = own.workspace.reference
    assert reference is not None and reference.name == "other.txt" and not own.errors
    found = reading_of(own).quality_by(reference)
    assert f"Coherence in other.txt: {coherence(found.mean_npmi)}" in squeezed(own)
    (table,) = [one.value for one in own.at.dataframe if "Coherence" in one.value]
    assert table["In the reference"].to_numpy() == pytest.approx(found.npmi, abs=0.0051)
    assert "read from other.txt" in own.text and "nowhere in it" in own.text
    assert found.missing and html.unescape(found.missing[0]) in own.text
    assert "in other.txt" in own.go("compare").text
    result = own.workspace.result()
    assert result is not None and result.reference is reference
    own.go("explore").press("Leave the reference out")
    assert own.workspace.reference is None and "other.txt" not in own.text
    assert np.isfinite(reading_of(own).quality.npmi).all()


UNREADABLE: dict[str, tuple[str, bytes]] = {
    "empty": ("nothing.txt", b""),
    "binary": ("binary.csv", bytes(range(256)) * 64),
    "other words": ("other.txt", b"entirely different matters\n" * 20),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_is_no_reference_is_answered_in_a_sentence(name: str, finished: str) -> None:
    visitor = Visitor(finished).go("explore").upload(UNREADABLE[name], label=REFERENCE)
    (sentence,) = visitor.errors
    assert UNREADABLE[name][0] in sentence and sentence.endswith(".")
    assert visitor.workspace.reference is None and not visitor.reload().errors, "told once"


def test_a_run_on_other_words_begins_without_the_reference(own: Visitor) -> None:
    own.upload(("other.txt", TEXT), label=REFERENCE).run_topics(2, 3)
    assert own.workspace.reference is not None, "the words are the same"
    own.go("documents").fill("text_area", "More words", "harbour").press("Use these settings").run_topics(2, 3)
    assert own.workspace.reference is None and not own.errors
    assert job_of(own).wait(PATIENCE)
