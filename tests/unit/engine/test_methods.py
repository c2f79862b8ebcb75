"""Every sampler by its name, and what is said when settings do not go together."""

from __future__ import annotations

from typing import Any

import pytest

from spdp_engine.errors import SettingsError
from spdp_engine.models import LdaPriors, Matrices, Priors, SpdpPriors
from spdp_engine.sampling import METHODS, MODELS, Method, method_named, methods_of, model_named
from spdp_engine.sampling.devices import choose_device
from spdp_engine.sampling.methods import Model
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.sampling.schedules import Schedule, TokenParallel

from .corpora import random_tokens
from .test_sampler import assert_sentences

CORPUS = random_tokens(300, 10, 12, 2, seed=95)
IDENTITY = Matrices.identity(2, 12)
ALL = pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.model} {method.schedule}")


def refused(**settings: Any) -> str:
    """What is said when a run with these settings is asked for."""
    with pytest.raises(SettingsError) as caught:
        Sampler(CORPUS, plain_settings(3, **settings))
    assert_sentences(str(caught.value))
    return str(caught.value)


def test_the_methods_are_those_of_the_two_papers_and_ours() -> None:
    assert {(method.model, method.schedule) for method in METHODS} == {
        ("spdp", "blocks"),
        ("spdp", "sequential"),
        ("spdp", "topic_parallel"),
        ("spdp", "token_parallel"),
        ("spdp", "hybrid"),
        ("lda", "blocks"),
        ("lda", "single_site"),
        ("lda", "blocked_backward"),
        ("lda", "blocked_nested"),
        ("lda", "data_augmentation"),
    }
    assert len({(method.model, method.schedule) for method in METHODS}) == len(METHODS)
    assert method_named("spdp", "token_parallel").orders == ("interleaved", "document")


def test_what_each_method_claims() -> None:
    of_spdp = {method.schedule: method for method in METHODS if method.model == "spdp"}
    assert {name for name, method in of_spdp.items() if not method.exact} == {"token_parallel", "hybrid"}
    assert {name for name, method in of_spdp.items() if method.associations} >= {
        "sequential",
        "blocks",
        "token_parallel",
        "hybrid",
    }
    of_lda = [method for method in METHODS if method.model == "lda"]
    assert all(method.exact and not method.associations for method in of_lda)


@ALL
def test_each_method_runs_under_its_name(method: Method) -> None:
    sampler = Sampler(CORPUS, plain_settings(3, model=method.model, schedule=method.schedule))
    sampler.run(2)
    assert (sampler.settings.model, sampler.settings.schedule) == (method.model, method.schedule)
    assert type(sampler._schedule) is method.runner
    assert type(sampler._state) is method.state
    assert issubclass(method.runner, Schedule)
    assert sampler.settings.order == (method.orders[0] if method.orders else None)
    assert method.source[0].islower() and not method.source.endswith("."), "part of a sentence"
    assert method_named(method.model, method.schedule) is method


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_each_model_has_a_default(model: Model) -> None:
    methods = methods_of(model.name)
    assert methods == tuple(method for method in METHODS if method.model == model.name)
    assert methods[0].default
    settings = plain_settings(3, model=model.name)
    assert settings.priors == model.priors()
    sampler = Sampler(CORPUS, settings)
    assert method_named(model.name, str(sampler.settings.schedule)).default
    if choose_device().kind == "CPU":
        assert sampler.settings.schedule == methods[0].schedule
    assert type(sampler.inspect().priors) is model.priors


def test_models_have_names_and_words_for_people() -> None:
    assert tuple(MODELS) == ("spdp", "lda")
    assert all(name == model.name and model_named(name) is model for name, model in MODELS.items())
    assert plain_settings().model == "spdp"


def test_a_model_that_is_none_is_refused_with_those_there_are() -> None:
    assert "“hdp”" in refused(model="hdp") and "spdp, lda" in refused(model="hdp")
    for function in (model_named, methods_of):
        with pytest.raises(SettingsError, match="hdp"):
            function("hdp")


@pytest.mark.parametrize("model", MODELS)
def test_a_schedule_that_is_none_is_refused_with_those_there_are(model: str) -> None:
    said = refused(model=model, schedule="magic")
    assert "“magic”" in said and model in said
    assert ", ".join(method.schedule for method in methods_of(model)) in said


@pytest.mark.parametrize(("model", "schedule"), [("lda", "sequential"), ("lda", "hybrid"), ("spdp", "single_site")])
def test_a_schedule_of_the_other_model_is_refused(model: str, schedule: str) -> None:
    assert f"The model {model} has no schedule called “{schedule}”" in refused(model=model, schedule=schedule)


@ALL
def test_an_order_that_a_schedule_does_not_have_is_refused(method: Method) -> None:
    named: dict[str, Any] = {"model": method.model, "schedule": method.schedule}
    if not method.orders:
        assert "one order" in refused(**named, order="interleaved")
        return
    said = refused(**named, order="backwards")
    assert "“backwards”" in said and all(order in said for order in method.orders)
    for order in method.orders:
        assert Sampler(CORPUS, plain_settings(3, **named, order=order)).settings.order == order


@ALL
def test_associations_are_refused_by_what_has_no_use_for_them(method: Method) -> None:
    named: dict[str, Any] = {"model": method.model, "schedule": method.schedule}
    if method.associations:
        Sampler(CORPUS, plain_settings(3, **named, associations=IDENTITY)).step()
        return
    said = refused(**named, associations=IDENTITY)
    assert method.schedule in said and "associations" in said
    others = [other.schedule for other in methods_of(method.model) if other.associations]
    assert ", ".join(others) in said if others else "Take the model spdp" in said


@pytest.mark.skipif(choose_device().kind != "CPU", reason="another default may have other orders")
def test_what_a_default_schedule_does_not_take_is_refused_too() -> None:
    assert "Name the schedule" in refused(order="document")
    assert "associations" in refused(model="lda", associations=IDENTITY)


@pytest.mark.parametrize(
    ("model", "priors"), [("spdp", LdaPriors()), ("lda", SpdpPriors()), ("spdp", Priors()), ("lda", Priors())], ids=str
)
def test_priors_of_another_model_are_refused(model: str, priors: Priors) -> None:
    assert f"not those of the model {model}" in refused(model=model, priors=priors)


@pytest.mark.parametrize("sizes", [(2, 13), (3, 12)])
def test_associations_of_another_size_are_refused_with_both_sizes(sizes: tuple[int, int]) -> None:
    said = refused(schedule="sequential", associations=Matrices.identity(*sizes))
    for size in (*sizes, 2, 12):
        assert str(size) in said


def test_a_word_that_no_base_word_leads_to_is_refused() -> None:
    """Base words 0 and 1 lead to word 1 alone."""
    matrices = Matrices.from_entries(2, 12, [0, 0], [1, 1], [0, 1], [1.0, 1.0])
    assert "no base word leads to word 0 in group 0" in refused(schedule="blocks", associations=matrices)
    assert "no base word leads to word 0 in group 0" in refused(schedule="hybrid", associations=matrices)


def test_a_word_without_a_base_word_matters_only_where_it_occurs() -> None:
    corpus = random_tokens(300, 10, 12, 2, seed=96)
    corpus.token_word[corpus.token_group == 0] = 3
    matrices = Matrices.from_entries(2, 12, [0, 0], [1, 1], [0, 1], [1.0, 1.0])
    sampler = Sampler(corpus, plain_settings(3, schedule="sequential", associations=matrices))
    sampler.run(2)
    assert sampler.inspect().counts.tables[0, [0, 1]].sum() == 0


def test_orders_belong_to_the_schedule() -> None:
    assert [method.orders for method in METHODS if method.runner is TokenParallel] == [TokenParallel.orders]
