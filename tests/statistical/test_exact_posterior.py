"""Exact samplers against the posterior of tiny corpora, every state of which is enumerated.

A state is the topic of each token, in SPDP the number of tables of each cell, too, and with transformation matrices the
number of tables of each base word. Each comparison states its false-alarm rate. Samplers made wrong on purpose must fail the
same comparison.

Pearson's test wants independent draws. Runs are thinned by as many sweeps as it takes, by measurement on runs of
200,000 sweeps, until the autocorrelation of every token's topic, of whether two tokens share a topic, and of every number of
tables is below 0.04: a few of some hundred degrees of freedom are off by 8 % of their variance at most, far less than
would be seen in a p-value. What is slow are tokens of one word in one document where priors are small: they move together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from spdp_engine.models.spdp import SpdpPriors
from spdp_engine.models.stirling import Seating, seating
from spdp_engine.sampling import spdp_state
from spdp_engine.sampling.methods import METHODS, Method, method_named
from spdp_engine.sampling.schedules import blocked

from .exact import (
    ASSOCIATED_CASES,
    LDA_CASES,
    LEVEL,
    SPDP_CASES,
    Case,
    Posterior,
    State,
    block_counts,
    chi_square,
    lda_posterior,
    marginal,
    spdp_posterior,
)
from .long_runs import Change, long_run, start, steps

SPDP = SPDP_CASES | ASSOCIATED_CASES

THIN = {
    "crowded cells": 60,
    "crowded cells, a = 0": 25,
    "three words, a = 0.9": 12,
    "one group": 14,
    "blocks of 5, 1, 2, 1": 25,
    "blocks of 5, 1, 2, 1, small priors": 80,
    "blocks of 3, 1, 1, 2, three topics": 16,
    "one block of 5, three topics": 28,
}
"""Sweeps between samples; 10 in the other cases, and wherever blocks are drawn together."""

SLOWER = {"data_augmentation": 2.2}
"""Drawing parameters between sweeps makes them as many times less effective."""

SAMPLES = {"topic_parallel": 10_000, "data_augmentation": 4_000}
"""States of a run; 20,000 under the other schedules, which take less time for each."""


def exact_methods(model: str, associations: bool = False) -> list[str]:
    methods = [method for method in METHODS if method.model == model and method.exact]
    return [method.schedule for method in methods if method.associations or not associations]


BLOCKED = {"blocked_backward", "blocked_nested"}


def sample(name: str, case: Case[Any], method: Method, seed: int, change: Change = ()) -> list[State]:
    """States of one worker's long run; no two methods have the same numbers."""
    together = method.schedule in BLOCKED and blocked.LARGEST_BLOCK > 2 and not change
    thin = 10 if together else THIN.get(name, 10)
    thin = round(thin * SLOWER.get(method.schedule, 1))
    sampler = start(case, method, seed + 100 * METHODS.index(method))
    return long_run(sampler, SAMPLES.get(method.schedule, 20_000), thin, change).states()


@cache
def spdp(name: str) -> Posterior:
    return spdp_posterior(SPDP[name])


@cache
def lda(name: str) -> Posterior:
    return lda_posterior(LDA_CASES[name])


def without_base_words(case: Case[SpdpPriors]) -> Callable[[State], State]:
    """The part of a state with transformation matrices that a state without them has: topics and tables."""
    corpus = case.corpus
    length = len(case.tokens) + corpus.n_groups * corpus.n_words * case.topics
    return lambda state: state[:length]


def spdp_p_value(name: str, schedule: str, seed: int, change: Change = ()) -> float:
    """Of the comparison of all states; with matrices, the smaller of that and of topics and tables alone, doubled (Bonferroni)."""
    case, exact = SPDP[name], spdp(name)
    states = sample(name, case, method_named("spdp", schedule), seed, change)
    p = chi_square(states, exact)
    if case.matrices is None:
        return p
    feature = without_base_words(case)
    return min(1.0, 2 * p, 2 * chi_square(map(feature, states), marginal(exact, feature)))


def lda_p_value(name: str, schedule: str, seed: int, change: Change = ()) -> float:
    """Of the comparison of all states; where blocks are drawn together, of how many tokens of each have which topic.

    Which tokens of a block have which topic makes no difference to the model, and those samplers leave them in order.
    """
    case, exact = LDA_CASES[name], lda(name)
    states = sample(name, case, method_named("lda", schedule), seed, change)
    if schedule not in BLOCKED:
        return chi_square(states, exact)

    @cache
    def feature(state: State) -> State:
        return block_counts(case, state)

    impossible = [state for state in states if max(state) >= case.topics]
    return 0.0 if impossible else chi_square(map(feature, states), marginal(exact, feature))


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("schedule", exact_methods("spdp"))
@pytest.mark.parametrize("name", SPDP_CASES)
def test_spdp_visits_states_as_often_as_they_are_probable(name: str, schedule: str) -> None:
    """False alarms: LEVEL for each."""
    assert spdp_p_value(name, schedule, seed=1) > LEVEL


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("schedule", exact_methods("spdp", associations=True))
@pytest.mark.parametrize("name", ASSOCIATED_CASES)
def test_spdp_with_matrices_visits_states_as_often_as_they_are_probable(name: str, schedule: str) -> None:
    """Base words included. False alarms: LEVEL for each."""
    assert spdp_p_value(name, schedule, seed=1) > LEVEL


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("schedule", exact_methods("lda"))
@pytest.mark.parametrize("name", LDA_CASES)
def test_lda_visits_states_as_often_as_they_are_probable(name: str, schedule: str) -> None:
    """False alarms: LEVEL for each."""
    assert lda_p_value(name, schedule, seed=1) > LEVEL


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("schedule", sorted(BLOCKED))
def test_parts_of_long_blocks_are_drawn_as_right(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of more than two tokens are cut here, so that those of five are drawn in three parts. False alarms: LEVEL for each."""
    monkeypatch.setattr(blocked, "LARGEST_BLOCK", 2)
    assert lda_p_value("blocks of 5, 1, 2, 1", schedule, 2) > LEVEL


def out_of_range(condition: str) -> Change:
    """Blocks are drawn together where their sum of products meets a condition."""
    return (("return as_int(sum) > as_int(FLT_MIN) &&", f"return {condition} &&"),)


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("schedule", sorted(BLOCKED))
def test_blocks_out_of_range_are_drawn_as_right(schedule: str) -> None:
    """Some blocks are said here to be beyond single precision, and drawn token by token. False alarms: LEVEL for each."""
    case, method = LDA_CASES["blocks of 5, 1, 2, 1"], method_named("lda", schedule)
    some, all_of_them = out_of_range("sum < 2.0f"), out_of_range("0")
    few = [long_run(start(case, method, 3), 1000, 1, change).states() for change in ((), some, all_of_them)]
    assert all(a != b for a, b in pairwise(few))
    assert lda_p_value("blocks of 5, 1, 2, 1", schedule, 3, some) > LEVEL


@pytest.mark.parametrize(
    ("model", "schedule", "name", "workers"),
    [("spdp", schedule, "crowded cells", 1) for schedule in ("sequential", "topic_parallel")]
    + [("spdp", "sequential", "zeros in the pattern", 1)]
    + list(product(["spdp"], ["blocks", "hybrid"], ["crowded cells", "zeros in the pattern"], [1, 2, 3]))
    + [("lda", schedule, "blocks of 3, 1, 1, 2, three topics", 1) for schedule in exact_methods("lda")]
    + [("lda", "blocks", "blocks of 3, 1, 1, 2, three topics", 3)],
)
def test_long_runs_are_what_the_schedule_does(model: str, schedule: str, name: str, workers: int) -> None:
    """The long runs of this folder are sweeps in one launch; step by step the sampler goes through the same states."""
    case: Case[Any] = (SPDP | LDA_CASES)[name]
    method = method_named(model, schedule)
    at_once = long_run(start(case, method, 7, workers), 100, 1).states()
    assert at_once == steps(start(case, method, 7, workers), 100).states()
    assert len(set(at_once)) > 5
    assert long_run(start(case, method, 7, workers), 20, 5).states() == at_once[4::5]


# ---- samplers that are wrong on purpose -----------------------------------------------------------------------------

WRONG_SPDP: dict[str, Change] = {
    "a token leaves with its table as often as it opened one": (
        (
            "const int closes = u.x < alone;",
            "const int closes = u.x * (float)seat.x < (seat.y > 1 || seat.x == 1 ? (float)seat.y : 0.0f);",
        ),
    ),
    "a token leaves with its table as often as it opened one (team)": (
        (
            "const int closes = u < alone;",
            "const int closes = u * (float)seat.x < (seat.y > 1 || seat.x == 1 ? (float)seat.y : 0.0f);",
        ),
    ),
    "a token never takes its table along where there are others": (
        ("const int closes = u.x < alone;", "const int closes = u.x < alone && seat.x == 1;"),
    ),
    "old tables are weighed without their discounts": (("(float)m - model->discount * (float)t;", "(float)m;"),),
    "the token is still a customer of its cell": (
        ("joins_of(model, seat.x - 1, seat.y - closes);", "joins_of(model, seat.x, seat.y - closes);"),
    ),
    "the token's table is still one of its topic": (("(float)(sums->tables[x] - closes)", "(float)(sums->tables[x])"),),
    "the token's table is still in the base's sum": (
        ("sums->base_tables[old] - (float)closes)", "sums->base_tables[old])"),
    ),
    "a new table is judged by the number that chose the topic": (
        (
            "refresh_quotients(model, sums, x);\n    *topic = (ushort)k;\n    seat_token(model, sums, &rows, k, u.z);",
            "refresh_quotients(model, sums, x);\n    *topic = (ushort)k;\n    seat_token(model, sums, &rows, k, u.y);",
        ),
    ),
    "a new table is as probable as in an empty restaurant": (
        (
            "inverse * (model->concentration + model->discount * no_less_than_none((float)sums->tables[x]))",
            "inverse * model->concentration",
        ),
    ),
    "the base measure is left out": (("(old_table + new_table * base)", "(old_table + new_table)"),),
    "Stirling numbers of one customer fewer": (("m < width ? (m * (m + 1)) / 2", "m < width ? (m * (m - 1)) / 2"),),
}
"""Errors a person could make in SPDP's kernels."""

WRONG_ASSOCIATIONS: dict[str, Change] = {
    "a table is closed by its base word's weight instead of its count": (
        (
            "        tables += (float)row->served[(size_t)entry * TOPICS + k];\n",
            """        float all = 0.0f, weights = 0.0f;
        for (int e = 0; e < row->entries; ++e) {
            all += (float)row->served[(size_t)e * TOPICS + k];
            weights += row->served[(size_t)e * TOPICS + k] > 0 ? row->weight[e] : 0.0f;
        }
        tables += row->served[(size_t)entry * TOPICS + k] > 0 ? row->weight[entry] * all / weights : 0.0f;
""",
        ),
    ),
    "a table is opened without its base word's weight": (
        ("    return row->weight[entry] * (no_less_than_none(", "    return (no_less_than_none("),
    ),
    "the closed table still serves its base word when the next is opened": (
        (" - (taken && entry == without ? row->weight[entry] : 0.0f)", ""),
    ),
    "the closed table still serves its base word when the token is weighed": (
        ("    float sum = taken ? -row->weight[entry] : 0.0f;", "    float sum = 0.0f;"),
    ),
}
"""Errors a person could make in the kernels of transformation matrices."""

WRONG_LDA: dict[str, tuple[str, Change]] = {
    "the token is still counted in its topic's sum": (
        "single_site",
        (("((float)(sums->tokens[old] - 1) +", "((float)sums->tokens[old] +"),),
    ),
    "the token is still counted for its word": (
        "blocks",
        (("(rows.word[old] - 1.0f + model->beta)", "(rows.word[old] + model->beta)"),),
    ),
    "V is left out of beta V": (
        "single_site",
        (("((float)after + model->beta * (float)model->words)", "((float)after + model->beta)"),),
    ),
    "orders of a block's tokens are not divided out": (
        "blocked_backward",
        (("((total + (float)j) * (float)(j + 1))", "(total + (float)j)"),),
    ),
    "a node's tokens go to the wrong one of its children": (
        "blocked_nested",
        (("place = first > 0 ? place : place + width / 2;", "place = first > 0 ? place + width / 2 : place;"),),
    ),
    "a node's sums are of one child twice": (
        "blocked_nested",
        (("below[j * 2 * width + x] * below[(c - j) * 2 * width + width + x]",
          "below[j * 2 * width + x] * below[(c - j) * 2 * width + x]"),),
    ),
    "tokens of blocks out of range are drawn in their order": (
        "blocked_nested",
        (*out_of_range("sum < 2.0f"), ("token_topic + start + (int)(u.x * (float)count), u);", "token_topic + l, u);")),
    ),
    "theta is drawn without alpha": (
        "data_augmentation",
        (("document_topics[x] + alpha[x % TOPICS]", "(alpha[x % TOPICS] > 0.0f) * (document_topics[x] + 1e-3f)"),),
    ),
    "phi is not divided by its sum": ("data_augmentation", (("scale[k] = 1.0f / sum;", "scale[k] = 1.0f;"),)),
}  # fmt: skip
"""Errors a person could make in LDA's kernels, each with the schedule in which it is made."""


@pytest.mark.parametrize("error", WRONG_SPDP)
def test_wrong_spdp_is_rejected(error: str) -> None:
    """The comparison above sees each of these errors, by a p-value below 1e-6."""
    schedule = "topic_parallel" if "team" in error else "sequential"
    assert spdp_p_value("crowded cells", schedule, 1, WRONG_SPDP[error]) < 1e-6


@pytest.mark.parametrize("error", WRONG_ASSOCIATIONS)
def test_wrong_base_words_are_rejected(error: str) -> None:
    """The comparison above sees each of these errors, by a p-value below 1e-6."""
    assert spdp_p_value("dense, crowded cells", "blocks", 1, WRONG_ASSOCIATIONS[error]) < 1e-6


@pytest.mark.parametrize("error", WRONG_LDA)
def test_wrong_lda_is_rejected(error: str) -> None:
    """The comparison above sees each of these errors, by a p-value below 1e-6."""
    schedule, change = WRONG_LDA[error]
    assert lda_p_value("blocks of 5, 1, 2, 1", schedule, 1, change) < 1e-6


def of_openers(table: Seating) -> Seating:
    """The table with the share of customers who opened a table in the place of those who sit alone."""
    alone = table.alone.copy()
    for m in range(2, table.maximum_customers + 1):
        t = np.arange(2, min(m, table.table_limit) + 1)
        alone[table.index(np.full(len(t), m), t)] = t / m
    return replace(table, alone=alone)


def test_a_wrong_table_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened a table takes it along, whether others sit there or not; it is seen."""
    monkeypatch.setattr(spdp_state, "seating", lambda a, m: of_openers(seating(a, m)))
    assert spdp_p_value("crowded cells", "sequential", 1) < 1e-6
