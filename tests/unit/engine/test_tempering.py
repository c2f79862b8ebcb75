"""The tempered beginning of a run: which sweeps are, what such a sweep draws, and that nothing is read or learned from one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from spdp_engine.errors import SettingsError
from spdp_engine.models import LdaPriors, SpdpPriors
from spdp_engine.sampling import METHODS, Method, averaging, learning, sampler, tempering
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings
from spdp_engine.types import Iteration

from .alike import differences
from .corpora import random_tokens
from .reference import (
    LdaReference,
    Reference,
    RepeatingLdaReference,
    RepeatingSpdpReference,
    SpdpReference,
    by_document,
    word_blocks,
)
from .test_kernels import cut
from .test_sampler import assert_sentences

POWER = 11 / 16
CORPUS = random_tokens(220, 14, 12, 3, seed=21)
LARGER = random_tokens(1_500, 30, 40, 3, seed=71)
TOPICS = 11
TEMPERED = [method for method in METHODS if method.runner.takes_tempering]
OTHERS = [method for method in METHODS if not method.runner.takes_tempering]


def named(method: Method) -> str:
    return f"{method.model} {method.schedule}"


# ---- when ------------------------------------------------------------------------------------------------------------


def test_some_sweeps_of_the_beginning_are_tempered_and_no_others() -> None:
    tempered = [iteration for iteration in range(1_000) if tempering.is_tempered(iteration)]
    assert tempered == [first + more for first in range(21, 142, 20) for more in range(3)]


def test_nothing_is_learned_or_sampled_for_readers_just_then() -> None:
    """Samples for readers come just before the next tempered sweeps, when the chain has cooled down for longest."""
    tempered = list(filter(tempering.is_tempered, range(tempering.LAST + 1)))
    assert not any(learning.is_due(iteration) or iteration % sampler.AVERAGE_EVERY == 0 for iteration in tempered)
    assert all(later - earlier in (1, 18) for earlier, later in pairwise(tempered))
    assert all((iteration - 1) % sampler.AVERAGE_EVERY < tempering.SWEEPS for iteration in tempered)


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_a_run_tells_whether_it_is_tempered(method: Method) -> None:
    settings = SamplerSettings(3, model=method.model, schedule=method.schedule)
    assert Sampler(CORPUS, settings).settings.tempering is method.tempering
    assert not method.tempering or method.runner.takes_tempering


def test_the_methods_that_runs_have_by_default_are_tempered() -> None:
    assert {named(method) for method in METHODS if method.tempering} == {"spdp blocks", "spdp sequential", "lda blocks"}
    assert not plain_settings(3).tempering


@pytest.mark.parametrize("method", OTHERS, ids=named)
def test_tempering_is_refused_where_it_cannot_be_had(method: Method) -> None:
    with pytest.raises(SettingsError, match="cannot be tempered") as refusal:
        SamplerSettings(3, model=method.model, schedule=method.schedule, tempering=True)
    assert_sentences(str(refusal.value))
    SamplerSettings(3, model=method.model, schedule=method.schedule, tempering=False)


# ---- what it draws ---------------------------------------------------------------------------------------------------


@pytest.fixture
def only_the_third(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "is_tempered", lambda iteration: iteration == 3)


def reference_of(settings: SamplerSettings) -> Reference:
    kinds: dict[Any, Callable[..., Reference]] = {
        ("spdp", False): SpdpReference, ("spdp", True): RepeatingSpdpReference,
        ("lda", False): LdaReference, ("lda", True): RepeatingLdaReference,
    }  # fmt: skip
    return kinds[settings.model, settings.repeats](CORPUS, TOPICS, settings.priors, settings.seed)


def topics_by_both(settings: SamplerSettings, power: float) -> list[tuple[Any, Any]]:
    """Of the device and of plain Python after each of four iterations, of which the third is tempered."""
    run, reference, pairs = Sampler(CORPUS, settings), reference_of(settings), []
    blocks = cut(CORPUS, settings.seed, settings.workers or 1) if settings.schedule == "blocks" else None
    order = word_blocks(CORPUS, settings.seed, 1)[0] if settings.repeats else by_document(CORPUS, settings.seed)
    for iteration in range(4):
        run.step()
        reference.power = power if iteration == 2 else 1.0
        if blocks:
            visits = None if iteration else blocks.visits
            reference.pass_in_blocks(blocks.order, blocks.starts, visits, iteration)
        else:
            reference.pass_in_order(order, iteration)
        theirs = reference.token_topics() if settings.repeats else reference.topics  # type: ignore[attr-defined]
        pairs.append((run.topics(), theirs.copy()))
    return pairs


def each(method: Method, repeats: bool, workers: int) -> SamplerSettings:
    priors = SpdpPriors(repeat_concentration=5.0) if method.model == "spdp" else LdaPriors(repeat_concentration=5.0)
    return plain_settings(
        TOPICS, priors, schedule=method.schedule, model=method.model, repeats=repeats, tempering=True, seed=17,
        workers=workers if method.runner.lags else None, held_out=0.0, measure_every=0,
    )  # fmt: skip


EACH = [
    pytest.param(each(method, repeats, workers), id=f"{named(method)}{' repeats' * repeats} {workers} workers")
    for method in TEMPERED
    if method.schedule != "hybrid"  # of which all but its base measure is spdp's
    for repeats in (False, True)
    for workers in ((1, 3) if method.runner.lags else (1,))
]


@pytest.mark.usefixtures("only_the_third")
@pytest.mark.parametrize("settings", EACH)
def test_a_tempered_sweep_draws_by_weights_raised_to_a_power(settings: SamplerSettings) -> None:
    for iteration, (ours, theirs) in enumerate(topics_by_both(settings, POWER)):
        np.testing.assert_array_equal(ours, theirs, err_msg=f"iteration {iteration}")


@pytest.mark.usefixtures("only_the_third")
@pytest.mark.parametrize("power", [0.6, 0.8, 1.0])
def test_another_power_is_noticed(power: float) -> None:
    """The companion: all is alike until the tempered sweep, and not after it."""
    alike = [np.array_equal(*pair) for pair in topics_by_both(EACH[0].values[0], power)]  # type: ignore[arg-type]
    assert alike == [True, True, False, False]


# ---- what becomes of it ----------------------------------------------------------------------------------------------


@pytest.fixture
def everything_happens_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain settles at once; every fifth and sixth iteration is tempered, the last time after the twentieth."""
    monkeypatch.setattr(averaging, "WINDOW", 1)
    monkeypatch.setattr(averaging, "LONGEST_BURN_IN", 2)
    monkeypatch.setattr(sampler, "AVERAGE_EVERY", 5)
    for name, value in (("EVERY", 5), ("SWEEPS", 2), ("LAST", 22)):
        monkeypatch.setattr(tempering, name, value)


SOON = (6, 7, 11, 12, 16, 17, 21, 22)


def usual(**more: Any) -> SamplerSettings:
    return SamplerSettings(6, schedule="blocks", workers=2, seed=5, held_out=0.3, **more)


@pytest.mark.usefixtures("everything_happens_soon")
def test_no_sample_of_a_tempered_sweep_is_averaged_and_the_mean_stands_meanwhile() -> None:
    records = Sampler(LARGER, usual()).run(26)
    assert records[1].averaged is None and records[3].averaged is not None, "averaging has begun before the first"
    for before, record in pairwise(records[3:]):
        tempered = record.iteration in SOON
        assert tempered == tempering.is_tempered(record.iteration)
        assert record.samples - before.samples == (not tempered)
        assert record.averaged is not None and before.averaged is not None
        assert (record.averaged == pytest.approx(before.averaged, rel=1e-5)) == tempered, record.iteration


@pytest.mark.usefixtures("everything_happens_soon")
def test_where_no_mean_is_yet_there_is_none_after_a_tempered_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averaging.BurnIn, "settled", lambda *_: False)
    assert all(record.averaged is None and record.perplexity for record in Sampler(LARGER, usual()).run(8))


@pytest.mark.usefixtures("everything_happens_soon")
def test_nothing_is_learned_after_a_tempered_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "is_due", lambda iteration: True)
    records = Sampler(LARGER, usual()).run(26)
    learned = [
        later.iteration for earlier, later in pairwise(records) if earlier.hyperparameters != later.hyperparameters
    ]
    assert learned == [iteration for iteration in range(2, 27) if iteration not in SOON]


@pytest.mark.usefixtures("everything_happens_soon")
def test_without_tempering_every_sweep_is_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    tempered, plain = (Sampler(LARGER, usual(tempering=how)).run(26) for how in (None, False))

    def told(records: list[Iteration]) -> list[float | None]:
        return [record.perplexity for record in records]

    assert told(tempered)[:5] == told(plain)[:5] and told(tempered)[5] != told(plain)[5]
    monkeypatch.setattr(sampler, "is_tempered", lambda _: False)
    assert told(Sampler(LARGER, usual()).run(26)) == told(plain)


@pytest.mark.usefixtures("everything_happens_soon")
def test_topics_that_are_given_are_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the run goes on from a snapshot, whatever the settings say that come with it; and the run's settings tell so."""
    run, same = Sampler(LARGER, usual()), Sampler(LARGER, usual(tempering=False))
    topics = np.random.default_rng(3).integers(6, size=run.training_tokens).astype(np.uint16)
    for one in (run, same):
        one.start_at(topics)
        one.run(3)
    assert run.settings.tempering is False
    again = Sampler(LARGER, usual(), snapshot=run.snapshot())
    assert again.settings == run.settings
    for one in (run, again, same):
        one.run(6)
    np.testing.assert_array_equal(run.topics(), same.topics())
    np.testing.assert_array_equal(again.topics(), same.topics())


@pytest.mark.usefixtures("everything_happens_soon")
@pytest.mark.parametrize("before", [4, 6, 9, 23])
def test_a_run_that_is_interrupted_goes_on_to_the_bit(before: int) -> None:
    """Before the first tempered sweep, between two, after some, after all."""
    run = Sampler(LARGER, usual())
    run.run(before)
    kept = run.snapshot()
    rest = run.run(8)
    again = Sampler(LARGER, run.settings, snapshot=kept)
    later = again.run(8)
    assert differences(again.snapshot(), run.snapshot()) == []
    assert [one.perplexity for one in later] == [one.perplexity for one in rest]
    assert [one.averaged for one in later] == pytest.approx([one.averaged for one in rest], rel=1e-6)
    forgotten = Sampler(LARGER, run.settings, snapshot=replace(kept, tempering=False))
    assert ([one.perplexity for one in forgotten.run(8)] == [one.perplexity for one in rest]) == (before == 23)
