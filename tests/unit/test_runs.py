"""Runs that are kept: what they are called, how many there are, whether their fit can be compared, and a further one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from spdp_engine import runs as module
from spdp_engine.corpus import Corpus, CorpusSettings, corpus_from_arrays
from spdp_engine.errors import SettingsError
from spdp_engine.jobs import JobState, Queue
from spdp_engine.models import LdaPriors, SpdpPriors
from spdp_engine.runs import FurtherRun, Run, fingerprint, incomparable, kept, names_of
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics.pairing import RunTopics, Verdict, pair_runs
from spdp_engine.types import Iteration

pytestmark = pytest.mark.timeout(60)

PATIENCE = 30.0
FOREVER = 10**9
SETTINGS = SamplerSettings(topics=3, workers=2, seed=5)


def make_corpus(documents: int = 40, length: int = 25, words: int = 60, seed: int = 8) -> Corpus:
    """Two groups, each document about one half of the vocabulary."""
    draw = np.random.default_rng(seed)
    document = np.repeat(np.arange(documents), length)
    half = words // 2 * (document % 4 // 2)
    return corpus_from_arrays(half + draw.integers(0, words // 2, len(document)), document, np.arange(documents) % 2)


CORPUS = make_corpus()


def make_run(
    topics: int = 20, seed: int = 1, iterations: int = 3, words: int = 10, corpus: Corpus = CORPUS, **settings: object
) -> Run:
    light = RunTopics(
        corpus.vocabulary[:words], ("left", "right"), tuple(range(topics)), tuple(map(str, range(topics))),
        np.full((2, words, topics), 1 / words, np.float32), np.full((2, topics), 1 / topics), np.ones(2), np.zeros(topics),
    )  # fmt: skip
    records = [Iteration(n + 1, 0.1, 0.1 * n, 1e6, 900.0 - n) for n in range(iterations)]
    return Run.of(CORPUS, SamplerSettings(topics=topics, seed=seed, **settings), records, light, collection="talk")  # type: ignore[arg-type]


# --- names


def test_runs_are_named_by_what_differs() -> None:
    assert names_of([]) == ()
    assert names_of([make_run()]) == ("20 topics",)
    assert names_of([make_run(seed=1), make_run(seed=2)]) == ("20 topics, seed 1", "20 topics, seed 2")
    assert names_of([make_run(), make_run(25), make_run(1)]) == ("20 topics", "25 topics", "1 topic")
    other = replace(make_run(), collection="speech", words=CorpusSettings(minimum_length=1, extra_stop_words=("said",)))
    assert names_of([make_run(), other]) == ("20 topics, talk", "20 topics, speech"), "the documents tell enough"
    assert names_of([make_run(), make_run(seed=2), other]) == (
        "20 topics, talk, seed 1", "20 topics, talk, seed 2", "20 topics, speech",
    )  # fmt: skip


def test_words_that_are_left_out_are_named() -> None:
    def without(*words: str) -> Run:
        return replace(make_run(), words=CorpusSettings(extra_stop_words=words))

    assert names_of([without(), without("said")]) == ("20 topics", "20 topics, without “said”")
    assert names_of([without("mr"), without("mr", "said", "says")]) == (
        "20 topics",
        "20 topics, without “said” and “says”",
    )
    assert names_of([without(), without(*"abcde")])[1] == "20 topics, without “a”, “b” and 3 more words"
    assert names_of([without(), without(*"abc")])[1] == "20 topics, without “a”, “b” and 1 more word"


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"model": "lda"}, ("20 topics, SPDP", "20 topics, LDA")),
        ({"schedule": "sequential"}, ("20 topics, SPDP", "20 topics, SPDP sequential")),
        ({"repeats": False}, ("20 topics, SPDP", "20 topics, SPDP no repeats")),
        ({"tempering": False}, ("20 topics, SPDP", "20 topics, SPDP not tempered")),
        ({"fixed": ("discount",), "priors": SpdpPriors(discount=0.5)}, ("20 topics", "20 topics, discount 0.5")),
        ({"held_out": 0.2}, ("20 topics, 10 % held out", "20 topics, 20 % held out")),
    ],
)
def test_settings_that_differ_are_named(changed: dict[str, object], names: tuple[str, ...]) -> None:
    assert names_of([make_run(), make_run(**changed)]) == names  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (CorpusSettings(minimum_documents=4), "words in 4 documents or more"),
        (CorpusSettings(maximum_share=0.25), "words in at most 25 % of the documents"),
        (CorpusSettings(minimum_length=1), "words of 1 letter or more"),
        (CorpusSettings(language="de"), "stop words: de"),
        (CorpusSettings(keep_numbers=True), "with numbers"),
        (CorpusSettings(passages=True, passage_words=200), "passages of 200 words"),
        (CorpusSettings(joined_words=(("tax", "taxes"),)), "“taxes” as “tax”"),
    ],
)
def test_ways_of_making_words_that_differ_are_named(words: CorpusSettings, told: str) -> None:
    plain = replace(make_run(), words=CorpusSettings())
    assert names_of([plain, replace(plain, words=words)])[1] == f"20 topics, {told}"


def test_no_two_names_are_the_same() -> None:
    assert names_of([make_run(iterations=3), make_run(iterations=5)]) == (
        "20 topics, 3 iterations", "20 topics, 5 iterations",
    )  # fmt: skip
    three = names_of([make_run(), make_run(), make_run()])
    assert three == tuple(f"20 topics, 3 iterations ({turn})" for turn in (1, 2, 3))


# --- what is kept


def test_no_more_runs_are_kept_than_there_is_room_for() -> None:
    runs = [make_run(seed=seed) for seed in range(5)]
    each = runs[0].topics.nbytes
    assert kept(runs, 3, 10**9) == tuple(runs[:3])
    assert kept(runs, 9, 2 * each) == tuple(runs[:2])
    assert kept(runs, 9, 5 * each) == tuple(runs)
    assert kept(runs, 9, 1) == tuple(runs[:1]), "the newest in any case"
    assert kept([], 3, 10) == ()
    assert kept([runs[1], runs[0], runs[1]]) == (runs[1], runs[0]), "each once"


def test_a_kept_run_holds_no_matrices_and_its_topics_are_light() -> None:
    run = make_run(words=50, topics=7)
    assert run.settings.associations is None
    assert run.topics.wordings.dtype == np.float32 and run.topics.nbytes == 4 * 50 * 7 * 3
    assert run.perplexity == 898.0 and run.iterations == 3 and not run.averaged


def test_perplexity_is_of_the_averages_where_there_are_some() -> None:
    records = (Iteration(1, 0, 0, 0, 900.0, 800.0, 4), Iteration(2, 0, 0, 0, None))
    assert replace(make_run(), records=records).perplexity == 800.0
    assert replace(make_run(), records=()).perplexity is None


def test_a_fingerprint_is_of_words_documents_and_groups() -> None:
    assert fingerprint(make_corpus()) == fingerprint(make_corpus())
    words = CORPUS.token_word.copy()
    words[3] = (words[3] + 1) % 60
    groups = CORPUS.document_group.copy()
    groups[0] = 1 - groups[0]
    others = [
        replace(CORPUS, token_word=words),
        replace(CORPUS, document_group=groups),
        replace(CORPUS, vocabulary=("x", *CORPUS.vocabulary[1:])),
        replace(CORPUS, group_names=("a", "b")),
    ]
    assert len({fingerprint(corpus) for corpus in (CORPUS, *others)}) == 5


# --- whether their fit can be compared


def test_the_fit_is_compared_where_the_same_words_are_held_out() -> None:
    assert incomparable(make_run(), make_run()) == ()
    assert incomparable(make_run(), make_run(model="lda", priors=LdaPriors())) == ()


def test_what_cannot_be_compared_is_said() -> None:
    (other_words,) = incomparable(make_run(), make_run(words=9))
    assert other_words.startswith("Their vocabularies differ")
    (other_texts,) = incomparable(make_run(), replace(make_run(), text="another"))
    assert "different documents" in other_texts
    for changed in (make_run(seed=2), make_run(held_out=0.3)):
        (other_held_out,) = incomparable(make_run(), changed)
        assert "other held-out words" in other_held_out
    (coherence,) = incomparable(make_run(), make_run(25))
    assert coherence.startswith("Coherence")
    assert len(incomparable(make_run(), make_run(25, seed=2))) == 2


# --- a further run

Start = Callable[..., FurtherRun]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts further runs, and ends them all when the test is over."""
    started: list[FurtherRun] = []

    def starter(settings: SamplerSettings = SETTINGS, iterations: int = 30, queue: Queue | None = None) -> FurtherRun:
        started.append(FurtherRun(CORPUS, settings, iterations, queue or Queue(limit=1), "talk", "links.csv"))
        return started[-1]

    yield starter
    for further in started:
        further.cancel()
        further.wait(PATIENCE)
        further._job.join(PATIENCE)
        assert not further._thread.is_alive() and not further._job._thread.is_alive()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def test_a_further_run_is_kept_light_and_measured_and_its_sampler_let_go(start: Start) -> None:
    further = start()
    assert further.wait(PATIENCE).state is JobState.FINISHED
    run = further.run
    assert run is not None and run.settings.seed == 5 and run.iterations == 30
    assert run.collection == "talk" and run.associations == "links.csv" and run.text == fingerprint(CORPUS)
    assert run.topics.n_topics == 3 and run.topics.group_names == CORPUS.group_names
    assert run.coherence is not None and run.diversity is not None and run.perplexity is not None
    further._job.join(PATIENCE)
    assert not further._job._thread.is_alive()
    again = start()
    again.wait(PATIENCE)
    assert again.run is not None
    assert {pair.verdict for pair in pair_runs(run.topics, again.run.topics).pairs} == {Verdict.SAME}


def test_a_cancelled_run_leaves_nothing(start: Start) -> None:
    further = start(iterations=FOREVER)
    wait_until(lambda: further.status().iteration > 1)
    assert further.status().state is JobState.RUNNING and further.run is None
    further.cancel()
    assert further.wait(PATIENCE).state is JobState.STOPPED and further.run is None


def test_it_waits_for_its_turn(start: Start) -> None:
    queue = Queue(limit=1)
    first = start(iterations=FOREVER, queue=queue)
    wait_until(lambda: first.status().iteration > 0)
    second = start(queue=queue)
    wait_until(lambda: second.status().waiting_before == 1)
    assert second.status().state is JobState.WAITING
    first.cancel()
    assert second.wait(PATIENCE).state is JobState.FINISHED and second.run is not None


def test_what_makes_no_sense_is_refused_before_it_starts(start: Start) -> None:
    with pytest.raises(SettingsError, match="more topics"):
        start(replace(SETTINGS, topics=500))


def test_a_run_that_cannot_be_read_says_so(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(module, "measure_quality", fail)
    further = start(iterations=2)
    status = further.wait(PATIENCE)
    assert status.state is JobState.FAILED and status.error.endswith("Start it again.") and further.run is None
