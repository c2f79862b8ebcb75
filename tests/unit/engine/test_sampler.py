"""The stepped sampler: reproducible, measured, and clear about what it refuses."""

from __future__ import annotations

import gc
import re
import warnings
import weakref
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError, ParallaxError, SettingsError
from spdp_engine.models import LdaPriors, Priors, SpdpPriors, stirling
from spdp_engine.models.readings import count_tokens
from spdp_engine.sampling import METHODS, devices, method_named, programs
from spdp_engine.sampling.devices import list_devices
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings, warm_up
from spdp_engine.types import Iteration

from .corpora import from_documents, random_matrices, random_tokens
from .reference import numpy_likelihoods, numpy_perplexity

CORPUS = random_tokens(4_000, 60, 90, 3, seed=41)
MATRICES = random_matrices(CORPUS, 3.0, seed=42)


def assert_sentences(message: str) -> None:
    """One sentence, or two: what is wrong and what to do."""
    assert "\n" not in message
    assert message[0].isupper() or message[0].isdigit(), message
    assert message.endswith("."), message
    assert len(re.findall(r"[.!?](?=\s+[A-Z“]|$)", message)) <= 2, message


def every_run(reproducible: bool = False, **more: Any) -> list[Any]:
    """Settings of every method, with identity and with other matrices, where blocks are cut with several numbers of workers.

    Args:
        reproducible: only those that a seed decides. `token_parallel` is none of them: which of its tokens sees which counts
            depends on how fast work-groups get on, which no seed decides.
        more: further settings.
    """
    runs = []
    for method in METHODS:
        if reproducible and method.schedule == "token_parallel":
            continue
        takes_workers = method.runner.workers(3, list_devices()[0]) == 3
        for matrices in (None, MATRICES) if method.associations else (None,):
            for workers in (1, 2, 5) if takes_workers and reproducible else (2,):
                settings = plain_settings(
                    8, schedule=method.schedule, workers=workers, model=method.model, associations=matrices, **more
                )
                words = f"{method.model} {method.schedule}{f' {workers} workers' * takes_workers}"
                runs.append(pytest.param(settings, id=f"{words}{' matrices' * (matrices is not None)}"))
    return runs


def arrays_of(counts: Any) -> Iterator[NDArray[np.int32]]:
    return (array for array in vars(counts).values() if array is not None)


def state_after(settings: SamplerSettings, iterations: int = 3) -> tuple[NDArray[Any], ...]:
    sampler = Sampler(CORPUS, settings)
    records = sampler.run(iterations)
    perplexities = np.array([record.perplexity for record in records])
    return sampler.topics(), sampler.totals(), perplexities, *arrays_of(sampler.inspect().counts)


@pytest.mark.parametrize("settings", every_run(reproducible=True, seed=99))
def test_the_same_seed_gives_the_same_bits(settings: SamplerSettings) -> None:
    first = state_after(settings)
    for _ in range(2):
        for one, other in zip(first, state_after(settings), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("settings", every_run(held_out=0.0, measure_every=0))
def test_another_seed_gives_another_run(settings: SamplerSettings) -> None:
    runs = [state_after(replace(settings, seed=seed))[0] for seed in (0, 1, 2**32 - 1)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert (runs[one] != runs[other]).mean() > 0.5


def test_bits_do_not_depend_on_where_the_device_stands_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    first = state_after(plain_settings(8, seed=99))
    real = list_devices()
    monkeypatch.setattr(devices, "list_devices", lambda: (replace(real[0], name="Other Card"), *real))
    second = state_after(plain_settings(8, seed=99, device=real[0].name))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("settings", every_run(reproducible=True))
def test_measuring_and_inspecting_leave_no_trace(settings: SamplerSettings) -> None:
    quiet = Sampler(CORPUS, replace(settings, measure_every=0))
    curious = Sampler(CORPUS, replace(settings, measure_every=1))
    for _ in range(3):
        quiet.step()
        curious.step()
        curious.inspect()
        curious.perplexity()
        curious.likelihoods()
        curious.totals()
    np.testing.assert_array_equal(quiet.topics(), curious.topics())


def test_two_samplers_take_turns_without_meeting() -> None:
    settings = plain_settings(8, seed=5)
    alone = Sampler(CORPUS, settings)
    alone.run(4)
    one, other = Sampler(CORPUS, settings), Sampler(CORPUS, plain_settings(8, seed=6))
    for _ in range(4):
        one.step()
        other.step()
    np.testing.assert_array_equal(one.topics(), alone.topics())


def test_iteration_records_are_immutable_and_add_up() -> None:
    sampler = Sampler(CORPUS, plain_settings(8))
    seen: list[Iteration] = []
    records = sampler.run(5, seen.append)
    assert seen == records
    assert [record.iteration for record in records] == [1, 2, 3, 4, 5]
    assert sampler.iteration == 5
    total = 0.0
    for record in records:
        assert record.seconds > 0
        total += record.seconds
        assert record.elapsed >= total
        assert record.tokens_per_second == pytest.approx(sampler.training_tokens / record.seconds)
        assert record.perplexity is not None
        assert 1 < record.perplexity < 2 * CORPUS.n_words
    with pytest.raises(FrozenInstanceError):
        records[0].perplexity = 1.0  # type: ignore[misc]


def test_inspect_is_a_copy() -> None:
    sampler = Sampler(CORPUS, plain_settings(8))
    sampler.run(2)
    sample = sampler.inspect()
    assert sample.iteration == 2
    kept = sample.counts.customers.copy()
    sampler.step()
    np.testing.assert_array_equal(sample.counts.customers, kept)
    assert not np.array_equal(sampler.inspect().counts.customers, kept)
    now = sampler.inspect().counts
    for array in (now.customers, now.tables, now.document_topics):
        array[:] = -7
    assert sampler.inspect().counts.customers.min() == 0
    assert sampler.topics().max() < 8


def test_before_the_first_step_nothing_has_a_topic() -> None:
    sampler = Sampler(CORPUS, plain_settings(8))
    assert sampler.iteration == 0
    assert sampler.inspect().counts.customers.sum() == 0
    assert sampler.totals().sum() == 0


def test_the_likelihood_rises() -> None:
    """On texts made of two separate vocabularies perplexity comes near that of the truth, far below that of no topics."""
    rng = np.random.default_rng(7)
    documents = [(d % 2, (rng.integers(0, 30, 60) + 30 * (d // 2 % 2)).tolist()) for d in range(80)]
    records = Sampler(from_documents(documents, 60, 2), plain_settings(2, seed=3)).run(30)
    assert records[-1].perplexity is not None
    assert records[-1].perplexity < 36  # truth: 30; one topic: 60


# ---- held-out tokens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topics", [1, 5, 8, 20])
@pytest.mark.parametrize(
    "priors",
    [SpdpPriors(), SpdpPriors(0.01, 2.0, 0.0, 1.0), SpdpPriors(1.0, 0.01, 0.95, 1e4)],
    ids=["usual", "a=0", "a=0.95"],
)
def test_perplexity_on_the_device_equals_numpy(priors: SpdpPriors, topics: int) -> None:
    sampler = Sampler(CORPUS, plain_settings(topics, priors, held_out=0.5, workers=3))
    for _ in range(3):
        record = sampler.step()
        expected = numpy_perplexity(sampler.inspect(), CORPUS, sampler.held_out)
        assert record.perplexity == pytest.approx(expected, rel=1e-4)
    assert sampler.perplexity() == record.perplexity


def test_perplexity_does_not_depend_on_how_many_workers_measure() -> None:
    # Before the first step all of them are in the same state.
    samplers = [Sampler(CORPUS, plain_settings(5, workers=workers, seed=8)) for workers in (1, 2, 7)]
    assert len({sampler.perplexity() for sampler in samplers}) == 1


def test_before_the_first_step_perplexity_is_that_of_the_priors() -> None:
    sampler = Sampler(CORPUS, plain_settings(5))
    assert sampler.perplexity() == pytest.approx(CORPUS.n_words, rel=1e-4)


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 0.99])
def test_half_the_tokens_of_that_share_of_documents_are_held_out(fraction: float) -> None:
    held_out = choose_held_out(CORPUS, fraction, 1)
    lengths = np.bincount(CORPUS.token_document, minlength=60)
    held = np.bincount(CORPUS.token_document[held_out], minlength=60)
    chosen = held > 0
    assert chosen.sum() == max(1, round(fraction * 60))
    np.testing.assert_array_equal(held[chosen], lengths[chosen] // 2)


def test_the_same_seed_holds_out_the_same_tokens() -> None:
    np.testing.assert_array_equal(choose_held_out(CORPUS, 0.3, 4), choose_held_out(CORPUS, 0.3, 4))
    assert (choose_held_out(CORPUS, 0.3, 4) != choose_held_out(CORPUS, 0.3, 5)).any()
    sampler = Sampler(CORPUS, plain_settings(5, held_out=0.3, seed=4))
    np.testing.assert_array_equal(sampler.held_out, choose_held_out(CORPUS, 0.3, 4))


def test_any_half_of_a_document_may_be_held_out() -> None:
    """Not always its first half: over 200 seeds each of ten tokens is held out 50 to 150 times.

    False alarms: 1e-11 (a binomial of 200 and a half, seven standard deviations, ten times).
    """
    corpus = from_documents([(0, list(range(10)))], 10, 1)
    times = np.sum([choose_held_out(corpus, 0.5, seed) for seed in range(200)], axis=0)
    assert ((times > 50) & (times < 150)).all()


def test_documents_of_one_token_are_never_chosen() -> None:
    corpus = from_documents([(0, [0]), (0, [1]), (0, [0, 1, 1]), (0, [])], 2, 1)
    for seed in range(20):
        assert np.flatnonzero(choose_held_out(corpus, 0.9, seed)).tolist() in ([2], [3], [4])
    lonely = from_documents([(0, [0]), (0, [1])], 2, 1)
    assert not choose_held_out(lonely, 0.9, 1).any()
    assert Sampler(lonely, plain_settings(2, held_out=0.9)).step().perplexity is None


@pytest.mark.parametrize("settings", every_run(held_out=0.4))
def test_held_out_tokens_are_never_trained_on(settings: SamplerSettings) -> None:
    sampler = Sampler(CORPUS, settings)
    trained = ~sampler.held_out
    expected = np.zeros((CORPUS.n_groups, CORPUS.n_words), int)
    np.add.at(expected, (CORPUS.token_group[trained], CORPUS.token_word[trained]), 1)
    assert sampler.training_tokens == trained.sum() < len(CORPUS)
    for _ in range(3):
        sampler.step()
        assert len(sampler.topics()) == trained.sum()
        sample = sampler.inspect()
        np.testing.assert_array_equal(sum(sample.group_word_tokens(k) for k in range(8)), expected)


@pytest.mark.parametrize("every", [1, 2, 3, 0])
def test_measure_every(every: int) -> None:
    records = Sampler(CORPUS, plain_settings(5, measure_every=every)).run(6)
    measured = [record.iteration for record in records if record.perplexity is not None]
    assert measured == (list(range(every, 7, every)) if every else [])


def test_nothing_held_out_nothing_measured() -> None:
    sampler = Sampler(CORPUS, plain_settings(5, held_out=0.0))
    assert not sampler.held_out.any()
    assert sampler.step().perplexity is None
    assert sampler.perplexity() is None


def in_order_of_likelihoods(sampler: Sampler) -> NDArray[np.int64]:
    """Held-out tokens by word, group and document: tokens that agree in these have the same probability."""
    documents = CORPUS.token_document[sampler.held_out]
    return np.lexsort((documents, CORPUS.document_group[documents], CORPUS.token_word[sampler.held_out]))


@pytest.mark.parametrize("settings", every_run(held_out=0.5, measure_every=1))
def test_likelihoods_equal_numpy_and_give_the_perplexity(settings: SamplerSettings) -> None:
    sampler = Sampler(CORPUS, settings)
    order = in_order_of_likelihoods(sampler)
    for _ in range(2):
        record = sampler.step()
        likelihoods = sampler.likelihoods()
        assert likelihoods.dtype == np.float64
        expected = numpy_likelihoods(sampler.inspect(), CORPUS, sampler.held_out)
        np.testing.assert_allclose(likelihoods, expected[order], rtol=1e-5)
        assert record.perplexity == pytest.approx(np.exp(-np.log(likelihoods).mean()), rel=1e-5)


def test_likelihoods_averaged_over_sweeps_are_those_of_the_averaged_model() -> None:
    """Always in the same order; and a mean of probabilities is above their geometric mean, so perplexity is lower."""
    sampler = Sampler(CORPUS, plain_settings(8, held_out=0.5))
    sampler.run(5)
    likelihoods, plain = [], []
    for _ in range(10):
        sampler.step()
        likelihoods.append(sampler.likelihoods())
        plain.append(numpy_likelihoods(sampler.inspect(), CORPUS, sampler.held_out))
    averaged = np.exp(-np.log(np.mean(likelihoods, axis=0)).mean())
    assert averaged == pytest.approx(np.exp(-np.log(np.mean(plain, axis=0)).mean()), rel=1e-5)
    assert averaged < np.exp(-np.log(likelihoods).mean(axis=1)).min()


def test_likelihoods_before_the_first_step_and_without_held_out_tokens() -> None:
    np.testing.assert_allclose(Sampler(CORPUS, plain_settings(8)).likelihoods(), 1 / CORPUS.n_words, rtol=1e-5)
    assert Sampler(CORPUS, plain_settings(8, held_out=0.0)).likelihoods().shape == (0,)


# ---- a beginning of one's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", every_run())
def test_a_run_may_start_at_given_topics(settings: SamplerSettings) -> None:
    sampler = Sampler(CORPUS, settings)
    kept = ~sampler.held_out
    tokens = CORPUS.token_word[kept], CORPUS.token_document[kept], CORPUS.document_group
    topics = np.random.default_rng(43).integers(0, 8, sampler.training_tokens).astype(np.uint16)
    sampler.start_at(topics)
    assert sampler.iteration == 1
    np.testing.assert_array_equal(sampler.topics(), topics)
    n, m = count_tokens(*tokens, topics, (CORPUS.n_groups, CORPUS.n_words, 8))
    sample = sampler.inspect()
    np.testing.assert_array_equal(sample.counts.document_topics, n)
    np.testing.assert_array_equal([sample.group_word_tokens(k) for k in range(8)], np.moveaxis(m, -1, 0))
    assert sampler.perplexity() == pytest.approx(numpy_perplexity(sample, CORPUS, sampler.held_out), rel=1e-4)
    given = (settings.associations,) if settings.associations else ()
    sample.counts.check(*tokens, topics, *given)
    if settings.model == "spdp":
        np.testing.assert_array_equal(sample.counts.tables, m > 0)
    if sample_of_base_words(sample):
        likeliest = np.maximum.reduceat(MATRICES.weight, MATRICES.starts[:-1])
        used = sample.counts.associated.any(axis=1)
        np.testing.assert_array_equal(MATRICES.weight[used], likeliest[MATRICES.row[used]])

    assert [sampler.step().iteration for _ in range(2)] == [2, 3]
    assert 0 < (sampler.topics() != topics).mean() < 1
    sampler.inspect().counts.check(*tokens, sampler.topics(), *given)


def sample_of_base_words(sample: Any) -> bool:
    return getattr(sample.counts, "associated", None) is not None


@pytest.mark.parametrize("settings", [run for run in every_run(reproducible=True) if "hybrid" not in str(run.id)])
def test_a_run_goes_on_from_another_runs_topics_and_counts(settings: SamplerSettings) -> None:
    """As if it had been its own: the state is all in them. (phi0 of the hybrid sampler depends on the phi0 before.)"""
    one, other = Sampler(CORPUS, settings), Sampler(CORPUS, settings)
    one.run(3)
    other.start_at(one.topics(), one.inspect().counts)
    assert other.perplexity() == one.perplexity()
    other.iteration = one.iteration
    one.run(2)
    other.run(2)
    np.testing.assert_array_equal(one.topics(), other.topics())
    for array, again in zip(arrays_of(one.inspect().counts), arrays_of(other.inspect().counts), strict=True):
        np.testing.assert_array_equal(array, again)


# ---- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"topics": 0}, "number of topics"),
        ({"topics": 4097}, "4096"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"workers": 0}, "workers"),
        ({"workers": 1025}, "workers"),
        ({"measure_every": -1}, "measurements"),
        ({"schedule": "magic"}, "blocks, sequential"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_a_sentence(wrong: dict[str, int | str], says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        plain_settings(**wrong)  # type: ignore[arg-type]
    assert_sentences(str(caught.value))
    assert isinstance(caught.value, ParallaxError)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (SpdpPriors, {"alpha": 0.0}),
        (SpdpPriors, {"alpha": -1.0}),
        (SpdpPriors, {"gamma": 0.0}),
        (SpdpPriors, {"discount": 1.0}),
        (SpdpPriors, {"discount": -0.01}),
        (SpdpPriors, {"concentration": 0.0}),
        (SpdpPriors, {"concentration": float("inf")}),
        (SpdpPriors, {"alpha": float("nan")}),
        (LdaPriors, {"alpha": 0.0}),
        (LdaPriors, {"beta": 0.0}),
        (LdaPriors, {"beta": float("nan")}),
    ],
    ids=str,
)
def test_wrong_priors_are_refused_in_a_sentence(kind: type[Priors], wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong)).capitalize() + "|" + next(iter(wrong))) as caught:
        kind(**wrong)
    assert_sentences(str(caught.value))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (SpdpPriors, {"alpha": 1e-50}),
        (SpdpPriors, {"alpha": 1e39}),
        (SpdpPriors, {"gamma": 1e-50}),
        (SpdpPriors, {"gamma": 1e39}),
        (SpdpPriors, {"concentration": 1e39}),
        (LdaPriors, {"alpha": 1e39}),
        (LdaPriors, {"beta": 1e-50}),
        (LdaPriors, {"beta": 1e39}),
    ],
    ids=str,
)
def test_priors_that_single_precision_cannot_hold_are_refused(kind: type[Priors], wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError):
        kind(**wrong)


@pytest.mark.parametrize("fraction", [1.0, 1.5, -0.1, float("nan")])
def test_a_wrong_share_of_held_out_documents_is_refused(fraction: float) -> None:
    with pytest.raises(SettingsError, match="held-out share") as caught:
        Sampler(CORPUS, plain_settings(5, held_out=fraction))
    assert_sentences(str(caught.value))


def test_more_topics_than_tokens_are_refused() -> None:
    corpus = from_documents([(0, [0, 1, 0])], 2, 1)
    with pytest.raises(SettingsError, match=r"4\).*3\)") as caught:
        Sampler(corpus, plain_settings(4))
    assert_sentences(str(caught.value))
    Sampler(corpus, plain_settings(3)).step()


def test_a_corpus_without_tokens_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        Sampler(from_documents([(0, [])], 0, 1), plain_settings(1))
    assert_sentences(str(caught.value))


def test_a_second_run_warns_of_nothing() -> None:
    """A person who runs the model twice must not find warnings of the driver's library in the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            Sampler(CORPUS, plain_settings(5)).step()


@pytest.mark.parametrize(
    ("model", "schedule", "associations"),
    [("spdp", None, False), ("spdp", "sequential", True), ("lda", "blocked_nested", False)],
)
def test_warming_up_builds_what_a_run_needs(
    model: str, schedule: str | None, associations: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A number of topics for which nothing else has built programs.
    settings = plain_settings(
        30, schedule=schedule, workers=2, model=model, associations=MATRICES if associations else None
    )
    warm_up(settings, CORPUS)

    def refuse(*_: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(programs, "_expand", refuse)
    monkeypatch.setattr(stirling, "_alone_rows", refuse)
    Sampler(CORPUS, settings).run(2)


def test_errors_of_warming_up_are_left_to_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    warm_up(plain_settings(3, device="abacus"))
    with pytest.raises(DeviceError):
        Sampler(CORPUS, plain_settings(3, device="abacus"))


def test_settings_are_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        plain_settings().topics = 3  # type: ignore[misc]


def test_settings_come_back_with_device_and_workers_filled_in() -> None:
    sampler = Sampler(CORPUS, plain_settings(5))
    assert sampler.settings.device == sampler.device.name
    assert method_named("spdp", str(sampler.settings.schedule)).default
    assert sampler.settings.priors == SpdpPriors()
    blocks = plain_settings(5, schedule="blocks")
    assert Sampler(CORPUS, blocks).settings.workers == sampler.device.default_workers
    assert Sampler(CORPUS, replace(blocks, workers=3)).settings.workers == 3
    assert Sampler(CORPUS, plain_settings(5, schedule="sequential", workers=3)).settings.workers == 1
    assert Sampler(CORPUS, plain_settings(5, schedule="token_parallel")).settings.order == "interleaved"
    assert Sampler(CORPUS, blocks).settings.order is None


@pytest.mark.parametrize("topics", [[0] * 3, [0] * 3_999 + [5], np.zeros(5_000, int)], ids=["few", "beyond K", "many"])
def test_topics_that_do_not_fit_are_refused(topics: Any) -> None:
    sampler = Sampler(CORPUS, plain_settings(5, held_out=0.0))
    with pytest.raises(SettingsError) as refusal:
        sampler.start_at(np.asarray(topics, np.uint16))
    assert_sentences(str(refusal.value))


@pytest.mark.parametrize("settings", every_run(held_out=0.0, measure_every=0))
def test_a_sampler_lets_the_memory_of_its_device_go_at_once(settings: SamplerSettings) -> None:
    """Without waiting for the collector of cycles, which does not know how much a buffer holds."""
    sampler = Sampler(CORPUS, settings)
    sampler.step()
    state = weakref.ref(sampler._state)
    gc.disable()
    try:
        del sampler
        assert state() is None
    finally:
        gc.enable()
