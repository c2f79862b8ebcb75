"""What must hold after every sweep, whatever the corpus, the schedule and the number of workers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from spdp_engine.models.spdp import Priors
from spdp_engine.models.stirling import bounded_table_limit
from spdp_engine.sampling.sampler import Sampler, SamplerSettings

from .corpora import AWKWARD, Tokens, random_tokens

SWEEPS = 3
LARGEST = "a word of 100,000 occurrences"  # takes a second a run, so it has a test of its own
RUNS = [
    (corpus, schedule, workers)
    for corpus in AWKWARD
    for schedule, workers in [("sequential", 1), *(("blocks", workers) for workers in range(1, 9))]
    if corpus != LARGEST
]


@cache
def corpus_named(name: str) -> Tokens:
    return AWKWARD[name]()


def check_everything(sampler: Sampler, corpus: Tokens) -> None:
    sample = sampler.inspect()
    counts, topics = sample.counts, sampler.topics()
    kept = ~sampler.held_out
    counts.check(corpus.token_word[kept], corpus.token_document[kept], corpus.document_group, topics)
    assert topics.max() < sampler.settings.topics
    customers, tables = sampler.totals()
    np.testing.assert_array_equal(customers, counts.customers.sum(axis=1))
    np.testing.assert_array_equal(tables, counts.tables.sum(axis=1))
    np.testing.assert_allclose(sample.base_wording().sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(sample.group_wordings().sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(sample.document_shares().sum(axis=1), 1.0, rtol=1e-12)
    assert sample.group_wordings().min() > 0
    assert sample.document_shares().min() > 0
    assert sample.group_topic_tokens().sum() == kept.sum()


def run(corpus: Tokens, settings: SamplerSettings) -> Sampler:
    sampler = Sampler(corpus, settings)
    for _ in range(SWEEPS):
        record = sampler.step()
        assert record.perplexity is None or np.isfinite(record.perplexity)
        check_everything(sampler, corpus)
    return sampler


@pytest.mark.parametrize(("name", "schedule", "workers"), RUNS)
def test_counts_totals_and_estimates_agree_on_awkward_corpora(name: str, schedule: str, workers: int) -> None:
    corpus = corpus_named(name)
    topics = min(4, len(corpus))
    run(corpus, SamplerSettings(topics, schedule=schedule, workers=workers, held_out=0.2, seed=workers))


@pytest.mark.parametrize(("schedule", "workers"), [("sequential", 1), ("blocks", 1), ("blocks", 5)])
@pytest.mark.parametrize("topics", [1, 1000])
def test_few_and_many_topics(topics: int, schedule: str, workers: int) -> None:
    corpus = random_tokens(1_200, 20, 40, 2, seed=31)
    run(corpus, SamplerSettings(topics, schedule=schedule, workers=workers))


@pytest.mark.parametrize("workers", [40, 1024])
def test_more_workers_than_documents_or_words(workers: int) -> None:
    run(random_tokens(300, 7, 9, 2, seed=32), SamplerSettings(3, workers=workers))


@pytest.mark.parametrize(
    "priors",
    [
        Priors(discount=0.0, concentration=1e-3),
        Priors(discount=0.99, concentration=1e6),
        Priors(alpha=1e-4, gamma=1e-4),
        Priors(alpha=100.0, gamma=100.0),
    ],
    ids=lambda priors: (
        f"alpha={priors.alpha:g} gamma={priors.gamma:g} a={priors.discount:g} b={priors.concentration:g}"
    ),
)
def test_priors_at_the_ends_of_their_ranges(priors: Priors) -> None:
    run(random_tokens(2_000, 30, 60, 3, seed=33), SamplerSettings(10, priors, workers=3))


@pytest.mark.parametrize(("schedule", "workers"), [("sequential", 1), ("blocks", 7)])
def test_a_cell_at_the_limit_of_tables_goes_on_taking_customers(schedule: str, workers: int) -> None:
    corpus = corpus_named(LARGEST)
    occurrences = int((corpus.token_word == 0).sum())
    # A large concentration opens many tables.
    settings = SamplerSettings(2, Priors(concentration=1e4), schedule, workers, held_out=0.0)
    counts = run(corpus, settings).inspect().counts
    assert counts.tables.max() == bounded_table_limit(occurrences), "below the limit the test shows nothing"
    assert counts.customers[0, 0].sum() == occurrences == 100_000
