"""Joint tests of learning, as those of `test_geweke`: hyperparameters, too, are drawn from their priors.

By them topics, tables and words are drawn, with repeats in the documents. All of it is laid on the device and swept over several
times, and all hyperparameters are drawn anew before each sweep, the discount included. If sweeps and draws keep the posterior,
then whatever is computed from state and hyperparameters has the same distribution before and after. Places in priors are compared,
as in `test_hyperparameters`, which tests the draws alone and with more power.

Hyperparameters that are drawn right but never put in force leave this distribution as it is, too: see
`test_recovery_of_hyperparameters`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from spdp_engine.models import hyperparameters
from spdp_engine.models.lda import LdaCounts, LdaPriors
from spdp_engine.models.spdp import SpdpPriors
from spdp_engine.sampling import repeats, state

from .exact import LEVEL, Float, paired_p_value
from .simulate import (
    Drawn,
    Size,
    draw_alphas,
    draw_concentration,
    draw_discount,
    draw_lda,
    draw_spdp,
    draw_symmetric,
    place_of_alpha,
    place_of_concentration,
    place_of_symmetric,
)
from .test_hyperparameters import changed

SIZE = Size(groups=2, documents=12, words=10, topics=6, length=50)
SWEEPS, REPLICATES = 6, 100


@dataclass(frozen=True, eq=False)
class Start:
    """Hyperparameters, those of topics [R, K] among them, and a corpus drawn by them."""

    priors: Any
    alphas: Float
    drawn: Drawn


@cache
def starts(model: str) -> list[Start]:
    rng, found = np.random.default_rng(2005), []
    for _ in range(REPLICATES):
        of_repeats = {"repeat_discount": draw_discount(rng), "repeat_concentration": draw_concentration(rng)}
        if model == "spdp":
            alphas = draw_alphas(SIZE.groups, SIZE.topics, rng)
            of_spdp = SpdpPriors(0.1, draw_symmetric(rng), draw_discount(rng), draw_concentration(rng), **of_repeats)
            found.append(Start(of_spdp, alphas, draw_spdp(SIZE, of_spdp, rng, repeats=True, alphas=alphas)))
        else:
            alphas = draw_alphas(1, SIZE.topics, rng)
            of_lda = LdaPriors(0.1, draw_symmetric(rng), **of_repeats)
            found.append(Start(of_lda, alphas, draw_lda(SIZE, of_lda, rng, repeats=True, alphas=alphas)))
    return found


def features(priors: Any, alphas: Float, counts: Any) -> Float:
    """What is compared: bounded, and no matter what topics are called."""
    n = counts.document_topics.astype(float)
    opened = n.sum() / (SIZE.documents * SIZE.length)
    alpha = place_of_alpha(alphas)
    likely = (n * alpha[SIZE.document_group % len(alpha)]).sum() / n.sum()
    a, b = priors.repeat_discount, place_of_concentration(priors.repeat_concentration)
    found = [
        (np.square(n).sum(axis=1) / np.square(n.sum(axis=1))).mean(),  # how few topics a document has
        opened,  # how many tokens do not repeat
        alpha.mean(),
        alpha.prod(axis=0).mean(),  # whether groups have likely topics in common
        likely,  # whether topics that are likely have tokens
        a, b, a * b, a * opened, b * opened,
    ]  # fmt: skip
    if isinstance(counts, LdaCounts):
        few, prior = few_words(counts.group_words.sum(axis=0)), place_of_symmetric(priors.beta)
        return np.array([*found, few, prior, prior * few])
    few, prior = few_words(counts.tables.sum(axis=0)), place_of_symmetric(priors.gamma)
    opened = counts.tables.sum() / counts.customers.sum()
    alone = (counts.tables == 1).sum() / np.count_nonzero(counts.customers)
    a, b = priors.discount, place_of_concentration(priors.concentration)
    return np.array([*found, few, prior, prior * few, opened, alone, a, b, a * b, a * opened, a * alone, b * opened])


def few_words(counts: Any) -> float:
    """How few words topics have, on average; counts: [V, K]."""
    return float(np.square(counts / np.maximum(counts.sum(axis=0), 1)).sum(axis=0).mean())


def p_value(model: str, names: Collection[str] = (), replicates: int = REPLICATES) -> float:
    """Of paired tests of all features. names: the hyperparameters that are drawn, the others stay; none: all of them."""
    differences = []
    for seed, start in enumerate(starts(model)[:replicates]):
        rng = np.random.default_rng([seed, 1])
        names = names or {one.name for one in fields(start.priors)}
        sampler = start.drawn.sampler(model, "blocks", start.priors, seed)
        start.drawn.begin(sampler)
        of_documents: Any = sampler._schedule.repeats
        for _ in range(SWEEPS):
            sampler._state.draw_hyperparameters(names, rng, True)
            of_documents.draw_hyperparameters(names, rng)
            sampler.step()
        after: Any = sampler.sample()
        before = features(start.priors, start.alphas, start.drawn.counts)
        differences.append(features(after.priors, sampler._state.alphas, after.counts) - before)
    return paired_p_value(np.array(differences))


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("model", ["spdp", "lda"])
def test_learning_leaves_the_joint_distribution_as_it_is(model: str) -> None:
    """False alarms: LEVEL for each."""
    assert p_value(model) > LEVEL


# ---- learning that is wrong on purpose ------------------------------------------------------------------------------

WRONG_REPEATS = {
    "a table of n tokens was joined n times": ("repeat_discount", "np.append(above, [0, 0])[n + 1]", "np.append(above, [0, 0])[n]"),
    "only those who opened a table sat down": ("repeat_concentration", "self._lengths, tables, rng)", "tables, tables, rng)"),
}  # fmt: skip
"""Errors a person could make in sampling/repeats.py: the hyperparameter, what stands in the file, and what stands there instead."""


@pytest.mark.parametrize("error", WRONG_REPEATS)
def test_wrong_counts_of_repeats_are_rejected(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a p-value below 1e-6, of fewer replicates."""
    name, *change = WRONG_REPEATS[error]
    wrong = changed(repeats, *change)["Repeats"].draw_hyperparameters
    monkeypatch.setattr(repeats.Repeats, "draw_hyperparameters", wrong)
    assert p_value("lda", [name], 60) < 1e-6


def test_priors_of_topics_given_other_groups_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first group's priors are drawn given all documents, the other's given none: a p-value below 1e-6."""

    def of_first(alphas: Float, counts: Any, row: Any, rng: np.random.Generator) -> Float:
        return hyperparameters.draw_alphas(alphas, counts, np.zeros_like(row), rng)

    monkeypatch.setattr(state, "draw_alphas", of_first)
    assert p_value("spdp", ["alpha"]) < 1e-6
