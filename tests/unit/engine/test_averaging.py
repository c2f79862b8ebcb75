"""Averages over samples: the same as by hand, begun when the chain has settled, and read like any sample."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.models.mean import MeanSample
from spdp_engine.models.spdp import SpdpSample
from spdp_engine.sampling import averaging
from spdp_engine.sampling.averaging import FEW, LONGEST_BURN_IN, SETTLED, WINDOW, BurnIn
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings
from spdp_engine.topics.reading import read_topics

from .corpora import random_matrices, random_tokens
from .on_device import read, write
from .test_scoring import always_settled

WORDS, GROUPS, TOPICS = 40, 3, 6
CORPUS = random_tokens(1_500, 30, WORDS, GROUPS, seed=81)
MATRICES = random_matrices(CORPUS, 2.0, seed=82)


def settings_of(model: str, schedule: str, **more: Any) -> SamplerSettings:
    return plain_settings(TOPICS, model=model, schedule=schedule, workers=2, **more)


RUNS = [
    pytest.param(settings_of("spdp", "blocks"), id="spdp"),
    pytest.param(settings_of("spdp", "blocks", repeats=True, learn=True), id="spdp repeats, learned"),
    pytest.param(settings_of("spdp", "sequential", repeats=True, associations=MATRICES), id="spdp matrices repeats"),
    pytest.param(settings_of("spdp", "hybrid"), id="hybrid"),
    pytest.param(settings_of("lda", "blocks", learn=True), id="lda, learned"),
    pytest.param(settings_of("lda", "blocks", repeats=True, held_out=0.0), id="lda repeats, nothing held out"),
]


def averaged_by_hand(sampler: Sampler, iterations: int, every: int) -> tuple[NDArray[np.float64], ...]:
    """Runs a sampler, and gives the means of its samples' shares, wordings and words."""
    samples: list[Any] = []
    for _ in range(iterations):
        sampler.step()
        if sampler.iteration % every == 0:
            samples.append(sampler.sample())
    return (
        np.mean([sample.document_shares() for sample in samples], axis=0),
        np.mean([sample.group_wordings() for sample in samples], axis=0),
        np.mean([sample.all_words for sample in samples], axis=0),
    )


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("settings", RUNS)
def test_the_mean_is_that_of_the_samples_by_hand(
    settings: SamplerSettings, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    always_settled(monkeypatch, every)
    sampler = Sampler(CORPUS, settings)
    shares, wordings, words = averaged_by_hand(sampler, 12, every)
    mean = sampler.inspect()
    assert isinstance(mean, MeanSample)
    assert (mean.iteration, mean.samples, mean.since) == (12, 12 // every, every)
    np.testing.assert_allclose(mean.words, words, rtol=1e-6)
    np.testing.assert_allclose(mean.shares, shares, rtol=1e-5)
    np.testing.assert_allclose(mean.document_shares(), shares, rtol=1e-5)
    np.testing.assert_allclose(mean.group_wordings(), wordings, rtol=2e-5)

    assert mean.shares.dtype == mean.wordings.dtype == mean.words.dtype == np.float32
    assert mean.words.sum() == pytest.approx(sampler.training_tokens, rel=1e-6)
    np.testing.assert_allclose(mean.group_wordings().sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(mean.document_shares().sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(mean.group_topic_tokens(), words.sum(axis=1), rtol=1e-6)
    for topic in range(TOPICS):
        np.testing.assert_allclose(mean.group_word_tokens(topic), words[:, :, topic], rtol=1e-6)
    # What is not averaged is of the last sample.
    last: Any = sampler.sample()
    np.testing.assert_array_equal(mean.base_wording(), last.base_wording())
    np.testing.assert_array_equal(mean.counts.document_topics, last.counts.document_topics)
    assert mean.priors == last.priors


def test_lda_words_a_topic_in_one_row_for_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    sampler = Sampler(CORPUS, settings_of("lda", "blocks"))
    sampler.run(3)
    mean: Any = sampler.inspect()
    assert mean.wordings.shape == (1, WORDS, TOPICS)
    wordings = mean.group_wordings()
    assert wordings.shape == (GROUPS, WORDS, TOPICS)
    for group in range(1, GROUPS):
        np.testing.assert_array_equal(wordings[group], wordings[0])
    of_spdp = Sampler(CORPUS, settings_of("spdp", "blocks"))
    of_spdp.run(3)
    there: Any = of_spdp.inspect()
    assert there.wordings.shape == (GROUPS, WORDS, TOPICS)


@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_a_mean_is_read_like_any_sample(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    sampler = Sampler(CORPUS, settings_of(model, "blocks", repeats=True))
    sampler.run(6)
    vocabulary, groups = tuple(f"w{w}" for w in range(WORDS)), ("x", "y", "z")
    mean, single = sampler.inspect(), sampler.sample()
    assert type(mean) is not type(single)
    topics = read_topics(mean, vocabulary, groups)
    assert topics.n_topics == TOPICS
    assert topics.worded_alike is (model == "lda")
    np.testing.assert_allclose(topics.prevalence.sum(axis=1), 1.0)
    assert sorted(topics.rank) == list(range(1, TOPICS + 1))
    assert (topics.gap == 0).all() == (model == "lda")
    wordings, words = mean.group_wordings(), mean.group_word_tokens(0)
    for group, found in enumerate(topics.top_words(0, 5)):
        best = np.argsort(-wordings[group, :, 0], kind="stable")[:5]
        assert [one.word for one in found] == [f"w{w}" for w in best]
    assert np.isfinite(topics.log_odds(0)).all()
    for group, found in enumerate(topics.own_words(0, 5, least_z=0.1)):
        assert all(words[group, int(one.word[1:])] >= 3 for one in found)
    assert len(topics.shared_words(0)) == 10
    # Means of six samples are near one of them.
    of_one = read_topics(single, vocabulary, groups)
    np.testing.assert_allclose(topics.prevalence, of_one.prevalence, atol=0.25)


def test_reading_the_mean_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    quiet, curious = (Sampler(CORPUS, settings_of("spdp", "blocks", repeats=True, learn=True)) for _ in range(2))
    for _ in range(6):
        quiet.step()
        curious.step()
        first: Any = curious.inspect()
        again: Any = curious.inspect()
        np.testing.assert_array_equal(first.wordings, again.wordings)
    np.testing.assert_array_equal(quiet.topics(), curious.topics())
    one: Any = quiet.inspect()
    other: Any = curious.inspect()
    for name in ("wordings", "shares", "words"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    with pytest.raises(FrozenInstanceError):
        other.samples = 1


@pytest.mark.parametrize("settings", RUNS[1:])
def test_averaging_changes_nothing_that_is_sampled(settings: SamplerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Sampler(CORPUS, settings)
    plain.run(6)
    always_settled(monkeypatch)
    averaging_too = Sampler(CORPUS, settings)
    averaging_too.run(6)
    assert (plain._averages.samples, averaging_too._averages.samples) == (0, 6)
    np.testing.assert_array_equal(plain.topics(), averaging_too.topics())
    assert plain.perplexity() == averaging_too.perplexity()


@pytest.mark.parametrize("repeats", [False, True])
def test_sums_of_tokens_do_not_overflow(repeats: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device adds up whole numbers beyond 2^31: as far as 2^32."""
    always_settled(monkeypatch)
    sampler = Sampler(CORPUS, settings_of("spdp", "blocks", repeats=repeats, held_out=0.0))
    sampler.run(2)
    averages, padded = sampler._averages, sampler._state.padded
    before = np.full((GROUPS, WORDS, padded), 2**31 - 1, np.uint32)
    write(sampler, averages._words, before)
    averages.samples = 100_000
    averages.add(3)
    state: Any = sampler.sample()
    expected = before[..., :TOPICS] + state.all_words.astype(np.int64)
    assert (expected >= 2**31).any() and (expected < 2**32).all()
    there = read(sampler, averages._words, np.uint32, GROUPS, WORDS, padded)[..., :TOPICS]
    np.testing.assert_array_equal(there, expected)
    mean: Any = sampler.inspect()
    assert mean.words.min() > 0
    np.testing.assert_allclose(mean.words, expected / 100_001, rtol=1e-6)


def test_padded_topics_have_no_share_in_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    for settings in (settings_of("spdp", "blocks", repeats=True, learn=True), settings_of("lda", "blocks")):
        sampler = Sampler(CORPUS, settings)
        sampler.run(6)
        state, averages = sampler._state, sampler._averages
        for buffer, kind, rows in (
            (averages._shares, np.float32, state.documents),
            (averages._words, np.int32, GROUPS * WORDS),
        ):
            assert not read(sampler, buffer, kind, rows, state.padded)[:, TOPICS:].any()


# ---- when they begin ------------------------------------------------------------------------------------------------


def first_settled(trace: NDArray[np.float64]) -> int | None:
    """After how many measurements a chain of this trace has settled."""
    burn_in = BurnIn()
    for measurements, perplexity in enumerate(trace.tolist(), 1):
        if burn_in.settled(perplexity):
            return measurements
    return None


LONG = 3 * LONGEST_BURN_IN


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (np.full(LONG, 500.0), 2 * WINDOW),
        (np.linspace(100.0, 900.0, LONG), 2 * WINDOW),
        (500.0 + np.random.default_rng(83).normal(0, 1, LONG), 2 * WINDOW),
        (1e6 * (1 - 2 * SETTLED / WINDOW) ** np.arange(LONG), LONGEST_BURN_IN),
        (1e6 * 0.5 ** np.minimum(np.arange(LONG), 40), 41 + 2 * WINDOW - 1),
    ],
    ids=["flat", "rising", "noise", "falling for ever", "falling, then flat"],
)
def test_the_chain_has_settled_when_perplexity_no_longer_falls(trace: NDArray[np.float64], expected: int) -> None:
    """Never before there are two windows to compare, and in the end whatever it does."""
    assert first_settled(trace) == expected


def test_what_settled_means_is_a_share_of_perplexity() -> None:
    for scale in (1e-3, 1.0, 1e6):
        for fall, has_settled in ((0.9 * SETTLED, True), (1.1 * SETTLED, False)):
            trace = scale * np.repeat([1.0, 1.0 - fall], WINDOW)
            assert (first_settled(trace) == 2 * WINDOW) is has_settled


def test_a_fit_that_has_become_better_makes_what_was_found_worth_forgetting() -> None:
    for fall, has_fallen in ((0.0, False), (0.9 * SETTLED, False), (1.2 * SETTLED, True), (-0.5, False)):
        burn_in = BurnIn()
        for _ in range(2 * WINDOW):
            burn_in.settled(100.0)
        burn_in.mark()
        for _ in range(WINDOW):
            burn_in.settled(100.0 * (1 - fall))
        assert burn_in.fell() is has_fallen
        burn_in.mark()
        assert not burn_in.fell()


def test_there_is_no_mean_before_and_one_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averaging, "WINDOW", 3)
    monkeypatch.setattr(averaging, "SETTLED", -0.5)  # nothing falls like that, so it never is flat
    monkeypatch.setattr(averaging, "LONGEST_BURN_IN", 8)
    monkeypatch.setattr("spdp_engine.sampling.sampler.AVERAGE_EVERY", 5)
    sampler = Sampler(CORPUS, settings_of("spdp", "blocks", held_out=0.3))
    records = []
    for iteration in range(1, 13):
        records.append(sampler.step())
        sample: Any = sampler.inspect()
        if iteration < 10:
            assert isinstance(sample, SpdpSample)
        else:
            assert isinstance(sample, MeanSample)
            assert (sample.samples, sample.since) == (1, 10)
    assert [record.samples for record in records] == [0] * 8 + [1, 2, 3, 4]
    assert all(record.averaged is None for record in records[:8])
    assert all(record.averaged is not None for record in records[8:])
    # The mean of one is that one.
    assert records[8].averaged == pytest.approx(records[8].perplexity, rel=1e-6)


def test_a_run_that_measures_nothing_averages_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    sampler = Sampler(CORPUS, settings_of("spdp", "blocks", measure_every=0))
    records = sampler.run(4)
    assert [(record.averaged, record.samples) for record in records] == [(None, 0)] * 4
    assert isinstance(sampler.inspect(), SpdpSample)


def test_where_it_is_not_measured_there_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    sampler = Sampler(CORPUS, settings_of("spdp", "blocks", measure_every=3))
    records = sampler.run(9)
    assert [record.iteration for record in records if record.averaged is not None] == [6, 9]
    assert [record.samples for record in records] == [0, 0, 0, 0, 0, 1, 1, 1, 2]
    mean: Any = sampler.inspect()
    assert (mean.samples, mean.since) == (3, 3)


# ---- when they begin anew -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_topics_that_change_their_numbers_are_noticed(model: str) -> None:
    sampler = Sampler(CORPUS, settings_of(model, "blocks", held_out=0.0))
    # Six topics of words of their own, so that it is clear which is which.
    topics = (CORPUS.token_word % TOPICS).astype(np.uint16)
    sampler.start_at(topics)
    assert sampler._averages.renumbered() is False, "there is nothing to compare with"
    sampler._averages.add(1)
    assert sampler._averages.renumbered() is False
    sampler.start_at(np.array([0, 1, 2, 3, 5, 4], np.uint16)[topics])
    assert sampler._averages.renumbered() is True
    sampler.start_at(topics)
    assert sampler._averages.renumbered() is False


def test_means_begin_anew_when_the_fit_has_become_better_or_topics_have_changed_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    always_settled(monkeypatch)
    monkeypatch.setattr("spdp_engine.sampling.sampler.LOOK_EVERY", 1)
    monkeypatch.setattr("spdp_engine.sampling.sampler.MANY", FEW)
    sampler = Sampler(CORPUS, settings_of("spdp", "blocks", repeats=True))
    sampler.run(4)
    for name, kind in (("fell", BurnIn), ("renumbered", averaging.Averages)):
        with monkeypatch.context() as patch:
            patch.setattr(kind, name, lambda self: True)
            sampler.step()
        begun = sampler.iteration
        kept: Any = sampler.inspect()
        assert kept.iteration == begun and kept.samples >= FEW and kept.since < begun, (
            "the mean before is shown for a while"
        )
        mean: Any = sampler._mean()
        assert (mean.samples, mean.since) == (1, begun)
        state: Any = sampler.sample()
        np.testing.assert_array_equal(mean.words, state.all_words)
        np.testing.assert_allclose(mean.shares, state.document_shares(), rtol=1e-5)
        np.testing.assert_allclose(mean.wordings, state.group_wordings(), rtol=2e-5)
        sampler.run(2)
        again: Any = sampler.inspect()
        assert (again.samples, again.since) == (3, begun)
