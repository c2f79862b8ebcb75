"""What must hold after every pass, whatever the corpus, the method and the number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from spdp_engine.models import Counts, LdaCounts, LdaPriors, Matrices, Priors, SpdpPriors
from spdp_engine.models.stirling import bounded_table_limit
from spdp_engine.sampling import METHODS, Method, choose_device
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings

from .corpora import AWKWARD, Tokens, random_matrices, random_tokens
from .on_device import read
from .reference import numpy_perplexity

SWEEPS = 3
LARGE = "a document of 50,000 tokens", "a word of 100,000 occurrences"  # where few workers must do
TOPICS = 4


def variants(method: Method, workers: tuple[int, ...]) -> Iterator[tuple[str, SamplerSettings, bool]]:
    """Every way to run a method: name, settings, and whether it is given transformation matrices."""
    takes_workers = method.runner.workers(3, choose_device()) == 3
    for associations in (False, True) if method.associations else (False,):
        for order in method.orders or (None,):
            for count in workers if takes_workers else (1,):
                settings = plain_settings(
                    TOPICS,
                    schedule=method.schedule,
                    workers=count,
                    seed=count,
                    held_out=0.2,
                    model=method.model,
                    order=order,
                )
                words = [method.model, method.schedule, order, f"{count} workers" if takes_workers else None]
                words.append("matrices" if associations else None)
                yield " ".join(word for word in words if word), settings, associations


def every_method(*workers: int, model: str = "") -> list[Any]:
    return [
        pytest.param(settings, associations, id=name)
        for method in METHODS
        if model in ("", method.model)
        for name, settings, associations in variants(method, workers)
    ]


AWKWARD_RUNS = [
    pytest.param(corpus, *run.values, id=f"{corpus}-{run.id}")
    for corpus in AWKWARD
    for run in every_method(*((1, 3) if corpus in LARGE else range(1, 9)))
]


@cache
def corpus_named(name: str) -> Tokens:
    return AWKWARD[name]()


@cache
def matrices_for(corpus: Tokens) -> Matrices:
    return random_matrices(corpus, min(3.0, corpus.n_words / 2), seed=35)


def check_everything(sampler: Sampler, corpus: Tokens) -> None:
    sample = sampler.inspect()
    counts, topics = sample.counts, sampler.topics()
    kept = ~sampler.held_out
    of_training = corpus.token_word[kept], corpus.token_document[kept], corpus.document_group, topics
    assert topics.max() < sampler.settings.topics
    if isinstance(counts, LdaCounts):
        counts.check(*of_training)
        check_lda(sampler, counts)
    else:
        counts.check(*of_training, sampler.settings.associations)
        check_spdp(sampler, counts)
    state = sampler._state
    document_topics = read(sampler, state.document_topics, np.float32, state.documents, state.padded)
    assert not document_topics[:, state.topics :].any(), "a topic that is none has tokens"

    # phi0 of the hybrid sampler is added up and divided by its sum in single precision.
    close: dict[str, Any] = {
        "rtol": 1e-12 if getattr(sample, "base", None) is None else 2.0**-23 * (10 + corpus.n_words)
    }
    np.testing.assert_allclose(sample.base_wording().sum(axis=0), 1.0, **close)
    np.testing.assert_allclose(sample.group_wordings().sum(axis=1), 1.0, **close)
    np.testing.assert_allclose(sample.document_shares().sum(axis=1), 1.0, rtol=1e-12)
    assert sample.group_wordings().min() > 0
    assert sample.document_shares().min() > 0
    assert sample.group_topic_tokens().sum() == kept.sum()

    perplexity = sampler.perplexity()
    assert (perplexity is None) == bool(kept.all())
    if perplexity is not None:
        assert np.isfinite(perplexity)
        assert perplexity == pytest.approx(numpy_perplexity(sample, corpus, sampler.held_out), rel=1e-4)


def check_spdp(sampler: Sampler, counts: Counts) -> None:
    """Totals M and T, and q as the device keeps it, its copies for other workers included."""
    customers, tables = sampler.totals()
    np.testing.assert_array_equal(customers, counts.customers.sum(axis=1))
    np.testing.assert_array_equal(tables, counts.tables.sum(axis=1))
    assert counts.tables.max() <= sampler._state.width - 1
    state: Any = sampler._state
    if sampler.settings.schedule == "hybrid":
        return
    matrices = sampler.settings.associations
    copies = getattr(state.base, "_copies", 0)
    there = read(sampler, state.base._tables, np.float32, state.words + copies, state.padded)
    if matrices is None:
        np.testing.assert_array_equal(there[:, : state.topics], counts.tables.sum(axis=0))
        return
    assert counts.associated is not None
    q = matrices.base_tables(counts.associated)
    np.testing.assert_array_equal(there[: state.words, : state.topics], q)
    if copies:
        _, shared, starts, _ = state.base._copy_arguments
        of_copy = np.repeat(
            read(sampler, shared, np.int32, shared.size // 4),
            np.diff(read(sampler, starts, np.int32, starts.size // 4)),
        )
        np.testing.assert_array_equal(there[state.words :, : state.topics], q[of_copy])


def check_lda(sampler: Sampler, counts: LdaCounts) -> None:
    """Topics of words and their totals as the device keeps them."""
    state: Any = sampler._state
    words = counts.group_words.sum(axis=0)
    there = read(sampler, state.word_topics, np.float32, state.words, state.padded)
    np.testing.assert_array_equal(there[:, : state.topics], words)
    assert not there[:, state.topics :].any()
    np.testing.assert_array_equal(sampler.totals(), words.sum(axis=0))


def run(corpus: Tokens, settings: SamplerSettings, associations: bool = False) -> Sampler:
    if associations:
        settings = replace(settings, associations=matrices_for(corpus))
    sampler = Sampler(corpus, settings)
    for _ in range(SWEEPS):
        record = sampler.step()
        assert record.perplexity == sampler.perplexity()
        check_everything(sampler, corpus)
    return sampler


@pytest.mark.parametrize(("name", "settings", "associations"), AWKWARD_RUNS)
def test_counts_and_estimates_agree_on_awkward_corpora(
    name: str, settings: SamplerSettings, associations: bool
) -> None:
    corpus = corpus_named(name)
    run(corpus, replace(settings, topics=min(TOPICS, len(corpus))), associations)


@pytest.mark.parametrize(("settings", "associations"), every_method(3))
@pytest.mark.parametrize("topics", [1, 1000])
def test_few_and_many_topics(topics: int, settings: SamplerSettings, associations: bool) -> None:
    run(FEW_OR_MANY, replace(settings, topics=topics), associations)


FEW_OR_MANY = random_tokens(1_200, 20, 40, 2, seed=31)


@pytest.mark.parametrize(("settings", "associations"), [one for one in every_method(40) if "workers" in str(one.id)])
def test_more_workers_than_documents_or_words(settings: SamplerSettings, associations: bool) -> None:
    run(FEW, settings, associations)


def test_as_many_workers_as_there_may_be() -> None:
    run(FEW, plain_settings(TOPICS, workers=1024))


FEW = random_tokens(300, 7, 9, 2, seed=32)


def named(priors: Priors) -> str:
    return " ".join(f"{name}={value:g}" for name, value in vars(priors).items())


@pytest.mark.parametrize(
    "priors",
    [
        SpdpPriors(discount=0.0, concentration=1e-3),
        SpdpPriors(discount=0.99, concentration=1e6),
        SpdpPriors(alpha=1e-4, gamma=1e-4),
        SpdpPriors(alpha=100.0, gamma=100.0),
    ],
    ids=named,
)
@pytest.mark.parametrize(("settings", "associations"), every_method(3, model="spdp"))
def test_priors_of_spdp_at_the_ends_of_their_ranges(
    settings: SamplerSettings, associations: bool, priors: SpdpPriors
) -> None:
    run(EXTREME, replace(settings, priors=priors), associations)


@pytest.mark.parametrize(
    "priors", [LdaPriors(1e-6, 1e-6), LdaPriors(1e-4, 100.0), LdaPriors(100.0, 1e-4), LdaPriors(1e4, 1e4)], ids=named
)
@pytest.mark.parametrize(("settings", "associations"), every_method(3, model="lda"))
def test_priors_of_lda_at_the_ends_of_their_ranges(
    settings: SamplerSettings, associations: bool, priors: LdaPriors
) -> None:
    run(EXTREME, replace(settings, priors=priors), associations)


EXTREME = random_tokens(2_000, 30, 60, 3, seed=33)


@pytest.mark.parametrize(("settings", "associations"), every_method(7, model="spdp"))
def test_a_cell_at_the_limit_of_tables_goes_on_taking_customers(settings: SamplerSettings, associations: bool) -> None:
    corpus = corpus_named("a word of 100,000 occurrences")
    occurrences = int((corpus.token_word == 0).sum())
    # A large concentration opens many tables.
    settings = replace(settings, priors=SpdpPriors(concentration=1e6), held_out=0.0)
    counts = run(corpus, settings, associations).inspect().counts
    assert counts.tables.max() == bounded_table_limit(occurrences), "below the limit the test shows nothing"
    assert counts.customers[0, 0].sum() == occurrences == 100_000


def test_these_tests_run_every_method_and_copies_of_base_words() -> None:
    """Guards the others."""
    ran = {
        (settings.model, settings.schedule, settings.order) for settings, _ in (one.values for one in every_method(1))
    }
    assert ran == {(method.model, method.schedule, order) for method in METHODS for order in method.orders or (None,)}
    sampler = run(EXTREME, plain_settings(TOPICS, schedule="blocks", workers=4), True)
    assert sampler._state.base._copies > 0
