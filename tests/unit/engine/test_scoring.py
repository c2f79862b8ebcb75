"""Tokens that are scored and never trained on: their probabilities against NumPy, whoever gave them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.models import Matrices
from spdp_engine.sampling import averaging, sampler
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings
from spdp_engine.types import ScoredTokens

from .corpora import Tokens, from_documents, random_matrices, random_tokens
from .reference import numpy_repeat_likelihoods
from .test_repeats import runs_of

WORDS = 40
CORPUS = random_tokens(1_500, 30, WORDS, 3, seed=71)
MATRICES = random_matrices(CORPUS, 2.0, seed=72)

RUNS = [
    pytest.param(
        plain_settings(8, schedule="blocks", workers=2, model=model, repeats=repeats, associations=matrices, seed=7),
        id=" ".join([model, *["matrices"] * (matrices is not None), *["repeats"] * repeats]),
    )
    for model, matrices in (("spdp", None), ("spdp", MATRICES), ("lda", None))
    for repeats in (False, True)
]


def random_scored(corpus: Tokens, tokens: int = 700, seed: int = 73) -> ScoredTokens:
    """Tokens of any word and document, in no order: more than two chunks of them, some of them equal."""
    rng = np.random.default_rng(seed)
    return ScoredTokens(
        rng.integers(0, corpus.n_words, tokens).astype(np.int32),
        rng.integers(0, len(corpus.document_group), tokens).astype(np.int32),
    )


def by_word(corpus: Tokens, scored: ScoredTokens) -> NDArray[np.int64]:
    """The order in which a sampler gives likelihoods: by word, group and document."""
    return np.lexsort((scored.token_document, corpus.document_group[scored.token_document], scored.token_word))


def numpy_scores(run: Sampler, corpus: Tokens, scored: ScoredTokens) -> NDArray[np.float64]:
    """Each token's probability by the state as it is, in the order of the sampler's likelihoods."""
    sample: Any = run.sample()
    order = by_word(corpus, scored)
    words, documents = scored.token_word[order], scored.token_document[order]
    theta, phi = sample.document_shares(), sample.group_wordings()
    model = (theta[documents] * phi[corpus.document_group[documents], words]).sum(axis=1)
    if not run.settings.repeats:
        return model
    return numpy_repeat_likelihoods(model, sample, runs_of(run, corpus), words, documents)


def always_settled(monkeypatch: pytest.MonkeyPatch, every: int = 1) -> None:
    """The chain has settled at once, and nothing makes its means begin anew; readers' are of so many sweeps each."""
    monkeypatch.setattr(averaging.BurnIn, "settled", lambda self, perplexity: not self._trace.append(perplexity))
    monkeypatch.setattr(averaging.BurnIn, "fell", lambda self: False)
    monkeypatch.setattr(averaging.Averages, "renumbered", lambda self: False)
    monkeypatch.setattr(sampler, "AVERAGE_EVERY", every)


@pytest.mark.parametrize("settings", RUNS)
def test_probabilities_of_held_out_tokens_equal_numpy(settings: SamplerSettings) -> None:
    run = Sampler(CORPUS, replace(settings, held_out=0.5))
    held_out = ScoredTokens(CORPUS.token_word[run.held_out], CORPUS.token_document[run.held_out])
    for _ in range(3):
        record = run.step()
        likelihoods = run.likelihoods()
        assert likelihoods.dtype == np.float64
        np.testing.assert_allclose(likelihoods, numpy_scores(run, CORPUS, held_out), rtol=1e-5)
        assert record.perplexity == pytest.approx(np.exp(-np.log(likelihoods).mean()), rel=1e-5)


@pytest.mark.parametrize("settings", RUNS)
def test_tokens_may_come_from_outside_and_then_none_of_the_corpus_is_held_out(settings: SamplerSettings) -> None:
    """Among them words that their documents do not have, and documents without a token."""
    lonely = len(CORPUS.document_group)
    corpus = replace(CORPUS, document_group=np.append(CORPUS.document_group, [1, 2]).astype(np.int32))
    scored = random_scored(corpus)
    there = set(zip(corpus.token_document.tolist(), corpus.token_word.tolist(), strict=True))
    theirs = list(zip(scored.token_document.tolist(), scored.token_word.tolist(), strict=True))
    assert 0 < sum(one in there for one in theirs) < len(theirs)
    assert (scored.token_document >= lonely).sum() > 5

    run = Sampler(corpus, replace(settings, held_out=0.5), scored)
    assert not run.held_out.any()
    assert run.training_tokens == len(corpus)
    alone = Sampler(corpus, replace(settings, held_out=0.0, measure_every=0))
    for _ in range(3):
        record = run.step()
        alone.step()
        likelihoods = run.likelihoods()
        np.testing.assert_allclose(likelihoods, numpy_scores(run, corpus, scored), rtol=1e-5)
        assert record.perplexity == pytest.approx(np.exp(-np.log(likelihoods).mean()), rel=1e-5)
        assert run.perplexity() == record.perplexity
    np.testing.assert_array_equal(run.topics(), alone.topics(), "what is scored has changed what is sampled")


@pytest.mark.parametrize("settings", RUNS)
def test_a_documents_probabilities_of_all_words_add_up_to_1(settings: SamplerSettings) -> None:
    """A second opinion of the formula: what is next in a document is one word of the vocabulary."""
    documents = np.array([0, 1, 2, 29, 30], np.int32)
    corpus = replace(CORPUS, document_group=np.append(CORPUS.document_group, [1]).astype(np.int32))
    scored = ScoredTokens(
        np.tile(np.arange(WORDS, dtype=np.int32), len(documents)), np.repeat(documents, WORDS).astype(np.int32)
    )
    run = Sampler(corpus, settings, scored)
    back = scored.token_document[by_word(corpus, scored)]
    for _ in range(2):
        totals = np.bincount(back, run.likelihoods())[documents]
        np.testing.assert_allclose(totals, 1.0, rtol=1e-5)
        run.step()


def test_a_word_that_its_document_has_used_is_likelier_with_repeats_and_the_more_the_oftener() -> None:
    corpus = from_documents([(0, [0] * 8 + [1] * 2 + [2]), (0, [0, 1, 2, 3] * 3)], 4, 1)
    scored = ScoredTokens(np.arange(4, dtype=np.int32), np.zeros(4, np.int32))
    settings = plain_settings(2, schedule="sequential", repeats=True)
    settings = replace(settings, priors=replace(settings.priors, repeat_discount=0.1, repeat_concentration=2.0))
    run = Sampler(corpus, settings, scored)
    run.run(3)
    assert (np.diff(run.likelihoods()) < 0).all()
    assert run.likelihoods()[0] > 0.5


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_scores_do_not_depend_on_how_many_workers_measure(workers: int) -> None:
    """Before the first step all of them are in the same state; after it, at given topics."""
    scored = random_scored(CORPUS)
    topics = np.random.default_rng(74).integers(0, 8, len(CORPUS)).astype(np.uint16)
    runs = [
        Sampler(CORPUS, plain_settings(8, schedule="blocks", workers=count, repeats=True), scored)
        for count in (3, workers)
    ]
    for run in runs:
        run.start_at(topics)
    # Tables are the same, their places in the order of the blocks are not: sums are taken in another order.
    np.testing.assert_allclose(runs[0].likelihoods(), runs[1].likelihoods(), rtol=1e-6)
    assert runs[0].perplexity() == pytest.approx(runs[1].perplexity(), rel=1e-6)


# ---- means over samples ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", RUNS)
def test_the_mean_over_samples_is_the_mean_by_hand(settings: SamplerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    always_settled(monkeypatch)
    scored = random_scored(CORPUS)
    run = Sampler(CORPUS, settings, scored)
    first = run.step()
    assert (first.averaged, first.samples) == (None, 0)
    np.testing.assert_array_equal(run._scorer.mean_likelihoods(), 0.0)
    single: list[NDArray[np.float64]] = []
    for samples in range(1, 6):
        record = run.step()
        single.append(numpy_scores(run, CORPUS, scored))
        run.perplexity()  # which is no sample
        run.likelihoods()
        mean = np.mean(single, axis=0)
        assert record.samples == samples
        np.testing.assert_allclose(run._scorer.mean_likelihoods(), mean, rtol=1e-5)
        assert record.averaged == pytest.approx(np.exp(-np.log(mean).mean()), rel=1e-5)
        assert record.perplexity == pytest.approx(np.exp(-np.log(single[-1]).mean()), rel=1e-5)
    # A mean of probabilities is above their geometric mean.
    assert record.averaged is not None
    assert record.averaged < np.exp(-np.log(single).mean())


# ---- where nothing is held out --------------------------------------------------------------------------------------


def test_with_nothing_held_out_training_tokens_tell_when_the_chain_has_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told to nobody else: what is measured on them is no held-out perplexity."""
    seen: list[float] = []

    def settled(self: averaging.BurnIn, perplexity: float) -> bool:
        seen.append(perplexity)
        self._trace.append(perplexity)
        return len(seen) >= 3

    always_settled(monkeypatch)
    monkeypatch.setattr(averaging.BurnIn, "settled", settled)
    run = Sampler(CORPUS, plain_settings(8, schedule="blocks", repeats=True, held_out=0.0))
    trained_on = ScoredTokens(CORPUS.token_word, CORPUS.token_document)
    expected = []
    for iteration in range(1, 7):
        record = run.step()
        expected.append(np.exp(-np.log(numpy_scores(run, CORPUS, trained_on)).mean()))
        assert (record.perplexity, record.averaged) == (None, None)
        assert record.samples == max(0, iteration - 3)
    assert seen[:3] == pytest.approx(expected[:3], rel=1e-5)
    assert run.perplexity() is None
    assert run.likelihoods().shape == (0,)
    assert run._averages.samples == 4, "those of iterations 3 to 6"


def test_a_sample_of_the_training_tokens_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every so manyth: at least as many as are asked for, less than twice as many."""
    for most in (100, 400, 1_499, 1_500, 10_000):
        monkeypatch.setattr(sampler, "MONITORED", most)
        run = Sampler(CORPUS, plain_settings(8, schedule="blocks", held_out=0.0))
        assert run._scorer.tokens == 0
        assert min(most, 1_500) <= run._monitor.tokens < min(2 * most, 1_501)
    held_out = Sampler(CORPUS, plain_settings(8, schedule="blocks", held_out=0.1))
    assert held_out._monitor is held_out._scorer


def test_no_tokens_from_outside_are_none_held_out() -> None:
    empty = ScoredTokens(np.zeros(0, np.int32), np.zeros(0, np.int32))
    run = Sampler(CORPUS, plain_settings(8, schedule="blocks", held_out=0.5), empty)
    assert not run.held_out.any()
    assert run.step().perplexity is None
    assert run.perplexity() is None


def test_matrices_are_those_of_the_documents_group() -> None:
    """Of two documents with the same counts, one in each group, only one's group words topics with the other word, too."""
    corpus = from_documents([(0, [0, 0, 0, 1]), (1, [0, 0, 0, 1])], 3, 2)
    matrices = Matrices.from_entries(
        2, 3, [0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 0, 1, 2, 2], [0, 1, 2, 0, 1, 2, 0], [1.0] * 6 + [5.0]
    )
    scored = ScoredTokens(np.array([2, 2], np.int32), np.array([0, 1], np.int32))
    run = Sampler(corpus, plain_settings(1, schedule="sequential", associations=matrices, repeats=True), scored)
    run.run(2)
    likelihoods = run.likelihoods()
    np.testing.assert_allclose(likelihoods, numpy_scores(run, corpus, scored), rtol=1e-5)
    assert likelihoods[1] > 2 * likelihoods[0]
