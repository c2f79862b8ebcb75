"""Runs in the background: they pause, go on, stop, wait for their turn, fail with a sentence, and never show a torn state."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from spdp_engine import jobs
from spdp_engine.corpus import Corpus, corpus_from_arrays
from spdp_engine.errors import DeviceError, SettingsError
from spdp_engine.jobs import Job, JobState, Queue, Rested
from spdp_engine.sampling import MODELS, Sampler, SamplerSettings, Snapshot, plain_settings
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.types import Sample

pytestmark = pytest.mark.timeout(60)

SETTINGS = plain_settings(topics=4, workers=2, seed=5, held_out=0.2)
FOREVER = 10**9
PATIENCE = 30.0
"""Seconds after which a wait is taken to have failed; on a quiet machine none takes one."""


def make_corpus(tokens: int = 3_000, documents: int = 60, words: int = 80) -> Corpus:
    draw = np.random.default_rng(8)
    document = np.sort(draw.integers(0, documents, tokens))
    return corpus_from_arrays(draw.integers(0, words, tokens), document, np.arange(documents) % 2)


CORPUS = make_corpus()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


Start = Callable[..., Job]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts jobs, and ends them all when the test is over."""
    started: list[Job] = []
    default = Queue(limit=1)

    def starter(iterations: int = FOREVER, queue: Queue | None = None, settings: SamplerSettings = SETTINGS) -> Job:
        started.append(Job(CORPUS, settings, iterations, queue or default))
        return started[-1]

    yield starter
    for job in started:
        job.discard()
    for job in started:
        job._thread.join(PATIENCE)
        assert not job._thread.is_alive()


def running(job: Job, iterations: int = 3) -> Job:
    wait_until(lambda: len(job.records()) >= iterations)
    assert job.status().state is JobState.RUNNING
    return job


# --- a run from beginning to end


def test_a_run_to_its_end(start: Start) -> None:
    job = start(15)
    status = job.wait(PATIENCE)
    assert (status.state, status.iteration, status.target, status.error) == (JobState.FINISHED, 15, 15, "")
    assert [record.iteration for record in job.records()] == list(range(1, 16))
    assert status.last == job.records()[-1] and status.waiting_before == 0
    sample = job.sample()
    assert sample is not None and sample.iteration == 15
    assert job.settings.device and job.settings.workers == 2
    assert status.seconds_left == 0


def test_it_finds_what_the_sampler_alone_finds(start: Start) -> None:
    """Being watched, paused and resumed changes nothing of what a seed gives."""
    job = running(start(40), 1)
    job.pause()
    job.wait(PATIENCE)
    job.resume()
    while job.wait(0.01).state is not JobState.FINISHED:
        job.sample()
    alone = Sampler(CORPUS, SETTINGS)
    alone.run(40)
    sample = job.sample()
    assert sample is not None
    np.testing.assert_array_equal(sample.counts.customers, alone.inspect().counts.customers)
    np.testing.assert_array_equal(sample.counts.document_topics, alone.inspect().counts.document_topics)


@pytest.mark.parametrize("model", MODELS)
def test_a_run_of_any_model(model: str, start: Start) -> None:
    job = start(4, settings=replace(SETTINGS, model=model, priors=None))
    assert job.wait(PATIENCE).state is JobState.FINISHED
    sample = job.sample()
    assert sample is not None and job.settings.model == model and job.settings.schedule
    assert sample.group_topic_tokens().sum() == job.training_tokens
    assert sample.group_wordings().shape == (CORPUS.n_groups, CORPUS.n_words, SETTINGS.topics)


def test_records_tell_of_every_iteration(start: Start) -> None:
    job = start(12)
    job.wait(PATIENCE)
    records = job.records()
    elapsed = [record.elapsed for record in records]
    assert elapsed == sorted(elapsed) and elapsed[0] > 0
    assert all(record.perplexity and 1 < record.perplexity < 1_000 for record in records)
    assert all(record.tokens_per_second == pytest.approx(job.training_tokens / record.seconds) for record in records)
    assert isinstance(records, tuple)


def test_before_the_first_iteration_there_is_nothing_to_see(start: Start) -> None:
    queue = Queue(limit=1)
    running(start(queue=queue))
    waiting = start(queue=queue)
    assert waiting.sample() is None and waiting.records() == () and waiting.training_tokens == 0
    assert waiting.status().last is None and waiting.status().seconds_left is None


# --- pause, resume, stop, extend


def test_pause_and_resume(start: Start) -> None:
    job = running(start())
    job.pause()
    status = job.wait(PATIENCE)
    assert status.state is JobState.PAUSED
    done = len(job.records())
    sample = job.sample()
    assert sample is not None and sample.iteration == done == status.iteration
    assert job.wait(0.05).iteration == done  # it rests
    job.resume()
    wait_until(lambda: len(job.records()) > done + 3)
    assert job.status().state is JobState.RUNNING


def test_stop_ends_after_the_present_iteration_and_extend_goes_on(start: Start) -> None:
    job = running(start())
    job.stop()
    status = job.wait(PATIENCE)
    assert status.state is JobState.STOPPED
    sample = job.sample()
    assert sample is not None and sample.iteration == status.iteration
    job.extend(7)
    finished = job.wait(PATIENCE)
    assert (finished.state, finished.iteration) == (JobState.FINISHED, status.iteration + 7)
    assert [record.iteration for record in job.records()] == list(range(1, finished.iteration + 1))


def test_extend_after_the_end(start: Start) -> None:
    job = start(5)
    job.wait(PATIENCE)
    for target in (8, 11):
        job.extend(3)
        assert job.wait(PATIENCE).iteration == target == job.status().target
    sample = job.sample()
    assert sample is not None and sample.iteration == 11


def test_extend_while_it_runs_moves_the_end(start: Start) -> None:
    job = running(start())
    job.extend(5)
    status = job.wait(PATIENCE)
    assert status.state is JobState.FINISHED
    assert status.iteration == status.target


def test_stop_while_paused(start: Start) -> None:
    job = running(start())
    job.pause()
    job.wait(PATIENCE)
    job.stop()
    assert job.status().state is JobState.STOPPED
    job.extend(2)
    assert job.wait(PATIENCE).state is JobState.FINISHED


def test_stop_while_it_waits_for_its_turn(start: Start) -> None:
    queue = Queue(limit=1)
    running(start(queue=queue))
    waiting = start(queue=queue)
    waiting.stop()
    assert waiting.wait(PATIENCE).state is JobState.STOPPED
    assert waiting.sample() is None


@pytest.mark.parametrize("turns", [25])
def test_many_quick_orders_end_in_the_last_one(start: Start, turns: int) -> None:
    """Orders overtake the worker: whatever it missed, it must end where the last order says."""
    job = start()
    for _ in range(turns):
        job.pause()
        job.resume()
    running(job)
    job.pause()
    job.resume()
    job.pause()
    assert job.wait(PATIENCE).state is JobState.PAUSED
    job.extend(3)
    assert job.wait(PATIENCE).state is JobState.FINISHED


# --- what readers get


def check_consistent(sample: Sample, corpus: Corpus, settings: SamplerSettings) -> None:
    """Counts of one moment agree with one another and with the tokens; a copy torn by the sampler does not."""
    kept = ~choose_held_out(corpus, settings.held_out, settings.seed)
    word, document = corpus.token_word[kept], corpus.token_document[kept]
    counts = sample.counts
    lengths = np.bincount(document, minlength=corpus.n_documents)
    np.testing.assert_array_equal(counts.document_topics.sum(axis=1), lengths)
    words = np.zeros((corpus.n_groups, corpus.n_words), int)
    np.add.at(words, (corpus.document_group[document], word), 1)
    np.testing.assert_array_equal(counts.customers.sum(axis=2), words)
    for group in range(corpus.n_groups):
        members = corpus.document_group == group
        np.testing.assert_array_equal(counts.document_topics[members].sum(axis=0), counts.customers[group].sum(axis=0))
    assert np.all(counts.tables <= counts.customers)
    assert np.all((counts.tables > 0) == (counts.customers > 0))


def test_a_sample_is_consistent_and_stays_as_it_is(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SHORTEST_INTERVAL", 0.0)
    monkeypatch.setattr(jobs, "SHARE_FOR_READERS", 0.9)
    job = running(start())
    seen: dict[int, Sample] = {}
    copies: dict[int, list[np.ndarray]] = {}

    def look() -> bool:
        sample = job.sample()
        if sample is not None and sample.iteration not in seen:
            seen[sample.iteration] = sample
            counts = sample.counts
            copies[sample.iteration] = [
                array.copy() for array in (counts.document_topics, counts.customers, counts.tables)
            ]
        return len(seen) >= 20

    wait_until(look)
    job.stop()
    job.wait(PATIENCE)
    for iteration, sample in seen.items():
        check_consistent(sample, CORPUS, SETTINGS)
        assert sample.iteration == iteration <= len(job.records())
        counts = sample.counts
        for array, copy in zip(
            (counts.document_topics, counts.customers, counts.tables), copies[iteration], strict=True
        ):
            np.testing.assert_array_equal(array, copy)


def test_readers_do_not_hold_up_the_sampler(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many read however often, samples are copied no more often than the throttle lets."""
    taken: list[float] = []
    plain = Sampler.inspect

    def counted(self: Sampler) -> Sample:
        taken.append(time.perf_counter())
        return plain(self)

    monkeypatch.setattr(Sampler, "inspect", counted)
    monkeypatch.setattr(jobs, "SHORTEST_INTERVAL", 0.1)
    job = running(start())
    wait_until(lambda: job.sample() is not None and len(taken) >= 5)
    iterations = len(job.records())
    intervals = np.diff(taken)
    assert np.all(intervals >= 0.1), "copied before the interval was over"
    assert iterations > len(taken)
    job.stop()
    job.wait(PATIENCE)


def test_a_slow_copy_is_made_less_often(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most a twentieth of the time goes into copying: after a copy of 20 ms, none for 400 ms."""
    taken: list[float] = []
    plain = Sampler.inspect

    def slow(self: Sampler) -> Sample:
        time.sleep(0.02)  # stands for a large collection
        taken.append(time.perf_counter())
        return plain(self)

    monkeypatch.setattr(Sampler, "inspect", slow)
    monkeypatch.setattr(jobs, "SHORTEST_INTERVAL", 0.0)
    job = running(start(), 1)
    wait_until(lambda: job.sample() is not None and len(taken) >= 3)
    assert np.all(np.diff(taken)[:2] >= 0.02 / jobs.SHARE_FOR_READERS)


def test_nobody_looking_means_no_copies(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    plain = Sampler.inspect
    monkeypatch.setattr(Sampler, "inspect", lambda self: (taken.append(self.iteration), plain(self))[1])
    monkeypatch.setattr(jobs, "SHORTEST_INTERVAL", 0.0)
    job = start(60)
    job.wait(PATIENCE)
    assert taken == [1, 60]  # the first, that something is there at once, and the last


# --- the state


def alike(one: Snapshot | None, other: Snapshot) -> bool:
    """Whether two states are the same, by topics, tables and the sums of what is averaged."""
    assert one is not None
    return (
        one.iteration == other.iteration
        and np.array_equal(one.seats.topics, other.seats.topics)
        and all(np.array_equal(one.own[name], array) for name, array in other.own.items())
        and np.array_equal(one.scored, other.scored)
    )


def test_a_resting_run_tells_its_state(start: Start) -> None:
    """However often it is asked, and again when it has gone on."""
    alone = Sampler(CORPUS, SETTINGS)
    alone.run(12)
    job = start(12)
    job.wait(PATIENCE)
    assert alike(job.snapshot(PATIENCE), alone.snapshot()) and alike(job.snapshot(PATIENCE), alone.snapshot())
    job.extend(3)
    job.wait(PATIENCE)
    alone.run(3)
    assert alike(job.snapshot(PATIENCE), alone.snapshot())
    assert job.status().state is JobState.FINISHED


def test_a_running_run_tells_its_state_and_is_none_the_worse_for_it(start: Start) -> None:
    """Many ask at once; the run finds what it would have found, and each state is one of its own."""
    job = running(start(), 1)
    told: list[Snapshot | None] = []
    threads = [threading.Thread(target=lambda: told.append(job.snapshot(PATIENCE))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    kept = [one for one in told if one is not None]
    assert len(kept) == 4
    job.stop()
    job.wait(PATIENCE)
    end = job.snapshot(PATIENCE)
    assert end is not None
    again = Sampler(CORPUS, job.settings, snapshot=min(kept, key=lambda one: one.iteration))
    again.run(end.iteration - again.iteration)
    assert alike(end, again.snapshot())


def test_a_paused_run_tells_its_state(start: Start) -> None:
    job = running(start())
    job.pause()
    paused = job.wait(PATIENCE)
    told = job.snapshot(PATIENCE)
    assert told is not None and told.iteration == paused.iteration
    assert job.status().state is JobState.PAUSED, "it rests on"


def test_nobody_asking_means_no_state_is_copied(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sampler, "snapshot", lambda self: pytest.fail("nobody asked"))
    assert start(10).wait(PATIENCE).state is JobState.FINISHED


def test_where_there_is_no_state_there_is_none(start: Start) -> None:
    queue = Queue(limit=1)
    first = running(start(queue=queue))
    waiting = start(queue=queue)
    assert waiting.snapshot(PATIENCE) is None, "before the first iteration"
    failed = start(settings=replace(SETTINGS, device="Abacus"), queue=Queue())
    failed.wait(PATIENCE)
    assert failed.snapshot(PATIENCE) is None
    first.discard()
    first.join(PATIENCE)
    assert first.snapshot(PATIENCE) is None


def test_a_run_that_waits_for_its_turn_again_answers_when_it_has_it(start: Start) -> None:
    queue = Queue(limit=1)
    job = start(3, queue)
    job.wait(PATIENCE)
    other = running(start(queue=queue))
    job.extend(2)
    wait_until(lambda: job.status().waiting_before == 1)
    assert job.snapshot(0.05) is None
    other.stop()
    assert job.wait(PATIENCE).iteration == 5
    told = job.snapshot(PATIENCE)
    assert told is not None and told.iteration == 5


def test_who_asks_a_run_that_ends_is_answered(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """With none, at once, and not when the time is over."""
    job = running(start())

    def broken(self: Sampler) -> Snapshot:
        raise DeviceError("The device is gone. Bring it back.")

    monkeypatch.setattr(Sampler, "snapshot", broken)
    begin = time.monotonic()
    assert job.snapshot(PATIENCE) is None
    assert time.monotonic() - begin < PATIENCE / 2
    assert job.wait(PATIENCE).state is JobState.FAILED


# --- a run that rested


def test_a_run_that_rested_goes_on_when_it_is_extended() -> None:
    whole = Sampler(CORPUS, SETTINGS)
    records, sample, kept = tuple(whole.run(9)), whole.inspect(), whole.snapshot()
    job = Job(CORPUS, whole.settings, 9, Queue(), Rested(kept, records, sample))
    try:
        status = job.status()
        assert (status.state, status.iteration, status.target, status.seconds_left) == (JobState.FINISHED, 9, 9, 0)
        assert job.sample() is sample and job.records() == records and job.snapshot(0) is kept
        job.extend(4)
        assert job.wait(PATIENCE).iteration == 13
        whole.run(4)
        assert alike(job.snapshot(PATIENCE), whole.snapshot())
        assert [record.iteration for record in job.records()] == list(range(1, 14))
        assert job.records()[9].elapsed > records[-1].elapsed
        topics = job.topics()
        assert topics is not None
        np.testing.assert_array_equal(topics[~whole.held_out], whole.topics())
    finally:
        job.discard()


def test_a_run_that_rested_keeps_its_state_where_it_cannot_go_on() -> None:
    whole = Sampler(CORPUS, SETTINGS)
    records, sample, kept = tuple(whole.run(2)), whole.inspect(), whole.snapshot()
    job = Job(CORPUS, replace(whole.settings, device="Abacus"), 2, Queue(), Rested(kept, records, sample))
    job.extend(2)
    status = job.wait(PATIENCE)
    assert status.state is JobState.FAILED and "Abacus" in status.error
    assert job.snapshot(PATIENCE) is kept and job.sample() is sample
    job.discard()


# --- the queue


def test_the_second_job_waits_for_the_first_and_says_so(start: Start) -> None:
    queue = Queue(limit=1)
    first = running(start(queue=queue))
    second, third = start(5, queue), start(5, queue)
    wait_until(lambda: third.status().waiting_before == 2)
    assert second.status().waiting_before == 1
    assert second.status().state is JobState.WAITING and second.status().iteration == 0
    assert first.status().waiting_before == 0
    first.stop()
    assert second.wait(PATIENCE).state is JobState.FINISHED
    assert third.wait(PATIENCE).state is JobState.FINISHED
    assert third.status().waiting_before == 0


def test_two_places_are_taken_by_two(start: Start) -> None:
    queue = Queue(limit=2)
    first, second, third = (start(queue=queue) for _ in range(3))
    running(first)
    running(second)
    assert third.status().waiting_before == 2


def test_a_paused_job_gives_its_place_away_and_waits_to_have_it_back(start: Start) -> None:
    queue = Queue(limit=1)
    first = running(start(queue=queue))
    second = start(queue=queue)
    first.pause()
    assert first.wait(PATIENCE).state is JobState.PAUSED
    running(second)
    done = len(first.records())
    first.resume()
    wait_until(lambda: first.status().waiting_before == 1)
    assert first.status().state is JobState.WAITING
    second.stop()
    wait_until(lambda: len(first.records()) > done)


def test_discarding_ends_the_thread_and_gives_the_place_away(start: Start) -> None:
    queue = Queue(limit=1)
    first = running(start(queue=queue))
    second = start(5, queue)
    sample = first.sample()
    first.discard()
    first._thread.join(PATIENCE)
    assert first._thread not in threading.enumerate()
    assert first._sampler is None, "the device's memory is still held"
    assert second.wait(PATIENCE).state is JobState.FINISHED
    assert first.sample() is not None and first.records() and sample is not None


@pytest.mark.parametrize("order", ["pause", "stop", "nothing"])
def test_a_resting_or_finished_job_can_be_discarded(start: Start, order: str) -> None:
    job = running(start(FOREVER)) if order != "nothing" else start(3)
    if order != "nothing":
        getattr(job, order)()
    job.wait(PATIENCE)
    job.discard()
    job._thread.join(PATIENCE)
    assert not job._thread.is_alive() and job._sampler is None


@pytest.mark.parametrize(
    "order",
    [
        "stop",
        "pause",
    ],
)
def test_a_job_that_was_let_go_has_not_failed(start: Start, order: str) -> None:
    """Another tab may still show the run that “New run” has replaced; nothing failed there."""
    job = running(start())
    getattr(job, order)()
    job.wait(PATIENCE)
    job.discard()
    job._thread.join(PATIENCE)
    assert job.status().state is not JobState.FAILED and not job.status().error


def test_the_limit_leaves_every_sampler_four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, limit in ((1, 1), (2, 1), (4, 1), (8, 2), (None, 1)):
        monkeypatch.setattr(jobs.os, "cpu_count", lambda cores=cores: cores)
        assert Queue().limit == limit


# --- what goes wrong


def assert_one_failure(job: Job) -> None:
    status = job.status()
    assert status.state is JobState.FAILED
    assert status.error.endswith(".") and "\n" not in status.error and "Error" not in status.error


def failing_after(iterations: int, error: BaseException) -> Callable[[Sampler], object]:
    plain = Sampler.step

    def step(self: Sampler) -> object:
        if self.iteration >= iterations:
            raise error
        return plain(self)

    return step


@pytest.mark.parametrize("error", [RuntimeError("boom"), MemoryError(), SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_a_worker_that_dies_says_so_and_keeps_what_it_had(
    error: BaseException, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sampler, "step", failing_after(4, error))
    queue = Queue(limit=1)
    job = start(queue=queue)
    assert job.wait(PATIENCE).state is JobState.FAILED
    assert_one_failure(job)
    assert "boom" not in job.status().error
    assert len(job.records()) == 4
    sample = job.sample()
    assert sample is not None
    check_consistent(sample, CORPUS, SETTINGS)
    # Its place is free again, and nothing brings it back to life.
    monkeypatch.undo()
    job.extend(5)
    job.resume()
    assert job.status().state is JobState.FAILED
    assert start(3, queue).wait(PATIENCE).state is JobState.FINISHED


@pytest.mark.parametrize("error", [SettingsError, DeviceError])
def test_errors_meant_for_people_are_told_as_they_are(
    error: type[Exception], start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sampler, "step", failing_after(1, error("The device ran out of memory. Take fewer topics.")))
    status = start().wait(PATIENCE)
    assert status.state is JobState.FAILED
    assert status.error == "The device ran out of memory. Take fewer topics."


def test_settings_that_do_not_fit_the_corpus(start: Start) -> None:
    job = start(settings=plain_settings(topics=4096))
    assert job.wait(PATIENCE).state is JobState.FAILED
    assert_one_failure(job)
    assert job.status().error.startswith("There are more topics")
    assert job.sample() is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # that is what it is about
def test_a_thread_that_ends_without_a_word_is_noticed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the interpreter had ended the thread: none of the worker's own clean-up runs."""

    def work(self: Job) -> None:
        self._sampler = Sampler(self.corpus, self._requested)
        self._become(JobState.RUNNING)
        for _ in range(3):
            self._records.append(self._sampler.step())
            self._publish(self._sampler)
        raise SystemExit

    monkeypatch.setattr(Job, "_work", work)
    job = start()
    job._thread.join(PATIENCE)
    assert_one_failure(job)
    assert len(job.records()) == 3
    sample = job.sample()
    assert sample is not None and sample.iteration == 1


def test_a_job_stays_in_its_process(start: Start) -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        pickle.dumps(start(1))
