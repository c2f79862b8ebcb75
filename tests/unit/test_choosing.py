"""Numbers of topics compared in the background: what is measured, which is recommended, and how a comparison ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from spdp_engine import background
from spdp_engine import choosing as module
from spdp_engine.choosing import Candidate, Choosing, Fit, Plan, levelled, plan_for, recommend
from spdp_engine.corpus import Corpus, corpus_from_arrays
from spdp_engine.errors import DeviceError, SettingsError
from spdp_engine.jobs import Job, JobState, Queue
from spdp_engine.sampling import Sampler, SamplerSettings

pytestmark = pytest.mark.timeout(60)

PATIENCE = 30.0
FOREVER = 10**9
SETTINGS = SamplerSettings(workers=2, seed=5)
PLAN = Plan((2, 4), iterations=6)


def make_corpus(documents: int = 40, length: int = 25, words: int = 60) -> Corpus:
    """Two groups, each document about one half of the vocabulary."""
    draw = np.random.default_rng(8)
    document = np.repeat(np.arange(documents), length)
    half = words // 2 * (document % 4 // 2)
    return corpus_from_arrays(half + draw.integers(0, words // 2, len(document)), document, np.arange(documents) % 2)


CORPUS = make_corpus()

Start = Callable[..., Choosing]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts comparisons, and ends them all when the test is over."""
    started: list[Choosing] = []

    def starter(
        plan: Plan = PLAN, queue: Queue | None = None, settings: SamplerSettings = SETTINGS, corpus: Corpus = CORPUS
    ) -> Choosing:
        started.append(Choosing(corpus, settings, queue or Queue(limit=1), plan))
        return started[-1]

    yield starter
    for choosing in started:
        choosing.cancel()
        choosing.join(PATIENCE)
        assert not choosing._thread.is_alive()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


# --- what is tried


@pytest.mark.parametrize(
    ("documents", "suggested", "numbers"),
    [
        (1_000, 20, (5, 10, 20, 40, 80)),
        (1_000, 12, (3, 6, 12, 24, 48)),
        (1_000, 1, (2, 4)),
        (30, 20, (5, 10, 20, 30)),
        (7, 20, (2, 4, 7)),
        (2, 20, (2,)),
    ],
)
def test_numbers_lie_around_the_suggested_one_as_far_as_there_are_documents(
    documents: int, suggested: int, numbers: tuple[int, ...]
) -> None:
    assert plan_for(make_corpus(documents, 10, 500), suggested).numbers == numbers


def test_numbers_are_no_more_than_words_and_long_documents_carry_several_topics() -> None:
    assert plan_for(make_corpus(500, 10, 16), 20).numbers[-1] == len(make_corpus(500, 10, 16).vocabulary)
    assert plan_for(make_corpus(4, 5_000, 400), 20).numbers == (5, 10, 20)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan((5,)), "nothing to compare"),
        (Plan(()), "nothing to compare"),
        (Plan((10, 5)), "must rise"),
        (Plan((0, 5)), "between 1 and"),
        (Plan((5, 61)), "more topics"),
        (Plan(tuple(range(2, 16))), "At most 12"),
        (Plan((2, 4), seeds=1), "2 seeds or more"),
        (Plan((2, 4), held_out=0.0), "held-out share"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(plan: Plan, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Choosing(CORPUS, SETTINGS, Queue(limit=1), plan)


# --- what is measured


def test_a_comparison_to_its_end(start: Start) -> None:
    choosing = start()
    status = choosing.wait(PATIENCE)
    assert (status.state, status.error, status.share) == (JobState.FINISHED, "", 1.0)
    assert (status.fits_done, status.fits, status.waiting_before) == (4, 4, 0)
    candidates = choosing.candidates()
    assert [candidate.topics for candidate in candidates] == [2, 4]
    for candidate in candidates:
        assert [(fit.topics, fit.seed) for fit in candidate.fits] == [(candidate.topics, 5), (candidate.topics, 6)]
        assert all(1 < fit.perplexity < 100 and fit.seconds > 0 for fit in candidate.fits)
        assert candidate.coherence is not None and -1 <= candidate.coherence <= 1
        assert 0 < candidate.diversity <= 1
        assert candidate.stability is not None and 0 <= candidate.stability <= 1
    assert choosing.sampled == (CORPUS.n_documents, CORPUS.n_tokens)
    advice = recommend(candidates)
    assert advice is not None and advice.topics in (2, 4)


def test_perplexity_is_the_averaged_one_where_there_is_one(start: Start) -> None:
    plan = replace(PLAN, iterations=40)
    choosing = start(plan)
    choosing.wait(PATIENCE)
    for candidate in choosing.candidates():
        for fit in candidate.fits:
            alone = Sampler(CORPUS, replace(SETTINGS, topics=fit.topics, seed=fit.seed, held_out=plan.held_out))
            last = alone.run(plan.iterations)[-1]
            assert last.averaged is not None and last.averaged != last.perplexity
            assert fit.perplexity == last.averaged


def test_one_seed_gives_one_comparison(start: Start) -> None:
    plan = replace(PLAN, tokens=500)

    def measured() -> list[tuple[object, ...]]:
        choosing = start(plan)
        choosing.wait(PATIENCE)
        assert choosing.sampled is not None and 500 <= choosing.sampled[1] < CORPUS.n_tokens
        return [
            (one.topics, one.perplexity, one.coherence, one.diversity, one.stability) for one in choosing.candidates()
        ]

    assert measured() == measured() and len(measured()) == 2


def test_settings_reach_the_fits_and_what_a_comparison_needs_is_added(start: Start) -> None:
    """Without held-out words or measurements there would be nothing to compare."""
    settings = replace(SETTINGS, model="lda", priors=None, held_out=0.0, measure_every=0)
    choosing = start(settings=settings)
    assert choosing.wait(PATIENCE).state is JobState.FINISHED
    assert choosing.settings.model == "lda"
    for candidate in choosing.candidates():
        assert candidate.perplexity > 1 and candidate.stability is None, "LDA words topics alike"


def test_seeds_go_on_from_the_last_to_the_first(start: Start) -> None:
    choosing = start(settings=replace(SETTINGS, seed=2**32 - 1))
    choosing.wait(PATIENCE)
    assert [fit.seed for fit in choosing.candidates()[0].fits] == [2**32 - 1, 0]


def test_progress_grows_and_candidates_come_one_by_one(start: Start) -> None:
    choosing = start(replace(PLAN, iterations=60))
    shares, numbers = [], []
    while choosing.wait(0.01).state is not JobState.FINISHED:
        shares.append(choosing.status().share)
        numbers.append(len(choosing.candidates()))
    assert shares == sorted(shares) and 0 <= shares[0] < 0.5 and len(set(shares)) > 4
    assert set(numbers) >= {0, 1}
    assert choosing.status().seconds_left == 0


# --- which is recommended


def candidate(
    topics: int, perplexity: float, coherence: float | None = 0.1, stability: float | None = 0.5
) -> Candidate:
    return Candidate(topics, (Fit(topics, 1, perplexity, coherence, 0.8, 1.0),) * 2, stability)


def test_the_fewest_topics_that_fit_as_well_as_the_best() -> None:
    advice = recommend([candidate(5, 1100), candidate(10, 1009), candidate(20, 1000), candidate(40, 1001)])
    assert advice is not None and advice.topics == 10
    assert "lowest with 20 topics (1,000)" in advice.reason and "10 topics come within 1 %" in advice.reason
    assert "tried" not in advice.reason


def test_topics_that_fit_clearly_worse_are_not_recommended_however_good_they_are() -> None:
    advice = recommend([candidate(5, 1031, 0.5, 0.9), candidate(10, 1020), candidate(20, 1000), candidate(40, 1000)])
    assert advice is not None and advice.topics == 20
    assert "no smaller number" in advice.reason


@pytest.mark.parametrize(
    ("coherence", "stability", "taken", "words"),
    [
        (0.21, 0.5, 10, "coherence 0.21, not 0.10"),
        (0.1, 0.71, 10, "stability 0.71, not 0.50"),
        (0.21, 0.71, 10, "and differ less"),
        (0.19, 0.69, 20, "no smaller number"),  # better, but not clearly
        (0.21, 0.29, 20, "no smaller number"),  # clearly better in one thing and clearly worse in the other
        (-0.01, 0.71, 20, "no smaller number"),
        (None, 0.71, 10, "stability"),  # what was not measured is no reason
        (0.21, None, 10, "coherence"),
        (None, None, 20, "no smaller number"),
    ],
)
def test_fewer_topics_where_they_are_clearly_better(
    coherence: float | None, stability: float | None, taken: int, words: str
) -> None:
    rows = [candidate(5, 1100), candidate(10, 1020, coherence, stability), candidate(20, 1000), candidate(40, 1000)]
    advice = recommend(rows)
    assert advice is not None and advice.topics == taken and words in advice.reason


def test_a_gradual_fall_counts_as_a_whole() -> None:
    """No step is clear, but from 10 to 40 topics coherence falls by two of them."""
    rows = [candidate(10, 1029, 0.24), candidate(20, 1020, 0.18), candidate(40, 1000, 0.12)]
    advice = recommend(rows)
    assert advice is not None and advice.topics == 10
    assert "40 topics fit 2.9 % better (perplexity 1,000, not 1,029)" in advice.reason


def test_negative_coherence_has_a_minus_sign() -> None:
    advice = recommend([candidate(10, 1010, -0.02), candidate(20, 990, -0.3)])
    assert advice is not None and "(coherence −0.02, not −0.30)" in advice.reason


def test_at_the_ends_it_says_that_there_may_be_more() -> None:
    rising = recommend([candidate(20, 1000), candidate(10, 1100)])
    falling = recommend([candidate(10, 1000), candidate(20, 1100)])
    assert rising is not None and rising.topics == 20 and "largest number that was tried" in rising.reason
    assert falling is not None and falling.topics == 10 and "smallest number that was tried" in falling.reason
    assert "no smaller number comes" not in falling.reason
    for advice in (rising, falling):
        assert advice.reason.endswith(".") and "\n" not in advice.reason


def test_one_number_leaves_nothing_to_choose() -> None:
    assert recommend([]) is None and recommend([candidate(10, 1000)]) is None


def test_a_seed_whose_words_are_hard_does_not_look_worse() -> None:
    rows = [Candidate(k, (Fit(k, 1, p, None, 1, 1), Fit(k, 2, 2 * p, None, 1, 1)), None) for k, p in ((5, 90), (9, 80))]
    level = levelled(rows)
    assert level == [pytest.approx((row.perplexity,) * 2) for row in rows]


# --- turns, cancelling, failing


def test_fits_wait_for_their_turn_and_leave_others_theirs(start: Start) -> None:
    queue = Queue(limit=1)
    job = Job(CORPUS, replace(SETTINGS, topics=3), FOREVER, queue)
    try:
        wait_until(lambda: bool(job.records()))
        choosing = start(replace(PLAN, iterations=50), queue)
        wait_until(lambda: choosing.status().waiting_before == 1)
        assert choosing.status().state is JobState.WAITING and not choosing.candidates()
        job.pause()
        wait_until(lambda: choosing.status().state is JobState.RUNNING)
        job.resume()  # and is let in between two fits
        done = len(job.records())
        wait_until(lambda: len(job.records()) > done)
        assert choosing.status().fits_done < choosing.plan.fits
    finally:
        job.discard()
    assert choosing.wait(PATIENCE).state is JobState.FINISHED


def test_a_cancelled_comparison_ends_at_once_and_keeps_what_it_had(start: Start) -> None:
    queue = Queue(limit=1)
    choosing = start(Plan((2, 3, 4), iterations=30), queue)
    wait_until(lambda: len(choosing.candidates()) == 1)
    choosing.cancel()
    assert choosing.status().state is JobState.STOPPED and not choosing.status().error
    choosing.join(PATIENCE)
    assert choosing._thread not in threading.enumerate()
    assert len(choosing.candidates()) == 1 and choosing.status().fits_done < 6
    choosing.cancel()
    assert choosing.status().state is JobState.STOPPED
    assert start(queue=queue).wait(PATIENCE).state is JobState.FINISHED, "its place is free again"


def test_a_fit_ends_between_two_iterations(start: Start) -> None:
    choosing = start(Plan((2, 4), iterations=FOREVER))
    wait_until(lambda: choosing.status().share > 0)
    choosing.cancel()
    choosing.join(PATIENCE)
    assert not choosing._thread.is_alive() and not choosing.candidates()


def test_a_waiting_comparison_can_be_cancelled(start: Start) -> None:
    queue = Queue(limit=1)
    first = start(Plan((2, 4), iterations=FOREVER), queue)
    wait_until(lambda: first.status().share > 0)
    second = start(queue=queue)
    wait_until(lambda: second.status().waiting_before == 1)
    second.cancel()
    second.join(PATIENCE)
    assert second.status().state is JobState.STOPPED and not second._thread.is_alive()
    assert first.status().state is JobState.RUNNING


def test_what_is_over_stays_over(start: Start) -> None:
    choosing = start()
    choosing.wait(PATIENCE)
    choosing.cancel()
    assert choosing.status().state is JobState.FINISHED and len(choosing.candidates()) == 2


def test_no_fit_begins_while_the_process_ends(start: Start) -> None:
    choosing = start(Plan((2, 4), iterations=FOREVER))
    wait_until(lambda: choosing.status().share > 0)
    background._let_go()
    choosing.join(PATIENCE)
    assert choosing.status().state is JobState.STOPPED


def assert_one_failure(choosing: Choosing) -> str:
    status = choosing.wait(PATIENCE)
    assert status.state is JobState.FAILED
    assert status.error.endswith(".") and "\n" not in status.error and "Error" not in status.error
    return status.error


def failing_at(topics: int, error: BaseException) -> Callable[[Sampler], object]:
    plain = Sampler.step

    def step(self: Sampler) -> object:
        if self.settings.topics == topics:
            raise error
        return plain(self)

    return step


@pytest.mark.parametrize("error", [RuntimeError("boom"), MemoryError(), SystemExit(3)], ids=repr)
def test_a_fit_that_dies_says_so_and_what_was_measured_stays(
    error: BaseException, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(limit=1)
    with monkeypatch.context() as broken:
        broken.setattr(Sampler, "step", failing_at(4, error))
        choosing = start(queue=queue)
        sentence = assert_one_failure(choosing)
    assert "4 topics" in sentence and "boom" not in sentence
    assert [one.topics for one in choosing.candidates()] == [2]
    assert start(queue=queue).wait(PATIENCE).state is JobState.FINISHED


def test_errors_meant_for_people_are_told(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    told = DeviceError("The device ran out of memory. Take fewer topics.")
    monkeypatch.setattr(Sampler, "step", failing_at(4, told))
    assert assert_one_failure(start()).endswith(str(told))


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt()], ids=repr)
def test_a_measure_that_fails_is_told(error: BaseException, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, "measure_quality", measure)
    assert "boom" not in assert_one_failure(start())


def test_documents_of_one_word_cannot_be_measured(start: Start) -> None:
    corpus = make_corpus(length=1)
    assert "two words or more" in assert_one_failure(start(corpus=corpus))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # that is what it is about
def test_a_thread_that_ends_without_a_word_is_noticed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(_: Choosing) -> None:
        raise SystemExit

    monkeypatch.setattr(Choosing, "_run", work)
    choosing = start()
    choosing.join(PATIENCE)
    assert "unexpectedly" in assert_one_failure(choosing)
