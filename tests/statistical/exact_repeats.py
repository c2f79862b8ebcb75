"""The posterior of tiny corpora whose documents repeat words (kernels/repeats.clh), by enumeration of every seating.

Each document is a restaurant. Its tables are tokens of the model, each with a topic; a token that joins a table has the table's
word and topic. `test_enumeration.py` holds these formulae to drawing tokens one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import exp, log
from typing import Any

import numpy as np

from spdp_engine.models.lda import LdaPriors
from spdp_engine.models.spdp import SpdpPriors

from .exact import (
    LEANING,
    Case,
    Integer,
    Posterior,
    Seatings,
    State,
    blocks,
    log_beta,
    log_rising,
    normalised,
    seatings,
)

Code = tuple[int, ...]
"""How a run (the tokens of one word in one document) sits: K * tokens + topic of each table, the largest first, and then zeros, as
many numbers as tokens. Tokens of a run are exchangeable, so that a state need not say who sits where.

A state is the codes of all runs, by document, then by word, and for SPDP then the model's tables, as in `exact.State`."""


def of_repeats(discount: float, concentration: float) -> dict[str, float]:
    """The priors of repeats."""
    return {"repeat_discount": discount, "repeat_concentration": concentration}


REPEATED = ((0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 1, 1), (0, 1, 0), (0, 1, 1))
TWO_GROUPS = ((0, 0, 0), (0, 0, 0), (0, 1, 1), (0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 0))

SPDP_REPEATS = {
    "a word four times": Case(REPEATED, 2, SpdpPriors(0.5, 0.4, 0.6, 1.5, **of_repeats(0.4, 1.2))),
    "two groups, a_d = 0": Case(TWO_GROUPS, 2, SpdpPriors(0.3, 0.3, 0.3, 0.8, **of_repeats(0.0, 2.0))),
    "associations": Case(REPEATED[2:7], 2, SpdpPriors(0.6, 0.3, 0.4, 0.7, **of_repeats(0.5, 1.5)), (LEANING,)),
}
LDA_REPEATS = {
    "a word four times": Case(REPEATED, 2, LdaPriors(0.5, 0.3, **of_repeats(0.4, 1.2))),
    "three topics, a_d = 0.8": Case(REPEATED[1:], 3, LdaPriors(0.2, 0.4, **of_repeats(0.8, 0.5))),
}
"""Words repeat in documents; of the longest runs' tokens some sit at tables of different sizes."""


def code(topics: int, tables: Iterator[tuple[int, int]], length: int) -> Code:
    """Of a run whose tables, each of so many tokens and of a topic, are these."""
    codes = sorted((topics * tokens + topic for tokens, topic in tables), reverse=True)
    return (*codes, *(0,) * (length - len(codes)))


def partitions(length: int) -> Iterator[list[int]]:
    """Every way to part so many tokens, as the tokens of each part."""

    def further(left: int, sizes: list[int]) -> Iterator[list[int]]:
        if not left:
            yield sizes
            return
        for at in range(len(sizes)):
            yield from further(left - 1, [*sizes[:at], sizes[at] + 1, *sizes[at + 1 :]])
        yield from further(left - 1, [*sizes, 1])

    return further(length, [])


@cache
def run_weights(length: int, topics: int, discount: float) -> dict[Code, float]:
    """The logarithm of prod over tables of (1 - a_d)(2 - a_d) .. (tokens - 1 - a_d), summed over seatings of one code."""
    weights: dict[Code, float] = defaultdict(float)
    for sizes in partitions(length):
        weight = exp(sum(log_rising(1 - discount, 1.0, tokens - 1) for tokens in sizes))
        for z in product(range(topics), repeat=len(sizes)):
            weights[code(topics, zip(sizes, z, strict=True), length)] += weight
    return {key: log(weight) for key, weight in weights.items()}


def repeats_posterior(case: Case[Any]) -> Posterior:
    """The probability of each state.

    p ~ prod_d (b_d|a_d)_S * B(alpha + n_d) * prod over runs of what `run_weights` says * p(words of the model's tokens | topics),
    with n_d the tables of each topic and S those of the document; the last is as in `spdp_posterior` and `lda_posterior`.
    """
    corpus, priors, topics = case.corpus, case.priors, case.topics
    runs = blocks(case)
    firsts = [tuple(case.tokens[run[0]]) for run in runs]
    choices = [list(run_weights(len(run), topics, priors.repeat_discount).items()) for run in runs]
    words = words_of(case)
    states, logs = [], []
    for way in product(*choices):
        n = np.zeros((len(corpus.document_group), topics))
        m = np.zeros((topics, corpus.n_groups, corpus.n_words), int)
        for (codes, _), (group, document, word) in zip(way, firsts, strict=True):
            z = [one % topics for one in codes if one]
            np.add.at(n[document], z, 1)
            np.add.at(m, (z, group, word), 1)
        p = sum(weight for _, weight in way)
        p += sum(log_beta(priors.alpha + row) for row in n)
        p += sum(log_rising(priors.repeat_concentration, priors.repeat_discount, int(S)) for S in n.sum(axis=1))
        codes = tuple(np.concatenate([codes for codes, _ in way]).tolist())
        for tables, of_words in words(m):
            states.append((*codes, *tables))
            logs.append(p + of_words)
    return normalised(states, np.array(logs))


Words = Callable[[Integer], Iterator[tuple[State, float]]]
"""From the model's tokens of each topic, group and word [K, I, V]: tables as a state has them, and log probability of words."""


def words_of(case: Case[Any]) -> Words:
    """The model's probability of words given topics."""
    if isinstance(case.priors, LdaPriors):
        beta = np.full(case.corpus.n_words, case.priors.beta)

        def of_lda(m: Integer) -> Iterator[tuple[State, float]]:
            yield (), sum(log_beta(beta + row) - log_beta(beta) for row in m.sum(axis=1))

        return of_lda
    known: dict[bytes, Seatings] = {}

    def of_spdp(m: Integer) -> Iterator[tuple[State, float]]:
        for one in m:
            if one.tobytes() not in known:
                known[one.tobytes()] = seatings(case, one)
        for way in product(*(zip(*known[one.tobytes()], strict=True) for one in m)):
            parts = [
                np.stack(part, axis=-1).ravel() for part in list(zip(*way, strict=True))[: 2 if case.matrices else 1]
            ]
            yield tuple(np.concatenate(parts).tolist()), sum(of_words for _, _, of_words in way)

    return of_spdp
