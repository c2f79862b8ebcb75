"""Words that documents repeat: the kernels against plain Python, and what must hold of runs and tables after every pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models import LdaCounts, LdaPriors, Matrices, Priors, SpdpPriors
from spdp_engine.models.readings import count_tokens
from spdp_engine.sampling import METHODS, Method
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings

from .corpora import AWKWARD, Tokens, from_documents, random_matrices, random_tokens
from .on_device import read
from .reference import (
    Repeating,
    RepeatingLdaReference,
    RepeatingSpdpReference,
    numpy_likelihoods,
    numpy_repeat_likelihoods,
    word_blocks,
)
from .test_invariants import LARGE, check_lda, check_spdp
from .test_kernels import MATRICES, cut
from .test_sampler import assert_sentences

SWEEPS = 2
TOPICS = 5

CORPORA = {
    "three groups": random_tokens(120, 9, 8, 3, seed=61),
    # Long runs: many tables of many tokens.
    "two words": random_tokens(110, 4, 2, 2, seed=62),
    "one run": from_documents([(0, [0] * 80)], 1, 1),
    "every token alone": from_documents([(d % 2, [d]) for d in range(20)], 20, 2),
}
PRIORS = {
    "usual": SpdpPriors(repeat_concentration=5.0),
    "few tables": SpdpPriors(
        alpha=0.05, gamma=1.5, discount=0.1, concentration=0.3, repeat_discount=0.0, repeat_concentration=0.5
    ),
    "many tables": SpdpPriors(
        alpha=1.0, gamma=0.01, discount=0.95, concentration=50.0, repeat_discount=0.9, repeat_concentration=20.0
    ),
}
LDA_PRIORS = {
    "usual": LdaPriors(repeat_concentration=5.0),
    "few tables": LdaPriors(alpha=2.0, beta=0.7, repeat_discount=0.0, repeat_concentration=0.5),
    "many tables": LdaPriors(alpha=0.01, beta=0.1, repeat_discount=0.9, repeat_concentration=20.0),
}
REPEATING = [method for method in METHODS if method.runner.takes_repeats]


def repeating(topics: int = TOPICS, *arguments: Any, **more: Any) -> SamplerSettings:
    """Settings of documents that repeat words, with hyperparameters as they are."""
    return plain_settings(topics, *arguments, **{"repeats": True, "held_out": 0.0, **more})


def places(sampler: Sampler) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """Tokens at the table of each place, and its topic: int32 and uint16 [N]."""
    tokens = sampler.training_tokens
    repeats: Any = sampler._schedule.repeats
    return (
        read(sampler, repeats.seated, np.int32, tokens),
        read(sampler, sampler._schedule._token_topic, np.uint16, tokens),
    )


def document_tables(sampler: Sampler) -> NDArray[np.int32]:
    repeats: Any = sampler._schedule.repeats
    return read(sampler, repeats._document_tables, np.int32, sampler._state.documents)


# ---- the kernels ----------------------------------------------------------------------------------------------------


def assert_same(sampler: Sampler, reference: Repeating, iteration: int) -> None:
    seated, topics = places(sampler)
    np.testing.assert_array_equal(seated, reference.seated, err_msg=f"iteration {iteration}: who sits where")
    there = seated > 0
    np.testing.assert_array_equal(topics[there], reference.topics[reference._order][there])
    np.testing.assert_array_equal(document_tables(sampler), reference.document_tables)
    np.testing.assert_array_equal(sampler.topics(), reference.token_topics())
    theirs: Any = sampler.sample().counts
    for name, array in vars(reference.counts).items():
        if array is not None:
            np.testing.assert_array_equal(getattr(theirs, name), array, err_msg=f"iteration {iteration}: {name}")


def assert_same_sweeps(
    corpus: Tokens, schedule: str, workers: int, topics: int, priors: Priors, matrices: Matrices | None, seed: int
) -> Repeating:
    """Runs both; returns the reference as it is after the last sweep."""
    settings = repeating(
        topics, priors, schedule, workers, seed=seed, measure_every=0, associations=matrices,
        model="spdp" if isinstance(priors, SpdpPriors) else "lda",
    )  # fmt: skip
    reference: Repeating = (
        RepeatingSpdpReference(corpus, topics, priors, seed, matrices)
        if isinstance(priors, SpdpPriors)
        else RepeatingLdaReference(corpus, topics, priors, seed)
    )
    sampler = Sampler(corpus, settings)
    blocks = cut(corpus, seed, workers, matrices) if schedule == "blocks" else None
    order = blocks.order if blocks else word_blocks(corpus, seed, 1)[0]
    for iteration in range(SWEEPS + 1):
        sampler.step()
        if blocks:
            reference.pass_in_blocks(order, blocks.starts, None if iteration else blocks.visits, iteration)
        else:
            reference.pass_in_order(order, iteration)
        assert_same(sampler, reference, iteration)
    return reference


@pytest.mark.parametrize("matrices", ["identity", "dense"])
@pytest.mark.parametrize(("priors", "topics"), [("usual", 7), ("few tables", 8), ("many tables", 7), ("usual", 1)])
@pytest.mark.parametrize("corpus", CORPORA)
def test_sequential_equals_the_reference(corpus: str, priors: str, topics: int, matrices: str) -> None:
    tokens = CORPORA[corpus]
    assert_same_sweeps(tokens, "sequential", 1, topics, PRIORS[priors], MATRICES[matrices](tokens), 4_000_000_007)


@pytest.mark.parametrize("workers", range(1, 9))
@pytest.mark.parametrize(
    ("corpus", "priors", "matrices"),
    [
        ("three groups", "usual", "identity"),
        ("three groups", "few tables", "sparse"),
        ("three groups", "many tables", "dense"),
        ("two words", "few tables", "identity"),
    ],
)
def test_blocks_equals_the_reference_with_lagging_sums(corpus: str, priors: str, matrices: str, workers: int) -> None:
    tokens = CORPORA[corpus]
    assert_same_sweeps(tokens, "blocks", workers, 8, PRIORS[priors], MATRICES[matrices](tokens), 17)


@pytest.mark.parametrize(("priors", "topics"), [("usual", 16), ("few tables", 7), ("many tables", 8), ("usual", 1)])
@pytest.mark.parametrize("corpus", CORPORA)
def test_single_site_of_lda_equals_the_reference(corpus: str, priors: str, topics: int) -> None:
    assert_same_sweeps(CORPORA[corpus], "single_site", 1, topics, LDA_PRIORS[priors], None, 4_000_000_007)


@pytest.mark.parametrize("workers", range(1, 9))
@pytest.mark.parametrize(("corpus", "priors"), [("three groups", "usual"), ("two words", "few tables")])
def test_blocks_of_lda_equals_the_reference_with_lagging_sums(corpus: str, priors: str, workers: int) -> None:
    assert_same_sweeps(CORPORA[corpus], "blocks", workers, 8, LDA_PRIORS[priors], None, 17)


def test_the_reference_meets_every_case() -> None:
    """Guards the tests above: where nothing happens, agreement would prove nothing."""
    corpus, priors = CORPORA["two words"], PRIORS["few tables"]
    reference = RepeatingSpdpReference(corpus, 7, priors, 4_000_000_007)
    order = word_blocks(corpus, 4_000_000_007, 1)[0]
    for iteration in range(SWEEPS + 1):
        reference.pass_in_order(order, iteration)
    assert min(reference.events.values()) > 0, reference.events
    assert reference.seated.max() > 2
    assert ((reference.seated[:-1] > 0) & (reference.seated[1:] == 1)).any(), "no run has two tables"


# ---- what must hold after every pass --------------------------------------------------------------------------------


def check_runs(sampler: Sampler, corpus: Tokens) -> None:
    """Who sits where, and that the model counts tables and nothing else. All is derived from the tokens anew."""
    kept = ~sampler.held_out
    order = sampler._schedule._order
    word, document = corpus.token_word[kept][order], corpus.token_document[kept][order]
    key = document.astype(np.int64) * corpus.n_words + word
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    assert len(firsts) == len(np.unique(key)), "tokens of one word in one document are not side by side"

    seated, topics = places(sampler)
    there = seated > 0
    assert seated.min() >= 0
    np.testing.assert_array_equal(np.add.reduceat(seated, firsts), np.diff(np.append(firsts, len(key))))
    within = np.diff(key) == 0
    assert not (there[1:] & ~there[:-1] & within).any(), "the tables of a run are not in its first places"
    assert topics[there].max() < sampler.settings.topics

    sample: Any = sampler.sample()
    tables = np.bincount(document[there], minlength=len(corpus.document_group))
    np.testing.assert_array_equal(document_tables(sampler), tables)
    np.testing.assert_array_equal(sample.counts.document_topics.sum(axis=1), tables)
    heads = word[there], document[there], corpus.document_group, topics[there]
    if isinstance(sample.counts, LdaCounts):
        sample.counts.check(*heads)
        check_lda(sampler, sample.counts)
    else:
        sample.counts.check(*heads, sampler.settings.associations)
        check_spdp(sampler, sample.counts)

    # As many tokens come back as there were, each in its document and with its word, at tables of their topics.
    shape = corpus.n_groups, corpus.n_words, sampler.settings.topics
    spread = sampler.topics()
    assert spread.shape == (kept.sum(),)
    of_words = np.zeros(shape, int)
    np.add.at(of_words, (corpus.document_group[document[there]], word[there], topics[there]), seated[there])
    np.testing.assert_array_equal(sample.words, of_words)
    np.testing.assert_array_equal(sample.group_topic_tokens(), of_words.sum(axis=1))
    at_tables, back = np.zeros((2, len(corpus.document_group), shape[2]), int)
    np.add.at(at_tables, (document[there], topics[there]), seated[there])
    np.add.at(back, (corpus.token_document[kept], spread), 1)
    np.testing.assert_array_equal(back, at_tables)
    np.testing.assert_array_equal(
        count_tokens(corpus.token_word[kept], corpus.token_document[kept], corpus.document_group, spread, shape)[1],
        of_words,
    )


def runs_of(sampler: Sampler, corpus: Tokens) -> dict[tuple[int, int], list[int]]:
    """Tokens at each table of a (document, word)."""
    kept, order = ~sampler.held_out, sampler._schedule._order
    seated, _ = places(sampler)
    runs: dict[tuple[int, int], list[int]] = {}
    for d, w, s in zip(
        corpus.token_document[kept][order].tolist(),
        corpus.token_word[kept][order].tolist(),
        seated.tolist(),
        strict=True,
    ):
        runs.setdefault((d, w), []).extend([s] * (s > 0))
    return runs


def check_estimates(sampler: Sampler, corpus: Tokens) -> None:
    """Probabilities, and the perplexity of what is held out."""
    sample: Any = sampler.sample()
    # phi0 of the hybrid sampler is added up in single precision.
    rtol = 1e-12 if getattr(sample, "base", None) is None else 1e-5
    np.testing.assert_allclose(sample.group_wordings().sum(axis=1), 1.0, rtol=rtol)
    np.testing.assert_allclose(sample.document_shares().sum(axis=1), 1.0, rtol=1e-12)
    assert sample.group_wordings().min() > 0
    held_out = sampler.held_out
    perplexity = sampler.perplexity()
    if not held_out.any():
        assert perplexity is None
        return
    plain = numpy_likelihoods(sample, corpus, held_out)
    words, documents = corpus.token_word[held_out], corpus.token_document[held_out]
    expected = numpy_repeat_likelihoods(plain, sample, runs_of(sampler, corpus), words, documents)
    assert perplexity == pytest.approx(np.exp(-np.log(expected).mean()), rel=1e-4)


def run(corpus: Tokens, settings: SamplerSettings) -> Sampler:
    sampler = Sampler(corpus, settings)
    for _ in range(SWEEPS):
        record = sampler.step()
        assert record.perplexity == sampler.perplexity()
        check_runs(sampler, corpus)
        check_estimates(sampler, corpus)
    return sampler


corpus_named: Callable[[str], Tokens] = cache(lambda name: AWKWARD[name]())
matrices_for: Callable[[Tokens], Matrices] = cache(lambda corpus: random_matrices(corpus, min(3.0, corpus.n_words / 2)))


def variants(*workers: int) -> list[Any]:
    """Method, workers, and whether there are transformation matrices."""
    return [
        pytest.param(method, count, given, id=f"{method.model} {method.schedule} {count}{' matrices' * given}")
        for method in REPEATING
        for given in (False, True)[: 1 + method.associations]
        for count in ((1,) if not method.runner.lags else workers if method.exact else workers[-1:])
    ]


@pytest.mark.parametrize(
    ("name", "method", "workers", "given"),
    [
        pytest.param(name, *one.values, id=f"{name}-{one.id}")
        for name in AWKWARD
        for one in variants(*((3,) if name in LARGE else (1, 3, 8)))
        if name not in LARGE or (one.values[0].schedule == "blocks" and not one.values[2])
    ],
)
def test_runs_and_counts_agree_on_awkward_corpora(name: str, method: Method, workers: int, given: bool) -> None:
    corpus = corpus_named(name)
    settings = repeating(
        min(TOPICS, len(corpus)), schedule=method.schedule, workers=workers, model=method.model, held_out=0.2
    )
    run(corpus, replace(settings, associations=matrices_for(corpus) if given else None))


LONG = from_documents([(0, [0] * 5_000), (1, [0] * 7 + [1] * 2_000 + [2])], 3, 2)


@pytest.mark.parametrize(("method", "workers", "given"), variants(1, 2))
def test_a_document_of_thousands_of_equal_words(method: Method, workers: int, given: bool) -> None:
    settings = repeating(schedule=method.schedule, workers=workers, model=method.model)
    sampler = run(LONG, replace(settings, associations=matrices_for(LONG) if given else None))
    tables = document_tables(sampler)
    assert ((tables > 1) & (tables < [3_000, 1_500])).all(), "most of them repeat"


@pytest.mark.parametrize(("discount", "concentration"), [(0.0, 1e-6), (0.99, 1e-6), (0.0, 1e9), (0.99, 1e9)])
@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_priors_of_repeats_at_the_ends_of_their_ranges(model: str, discount: float, concentration: float) -> None:
    kind = SpdpPriors if model == "spdp" else LdaPriors
    priors = kind(repeat_discount=discount, repeat_concentration=concentration)
    sampler = run(CORPORA["three groups"], repeating(TOPICS, priors, "blocks", 2, model=model, held_out=0.2))
    tables, tokens = document_tables(sampler).sum(), sampler.training_tokens
    if concentration > 1e6:
        assert tables == tokens, "nobody repeats"
    elif discount == 0:
        assert tables == len(runs_of(sampler, CORPORA["three groups"])), "everybody does who can"


# ---- the same bits --------------------------------------------------------------------------------------------------

CORPUS = random_tokens(3_000, 50, 60, 3, seed=63)


def everything(settings: SamplerSettings, corpus: Tokens = CORPUS) -> list[NDArray[Any]]:
    sampler = Sampler(corpus, settings)
    perplexities = [record.perplexity for record in sampler.run(3)]
    counts = [array for array in vars(sampler.sample().counts).values() if array is not None]
    return [sampler.topics(), *places(sampler), np.array(perplexities), sampler.likelihoods(), *counts]


@pytest.mark.parametrize(("method", "workers", "given"), variants(1, 2, 5))
def test_the_same_seed_gives_the_same_bits(method: Method, workers: int, given: bool) -> None:
    settings = repeating(
        8, schedule=method.schedule, workers=workers, model=method.model, held_out=0.3, seed=99,
        associations=matrices_for(CORPUS) if given else None,
    )  # fmt: skip
    for one, other in zip(everything(settings), everything(settings), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (
        everything(replace(settings, seed=98, held_out=0.0))[0] != everything(replace(settings, held_out=0.0))[0]
    ).any()


@pytest.mark.parametrize(("method", "workers", "given"), variants(1, 3))
def test_where_no_document_uses_a_word_twice_repeats_change_no_bit(method: Method, workers: int, given: bool) -> None:
    """Each token opens a table of its own, by the steps of a token and by its numbers."""
    rng = np.random.default_rng(64)
    corpus = from_documents([(d % 2, sorted(rng.choice(30, 15, replace=False))) for d in range(20)], 30, 2)
    settings = repeating(
        8, schedule=method.schedule, workers=workers, model=method.model,
        associations=matrices_for(corpus) if given else None,
    )  # fmt: skip
    one, other = Sampler(corpus, settings), Sampler(corpus, replace(settings, repeats=False))
    for _ in range(SWEEPS):
        one.step()
        other.step()
        np.testing.assert_array_equal(one.topics(), other.topics())
        np.testing.assert_array_equal(one.totals(), other.totals())
    assert (places(one)[0] == 1).all()


@pytest.mark.parametrize("method", REPEATING, ids=lambda method: f"{method.model} {method.schedule}")
def test_without_repeats_their_priors_change_no_bit(method: Method) -> None:
    settings = plain_settings(8, schedule=method.schedule, workers=2, model=method.model)
    kind = SpdpPriors if method.model == "spdp" else LdaPriors
    other = replace(settings, priors=kind(repeat_discount=0.1, repeat_concentration=1.0))
    one, another = (Sampler(CORPUS, each) for each in (settings, other))
    assert one._schedule.repeats is None and one._schedule.repeat_arguments == ()
    assert [record.perplexity for record in one.run(3)] == [record.perplexity for record in another.run(3)]
    np.testing.assert_array_equal(one.topics(), another.topics())
    sample: Any = one.sample()
    assert sample.words is None
    assert not any(name.startswith("repeat_") for name in one.hyperparameters())


@pytest.mark.parametrize(("method", "workers", "given"), variants(2))
def test_measuring_and_reading_leave_no_trace(method: Method, workers: int, given: bool) -> None:
    settings = repeating(
        8, schedule=method.schedule, workers=workers, model=method.model, held_out=0.3,
        associations=matrices_for(CORPUS) if given else None,
    )  # fmt: skip
    quiet, curious = Sampler(CORPUS, replace(settings, measure_every=0)), Sampler(CORPUS, settings)
    for _ in range(3):
        quiet.step()
        curious.step()
        curious.inspect()
        curious.likelihoods()
    for one, other in zip(places(quiet), places(curious), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- a beginning of one's own, and reading before there is one ------------------------------------------------------


@pytest.mark.parametrize(("method", "workers", "given"), variants(1, 3))
def test_a_run_may_start_at_given_topics_with_as_few_tables_as_there_can_be(
    method: Method, workers: int, given: bool
) -> None:
    """One to each topic of a word in a document."""
    settings = repeating(
        8, schedule=method.schedule, workers=workers, model=method.model, held_out=0.3,
        associations=matrices_for(CORPUS) if given else None,
    )  # fmt: skip
    sampler = Sampler(CORPUS, settings)
    kept = ~sampler.held_out
    word, document = CORPUS.token_word[kept], CORPUS.token_document[kept]
    topics = np.random.default_rng(65).integers(0, 8, sampler.training_tokens).astype(np.uint16)
    sampler.start_at(topics)
    check_runs(sampler, CORPUS)
    check_estimates(sampler, CORPUS)
    assert places(sampler)[0].astype(bool).sum() == len(np.unique(np.stack([document, word, topics]), axis=1).T)
    expected = np.lexsort((topics, word, document))
    back = sampler.topics()
    np.testing.assert_array_equal(back[np.lexsort((back, word, document))], topics[expected])

    sampler.step()
    check_runs(sampler, CORPUS)
    assert 0 < (sampler.topics() != topics).mean() < 1


def test_tokens_of_a_run_are_read_back_by_table() -> None:
    """Those of the first table first, whatever order the corpus gave them in."""
    corpus = from_documents([(0, [1, 0, 1, 1, 0, 1])], 2, 1)
    sampler = Sampler(corpus, repeating(4, schedule="sequential"))
    sampler.start_at(np.array([3, 0, 1, 3, 2, 1], np.uint16))
    seated, topics = places(sampler)
    np.testing.assert_array_equal(seated, [1, 1, 2, 2, 0, 0])
    np.testing.assert_array_equal(topics[:4], [0, 2, 1, 3])
    np.testing.assert_array_equal(sampler.topics(), [1, 0, 1, 3, 2, 3])
    tokens, heads = sampler._schedule.modelled()
    np.testing.assert_array_equal(tokens.token_word, [0, 0, 1, 1])
    np.testing.assert_array_equal(heads, [0, 2, 1, 3])


def test_counts_that_do_not_belong_to_the_fewest_tables_are_never_in_force() -> None:
    """Those of another run belong to its own tables, which its topics do not tell."""
    one, other = (Sampler(CORPUS, repeating(8, schedule="blocks", workers=2)) for _ in range(2))
    one.run(2)
    try:
        other.start_at(one.topics(), one.sample().counts)
    except SettingsError as refusal:
        assert_sentences(str(refusal))
    else:
        check_runs(other, CORPUS)


@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_before_the_first_step_there_is_something_to_read(model: str) -> None:
    """As there is without repeats: no table, and every word as likely as the priors say."""
    sampler = Sampler(CORPUS, repeating(8, schedule="blocks", model=model, held_out=0.3))
    assert sampler.perplexity() == pytest.approx(CORPUS.n_words, rel=1e-4)
    np.testing.assert_allclose(sampler.likelihoods(), 1 / CORPUS.n_words, rtol=1e-5)
    assert sampler.topics().shape == (sampler.training_tokens,)
    sample: Any = sampler.inspect()
    assert not sample.counts.document_topics.any()
    np.testing.assert_allclose(sample.group_wordings(), 1 / CORPUS.n_words)


# ---- who takes them -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.model} {method.schedule}")
def test_schedules_take_repeats_or_refuse_them_in_a_sentence(method: Method) -> None:
    named: dict[str, Any] = {"schedule": method.schedule, "model": method.model}
    if method.runner.takes_repeats:
        sampler = run(CORPORA["three groups"], repeating(**named))
        assert sampler.settings.repeats is True
        return
    with pytest.raises(SettingsError) as refusal:
        repeating(**named)
    said = str(refusal.value)
    assert_sentences(said)
    others = [one.schedule for one in REPEATING if one.model == method.model]
    assert method.schedule in said and method.model in said and ", ".join(others) in said


def test_what_a_run_that_does_not_say_gets() -> None:
    by_default = {(method.model, method.schedule) for method in METHODS if method.repeats}
    assert by_default == {("spdp", "blocks"), ("spdp", "sequential")}
    for model, schedule in [*sorted(by_default), ("spdp", "topic_parallel"), ("lda", "blocks")]:
        settings = SamplerSettings(TOPICS, schedule=schedule, model=model, learn=False)
        assert settings.repeats is None
        sampler = Sampler(CORPORA["three groups"], settings)
        expected = (model, schedule) in by_default
        assert sampler.settings.repeats is expected
        assert (sampler._schedule.repeats is not None) is expected
        assert ("repeat_discount" in sampler.hyperparameters()) is expected
