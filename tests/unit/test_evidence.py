"""How sure findings are, measured in the background: what is published when, what is said of odd corpora, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine import background
from spdp_engine import evidence as module
from spdp_engine.corpus import (
    Collection,
    Columns,
    Corpus,
    CorpusSettings,
    InputFile,
    build_corpus,
    corpus_from_arrays,
    make_documents,
    read_collection,
)
from spdp_engine.corpus.build import FEWEST_ORIGINALS
from spdp_engine.errors import DeviceError
from spdp_engine.evidence import Evidence, Phase, Plan
from spdp_engine.jobs import Job, JobState, Queue
from spdp_engine.models import Matrices
from spdp_engine.sampling import Sampler, SamplerSettings
from spdp_engine.topics import Topics, read_topics
from spdp_engine.topics.estimates import EVIDENCE_CLASSES, Units, WordEstimates
from spdp_engine.topics.findings import Findings, SeedEvidence, WordEvidence, WordFinding

pytestmark = pytest.mark.timeout(60)

PATIENCE = 30.0
SETTINGS = SamplerSettings(topics=3, workers=2, seed=5)
PLAN = Plan(settle=3, samples=4, apart=1, draws=25, dealings=6, adapt=2, counted=2, between=1, seeds=2, iterations=15)
LONG = replace(PLAN, settle=10**9)


def make_corpus(documents: int = 60, length: int = 30, groups: int = 2, apart: float = 0.7, seed: int = 8) -> Corpus:
    """Documents about one of three subjects of 20 words, or mostly; of each subject the groups prefer words of their own."""
    random = np.random.default_rng(seed)
    group = np.arange(documents) % groups
    words = []
    for place in range(documents):
        subject = np.where(random.random(length) < 0.85, place // groups % 3, random.integers(0, 3, length))
        own = (random.integers(0, 5, length) * groups + group[place]) % 20
        words.append(20 * subject + np.where(random.random(length) < apart, own, random.integers(0, 20, length)))
    document = np.repeat(np.arange(documents), length)
    return corpus_from_arrays(np.concatenate(words), document, group, [f"w{word}" for word in range(60)])


CORPUS = make_corpus()

Run = tuple[Corpus, SamplerSettings, NDArray[np.int32], Topics]
Start = Callable[..., Evidence]


def make_run(corpus: Corpus = CORPUS, settings: SamplerSettings = SETTINGS, iterations: int = 30) -> Run:
    """A run that rests."""
    sampler = Sampler(corpus, settings)
    sampler.run(iterations)
    topics = np.full(corpus.n_tokens, -1, np.int32)
    topics[~sampler.held_out] = sampler.topics()
    read = read_topics(sampler.inspect(), corpus.vocabulary, corpus.group_names)
    return corpus, sampler.settings, topics, read


@pytest.fixture(scope="module")
def run() -> Run:
    return make_run()


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts to measure, and ends all of it when the test is over."""
    started: list[Evidence] = []

    def starter(run: Run, plan: Plan = PLAN, queue: Queue | None = None, kind: type[Evidence] = Evidence) -> Evidence:
        started.append(kind(*run, queue or Queue(limit=1), plan))
        return started[-1]

    yield starter
    for evidence in started:
        evidence.cancel()
        evidence.join(PATIENCE)
        assert not evidence._thread.is_alive()


def found(evidence: Evidence) -> Findings:
    status = evidence.wait(PATIENCE)
    assert status.state is JobState.FINISHED, status
    return evidence.findings()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def assert_sayable(findings: Findings, read: Topics) -> None:
    """Nothing that a page can ask for is NaN or out of its bounds, and displayed shares lie in their intervals."""
    for topic in range(read.n_topics):
        intervals = findings.prevalence_interval(topic)
        assert intervals is not None and intervals.shape == (len(read.group_names), 2)
        assert ((intervals >= 0) & (intervals <= 1)).all() and (intervals[:, 0] <= intervals[:, 1]).all()
        for i in range(len(read.group_names)):
            low, high = findings.difference_interval(topic, i, 0) or (1, 0)
            assert low <= high
        gap, interval, chance = findings.gap(topic), findings.gap_interval(topic), findings.gap_by_chance(topic)
        known = gap is not None
        assert (interval is not None) == (chance is not None) == known == (findings.gap_is_real(topic) is not None)
        if gap is not None and interval and chance:
            assert 0 <= interval[0] <= gap <= interval[1] <= 1 and 0 <= chance[0] <= chance[1] <= 1
            assert findings.gap_is_real(topic) == (gap > chance[1] and interval[0] > 0)
        for words in (*read.top_words(topic, 10), *read.own_words(topic, 10)):
            for group in range(len(read.group_names)):
                for word in words:
                    told = findings.word(topic, group, word.word)
                    if told:
                        assert np.isfinite([told.low, told.log_odds, told.high]).all()
                        assert told.low <= told.log_odds <= told.high
                        assert told.found is None or (told.of is not None and 0 <= told.found <= told.of)
        again = findings.topic_found(topic)
        assert again is None or 1 <= again[0] <= again[1]


# --- what is measured


def test_all_is_measured_and_published_phase_by_phase(run: Run, start: Start) -> None:
    published: list[tuple[Phase, set[str], Findings]] = []

    class Told(Evidence):
        def _publish(self, **known: object) -> None:
            super()._publish(**known)
            published.append((self._phase, set(known), self.findings()))

    evidence = start(run, kind=Told)
    findings, read = found(evidence), run[3]
    assert [(phase, names) for phase, names, _ in published] == [
        (Phase.SAMPLES, {"prevalence_draws", "words"}),
        (Phase.CHANCE, {"gap_draws", "gap_baseline", "gap_limit", "words"}),
        (Phase.SEEDS, {"seeds"}),
        (Phase.SEEDS, {"seeds"}),
    ]
    first, second, third, last = (known for _, _, known in published)
    assert first.gap_draws is None and first.gap(0) is None and first.gap_is_real(0) is None
    assert first.words is not None and first.words.sure is not None and first.seeds is None
    assert second.gap(0) is not None and second.topic_found(0) is None
    assert third.topic_found(0) in ((1, 2), (2, 2)) and last is findings
    status = evidence.status()
    assert status.share == 1 and status.seconds_left == 0 and status.error == "" and status.waiting_before == 0
    assert_sayable(findings, read)
    draws = findings.prevalence_draws
    assert draws is not None and draws.shape == (100, 2, 3) and draws.dtype == np.float32
    assert findings.gap_draws is not None and findings.gap_draws.shape == (100, 3)
    assert findings.gap_baseline is not None and findings.gap_baseline.shape == (6, 3)


def test_what_is_there_is_found(run: Run, start: Start) -> None:
    """The groups differ strongly, so topics and words are found by every seed. Limits of 5 % take 19 dealings-out (see `Plan`)."""
    findings, read = found(start(run, replace(PLAN, dealings=19))), run[3]
    for topic in range(3):
        assert findings.gap_is_real(topic) and findings.topic_found(topic) == (3, 3)
        for group, words in enumerate(read.own_words(topic, 3)):
            for word in words:
                told = findings.word(topic, group, word.word)
                assert told is not None and told.sure and told.low > 0 and told.of == 3
                assert told.found is not None and told.found >= 2
                other = findings.word(topic, 1 - group, word.word)
                assert other is not None and other.sure and other.high < 0 and other.found == 0
    assert findings.word(0, 0, "no such word") is None


def test_displayed_shares_are_the_middle_of_their_intervals(run: Run, start: Start) -> None:
    findings, read = found(start(run)), run[3]
    assert findings.prevalence_draws is not None
    assert np.allclose(np.median(findings.prevalence_draws, axis=0), read.prevalence, rtol=0.1)


def test_the_same_seed_gives_the_same_findings(run: Run, start: Start) -> None:
    one, other = found(start(run)), found(start(run))
    corpus, settings, topics, read = run
    third = found(start((corpus, replace(settings, seed=6), topics, read)))
    for name in ("prevalence_draws", "gap_draws", "gap_baseline", "gap_limit"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
        assert not np.array_equal(getattr(one, name), getattr(third, name))
    for kind in ("words", "seeds"):
        known = getattr(one, kind), getattr(other, kind)
        for field in fields(known[0]):
            assert np.array_equal(*(getattr(each, field.name) for each in known))


def test_the_runs_hyperparameters_are_kept_and_its_tokens_trained_on(
    run: Run, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what is measured from the run's topics; and groups are dealt out with as many documents to each."""
    made: list[tuple[Any, SamplerSettings]] = []

    class Spied(Sampler):
        def __init__(self, corpus: Any, settings: SamplerSettings, *rest: Any) -> None:
            made.append((corpus, settings))
            super().__init__(corpus, settings, *rest)

    monkeypatch.setattr(module, "Sampler", Spied)
    found(start(run))
    corpus, settings, topics, read = run
    assert len(made) == 1 + PLAN.dealings + PLAN.seeds
    for one, own in made[: 1 + PLAN.dealings]:
        assert own.priors == read.sample.priors and own.held_out == 0 and "alpha" not in own.fixed
        assert {"discount", "concentration", "gamma"} <= set(own.fixed)
        assert np.array_equal(one.token_word, corpus.token_word[topics >= 0])
        assert np.array_equal(np.bincount(one.document_group), np.bincount(corpus.document_group))
    assert np.array_equal(made[0][0].document_group, corpus.document_group)
    assert len({one.document_group.tobytes() for one, _ in made[1 : 1 + PLAN.dealings]}) == PLAN.dealings
    assert len({own.seed for _, own in made}) == len(made)
    assert [own for _, own in made[-2:]] == [replace(settings, seed=seed) for seed in (6, 7)]


def test_words_are_judged_among_those_of_which_as_much_is_known() -> None:
    """A word of many uses is sure with a score that rare words often come to by chance; a rare word with that score is not."""
    random = np.random.default_rng(3)
    few, many = EVIDENCE_CLASSES[0] / 2, 2 * EVIDENCE_CLASSES[-1]

    def estimates(scores: NDArray[np.float64], information: NDArray[np.float64]) -> WordEstimates:
        values = np.column_stack([scores, -scores])
        number = np.arange(len(scores), dtype=np.int32)
        shape = np.ones_like(values)
        return WordEstimates(0 * number, number, values, 0.1 * shape, values, 3 * shape, information[:, None] * shape)

    information = np.repeat([few, many], [400, 40])
    found = estimates(np.r_[random.normal(0, 1.5, 395), [4] * 5, random.normal(size=30), [4] * 9, 8.0], information)
    dealt_out = [
        estimates(np.r_[random.normal(0, 1.5, 400), random.normal(size=40)], information).own_scores()
        for _ in range(39)
    ]
    assert [len(scores) for scores in found.own_scores()] == [800, 0, 80]
    limits = found.limits(dealt_out)
    assert limits.shape == (440, 2) and (limits[:400] > 4).all() and (limits[400:] < 4).all()
    sure = found.evidence(tuple(map(str, range(440))), limits).sure
    assert sure is not None and sure[-10:].all() and not sure[395:400].any()
    assert np.isinf(estimates(random.normal(size=440), information).limits(dealt_out)).all()


# --- odd corpora


def test_one_group_has_intervals_of_shares_and_nothing_else(start: Start) -> None:
    run = make_run(make_corpus(groups=1))
    findings = found(start(run))
    assert_sayable(findings, run[3])
    assert findings.words is None and findings.gap(0) is None and findings.topic_found(0) == (3, 3)


def test_groups_that_are_worded_alike_have_no_gap_and_no_own_words(start: Start) -> None:
    run = make_run(settings=SamplerSettings(topics=3, model="lda", workers=2, seed=5))
    findings = found(start(run))
    assert_sayable(findings, run[3])
    assert findings.words is None and findings.gap(0) is None and findings.topic_found(0) == (3, 3)


def test_many_groups(start: Start) -> None:
    run = make_run(make_corpus(documents=180, groups=12, apart=0.9))
    findings = found(start(run))
    assert_sayable(findings, run[3])
    assert all(findings.gap_is_real(topic) for topic in range(3))


@pytest.mark.parametrize("held_out", [0.0, 0.5])
def test_two_documents_say_nothing_of_others(held_out: float, start: Start) -> None:
    run = make_run(make_corpus(documents=2, length=40), replace(SETTINGS, held_out=held_out, tempering=False))
    findings = found(start(run))
    assert_sayable(findings, run[3])
    intervals = findings.prevalence_interval(0)
    assert intervals is not None and (intervals[:, 0] < 0.1).all() and (intervals[:, 1] > 0.4).all()
    assert all(findings.gap(topic) is None for topic in range(3))
    assert findings.words is not None and findings.words.sure is not None and not findings.words.sure.any()


def test_topics_and_groups_without_tokens(start: Start) -> None:
    """Five topics for three subjects, of which one has no tokens and one has none of the second group."""
    corpus = make_corpus()
    settings = SamplerSettings(topics=5, workers=2, seed=5, held_out=0.0, learn=False, repeats=False)
    sampler = Sampler(corpus, settings)
    topics = corpus.token_word // 20
    topics[(topics == 2) & (corpus.document_group[corpus.token_document] == 0)] = 3
    sampler.start_at(topics.astype(np.uint16))
    read = read_topics(sampler.inspect(), corpus.vocabulary, corpus.group_names)

    class Held(Evidence):  # in which sweeps would give the empty topic tokens
        def _sweep(self, sampler: Sampler, sweeps: int) -> None:
            self._check()

    findings = found(start((corpus, sampler.settings, topics, read), replace(PLAN, seeds=0), kind=Held))
    assert_sayable(findings, read)
    assert findings.gap(0) is not None and findings.gap(2) is None and findings.gap(4) is None
    intervals = [findings.prevalence_interval(topic) for topic in (3, 4)]
    assert intervals[0] is not None and intervals[0][1, 0] < 0.01 < intervals[0][1, 1]
    assert intervals[1] is not None and not intervals[1].any()
    seeds = found(start((corpus, sampler.settings, topics, read), replace(PLAN, seeds=1))).seeds
    assert seeds is not None and seeds.topics[4] == 0 and Findings(seeds=seeds).topic_found(4) is None


def test_with_associations_groups_cannot_be_dealt_out(start: Start) -> None:
    associations = Matrices.identity(2, 60)
    run = make_run(settings=replace(SETTINGS, associations=associations))
    findings = found(start(run))
    assert findings.gap(0) is None and findings.words is not None and findings.words.sure is not None
    assert findings.topic_found(0) == (3, 3)


def test_passages_of_one_document_stay_together() -> None:
    corpus = make_corpus(documents=48)
    passages = replace(
        corpus,
        origin=np.repeat(np.arange(12, dtype=np.int32), 4),
        document_group=np.repeat([0, 1], 24).astype(np.int32),
    )
    units = Units.of_corpus(passages)
    assert units.originals and np.array_equal(units.group, np.repeat([0, 1], 6))
    dealt_out = units.dealt_out(np.random.default_rng(1)).document_group
    assert (dealt_out.reshape(12, 4) == dealt_out.reshape(12, 4)[:, :1]).all() and dealt_out.sum() == 24
    assert not np.array_equal(dealt_out, passages.document_group)
    few = replace(passages, origin=np.repeat(np.arange(4, dtype=np.int32), 12))
    alone = Units.of_corpus(few)
    assert FEWEST_ORIGINALS > 2 and not alone.originals and len(alone.group) == 48


def test_passages_taken_together_make_intervals_wider(start: Start) -> None:
    corpus = make_corpus(documents=60, groups=1, length=20)
    order = np.argsort(np.arange(60) % 3, kind="stable")  # passages about one subject follow one another
    document = np.repeat(np.argsort(order).astype(np.int32), 20)
    tokens = np.argsort(document, kind="stable")
    corpus = replace(corpus, token_word=corpus.token_word[tokens], token_document=document[tokens])
    joined = replace(corpus, origin=(np.arange(60) // 6).astype(np.int32))
    widths = []
    for one in (corpus, joined):
        run = make_run(one)
        intervals = found(start(run, replace(PLAN, seeds=0))).prevalence_interval(0)
        assert intervals is not None
        widths.append(float(intervals[0, 1] - intervals[0, 0]))
    assert widths[1] > 1.5 * widths[0]


def chunks() -> Collection:
    """96 rows of 12 speeches in two groups: a speech is mostly about one of three subjects, and its chunks with it."""
    random = np.random.default_rng(12)
    rows = []
    for row in range(96):
        subject = np.where(random.random(30) < 0.85, row // 8 % 3, random.integers(0, 3, 30))
        words = " ".join(f"w{word}" for word in 20 * subject + random.integers(0, 20, 30))
        rows.append(f"{'left' if row < 48 else 'right'},speech {row // 8},{words}")
    return read_collection([InputFile("chunks.csv", data="\n".join(["group,speech,text", *rows]).encode())])


def test_the_column_of_documents_makes_intervals_wider(start: Start) -> None:
    """The run is the same; what is said of it hangs on 12 documents in place of 96. With five other seeds intervals were 3.5 to 4.2
    times as wide, and each was wider: false alarms below 1e-3."""
    settings = CorpusSettings("none", minimum_documents=1, maximum_share=1.0, passages=False)
    widths, runs = [], []
    for column in (None, "speech"):
        corpus = build_corpus(make_documents(chunks(), Columns("text", "group", document=column)), settings)
        run = make_run(corpus)
        findings = found(start(run, replace(PLAN, seeds=0)))
        intervals = [findings.prevalence_interval(topic) for topic in range(3)]
        assert all(one is not None for one in intervals)
        widths.append(np.diff(np.array(intervals), axis=-1))
        runs.append(run)
    rows, speeches = (Units.of_corpus(run[0]) for run in runs)
    assert len(rows.group) == 96 and len(speeches.group) == 12 and speeches.originals
    assert np.array_equal(runs[0][2], runs[1][2])
    assert widths[1].mean() > 1.5 * widths[0].mean() and (widths[1] > widths[0]).mean() > 0.8


@pytest.mark.parametrize(("tokens", "sweeps"), [(1_000, 410), (300_000, 410), (1_000_000, 410), (5_000_000, 155)])
def test_large_corpora_get_less(tokens: int, sweeps: int) -> None:
    plan = Plan().sized(tokens)
    assert plan.dealings == (39 if tokens <= 200_000 else 20)
    assert plan.samples == 20 and plan.seeds == 4
    assert plan.settle + plan.apart * plan.samples + plan.iterations <= sweeps
    assert plan.work(compared=False, dealt_out=True) < plan.work(compared=True, dealt_out=True)


# --- views


def test_parts_that_are_read_as_one_add_their_shares(run: Run, start: Start) -> None:
    findings = found(start(run))
    merged = findings.merged({2: 0})
    assert findings.merged({}) is findings
    whole, draws = merged.prevalence_draws, findings.prevalence_draws
    assert whole is not None and draws is not None
    assert np.allclose(whole[:, :, 0], np.minimum(draws[:, :, 0] + draws[:, :, 2], 1)) and not whole[:, :, 2].any()
    for topic in (0, 2):
        assert merged.gap(topic) is None and merged.gap_is_real(topic) is None and merged.topic_found(topic) is None
        assert merged.word(topic, 0, run[3].own_words(topic, 1)[0][0].word) is None
    assert merged.gap(1) == findings.gap(1) and merged.topic_found(1) == (3, 3)
    word = run[3].own_words(1, 1)[0][0].word
    assert merged.word(1, 0, word) == findings.word(1, 0, word) is not None
    assert findings.gap(0) is not None  # which is left as it was


def test_nothing_is_known_at_first() -> None:
    nothing = Findings()
    assert nothing.prevalence_interval(0) is None and nothing.difference_interval(0, 0, 1) is None
    assert nothing.gap(0) is None and nothing.gap_interval(0) is None and nothing.gap_by_chance(0) is None
    assert nothing.gap_is_real(0) is None and nothing.word(0, 0, "word") is None and nothing.topic_found(0) is None
    assert nothing.merged({1: 0}) == nothing or nothing.merged({1: 0}).prevalence_draws is None


def test_words_are_told_by_topic_group_and_word() -> None:
    row, column = np.zeros(2, np.int32), np.array([[0.5, -0.5], [1.5, -1.5]], np.float32)
    words = WordEvidence(("a", "b"), row, np.array([0, 1], np.int32), column, column - 1, column + 1)
    assert Findings(words=words).word(0, 1, "b") == WordFinding(-1.5, -2.5, -0.5, None, None, None)
    seeds = SeedEvidence(5, np.array([4], np.int32), np.array([[1, 0], [4, 0]], np.int32))
    known = Findings(words=replace(words, sure=column > 1), seeds=seeds)
    assert known.word(0, 0, "b") == WordFinding(1.5, 0.5, 2.5, True, 4, 4)
    assert known.word(0, 0, "a") == WordFinding(0.5, -0.5, 1.5, False, 1, 4)
    assert known.topic_found(0) == (4, 5)


# --- the handle


def test_it_waits_for_its_place_and_gives_it_back(run: Run, start: Start) -> None:
    queue, other = Queue(limit=1), object()
    assert queue.enter(other, lambda: False)
    evidence = start(run, queue=queue)
    wait_until(lambda: evidence.status().state is JobState.WAITING)
    assert evidence.status().waiting_before == 1 and evidence.status().share == 0
    assert evidence.status().seconds_left is None
    queue.leave(other)
    found(evidence)
    assert queue.enter(other, lambda: True)


def test_a_run_need_not_wait_until_all_is_measured(run: Run, start: Start) -> None:
    """In a queue of one place a run comes between two dealings-out."""
    queue, gate = Queue(limit=1), threading.Event()

    class Slow(Evidence):
        def _sweep(self, sampler: Sampler, sweeps: int) -> None:
            if self._phase is Phase.CHANCE:
                gate.wait(PATIENCE)
            super()._sweep(sampler, sweeps)

    evidence = start(run, replace(PLAN, dealings=200), queue, Slow)
    wait_until(lambda: evidence.status().phase is Phase.CHANCE and evidence.status().state is JobState.RUNNING)
    job = Job(CORPUS, SETTINGS, 3, queue)
    wait_until(lambda: queue.before(job) == 1)
    gate.set()
    assert job.wait(PATIENCE).state is JobState.FINISHED
    assert evidence.status().state in (JobState.WAITING, JobState.RUNNING)
    job.discard()


def test_status_tells_how_far_it_is(run: Run, start: Start) -> None:
    seen = []

    class Told(Evidence):
        def _worked(self, sweeps: int) -> None:
            super()._worked(sweeps)
            seen.append(self.status())

    found(start(run, kind=Told))
    shares = [status.share for status in seen]
    assert shares == sorted(shares) and shares[0] > 0 and shares[-1] == pytest.approx(1)
    assert all(status.seconds_left is not None and status.seconds_left >= 0 for status in seen)
    assert list(dict.fromkeys(status.phase for status in seen)) == list(Phase)


def test_a_gap_whose_interval_reaches_0_is_not_called_real() -> None:
    draws = np.full((20, 2), 0.3, np.float32)
    draws[:4, 1] = 0.0  # of one in five outcomes, more than the interval leaves out
    chance = np.full((19, 2), 0.05, np.float32)
    findings = Findings(gap_draws=draws, gap_baseline=chance, gap_limit=np.full(2, 0.1, np.float32))
    assert [findings.gap_is_real(topic) for topic in (0, 1)] == [True, False]
    assert findings.gap(1) is not None and findings.gap(1) > 0.1


def test_cancelled_while_it_waits(run: Run, start: Start) -> None:
    queue = Queue(limit=1)
    queue.enter(object(), lambda: False)
    evidence = start(run, queue=queue)
    wait_until(lambda: evidence.status().state is JobState.WAITING)
    evidence.cancel()
    assert evidence.wait(PATIENCE).state is JobState.STOPPED and evidence.findings().prevalence_draws is None
    evidence.join(PATIENCE)
    assert not evidence._thread.is_alive()


def test_cancelled_while_it_measures_it_keeps_what_is_known(run: Run, start: Start) -> None:
    queue = Queue(limit=1)
    evidence = start(run, replace(PLAN, adapt=10**9), queue)
    wait_until(lambda: evidence.findings().prevalence_draws is not None)
    evidence.cancel()
    evidence.join(PATIENCE)
    assert evidence.status().state is JobState.STOPPED
    assert evidence.findings().prevalence_interval(0) is not None and evidence.findings().gap(0) is None
    assert queue.enter(object(), lambda: True)


def test_runs_that_wait_for_a_place_have_it_at_once(run: Run, start: Start) -> None:
    queue = Queue(limit=1)
    evidence = start(run, replace(PLAN, adapt=10**9), queue)
    wait_until(lambda: evidence.findings().prevalence_draws is not None)
    other, done = object(), evidence._done
    wait_until(lambda: evidence._done > done)
    assert queue.enter(other, lambda: False), "though the phase is far from its end"
    wait_until(lambda: evidence.status().state is JobState.WAITING)
    assert evidence.status().waiting_before == 1
    time.sleep(0.2)
    done = evidence._done
    time.sleep(0.2)
    assert evidence._done == done, "the cores are another's"
    queue.leave(other)
    wait_until(lambda: evidence._done > done)
    assert evidence.status().state is JobState.RUNNING
    assert queue.enter(other, lambda: False)
    evidence.cancel()
    evidence.join(PATIENCE)
    assert not evidence._thread.is_alive(), "it ends while it waits"


def test_it_gives_way_for_a_while_and_goes_on(run: Run, start: Start) -> None:
    evidence = start(run, replace(PLAN, adapt=10**9))
    wait_until(lambda: evidence.findings().prevalence_draws is not None)
    evidence.give_way(3600)
    evidence.give_way(1)  # asks for less than it gives already
    time.sleep(0.5)  # the iteration that goes on ends
    done = evidence._done
    time.sleep(0.2)
    assert evidence._done == done and evidence.status().state is JobState.RUNNING
    evidence.cancel()
    evidence.join(PATIENCE)
    assert not evidence._thread.is_alive(), "it ends while it gives way"

    evidence = start(run)
    evidence.give_way(0.2)
    assert evidence.wait(PATIENCE).state is JobState.FINISHED


def test_what_fails_says_so_in_a_sentence(run: Run, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> None:
        raise DeviceError("The device ran out of memory.")

    monkeypatch.setattr(module, "Sampler", no_memory)
    status = start(run).wait(PATIENCE)
    assert status.state is JobState.FAILED
    assert status.error == "How sure the findings are could not be measured to the end. The device ran out of memory."


def test_what_nobody_foresaw_is_logged(
    run: Run, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("something")

    monkeypatch.setattr(module, "estimate_gaps", broken)
    evidence = start(run)
    status = evidence.wait(PATIENCE)
    assert status.state is JobState.FAILED and "the log says why" in status.error and "something" in caplog.text
    assert evidence.findings().prevalence_interval(0) is not None


def test_a_thread_that_dies_is_noticed(run: Run, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Evidence, "_run", lambda self: None)
    status = start(run).wait(PATIENCE)
    assert status.state is JobState.FAILED and "unexpectedly" in status.error


def test_a_process_can_end_while_it_measures(run: Run, start: Start) -> None:
    evidence = start(run, LONG)
    wait_until(lambda: evidence.status().state is JobState.RUNNING)
    background._let_go()
    assert evidence.status().state is JobState.STOPPED and not evidence._thread.is_alive()
