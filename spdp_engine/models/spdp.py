"""SPDP, the differential topic model, with identity transformation matrices.

    phi0[k] ~ Dirichlet(gamma),   phi[i, k] ~ PDP(a, b, phi0[k]),   theta[d] ~ Dirichlet(alpha),
    z[l] ~ theta[d],   word[l] ~ phi[i, z[l]]

A topic k has a base wording phi0[k] that all groups share, and in each group i its own wording phi[i, k] around it. The
counts of the collapsed sampler are customers m and tables t of each cell (group, topic, word), tokens n of each
document and topic, and q, the tables of a topic's word summed over groups.

Source: C. Chen, W. Buntine, N. Ding, L. Xie, L. Du, "Differential Topic Models" (IEEE TPAMI 2015), and a thesis that samples
it on GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.stirling import SeatingFactors

Float = NDArray[np.float64]


SMALLEST, LARGEST = 1e-6, 1e9
"""Bounds of alpha, gamma and the concentration: far beyond what makes sense, well within single precision."""


@dataclass(frozen=True)
class Priors:
    """Hyperparameters of SPDP.

    Attributes:
        alpha: Dirichlet prior of topics in a document, for each topic.
        gamma: Dirichlet prior of words in a topic's base wording.
        discount: a of the Pitman-Yor processes, 0 <= a < 1.
        concentration: b of the Pitman-Yor processes: the larger, the closer the groups' wordings. (The processes are defined for
            b > -a; b is kept above 0 here.)

    Raises:
        SettingsError: a value is out of its range.
    """

    alpha: float = 0.1
    gamma: float = 0.1
    discount: float = 0.7
    concentration: float = 100.0

    def __post_init__(self) -> None:
        if not 0 <= self.discount < 1:
            raise SettingsError(f"The discount must be at least 0 and below 1; it is {self.discount:g}.")
        for name in ("alpha", "gamma", "concentration"):
            value = getattr(self, name)
            if not SMALLEST <= value <= LARGEST:
                raise SettingsError(
                    f"{name.capitalize()} must lie between {SMALLEST:g} and {LARGEST:g}; it is {value:g}."
                )


@dataclass(frozen=True, eq=False)
class Counts:
    """The state of the collapsed sampler as whole numbers.

    Attributes:
        document_topics: n, int32 [D, K].
        customers: m, int32 [I, V, K].
        tables: t, int32 [I, V, K]; 1 <= t <= m where m > 0, else 0.
    """

    document_topics: NDArray[np.int32]
    customers: NDArray[np.int32]
    tables: NDArray[np.int32]

    def check(
        self,
        token_word: NDArray[np.int32],
        token_document: NDArray[np.int32],
        document_group: NDArray[np.int32],
        topics: NDArray[np.integer],
    ) -> None:
        """Derives the counts again from the tokens' topics.

        Args:
            token_word: [N].
            token_document: [N].
            document_group: [D].
            topics: [N], the topic of each token.

        Raises:
            AssertionError: they differ from those kept, or the tables break their bounds.
        """
        n = np.zeros_like(self.document_topics)
        np.add.at(n, (token_document, topics), 1)
        m = np.zeros_like(self.customers)
        np.add.at(m, (document_group[token_document], token_word, topics), 1)
        assert np.array_equal(n, self.document_topics), "document-topic counts differ from the assignments"
        assert np.array_equal(m, self.customers), "customer counts differ from the assignments"
        assert np.all(self.tables <= self.customers), "a cell has more tables than customers"
        assert np.all((self.tables > 0) == (self.customers > 0)), "a cell has customers without a table, or the reverse"


@dataclass(frozen=True, eq=False)
class SpdpSample:
    """A consistent copy of the sampler's state after an iteration, and the estimates drawn from it.

    Attributes:
        iteration: how many iterations had been done.
        priors: hyperparameters in force.
        counts: the state.
    """

    iteration: int
    priors: Priors
    counts: Counts

    def base_wording(self) -> Float:
        """phi0[v, k] = (gamma + q[v, k]) / (gamma V + sum_v q): float64 [V, K], columns sum to 1."""
        q = self.counts.tables.sum(axis=0, dtype=np.float64) + self.priors.gamma
        wording: Float = q / q.sum(axis=0)
        return wording

    def group_wordings(self) -> Float:
        """phi[i, v, k] = (m - a t)/(b + M) + (b + a T)/(b + M) phi0[v, k]: float64 [I, V, K], each [i, :, k] sums to 1.

        The second term has b as well as a T: without b the words' probabilities would not add up to 1.
        """
        a, b = self.priors.discount, self.priors.concentration
        customers, tables = self.counts.customers, self.counts.tables
        total_customers = customers.sum(axis=1, dtype=np.float64)[:, None, :]
        total_tables = tables.sum(axis=1, dtype=np.float64)[:, None, :]
        wordings: Float = (b + a * total_tables) * self.base_wording()
        wordings += customers
        wordings -= a * tables
        wordings /= b + total_customers
        return wordings

    def document_shares(self) -> Float:
        """theta[d, k] = (n[d, k] + alpha) / sum_k (n + alpha): float64 [D, K], rows sum to 1."""
        n = self.counts.document_topics + self.priors.alpha
        shares: Float = n / n.sum(axis=1, keepdims=True)
        return shares

    def group_topic_tokens(self) -> NDArray[np.int64]:
        """Tokens of each group in each topic: int64 [I, K]."""
        tokens: NDArray[np.int64] = self.counts.customers.sum(axis=1, dtype=np.int64)
        return tokens

    def group_word_tokens(self, topic: int) -> NDArray[np.int64]:
        """Tokens of each word of each group in one topic: int64 [I, V]."""
        return self.counts.customers[:, :, topic].astype(np.int64)


def topic_weights(
    counts: Counts, priors: Priors, factors: SeatingFactors, group: int, word: int, document: int
) -> Float:
    """Weights of every topic for a token that has been taken out: the conditional of the sampler, plainly.

    What the kernels compute from cached products, for tests to compare with.

    Returns:
        float64 [K, 2]: weight of sitting at an old table, and of opening a new one.
    """
    a, b, gamma = priors.discount, priors.concentration, priors.gamma
    m = counts.customers[group, word].astype(np.int64)
    t = counts.tables[group, word].astype(np.int64)
    old, new = factors.pairs[factors.index(m, t)].astype(np.float64).T
    total_customers = counts.customers[group].sum(axis=0)
    total_tables = counts.tables[group].sum(axis=0)
    q = counts.tables.sum(axis=0, dtype=np.float64)
    base = (gamma + q[word]) / (gamma * len(q) + q.sum(axis=0))
    tokens = priors.alpha + counts.document_topics[document]
    old = tokens * old / (b + total_customers)
    new = tokens * new * (b + a * total_tables) / (b + total_customers) * base
    return np.stack([old, new], axis=1)
