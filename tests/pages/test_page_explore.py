"""Starting a run and living with it: what the page shows, and what its buttons do to the job behind it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts.workspace import registry
from spdp_engine import sampling
from spdp_engine.errors import DeviceError
from spdp_engine.jobs import Job, JobState, JobStatus
from spdp_engine.sampling import Sampler, SamplerSettings

pytestmark = pytest.mark.timeout(60)

FOREVER = 100_000
TALK = ("talk.csv", as_csv(talk()))


@pytest.fixture
def ready() -> Visitor:
    """Somebody who has brought documents and is on Explore."""
    return Visitor().upload(TALK).go("explore")


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine of few cores, wherever the tests run."""
    monkeypatch.setattr(registry().queue, "limit", 1)


@pytest.fixture
def started(ready: Visitor) -> Iterator[Visitor]:
    """Somebody whose run goes on until it is stopped; the test's end ends it."""
    ready.fill("number_input", "How many topics?", 3).fill("number_input", "Iterations", FOREVER).press("Start")
    yield ready
    job_of(ready).discard()


def job_of(visitor: Visitor) -> Job:
    job = visitor.workspace.job
    assert job is not None
    return job


def state_of(visitor: Visitor) -> JobState:
    return job_of(visitor).status().state


def runs_on(visitor: Visitor) -> None:
    """Waits until the job does an iteration more than it had done."""
    job = job_of(visitor)
    before = job.status().iteration
    while job.status().iteration <= before:
        assert job.wait(0.01).state in (JobState.WAITING, JobState.PREPARING, JobState.RUNNING)


def cards(visitor: Visitor) -> list[int]:
    """Numbers of the topics on the page, in their order."""
    return [
        int(number) for piece in visitor.markup for number in re.findall(r"<b>(?:<button[^>]*>)?Topic (\d+)<", piece)
    ]


def test_without_documents_it_leads_to_them() -> None:
    visitor = Visitor().go("explore")
    assert "There are no documents yet" in visitor.text
    assert "Open this sample" in visitor.press("Choose documents").buttons


def test_ready_to_start(ready: Visitor) -> None:
    assert "48 documents are ready" in ready.text and "left, right" in ready.text
    assert "Start" in ready.buttons and not cards(ready)


def test_what_a_run_begins_with_is_done_while_the_form_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each way in which the form is set, and by the settings that Start takes."""
    warmed: list[SamplerSettings] = []
    monkeypatch.setattr(sampling, "warm_up", lambda settings, corpus: warmed.append(settings))
    visitor = Visitor().upload(TALK).go("explore").reload()
    visitor.step(visitor.widget("number_input", "How many topics?").set_value(3).run).reload()
    patience = time.monotonic() + PATIENCE
    while len(warmed) < 2 and time.monotonic() < patience:
        time.sleep(0.01)
    assert [settings.topics for settings in warmed] == [20, 3]
    visitor.run_topics(3, 4)
    asked = job_of(visitor)._requested
    assert asked == warmed[-1]


def test_a_run_fills_a_card_for_each_topic(ready: Visitor) -> None:
    ready.run_topics(3, 25)
    assert state_of(ready) is JobState.FINISHED
    assert cards(ready) == [1, 2, 3]
    assert "25" in ready.text and "of 25 iterations" in ready.text and "perplexity" in ready.text
    (html,) = [piece for piece in ready.markup if "px-cards" in piece]
    assert html.count("<article") == 3 and html.count("left") >= 3 and html.count("right") >= 3
    corpus = ready.workspace.corpus
    assert corpus is not None
    words = re.findall(r"<li[^>]*><button[^>]*>([^<]+)</button></li>", html)
    assert len(words) == 3 * 2 * 8 and set(words) <= set(corpus.vocabulary)
    assert ready.at.get("plotly_chart")
    assert "Compare the groups" in ready.buttons and "Pause" not in ready.buttons


def test_topics_can_be_put_in_another_order(finished: str) -> None:
    visitor = Visitor(finished).go("explore")
    reading = visitor.workspace.reading()
    assert reading is not None
    assert cards(visitor) == [1, 2, 3]
    for order in ("prevalence", "gap"):
        visitor.step(visitor.at.segmented_control(key="card_order").set_value(order).run)
        assert cards(visitor) == [topic + 1 for topic in reading.topics.order(order)]


def test_settings_reach_the_run(ready: Visitor) -> None:
    ready.fix("Discount", 0.5).fix("Concentration", 30.0)
    ready.fill("number_input", "Seed", 77).fill("slider", "Documents that measure", 0)
    ready.run_topics(2, 4)
    settings = job_of(ready).settings
    assert (settings.topics, settings.seed, settings.held_out) == (2, 77, 0.0)
    assert (settings.priors.discount, settings.priors.concentration) == (0.5, 30.0)
    assert settings.learn and set(settings.fixed) == {"discount", "concentration"}
    assert "fixed: discount 0.5, concentration 30" in ready.text
    assert "Perplexity is not measured" in " ".join(str(one.value) for one in ready.at.caption)


def test_pause_continue_stop_and_run_longer(started: Visitor) -> None:
    runs_on(started)
    started.press("Pause")
    assert state_of(started) is JobState.PAUSED and "Paused" in started.text
    assert cards(started) == [1, 2, 3], "what was found can be read meanwhile"
    done = job_of(started).status().iteration
    started.press("Continue")
    runs_on(started)
    started.press("Stop")
    assert state_of(started) is JobState.STOPPED and "Stopped" in started.text
    status = job_of(started).status()
    assert status.iteration > done
    (longer,) = [label for label in started.buttons if label.startswith("Run ") and label.endswith(" longer")]
    started.press(longer)
    assert job_of(started).status().target == status.iteration + int(longer.split()[1])
    assert job_of(started).wait(PATIENCE).state is JobState.FINISHED


def test_buttons_and_figures_are_of_one_state_whenever_a_run_ends(
    finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may end between any two looks that one drawing of the page takes at it. If buttons were those of a run that goes on,
    and figures those of one that rests and is not drawn again, nothing would ever lead on."""
    looks, looked, status = 0, 0, Job.status

    def running_at_first(job: Job) -> JobStatus:
        nonlocal looked
        looked += 1
        return replace(status(job), state=JobState.RUNNING) if looked <= looks else status(job)

    visitor = Visitor(finished)
    monkeypatch.setattr(Job, "status", running_at_first)
    seen = set()
    for looks in range(10):
        looked = 0
        visitor.go("explore")
        rests = bool(visitor.at.get("plotly_chart"))
        assert ("Compare the groups" in visitor.buttons, "Pause" in visitor.buttons) == (rests, not rests), (
            f"{looks} looks"
        )
        seen.add(rests)
    assert seen == {True, False}


def test_leaving_the_page_does_not_stop_the_run(started: Visitor) -> None:
    runs_on(started)
    job = job_of(started)
    for page in ("documents", "compare", "download", "explore"):
        started.go(page)
        runs_on(started)
    assert job_of(started) is job


def test_a_second_run_waits_for_its_turn(one_at_a_time: None, started: Visitor) -> None:
    runs_on(started)
    other = Visitor().upload(TALK).go("explore").press("Start")
    job = job_of(other)
    while not job.status().waiting_before:
        job.wait(0.01)
    assert "1 run before this one" in other.reload().text
    started.press("Stop")
    job.extend(3)
    assert job.wait(PATIENCE).state is JobState.FINISHED
    assert "Finished" in other.reload().text


def test_a_new_run_takes_the_place_of_the_old_one(started: Visitor) -> None:
    runs_on(started)
    first = job_of(started)
    started.press("Stop").run_topics(2, 4)
    second = job_of(started)
    assert second is not first and cards(started) == [1, 2]
    first._thread.join(PATIENCE)
    assert not first._thread.is_alive()


def test_other_documents_leave_the_run_as_it_is_and_say_so(finished: str) -> None:
    visitor = Visitor().upload(TALK).run_topics(2, 4)
    job = job_of(visitor)
    visitor.go("documents").fill("text_area", "More words", "harbour").press("Use these settings").go("explore")
    assert job_of(visitor) is job and cards(visitor) == [1, 2]
    assert "other documents or words" in visitor.infos


def test_more_topics_than_words_are_answered_in_a_sentence(ready: Visitor) -> None:
    ready.fill("number_input", "How many topics?", 1000).press("Start")
    (sentence,) = ready.errors
    assert "1000" in sentence or "1,000" in sentence
    assert ready.workspace.job is None and "Start" in ready.buttons
    ready.run_topics(2, 4)
    assert state_of(ready) is JobState.FINISHED and not ready.errors


def test_a_run_that_fails_before_it_begins(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DeviceError("The device ran out of memory. Take fewer topics.")

    with monkeypatch.context() as broken:
        broken.setattr(Sampler, "__init__", fail)
        ready.run_topics(3, 5)
    assert state_of(ready) is JobState.FAILED
    assert ready.errors == ["The device ran out of memory. Take fewer topics."]
    assert "Compare the groups" not in ready.buttons
    assert "There are no topics yet" in ready.go("compare").text
    assert "nothing to take away" in ready.go("download").text
    assert state_of(ready.run_topics(2, 4)) is JobState.FINISHED and not ready.errors


def test_a_run_that_dies_says_so_and_keeps_what_it_had(started: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    runs_on(started)

    def die(_: Sampler) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(Sampler, "step", die)
    assert job_of(started).wait(PATIENCE).state is JobState.FAILED
    (sentence,) = started.reload().errors
    assert sentence.endswith(".") and "boom" not in sentence
    assert cards(started) == [1, 2, 3]
    assert "Pause" not in started.buttons and "Start" in started.buttons
    assert started.go("download").at.get("download_button")


def test_the_newest_sample_is_read_once(finished: str) -> None:
    workspace = Visitor(finished).workspace
    assert workspace.reading() is workspace.reading()
