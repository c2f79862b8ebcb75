"""Collections drawn from the model itself, so that what a sampler should find is known.

    phi0[k] ~ Dirichlet(gamma),   phi[i, k] ~ PDP(a, b, phi0[k]),   theta[d] ~ Dirichlet(alpha),
    z[l] ~ theta[d],   word[l] ~ phi[i, z[l]]

The words of a group and topic are drawn without phi[i, k], by seating tokens in a Chinese restaurant: that is the
Poisson-Dirichlet process with its distribution integrated out, exact for any discount, and nothing is truncated.

Source: J. Pitman, "Combinatorial Stochastic Processes" (Springer, 2006), section 3.2, for the seating; C. Chen, W. Buntine,
N. Ding, L. Xie, L. Du, "Differential Topic Models" (IEEE TPAMI 2015), for the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.spdp import SpdpPriors


@dataclass(frozen=True, eq=False)
class Generated:
    """A drawn collection and its truth; a `spdp_engine.types.TokenArrays`. I groups, D documents, V words, K topics.

    Attributes:
        token_word: int32 [N], 0 .. V - 1.
        token_document: int32 [N], non-decreasing.
        document_group: int32 [D], non-decreasing; groups differ by at most one document.
        token_topic: int32 [N], the topic each token was drawn from.
        document_shares: theta, float64 [D, K], rows sum to 1.
        base_wording: phi0, float64 [V, K], columns sum to 1.
        tables: t, int32 [I, V, K], how often a group took a word of a topic from the base wording.
        group_wordings: float64 [I, V, K], each [i, :, k] sums to 1: the mean of phi[i, k] given the seating, which is the
            probability of the next word of that group and topic. Near the base wording where a group has few tokens
            of a topic.
    """

    token_word: NDArray[np.int32]
    token_document: NDArray[np.int32]
    document_group: NDArray[np.int32]
    token_topic: NDArray[np.int32]
    document_shares: NDArray[np.float64]
    base_wording: NDArray[np.float64]
    tables: NDArray[np.int32]
    group_wordings: NDArray[np.float64]

    @property
    def n_words(self) -> int:
        """V, the size of the vocabulary, drawn or not."""
        return len(self.base_wording)

    @property
    def n_groups(self) -> int:
        """I, the number of groups."""
        return len(self.group_wordings)


def generate(
    groups: int = 2,
    documents: int = 200,
    words: int = 500,
    topics: int = 10,
    tokens_per_document: int = 100,
    alpha: float = 0.1,
    gamma: float = 0.1,
    discount: float = 0.7,
    concentration: float = 100.0,
    seed: int = 1,
) -> Generated:
    """Draws a collection; the same arguments give the same one.

    Args:
        groups: I.
        documents: D, of all groups together; no fewer than groups.
        words: V.
        topics: K.
        tokens_per_document: tokens of every document.
        alpha: Dirichlet prior of topics in a document, for each topic.
        gamma: Dirichlet prior of words in a base wording, for each word.
        discount: a of the Poisson-Dirichlet processes, 0 <= a < 1.
        concentration: b of the Poisson-Dirichlet processes: the larger, the closer the groups' wordings.
        seed: of every draw.

    Raises:
        SettingsError: a value is out of its range.
    """
    SpdpPriors(alpha, gamma, discount, concentration)
    if min(groups, words, topics, tokens_per_document) < 1 or documents < groups:
        raise SettingsError("Groups, words, topics and tokens must be 1 or more, and documents no fewer than groups.")
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(words, gamma), topics).T
    shares = rng.dirichlet(np.full(topics, alpha), documents)
    document_group = (np.arange(documents) * groups // documents).astype(np.int32)
    token_document = np.repeat(np.arange(documents, dtype=np.int32), tokens_per_document)
    token_topic = _draw_rows(shares, tokens_per_document, rng)

    token_word = np.empty(len(token_topic), np.int32)
    customers = np.zeros((groups, words, topics), np.int32)
    tables = np.zeros_like(customers)
    restaurant = document_group[token_document].astype(np.int64) * topics + token_topic
    order = np.argsort(restaurant, kind="stable")
    seatings = np.split(order, np.searchsorted(restaurant[order], np.arange(1, groups * topics)))
    for index, tokens in enumerate(seatings):
        group, topic = divmod(index, topics)
        drawn, opened = seat(len(tokens), base[:, topic], discount, concentration, rng)
        token_word[tokens] = drawn
        customers[group, :, topic] = np.bincount(drawn, minlength=words)
        tables[group, :, topic] = np.bincount(drawn[opened], minlength=words)
    return Generated(
        token_word,
        token_document,
        document_group,
        token_topic,
        shares,
        base,
        tables,
        _mean_wordings(customers, tables, base, discount, concentration),
    )


def seat(
    customers: int, base: NDArray[np.float64], discount: float, concentration: float, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Words of that many tokens of one group and topic, by the Chinese restaurant process of two parameters.

    With n customers at T tables, the next one opens a table with weight b + a T and joins table j with weight n_j - a. It is
    drawn in constant time: a customer follows one of the n before it, each with weight 1, or opens a table with weight b;
    but where it follows the opener of a table, it opens one itself with probability a.

    Args:
        customers: how many, n.
        base: float64 [V], what new tables serve.
        discount: a.
        concentration: b.
        rng: where draws come from.

    Returns:
        int32 [n], the word of each; and bool [n], whether it opened a table.
    """
    followed = (rng.random(customers) * (np.arange(customers) + concentration)).tolist()
    leaves = (rng.random(customers) < discount).tolist()
    opened = [True] * customers
    opener = list(range(customers))
    for customer, place in enumerate(followed):
        if place < customer:
            leader = int(place)
            if not (opened[leader] and leaves[customer]):
                opened[customer] = False
                opener[customer] = opener[leader]
    served = rng.choice(len(base), customers, p=base).astype(np.int32)
    return served[np.array(opener, np.int64)], np.array(opened, bool)


def _draw_rows(shares: NDArray[np.float64], each: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """`each` draws from every row of `shares` [D, K]: int32 [D * each]."""
    cumulated = shares.cumsum(axis=1)
    draws = rng.random((len(shares), each)) * cumulated[:, -1:]
    rows = [np.searchsorted(row, draw, side="right") for row, draw in zip(cumulated, draws, strict=True)]
    return np.concatenate(rows).astype(np.int32)


def _mean_wordings(
    customers: NDArray[np.int32],
    tables: NDArray[np.int32],
    base: NDArray[np.float64],
    discount: float,
    concentration: float,
) -> NDArray[np.float64]:
    """(m - a t)/(b + M) + (b + a T)/(b + M) phi0: float64 [I, V, K]."""
    all_customers = customers.sum(axis=1, keepdims=True)
    all_tables = tables.sum(axis=1, keepdims=True)
    wordings: NDArray[np.float64] = customers - discount * tables + (concentration + discount * all_tables) * base
    return wordings / (concentration + all_customers)
