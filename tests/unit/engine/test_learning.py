"""Hyperparameters learned between sweeps: when, which, and that the state belongs to them afterwards."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models import LdaPriors, SpdpPriors
from spdp_engine.models.hyperparameters import SMALLEST_PRIOR
from spdp_engine.models.stirling import seating
from spdp_engine.sampling import METHODS, Method, learning
from spdp_engine.sampling.learning import is_due, is_due_for_discount, learnable
from spdp_engine.sampling.sampler import Sampler, SamplerSettings, plain_settings
from spdp_engine.types import Iteration

from .corpora import Tokens, from_documents, random_matrices, random_tokens
from .on_device import read
from .test_invariants import check_everything
from .test_repeats import check_estimates, check_runs, places
from .test_sampler import assert_sentences

CORPUS = random_tokens(2_000, 40, 50, 3, seed=91)
MATRICES = random_matrices(CORPUS, 2.0, seed=92)
TOPICS = 5
OF_SPDP = {"alpha", "gamma", "discount", "concentration", "repeat_discount", "repeat_concentration"}


def learned(model: str = "spdp", schedule: str = "blocks", **more: Any) -> SamplerSettings:
    settings: dict[str, Any] = {"workers": 2, "held_out": 0.2, "repeats": None, **more}
    return SamplerSettings(TOPICS, schedule=schedule, model=model, **settings)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hyperparameters are drawn after every other sweep, the discount after every fourth."""
    monkeypatch.setattr(learning, "is_due", lambda iteration: iteration % 2 == 0)
    monkeypatch.setattr(learning, "is_due_for_discount", lambda iteration: iteration % 4 == 0)


def check(sampler: Sampler, corpus: Tokens = CORPUS) -> None:
    """What must hold after every pass, by the hyperparameters in force."""
    if sampler._schedule.repeats:
        check_runs(sampler, corpus)
        check_estimates(sampler, corpus)
    else:
        check_everything(sampler, corpus)
    check_alphas(sampler)


def check_alphas(sampler: Sampler) -> None:
    """Those on the device are those in force; none of a padded topic."""
    state = sampler._state
    alphas = read(sampler, state.alpha, np.float32, len(state.alphas), state.padded)
    np.testing.assert_array_equal(alphas[:, : state.topics], state.alphas.astype(np.float32))
    assert (alphas[:, : state.topics] > 0).all()
    assert not alphas[:, state.topics :].any(), "a topic that is none has a prior"
    prior = read(sampler, state.document_prior, np.float32, state.documents)
    np.testing.assert_allclose(prior, state.alphas.sum(axis=1)[state.alpha_row], rtol=1e-6)
    sample: Any = sampler.sample()
    np.testing.assert_array_equal(sample.alphas, state.alphas[state.alpha_row])


def check_seating(sampler: Sampler) -> None:
    """What every cell keeps of its counts on the device is of the discount in force, and so is the table of who sits alone."""
    state: Any = sampler._state
    table = seating(state.priors.discount, state._largest_cell)
    np.testing.assert_array_equal(read(sampler, state.alone, np.float32, len(table.alone)), table.alone)
    assert state.width == table.width
    m, t = np.moveaxis(read(sampler, state.seats, np.int32, state.groups * state.words, state.padded, 2), -1, 0)
    there = read(sampler, state.joins, np.float32, state.groups * state.words, state.padded)
    np.testing.assert_allclose(np.abs(there), m - state.priors.discount * t, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(there < 0, t == table.table_limit)


# ---- when -----------------------------------------------------------------------------------------------------------


def test_which_iterations_are_due() -> None:
    """None of the first, whose topics are no evidence; then often, and later less often."""
    due = [iteration for iteration in range(1, 201) if is_due(iteration)]
    early = list(range(learning.BEGIN, 50, learning.OFTEN))
    assert due == early + [iteration for iteration in range(50, 201) if iteration % learning.EVERY == 0]
    assert due[0] == learning.BEGIN >= 2
    assert learning.OFTEN <= learning.EVERY


def test_a_discount_is_due_ever_less_often_and_only_where_all_are() -> None:
    """Each builds the table of how customers sit anew."""
    due = np.array([iteration for iteration in range(1, 250_001) if is_due_for_discount(iteration)])
    assert due[0] == learning.FIRST_DISCOUNT
    assert 4 <= len(due) < 10
    assert (np.diff(np.diff(due)) > 0).all()
    assert all(is_due(iteration) for iteration in due)


@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_they_change_when_they_are_due_and_never_else(model: str) -> None:
    sampler = Sampler(CORPUS, learned(model))
    last = learning.FIRST_DISCOUNT + learning.OFTEN
    records = sampler.run(last)
    for before, after in pairwise(records):
        for name, value in after.hyperparameters.items():
            due = is_due(after.iteration) and (name != "discount" or is_due_for_discount(after.iteration))
            assert (value != before.hyperparameters[name]) == due, (after.iteration, name)
    check(sampler) if model == "spdp" else check_alphas(sampler)


def test_names_of_what_a_run_can_learn() -> None:
    assert set(learnable(SpdpPriors(), True)) == OF_SPDP
    assert set(learnable(SpdpPriors(), False)) == {"alpha", "gamma", "discount", "concentration"}
    assert set(learnable(LdaPriors(), False)) == {"alpha", "beta"}


# ---- which ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("name", sorted(OF_SPDP))
def test_what_is_fixed_stays_to_the_bit_and_all_else_is_learned(name: str) -> None:
    priors = SpdpPriors(
        alpha=0.123, gamma=0.0456, discount=0.567, concentration=78.9, repeat_discount=0.321, repeat_concentration=65.4
    )
    sampler = Sampler(CORPUS, learned(priors=priors, fixed=(name,), repeats=True))
    for _ in range(5):
        record = sampler.step()
        assert record.hyperparameters[name] == pytest.approx(getattr(priors, name), rel=1e-15)
        assert getattr(sampler._state.priors, name) == getattr(priors, name)
        assert set(record.hyperparameters) == OF_SPDP
    changed = {one for one in OF_SPDP if record.hyperparameters[one] != pytest.approx(getattr(priors, one), rel=1e-9)}
    assert changed == OF_SPDP - {name}
    assert (sampler._state.alphas == priors.alpha).all() == (name == "alpha")


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_with_all_fixed_or_nothing_learned_a_run_is_the_plain_one(model: str) -> None:
    kind = SpdpPriors if model == "spdp" else LdaPriors
    every = tuple(one.name for one in fields(kind))
    settings = learned(model, repeats=True)
    runs = [Sampler(CORPUS, replace(settings, **more)) for more in ({"fixed": every}, {"learn": False})]
    assert runs[1]._learner is None
    for _ in range(5):
        records = [run.step() for run in runs]
        assert records[0].hyperparameters == records[1].hyperparameters
        for name, value in records[0].hyperparameters.items():
            assert value == pytest.approx(getattr(kind(), name), rel=1e-15)
        assert records[0].perplexity == records[1].perplexity
    np.testing.assert_array_equal(runs[0].topics(), runs[1].topics())
    for run in runs:
        assert run._state.priors == kind()
        assert (run._state.alphas == kind().alpha).all()


@pytest.mark.parametrize(("model", "name"), [("spdp", "beta"), ("lda", "discount"), ("spdp", "Gamma")])
def test_a_prior_that_the_model_does_not_have_cannot_be_fixed(model: str, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{model}.*{name}") as refusal:
        learned(model, fixed=("alpha", name))
    assert_sentences(str(refusal.value))


def test_a_run_that_does_not_say_learns() -> None:
    assert SamplerSettings().learn is True
    assert plain_settings().learn is False


# ---- records, and the same bits -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("repeats", [False, True])
def test_records_have_those_in_force(repeats: bool) -> None:
    """Those that the state has after the iteration, and by which perplexity was measured."""
    sampler = Sampler(CORPUS, learned(repeats=repeats))
    for _ in range(4):
        record = sampler.step()
        sample: Any = sampler.sample()
        assert record.hyperparameters == sampler.hyperparameters()
        of_priors = {one.name: getattr(sample.priors, one.name) for one in fields(sample.priors)}
        for name, value in record.hyperparameters.items():
            if name != "alpha":
                assert value == of_priors[name]
        assert record.hyperparameters["alpha"] == pytest.approx(sampler._state.alphas.mean())
        assert set(record.hyperparameters) == (
            OF_SPDP if repeats else OF_SPDP - {"repeat_discount", "repeat_concentration"}
        )
        assert all(type(value) is float for value in record.hyperparameters.values())
        check(sampler)


def bits(records: list[Iteration]) -> list[Any]:
    return [(record.perplexity, record.averaged, record.samples, dict(record.hyperparameters)) for record in records]


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    "settings",
    [
        learned(seed=5),
        learned(seed=5, workers=5, associations=MATRICES),
        learned(schedule="sequential", seed=5, held_out=0.0),
        learned("lda", seed=5),
        learned("lda", "single_site", seed=5, repeats=True),
    ],
    ids=["spdp", "spdp matrices", "spdp sequential", "lda", "lda repeats"],
)
def test_the_same_seed_gives_the_same_bits(settings: SamplerSettings) -> None:
    runs = [Sampler(CORPUS, each) for each in (settings, settings, replace(settings, seed=6))]
    records = [bits(run.run(9)) for run in runs]
    assert records[0] == records[1]
    assert records[0][-1] != records[2][-1]
    np.testing.assert_array_equal(runs[0].topics(), runs[1].topics())
    np.testing.assert_array_equal(runs[0]._state.alphas, runs[1]._state.alphas)


@pytest.mark.usefixtures("often")
def test_measuring_and_reading_leave_no_trace() -> None:
    quiet, curious = Sampler(CORPUS, learned(measure_every=0)), Sampler(CORPUS, learned())
    for _ in range(8):
        quiet.step()
        curious.step()
        curious.inspect()
        curious.hyperparameters()
    assert quiet.hyperparameters() == curious.hyperparameters()
    np.testing.assert_array_equal(quiet.topics(), curious.topics())


# ---- the state afterwards -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    ("method", "repeats"),
    [
        pytest.param(method, repeats, id=f"{method.model} {method.schedule}{' repeats' * repeats}")
        for method in METHODS
        for repeats in (False, True)[: 1 + method.runner.takes_repeats]
    ],
)
def test_counts_and_estimates_agree_under_what_was_learned(method: Method, repeats: bool) -> None:
    sampler = Sampler(CORPUS, learned(method.model, method.schedule, repeats=repeats))
    for _ in range(6):
        sampler.step()
        check(sampler)
    priors = sampler._state.priors
    # The hybrid sampler has no tables of base words to learn gamma from.
    stay = {"gamma"} if method.schedule == "hybrid" else set()
    same = {name for name in learnable(priors, repeats) if getattr(priors, name) == getattr(type(priors)(), name)}
    assert same == stay | {"alpha"}, "alpha of every topic is kept apart"
    assert len(np.unique(sampler._state.alphas)) == sampler._state.alphas.size


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("given", [False, True], ids=["identity", "matrices"])
def test_after_a_new_discount_the_factors_are_its_own(given: bool, repeats: bool) -> None:
    sampler = Sampler(CORPUS, learned(repeats=repeats, associations=MATRICES if given else None))
    discounts = set()
    for _ in range(9):
        sampler.step()
        check_seating(sampler)
        check(sampler)
        discounts.add(sampler._state.priors.discount)
    assert len(discounts) == 3


# ---- what a sampler may trip over -----------------------------------------------------------------------------------


def learn(sampler: Sampler, iteration: int) -> None:
    """What a step does after its sweep."""
    assert sampler._learner
    sampler._learner.learn(iteration)


def run_and_learn(corpus: Tokens, settings: SamplerSettings) -> Sampler:
    sampler = Sampler(corpus, settings)
    for _ in range(6):
        sampler.step()
        check(sampler, corpus)
        assert np.isfinite(sampler._state.alphas).all()
        assert sampler._state.alphas.min() >= SMALLEST_PRIOR
    return sampler


LITTLE = {
    "one document": random_tokens(200, 1, 15, 1, seed=93),
    "one group": random_tokens(300, 12, 20, 1, seed=94),
    "one word": from_documents([(g % 2, [0] * (3 + g)) for g in range(6)], 1, 2),
    "every token alone": from_documents([(d % 2, [d]) for d in range(20)], 20, 2),
    "an empty document, an absent word, an absent group": from_documents(
        [(0, [0, 1, 1, 3]), (2, []), (2, [3, 3, 0])], 5, 4
    ),
}
WAYS = [
    pytest.param("spdp", False, id="spdp"),
    pytest.param("spdp", True, id="spdp repeats"),
    pytest.param("lda", False, id="lda"),
    pytest.param("lda", True, id="lda repeats"),
]


@pytest.mark.usefixtures("often")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("model", "repeats"), WAYS)
@pytest.mark.parametrize("topics", [1, 3])
@pytest.mark.parametrize("name", LITTLE)
def test_little_corpora(name: str, topics: int, model: str, repeats: bool) -> None:
    run_and_learn(LITTLE[name], replace(learned(model, repeats=repeats), topics=topics))


@pytest.mark.usefixtures("often")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("model", "repeats"), WAYS)
def test_one_topic(model: str, repeats: bool) -> None:
    run_and_learn(CORPUS, replace(learned(model, repeats=repeats), topics=1))


@pytest.mark.usefixtures("often")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("model", "repeats"), WAYS)
def test_topics_that_are_empty(model: str, repeats: bool) -> None:
    """All tokens in topic 2: the others keep a prior, and single precision can tell it from nothing."""
    sampler = Sampler(CORPUS, learned(model, repeats=repeats))
    sampler.start_at(np.full(sampler.training_tokens, 2, np.uint16))
    drawn: list[NDArray[np.float64]] = []
    for _ in range(30):
        learn(sampler, 4)
        check_alphas(sampler)
        drawn.append(sampler._state.alphas)
    mean = np.mean(drawn, axis=0)
    assert (mean[:, 2] > 3 * np.delete(mean, 2, axis=1).max(axis=1)).all()
    check(sampler)
    sampler.step()
    check(sampler)


@pytest.mark.usefixtures("often")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "priors",
    [
        SpdpPriors(
            alpha=1e-5, gamma=1e-5, discount=0.0, concentration=1e-3, repeat_discount=0.0, repeat_concentration=1e-3
        ),
        SpdpPriors(
            alpha=1e3, gamma=1e3, discount=0.99, concentration=1e6, repeat_discount=0.99, repeat_concentration=1e6
        ),
    ],
    ids=["small", "large"],
)
def test_from_the_ends_of_their_ranges_they_are_learned_too(priors: SpdpPriors) -> None:
    sampler = run_and_learn(CORPUS, learned(priors=priors, repeats=True))
    for name, value in sampler.hyperparameters().items():
        assert value != getattr(priors, name)


def test_a_device_holds_places_of_tables_as_before_after_learning() -> None:
    """Who sits where is the sampler's affair: learning reads it and leaves it."""
    sampler = Sampler(CORPUS, learned(repeats=True))
    sampler.run(2)
    before = *places(sampler), sampler.sample()
    learn(sampler, learning.FIRST_DISCOUNT)
    after = *places(sampler), sampler.sample()
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])
    counts: Any = before[2].counts
    again: Any = after[2].counts
    np.testing.assert_array_equal(counts.tables, again.tables)
    np.testing.assert_array_equal(counts.customers, again.customers)
    assert before[2].priors != after[2].priors
