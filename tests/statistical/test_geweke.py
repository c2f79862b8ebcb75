"""Joint tests (J. Geweke, "Getting It Right", JASA 2004): the sampler must leave the model's joint distribution as it is.

Topics, tables and words are drawn from the priors, laid on the device, and swept over several times. If the sampler's
sweeps keep the posterior, then whatever is computed from the state has the same distribution before and after, so its mean
difference is 0. The corpora here are too large to enumerate, have more topics than a vector has lanes, and three groups.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from spdp_engine.models.spdp import Counts, Priors
from spdp_engine.sampling.programs import build_program
from spdp_engine.sampling.sampler import Sampler, SamplerSettings

from .tiny import Tokens

GROUPS, DOCUMENTS, WORDS, TOPICS = 3, 9, 7, 10
LENGTH = 14  # tokens of a document
SWEEPS, REPLICATES = 8, 150
PRIORS = {
    "usual discount": Priors(alpha=0.2, gamma=0.5, discount=0.7, concentration=3.0),
    "no discount": Priors(alpha=0.5, gamma=0.3, discount=0.0, concentration=1.5),
}


def draw_from_priors(priors: Priors, rng: np.random.Generator) -> tuple[Tokens, NDArray[np.int32], Counts]:
    """A corpus with the topic of each token and the state that belongs to them, from the model itself.

    Each group and topic is a restaurant whose tables serve words of the topic's base wording.
    """
    group = np.arange(DOCUMENTS, dtype=np.int32) % GROUPS
    document = np.repeat(np.arange(DOCUMENTS, dtype=np.int32), LENGTH)
    base = rng.dirichlet(np.full(WORDS, priors.gamma), TOPICS)
    theta = rng.dirichlet(np.full(TOPICS, priors.alpha), DOCUMENTS)
    topic = np.concatenate([rng.choice(TOPICS, LENGTH, p=row) for row in theta]).astype(np.int32)
    # What each token would be served at a new table.
    fresh = (base.cumsum(axis=1)[topic] < rng.random((len(topic), 1))).sum(axis=1).clip(max=WORDS - 1).tolist()
    guests: dict[tuple[int, int], list[int]] = {}
    dishes: dict[tuple[int, int], list[int]] = {}
    word = []
    cells = zip(group[document].tolist(), topic.tolist(), strict=True)
    for cell, dish, u in zip(cells, fresh, rng.random(len(topic)).tolist(), strict=True):
        tables, served = guests.setdefault(cell, []), dishes.setdefault(cell, [])
        left = u * (priors.concentration + sum(tables))
        table = 0
        while table < len(tables) and left >= tables[table] - priors.discount:
            left -= tables[table] - priors.discount
            table += 1
        if table == len(tables):
            tables.append(0)
            served.append(dish)
        tables[table] += 1
        word.append(served[table])
    n = np.zeros((DOCUMENTS, TOPICS), np.int32)
    np.add.at(n, (document, topic), 1)
    m = np.zeros((GROUPS, WORDS, TOPICS), np.int32)
    t = np.zeros_like(m)
    for (i, k), counts in guests.items():
        np.add.at(m, (i, dishes[i, k], k), counts)
        np.add.at(t, (i, dishes[i, k], k), 1)
    return Tokens(np.array(word, np.int32), document, group, WORDS, GROUPS), topic, Counts(n, m, t)


def lay_on_device(sampler: Sampler, topics: NDArray[np.int32], counts: Counts) -> None:
    """Puts a state where the first pass would have put its own."""
    state, schedule = sampler._state, sampler._schedule

    def padded(array: NDArray[np.int32], kind: type) -> NDArray[np.generic]:
        room = [(0, 0)] * (array.ndim - 1) + [(0, state.padded - TOPICS)]
        return np.ascontiguousarray(np.pad(array, room).astype(kind))

    seats = np.stack([padded(counts.customers, np.int32), padded(counts.tables, np.int32)], axis=-1)
    totals = np.stack([counts.customers.sum(axis=1), counts.tables.sum(axis=1)])
    for buffer, array in (
        (state.document_topics, padded(counts.document_topics, np.float32)),
        (state.seats, np.ascontiguousarray(seats)),
        (state.base_tables, padded(counts.tables.sum(axis=0), np.float32)),
        (state.totals, padded(totals, np.int32)),
        (schedule._token_topic, topics[schedule._order].astype(np.uint16)),
    ):
        cl.enqueue_copy(state.queue, buffer, array)
    program = build_program(sampler.device, ("spdp_refresh.cl",), state.constants)
    rows = GROUPS * WORDS
    cl.Kernel(program, "spdp_refresh")(
        state.queue, (rows,), None, np.int32(rows), np.int32(state.width), state.ratios, state.seats, state.factors
    )


def features(counts: Counts) -> NDArray[np.float64]:
    """What is compared: sums that do not depend on what topics are called."""
    m, t = counts.customers.astype(float), counts.tables.astype(float)
    of_groups, tables_of_groups, base = m.sum(axis=1), t.sum(axis=1), t.sum(axis=0)
    return np.array([
        t.sum(),  # tables
        (m > 0).sum(),  # cells in use
        np.square(counts.document_topics, dtype=float).sum(),  # how few topics a document has
        np.square(m).sum(),  # how few words a topic has in a group
        np.square(base).sum(),  # and in its base
        np.square(m.sum(axis=(0, 1))).sum(),  # how unequal topics are
        (of_groups[0] * of_groups[1]).sum(),  # whether groups share topics
        (tables_of_groups * of_groups).sum(),
        (m[0] * m[1]).sum(),  # whether groups share words within topics
    ])  # fmt: skip


@cache
def draws(priors: str) -> list[tuple[Tokens, NDArray[np.int32], Counts]]:
    rng = np.random.default_rng(2004)
    return [draw_from_priors(PRIORS[priors], rng) for _ in range(REPLICATES)]


def smallest_p_value(priors: str, sampled_with: Priors, schedule: str) -> float:
    """Of paired tests of all features, times their number (Bonferroni)."""
    differences = []
    for seed, (corpus, topics, counts) in enumerate(draws(priors)):
        settings = SamplerSettings(TOPICS, sampled_with, schedule, 1, seed=seed, held_out=0.0, measure_every=0)
        sampler = Sampler(corpus, settings)
        lay_on_device(sampler, topics, counts)
        for sweep in range(1, SWEEPS + 1):
            sampler._schedule.sweep(sweep)
        after = sampler.inspect().counts
        after.check(corpus.token_word, corpus.token_document, corpus.document_group, sampler.topics())
        differences.append(features(after) - features(counts))
    change = np.array(differences)
    z = change.mean(axis=0) / (change.std(axis=0, ddof=1) / np.sqrt(REPLICATES))
    return float(2 * norm.sf(np.abs(z).max()) * len(z))


@pytest.mark.parametrize(("priors", "schedule"), [("usual discount", "blocks"), ("no discount", "sequential")])
def test_sweeps_leave_the_joint_distribution_as_it_is(priors: str, schedule: str) -> None:
    """False alarms: 1e-3 for each."""
    assert smallest_p_value(priors, PRIORS[priors], schedule) > 1e-3


@pytest.mark.parametrize("wrong", [{"discount": 0.6}, {"alpha": 0.25}, {"gamma": 1.0}], ids=str)
def test_sweeps_with_other_priors_are_rejected(wrong: dict[str, float]) -> None:
    """The tests above have the power to see a prior that is a little off (gamma, of which the data say least: twofold)."""
    priors = replace(PRIORS["usual discount"], **wrong)
    assert smallest_p_value("usual discount", priors, "sequential") < 1e-3
