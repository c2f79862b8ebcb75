"""Samplers whose documents repeat words, against the posterior of tiny corpora, every seating of which is enumerated.

A state says how the tokens of each word in each document sit, the topics of their tables, and in SPDP the number of the model's
tables. Runs are thinned as in `test_exact_posterior`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from spdp_engine.sampling.methods import METHODS, method_named

from .exact import LEVEL, Case, Posterior, State, blocks, chi_square
from .exact_repeats import LDA_REPEATS, SPDP_REPEATS, repeats_posterior
from .long_runs import Change, Run, long_run, start, steps

CASES: dict[str, dict[str, Case[Any]]] = {"spdp": SPDP_REPEATS, "lda": LDA_REPEATS}

SCHEDULES = [(method.model, method.schedule) for method in METHODS if method.exact and method.runner.takes_repeats]

SAMPLES, THIN = 25_000, 20


@cache
def posterior(model: str, name: str) -> Posterior:
    return repeats_posterior(CASES[model][name])


def states(case: Case[Any], run: Run) -> list[State]:
    """The states of a long run, as `exact_repeats` writes them."""
    codes = np.where(run.seated > 0, run.seated * case.topics + run.topics, 0)
    largest_first = [-np.sort(-codes[:, tokens], axis=1) for tokens in blocks(case)]
    tables = [part.reshape(len(codes), -1) for part in (run.tables, run.associated)]
    return list(map(tuple, np.hstack([*largest_first, *tables]).tolist()))


def sample(model: str, schedule: str, name: str, change: Change = ()) -> list[State]:
    """States of one worker's long run; no two methods have the same numbers."""
    case, method = CASES[model][name], method_named(model, schedule)
    sampler = start(case, method, 11 + 100 * METHODS.index(method), repeats=True)
    return states(case, long_run(sampler, SAMPLES, THIN, change))


def p_value(model: str, schedule: str, name: str, change: Change = ()) -> float:
    return chi_square(sample(model, schedule, name, change), posterior(model, name))


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize(
    ("model", "schedule", "name"), [(*method, name) for method in SCHEDULES for name in CASES[method[0]]]
)
def test_states_are_visited_as_often_as_they_are_probable(model: str, schedule: str, name: str) -> None:
    """False alarms: LEVEL for each."""
    assert p_value(model, schedule, name) > LEVEL


@pytest.mark.parametrize(
    ("model", "schedule", "workers"),
    [(*method, 1) for method in SCHEDULES] + [("spdp", "blocks", 2), ("lda", "blocks", 2)],
)
def test_long_runs_are_what_the_schedule_does(model: str, schedule: str, workers: int) -> None:
    """Step by step the sampler goes through the same states."""
    name = "a word four times"
    case, method = CASES[model][name], method_named(model, schedule)
    at_once, singly = (
        states(case, run(start(case, method, 7, workers, repeats=True), 100, 1)) for run in (long_run, steps)
    )
    assert at_once == singly
    assert len(set(at_once)) > 20
    assert set(at_once) <= posterior(model, name).keys()


WRONG: dict[str, Change] = {
    "the discount is left out of joining": (
        ("const float join = (float)others - repeats->discount * (float)tables;", "const float join = (float)others;"),
    ),
    "which table is joined does not depend on who sits there": (
        ("goal -= (float)sitting[table] - repeats->discount;", "goal -= join / (float)tables;"),
    ),
    "a table is as probable as in an empty document": (
        ("(repeats->concentration + repeats->discount * (float)S)", "repeats->concentration"),
    ),
    "a table that closes is still one of its document": (("            --S;\n", ""),),
    "the token is still one of its document's tables": (
        ("((float)S + repeats->document_prior[document])", "((float)(S + 1) + repeats->document_prior[document])"),
    ),
    "a token of the last table leaves, not one of all": (
        ("int table = 0, before = (int)(u.x * (float)length);", "int table = 0, before = length - 1;"),
    ),
    "topics are not weighed again when a table has closed": (
        ("            sitting[tables] = 0;\n            stale = 1;\n", "            sitting[tables] = 0;\n"),
    ),
    "the table that takes the place of a closed one keeps the closed one's topic": (
        ("            topic[table] = topic[tables];\n", ""),
    ),
}
"""Errors a person could make in kernels/repeats.clh."""


@pytest.mark.parametrize("error", WRONG)
def test_wrong_repeats_are_rejected(error: str) -> None:
    """The comparison above sees each of these errors, by a p-value below 1e-6."""
    assert p_value("lda", "blocks", "a word four times", WRONG[error]) < 1e-6


def test_tables_that_close_with_another_base_word_are_rejected() -> None:
    """The comparison above sees this error in a function that nothing but repeats has need of where there are associations."""
    closing = "change_tables(model, sums, rows, k, closing_entry(&rows->base, k, u / alone * (float)seat.y), -1);"
    first = (closing, "change_tables(model, sums, rows, k, 0, -1);")
    assert p_value("spdp", "blocks", "associations", (first,)) < 1e-6


@pytest.mark.parametrize("model", CASES)
def test_samplers_without_repeats_are_rejected(model: str) -> None:
    """The same tokens, each of them the model's: hardly one of the states is as probable."""
    name = "a word four times"
    case, method = CASES[model][name], method_named(model, "blocks")
    plain = states(case, long_run(start(case, method, 11), SAMPLES, THIN))
    assert chi_square(plain, posterior(model, name)) < 1e-6
