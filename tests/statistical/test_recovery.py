"""Topics planted in generated corpora are found again, by the default schedules with two workers, as they are used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.measures.matching import match_topics
from spdp_engine.models.lda import LdaPriors, LdaSample
from spdp_engine.models.spdp import SpdpPriors, SpdpSample

from .exact import LEVEL, Float
from .simulate import Draw, Drawn, Size, draw_lda, draw_spdp

SIZE = Size(groups=2, documents=100, words=150, topics=6, length=60)
CORPORA, RUNS, SWEEPS = 4, 8, 60

PLANTED: dict[str, tuple[Draw, Any, Any]] = {
    "spdp": (draw_spdp, SpdpPriors(0.1, 0.1, 0.5, 50.0), SpdpSample),
    "lda": (draw_lda, LdaPriors(0.1, 0.1), LdaSample),
}


def log_likelihood(drawn: Drawn, sample: Any) -> float:
    """Of the tokens, by a sample's estimates."""
    corpus = drawn.corpus
    group = corpus.document_group[corpus.token_document]
    wordings = sample.group_wordings()[group, corpus.token_word]
    return float(np.log((sample.document_shares()[corpus.token_document] * wordings).sum(axis=1)).sum())


def distance(model: str, words: NDArray[np.int64] | None = None) -> float:
    """The mean Hellinger distance between the wordings of planted topics and those found, over topics, groups and corpora.

    Of several runs the likeliest is taken, since one may end with two topics in one. `words`: a permutation of the words of
    the tokens, after which nothing is left to find.
    """
    draw, priors, kind = PLANTED[model]
    distances = []
    for seed in range(CORPORA):
        drawn = draw(SIZE, priors, np.random.default_rng(seed))
        planted: Float = kind(1, priors, drawn.counts).group_wordings()
        if words is not None:
            drawn = replace(drawn, corpus=replace(drawn.corpus, token_word=drawn.corpus.token_word[words]))
        samples = []
        for run in range(RUNS):
            sampler = drawn.sampler(model, "blocks", priors, run, workers=2)
            sampler.run(SWEEPS)
            samples.append(sampler.inspect())
        best = max(samples, key=lambda sample: log_likelihood(drawn, sample))
        match, between = match_topics(planted, best.group_wordings())
        distances.append(between[np.arange(SIZE.topics), match].mean())
    return float(np.mean(distances))


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("model", PLANTED)
def test_planted_topics_are_found(model: str) -> None:
    """False alarms: LEVEL for each.

    In 200 corpora the distance was 0.11 on average with a standard deviation of 0.01, but for three of SPDP's, in which two
    topics ended in one, at 0.24. The mean of four passes 0.2 if that happens to three of them, which is as rare as 4 * 0.015^3.
    """
    assert distance(model) < 0.2


@pytest.mark.parametrize("model", PLANTED)
def test_where_words_are_shuffled_they_are_not(model: str) -> None:
    words = np.random.default_rng(1).permutation(SIZE.documents * SIZE.length)
    assert distance(model, words) > 0.5
