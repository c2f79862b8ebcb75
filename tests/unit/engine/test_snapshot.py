"""The exact state of a run: whoever goes on from it finds the same bits as the run would have found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from spdp_engine.errors import SettingsError
from spdp_engine.models import SpdpPriors
from spdp_engine.models.mean import MeanSample
from spdp_engine.sampling import METHODS, Method, averaging, learning, sampler, snapshot
from spdp_engine.sampling.repeats import Seats
from spdp_engine.sampling.sampler import Sampler, SamplerSettings
from spdp_engine.sampling.snapshot import Origin, Snapshot, to_go_on
from spdp_engine.types import Iteration, ScoredTokens

from .alike import differences
from .corpora import random_matrices, random_tokens
from .test_sampler import assert_sentences

CORPUS = random_tokens(1_500, 30, 40, 3, seed=71)
MATRICES = random_matrices(CORPUS, 2.0, seed=72)
TOPICS, BEFORE, AFTER = 6, 13, 17


@pytest.fixture(autouse=True)
def everything_happens_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within thirty iterations the chain settles, and means begin, and begin anew once, so that the earlier one is shown when the
    run is interrupted; and every hyperparameter is drawn before and after."""
    monkeypatch.setattr(averaging, "WINDOW", 2)
    monkeypatch.setattr(averaging, "LONGEST_BURN_IN", 4)
    monkeypatch.setattr(sampler, "AVERAGE_EVERY", 2)
    monkeypatch.setattr(sampler, "MANY", 2)
    monkeypatch.setattr(learning, "is_due_for_discount", lambda iteration: iteration % 10 == 0)
    monkeypatch.setattr(averaging.BurnIn, "fell", lambda self: len(self._trace) == BEFORE - 1)
    monkeypatch.setattr(averaging.Averages, "renumbered", lambda self: False)


def settings_of(method: Method, **more: Any) -> SamplerSettings:
    return SamplerSettings(TOPICS, model=method.model, schedule=method.schedule, seed=5, held_out=0.3, **more)


def every_run() -> Iterator[Any]:
    """Every method, with and without repeats and associations where there is a choice, and with several workers."""
    for method in METHODS:
        if not method.runner.reproducible:
            continue
        for repeats in (False, True) if method.runner.takes_repeats else (False,):
            for matrices in (None, MATRICES) if method.associations else (None,):
                words = f"{method.model} {method.schedule}{' repeats' * repeats}{' matrices' * (matrices is not None)}"
                workers = 3 if method.runner.lags else None
                yield pytest.param(
                    settings_of(method, repeats=repeats, associations=matrices, workers=workers), id=words
                )


EVERY_RUN = pytest.mark.parametrize("settings", list(every_run()))
FULL = settings_of(METHODS[0], repeats=True, associations=MATRICES, workers=3)
"""All that a run can have, but for phi0 of its own."""


def seen(run: Sampler, steps: int) -> list[Any]:
    """All that a run tells over so many steps, and all that it knows at the end."""
    told: list[Any] = []
    for _ in range(steps):
        told.append(run.step())
        told.append(run.inspect())
        told.append(run.topics())
    return [*told, run.totals(), run.likelihoods(), run.snapshot()]


def noticed(one: list[Any], other: list[Any]) -> set[str]:
    return {part for a, b in zip(one, other, strict=True) for part in differences(a, b, type(a).__name__)}


@EVERY_RUN
def test_a_run_goes_on_to_the_bit(settings: SamplerSettings) -> None:
    whole = Sampler(CORPUS, settings)
    whole.run(BEFORE)
    rest = seen(whole, AFTER)

    begun = Sampler(CORPUS, settings)
    begun.run(BEFORE)
    kept = begun.snapshot()
    begun.run(2)  # what has been taken is not touched any more
    again = Sampler(CORPUS, begun.settings, snapshot=kept)
    assert not differences(again.snapshot(), kept), "what was laid down is what is read"
    assert noticed(rest, seen(again, AFTER)) == set()
    assert isinstance(rest[1], MeanSample) and kept.averages and kept.settled and kept.iteration == BEFORE
    assert rest[-1].priors != kept.priors != settings.priors


def test_the_circumstances_are_those_that_were_meant(interrupted: dict[str, Any]) -> None:
    """The earlier mean is shown at first, then that of more samples; in between every hyperparameter is learned."""
    kept, rest = taken(interrupted)
    assert kept.averages and kept.earlier and kept.averages.samples == 1 < kept.earlier.samples
    assert [sample.since == kept.earlier.since for sample in rest[1 : 3 * AFTER : 3]] == [True] * 2 + [False] * 15
    names = [one.name for one in fields(kept.priors) if one.name != "alpha"]
    assert all(getattr(kept.priors, name) != getattr(rest[-1].priors, name) for name in names)
    assert rest[-1].averages.samples > 2 and rest[-1].earlier is None, "which nobody will see any more"


def test_the_time_that_a_run_took_goes_on() -> None:
    run = Sampler(CORPUS, FULL)
    last = run.run(3)[-1]
    assert run.snapshot().elapsed == last.elapsed
    later = Sampler(CORPUS, FULL, snapshot=replace(run.snapshot(), elapsed=1_000.0)).step()
    assert isinstance(later, Iteration) and 1_000 < later.elapsed < 1_060 and later.iteration == 4


LEFT_OUT: dict[str, Any] = {
    "iteration": lambda kept: 1,
    "held_out": lambda kept: np.roll(kept.held_out, 1),
    "seats": lambda kept: Seats(np.roll(kept.seats.topics, 1), kept.seats.seated),
    "own": lambda kept: {**kept.own, "tables": np.minimum(kept.own["tables"], 1)},
    "priors": lambda kept: SpdpPriors(),
    "alphas": lambda kept: np.full_like(kept.alphas, 0.1),
    "random": lambda kept: np.random.default_rng(0).bit_generator.state,
    "settled": lambda kept: False,
    "trace": lambda kept: kept.trace[:0],
    "mark": lambda kept: np.inf,
    "scored_samples": lambda kept: 0,
    "scored": lambda kept: 0 * kept.scored,
    "averages": lambda kept: None,
    "earlier": lambda kept: None,
}
"""Each part as it is where nobody kept it."""


@pytest.fixture(scope="module")
def interrupted() -> dict[str, Any]:
    """Filled by the first test that asks."""
    return {}


def taken(interrupted: dict[str, Any]) -> tuple[Snapshot, list[Any]]:
    if not interrupted:
        run = Sampler(CORPUS, FULL)
        run.run(BEFORE)
        interrupted["kept"], interrupted["rest"] = run.snapshot(), seen(run, AFTER)
    return interrupted["kept"], interrupted["rest"]


def test_every_part_is_among_those_that_are_left_out() -> None:
    others = {"elapsed", "origin", "tempering"}  # the last matters later in a run, see test_tempering
    assert {one.name for one in fields(Snapshot)} == {*LEFT_OUT, *others}


@pytest.mark.parametrize("part", LEFT_OUT)
def test_a_part_that_is_left_out_is_noticed(part: str, interrupted: dict[str, Any]) -> None:
    """The companion: whoever forgot any part of the state would be told so by the test above, or at once."""
    kept, rest = taken(interrupted)
    without = replace(kept, **{part: LEFT_OUT[part](kept)})
    try:
        other = seen(Sampler(CORPUS, FULL, snapshot=without), AFTER)
    except SettingsError as refusal:
        assert_sentences(str(refusal))
        assert part in ("own", "seats", "held_out")
    else:
        assert noticed(rest, other), part


@pytest.mark.parametrize("name", ["seated", "associated", "base"])
def test_parts_of_parts_that_are_left_out_are_noticed(name: str) -> None:
    settings = (
        FULL if name != "base" else settings_of(next(one for one in METHODS if one.schedule == "hybrid"), workers=3)
    )
    run = Sampler(CORPUS, settings)
    run.run(BEFORE)
    kept, rest = run.snapshot(), seen(run, 2)
    if name == "seated":
        assert kept.seats.seated is not None
        kept = replace(kept, seats=Seats(kept.seats.topics, np.minimum(kept.seats.seated, 1)))
    else:
        # As a new state has it: all tables serve the likeliest base word; phi0 is flat.
        array = kept.own[name]
        kept = replace(kept, own={**kept.own, name: np.full_like(array, 1 / 40) if name == "base" else 0 * array})
    if name == "base":
        assert noticed(rest, seen(Sampler(CORPUS, settings, snapshot=kept), 2))
    else:
        with pytest.raises(SettingsError) as refusal:
            Sampler(CORPUS, settings, snapshot=kept)
        assert_sentences(str(refusal.value))


# ---- without a device -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [2, 8, BEFORE])
@EVERY_RUN
def test_what_is_read_of_a_run_is_read_of_its_state(settings: SamplerSettings, iterations: int) -> None:
    """Before there are means, of the means, and of those that were before."""
    run = Sampler(CORPUS, settings)
    run.run(iterations)
    kept, read = run.snapshot(), run.inspect()
    assert differences(kept.sample(CORPUS, run.settings), read) == []
    topics = kept.topics(CORPUS)
    assert topics.dtype == np.int32
    np.testing.assert_array_equal(topics[~run.held_out], run.topics())
    assert (topics[run.held_out] == -1).all()
    assert isinstance(read, MeanSample) is (iterations > 2)


# ---- elsewhere ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [one for one in METHODS if one.runner.lags], ids=lambda one: f"{one.model} {one.schedule}"
)
def test_with_other_workers_it_is_the_same_state(method: Method) -> None:
    """The same fit and counts, if other bits from there on."""
    run = Sampler(CORPUS, settings_of(method, repeats=method.runner.takes_repeats, workers=3))
    run.run(BEFORE)
    kept = run.snapshot()
    other = Sampler(CORPUS, replace(run.settings, workers=2), snapshot=kept)
    assert differences(other.snapshot(), kept) == [] and differences(other.inspect(), run.inspect()) == []
    assert other.perplexity() == pytest.approx(run.perplexity(), rel=1e-5)
    other.step(), run.step()
    sample: Any = other.sample()
    tokens, topics = other.snapshot().seats.modelled(kept.training(CORPUS))
    sample.counts.check(tokens.token_word, tokens.token_document, CORPUS.document_group, topics)
    assert other.perplexity() == pytest.approx(run.perplexity(), rel=0.1)


def test_here_nothing_is_said() -> None:
    run = Sampler(CORPUS, FULL)
    run.step()
    assert to_go_on(run.snapshot(), run.settings) == (run.settings, "")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"driver": "another 1.0"}, "the device's driver"),
        ({"numpy": "0.1", "scipy": "0.1"}, "NumPy and SciPy"),
        ({"kernels": "abc"}, "Parallax"),
        ({"device": "Abacus 3000"}, "Abacus 3000"),
    ],
)
def test_elsewhere_it_is_said_that_bits_will_differ(changed: dict[str, str], says: str) -> None:
    run = Sampler(CORPUS, FULL)
    run.step()
    kept = run.snapshot()
    settings, sentence = to_go_on(replace(kept, origin=replace(kept.origin, **changed)), run.settings)
    assert says in sentence
    assert_sentences(sentence)
    assert (settings.device, settings.workers) == ((None, None) if "device" in changed else (run.settings.device, 3))
    assert Sampler(CORPUS, settings, snapshot=kept).step().iteration == 2


def test_a_schedule_that_time_decides_says_so() -> None:
    """Its state is kept and goes on all the same."""
    method = next(one for one in METHODS if not one.runner.reproducible)
    run = Sampler(CORPUS, settings_of(method, associations=MATRICES))
    run.run(BEFORE)
    kept = run.snapshot()
    settings, sentence = to_go_on(kept, run.settings)
    assert "token_parallel" in sentence
    assert_sentences(sentence)
    again = Sampler(CORPUS, settings, snapshot=kept)
    assert differences(again.snapshot(), kept) == [] and differences(again.inspect(), run.inspect()) == []
    assert again.step().iteration == BEFORE + 1


def test_without_a_device_there_is_still_something_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Sampler(CORPUS, FULL)
    run.step()
    kept, read = run.snapshot(), run.inspect()
    monkeypatch.setattr(snapshot, "list_devices", tuple)
    monkeypatch.setattr("spdp_engine.sampling.devices.list_devices", tuple)
    assert "cannot go on here" in to_go_on(kept, run.settings)[1]
    assert differences(kept.sample(CORPUS, run.settings), read) == []


# ---- what does not belong together ----------------------------------------------------------------------------------


def test_before_the_first_iteration_there_is_no_state_to_keep() -> None:
    with pytest.raises(SettingsError) as refusal:
        Sampler(CORPUS, FULL).snapshot()
    assert_sentences(str(refusal.value))


WRONG: dict[str, Any] = {
    "other documents": lambda kept: (random_tokens(900, 30, 40, 3, seed=1), FULL, kept),
    "other topics": lambda kept: (CORPUS, replace(FULL, topics=5), kept),
    "no repeats": lambda kept: (CORPUS, replace(FULL, repeats=False), kept),
    "another model": lambda kept: (CORPUS, SamplerSettings(TOPICS, model="lda", repeats=True, schedule="blocks"), kept),
    "nothing learned": lambda kept: (CORPUS, replace(FULL, learn=False), kept),
    "no associations": lambda kept: (CORPUS, replace(FULL, associations=None, schedule="hybrid", repeats=None), kept),
    "an iteration before the first": lambda kept: (CORPUS, FULL, replace(kept, iteration=0)),
    "topics beyond the last": lambda kept: (CORPUS, FULL, replace(kept, seats=replace(kept.seats, topics=kept.seats.topics + 9))),
    "tables after an empty place": lambda kept: (CORPUS, FULL, replace(kept, seats=replace(kept.seats, seated=moved(kept)))),
    "tables of nobody": lambda kept: (CORPUS, FULL, replace(kept, seats=replace(kept.seats, seated=kept.seats.seated * 2))),
    "fewer than none": lambda kept: (CORPUS, FULL, replace(kept, seats=replace(kept.seats, seated=kept.seats.seated - 1))),
    "more tables than customers": lambda kept: (CORPUS, FULL, replace(kept, own={**kept.own, "tables": kept.own["tables"] + 99})),
    "no tables": lambda kept: (CORPUS, FULL, replace(kept, own={})),
    "alphas of nothing": lambda kept: (CORPUS, FULL, replace(kept, alphas=-kept.alphas)),
    "other words scored": lambda kept: (CORPUS, FULL, replace(kept, scored=kept.scored[1:])),
    "averages of other words": lambda kept: (
        CORPUS, FULL, replace(kept, averages=replace(kept.averages, words=kept.averages.words[:, 1:]))
    ),
    "random numbers of another kind": lambda kept: (CORPUS, FULL, replace(kept, random={"bit_generator": "MT19937"})),
}  # fmt: skip


def moved(kept: Snapshot) -> Any:
    """Who sits where, the tables of every run last."""
    training = kept.training(CORPUS)
    assert kept.seats.seated is not None
    order = np.lexsort((training.token_word, training.token_document))
    seated = np.empty_like(kept.seats.seated)
    key = training.token_document[order].astype(np.int64) * 40 + training.token_word[order]
    of_runs = np.split(kept.seats.seated[order], np.flatnonzero(np.diff(key)) + 1)
    seated[order] = np.concatenate([run[::-1] for run in of_runs])
    return seated


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_belong_together_is_refused_in_a_sentence(case: str, interrupted: dict[str, Any]) -> None:
    corpus, settings, wrong = WRONG[case](taken(interrupted)[0])
    with pytest.raises(SettingsError) as refusal:
        Sampler(corpus, settings, snapshot=wrong)
    assert_sentences(str(refusal.value))


def test_words_of_a_file_of_their_own_are_scored_on() -> None:
    """The sums go on, and other words are noticed."""
    words = np.arange(40, dtype=np.int32)
    scored = ScoredTokens(words, np.sort(words % 30))
    settings = replace(FULL, held_out=0.0)
    whole = Sampler(CORPUS, settings, scored)
    whole.run(BEFORE)
    kept = whole.snapshot()
    again = Sampler(CORPUS, settings, scored, kept)
    assert noticed(seen(whole, 4), seen(again, 4)) == set()
    with pytest.raises(SettingsError, match="same scored words"):
        Sampler(CORPUS, settings, ScoredTokens(words[1:], scored.token_document[1:]), kept)


def test_the_state_of_a_large_number_of_topics_is_of_its_device() -> None:
    """Rows are padded to whole vectors on the device, and the padding is nobody's business."""
    run = Sampler(CORPUS, replace(FULL, topics=9))
    run.run(3)
    kept = run.snapshot()
    assert kept.own["tables"].shape == (3, 40, 9) and kept.origin == Origin.here(run.device)
