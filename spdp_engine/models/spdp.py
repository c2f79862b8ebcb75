"""SPDP, the differential topic model.

    phi0[k] ~ Dirichlet(gamma),   phi[i, k] ~ PDP(a, b, P^i phi0[k]),   theta[d] ~ Dirichlet(alpha),
    z[l] ~ theta[d],   word[l] ~ phi[i, z[l]]

A topic k has a base wording phi0[k] that all groups share, and in each group i its own wording phi[i, k] around it. The
transformation matrices P^i, the identity unless given, say with which words a group puts what the base calls v. The
counts of the collapsed sampler are customers m and tables t of each cell (group, topic, word), tokens n of each
document and topic, c, the tables of a cell that serve each base word, and q, those of a topic's base word summed over all cells.

Source: C. Chen, W. Buntine, N. Ding, L. Xie, L. Du, "Differential Topic Models" (IEEE TPAMI 2015), and a thesis that samples
it on GPUs.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.priors import Priors, prior
from spdp_engine.models.readings import Readings, count_tokens
from spdp_engine.types import TokenArrays

Float = NDArray[np.float64]


@dataclass(frozen=True)
class SpdpPriors(Priors):
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

    gamma: float = prior(0.1, "prior of words in a topic's base wording")
    discount: float = prior(
        0.7, "discount of the Pitman-Yor processes (a): the larger, the more rare words a group has of its own"
    )
    concentration: float = prior(
        100.0, "concentration of the Pitman-Yor processes (b): the larger, the closer the groups"
    )


def of_first_pass(priors: SpdpPriors) -> SpdpPriors:
    """The priors by which tokens get their first topics: the discount lies halfway between its own and 1.

    A word's first token in a topic then draws the next ones there half as strongly, and fewer runs are left with a topic that holds
    two subjects: 72 of 160 on generated corpora, 89 after a first pass by the priors as they are.
    """
    return replace(priors, discount=(1 + priors.discount) / 2)


@dataclass(frozen=True, eq=False)
class Counts:
    """The state of the collapsed sampler as whole numbers.

    Attributes:
        document_topics: n, int32 [D, K].
        customers: m, int32 [I, V, K].
        tables: t, int32 [I, V, K]; 1 <= t <= m where m > 0, else 0.
        associated: c, int32 [E, K], tables by entry of the transformation matrices; None where these are the identity, or where
            tables do not know their base word.
    """

    document_topics: NDArray[np.int32]
    customers: NDArray[np.int32]
    tables: NDArray[np.int32]
    associated: NDArray[np.int32] | None = None

    def check(
        self,
        token_word: NDArray[np.int32],
        token_document: NDArray[np.int32],
        document_group: NDArray[np.int32],
        topics: NDArray[np.integer],
        matrices: Matrices | None = None,
    ) -> None:
        """Derives the counts again from the tokens' topics.

        Args:
            token_word: [N].
            token_document: [N].
            document_group: [D].
            topics: [N], the topic of each token.
            matrices: whose entries `associated` counts.

        Raises:
            AssertionError: they differ from those kept, or the tables break their bounds.
        """
        n, m = count_tokens(token_word, token_document, document_group, topics, self.customers.shape)
        assert np.array_equal(n, self.document_topics), "document-topic counts differ from the assignments"
        assert np.array_equal(m, self.customers), "customer counts differ from the assignments"
        self.check_tables(matrices)

    def check_tables(self, matrices: Matrices | None = None) -> None:
        """Whether the tables can be those of the customers.

        Raises:
            AssertionError: they break their bounds, or their base words do not add up to them.
        """
        assert np.all(self.tables <= self.customers), "a cell has more tables than customers"
        assert np.all(self.tables >= 0), "a cell has less than no tables"
        assert np.all((self.tables > 0) == (self.customers > 0)), "a cell has customers without a table, or the reverse"
        if self.associated is not None and matrices is not None:
            assert np.all(self.associated >= 0), "a base word has less than no tables"
            t = np.zeros((len(matrices.starts) - 1, self.tables.shape[2]), np.int64)
            np.add.at(t, matrices.row, self.associated)
            assert np.array_equal(t.reshape(self.tables.shape), self.tables), (
                "tables differ from those of their base words"
            )


def largest_cell(corpus: TokenArrays) -> int:
    """Count of the commonest word in a group: the most customers a cell can have. Counted once for each corpus."""
    if corpus not in _largest_cells:
        cells = corpus.document_group[corpus.token_document].astype(np.int64) * corpus.n_words + corpus.token_word
        _largest_cells[corpus] = int(np.bincount(cells).max())
    return _largest_cells[corpus]


_largest_cells: weakref.WeakKeyDictionary[TokenArrays, int] = weakref.WeakKeyDictionary()


def seat_at_one_table(
    token_word: NDArray[np.int32],
    token_document: NDArray[np.int32],
    document_group: NDArray[np.int32],
    topics: NDArray[np.integer],
    shape: tuple[int, ...],
    matrices: Matrices | None = None,
) -> Counts:
    """The counts of given topics with the fewest tables there can be: one to a cell, serving the likeliest base word.

    Arguments as for `count_tokens`.
    """
    n, m = count_tokens(token_word, token_document, document_group, topics, shape)
    t = (m > 0).astype(np.int32)
    associated = None
    if matrices is not None:
        associated = np.zeros((len(matrices.base_word), shape[2]), np.int32)
        best = np.lexsort((-matrices.weight, matrices.row))
        first = best[np.searchsorted(matrices.row[best], np.unique(matrices.row))]
        associated[first] = t.reshape(-1, shape[2])[matrices.row[first]]
    return Counts(n, m, t, associated)


def seat_at_tables(
    token_word: NDArray[np.int32],
    token_document: NDArray[np.int32],
    document_group: NDArray[np.int32],
    topics: NDArray[np.integer],
    tables: NDArray[np.int32],
    associated: NDArray[np.int32] | None = None,
    matrices: Matrices | None = None,
) -> Counts:
    """The counts of given topics where the tables are known.

    Args:
        token_word: [N].
        token_document: [N].
        document_group: [D].
        topics: [N], the topic of each token.
        tables: t, int32 [I, V, K].
        associated: c, int32 [E, K], where tables know their base words.
        matrices: whose entries those are.

    Raises:
        SettingsError: there cannot be so many tables, or their base words do not add up to them.
    """
    n, m = count_tokens(token_word, token_document, document_group, topics, tables.shape)
    counts = Counts(n, m, tables, associated)
    try:
        counts.check_tables(matrices)
    except AssertionError as error:
        raise SettingsError(
            f"These tables do not belong to these topics: {error}. Take all of them from one run."
        ) from error
    return counts


@dataclass(frozen=True, eq=False)
class SpdpSample(Readings):
    """A consistent copy of the sampler's state after an iteration, and the estimates drawn from it.

    Attributes:
        iteration: how many iterations had been done.
        priors: hyperparameters in force.
        counts: the state.
        alphas: alpha of every topic in each document, float64 [D, K]; None: that of the priors.
        matrices: P^i; None: the identity.
        base: phi0, float64 [V, K], where the sampler keeps it instead of counting base words; else None.
        words: tokens of each group, word and topic, int32 [I, V, K], where documents repeat words that `counts` counts once; else
            None.
    """

    iteration: int
    priors: SpdpPriors
    counts: Counts
    alphas: Float | None = None
    matrices: Matrices | None = None
    base: Float | None = None
    words: NDArray[np.int32] | None = None

    @property
    def group_words(self) -> NDArray[np.int32]:
        """See `Readings`: the customers."""
        return self.counts.customers

    def base_wording(self) -> Float:
        """phi0[v, k] = (gamma + q[v, k]) / (gamma V + sum_v q): float64 [V, K], columns sum to 1."""
        if self.base is not None:
            return self.base
        if self.matrices is not None and self.counts.associated is not None:
            q = self.matrices.base_tables(self.counts.associated) + self.priors.gamma
        else:
            q = self.counts.tables.sum(axis=0, dtype=np.float64) + self.priors.gamma
        wording: Float = q / q.sum(axis=0)
        return wording

    def group_wordings(self) -> Float:
        """phi[i, w, k] = (m - a t)/(b + M) + (b + a T)/(b + M) (P^i phi0[k])[w]: float64 [I, V, K], each [i, :, k] sums to 1.

        The second term has b as well as a T: without b the words' probabilities would not add up to 1.
        """
        a, b = self.priors.discount, self.priors.concentration
        customers, tables = self.counts.customers, self.counts.tables
        total_customers = customers.sum(axis=1, dtype=np.float64)[:, None, :]
        total_tables = tables.sum(axis=1, dtype=np.float64)[:, None, :]
        base = self.base_wording()
        wordings: Float = (b + a * total_tables) * (base if self.matrices is None else self.matrices.apply(base))
        wordings += customers
        wordings -= a * tables
        wordings /= b + total_customers
        return wordings


def topic_weights(
    counts: Counts,
    priors: SpdpPriors,
    group: int,
    word: int,
    document: int,
    matrices: Matrices | None = None,
) -> Float:
    """Weights of every topic for a token that has been taken out: the conditional of the sampler, plainly.

    What the kernels compute from cached products, for tests to compare with; no cell may be at its limit of tables.

    Returns:
        float64 [K, 1 + E]: weight of sitting at an old table, and of opening a new one for each of the word's base
        words, in the order of the entries of its row of the matrices (one, the word itself, where they are the identity).
    """
    a, b, gamma = priors.discount, priors.concentration, priors.gamma
    m = counts.customers[group, word].astype(np.int64)
    t = counts.tables[group, word].astype(np.int64)
    total_customers = counts.customers[group].sum(axis=0)
    total_tables = counts.tables[group].sum(axis=0)
    if matrices is None or counts.associated is None:
        q = counts.tables.sum(axis=0, dtype=np.float64)
        shares = (gamma + q[[word]]) / (gamma * len(q) + q.sum(axis=0))
    else:
        q = matrices.base_tables(counts.associated).astype(np.float64)
        row = slice(*matrices.starts[group * matrices.n_words + word :][:2])
        shares = matrices.weight[row, None] * (gamma + q[matrices.base_word[row]]) / (gamma * len(q) + q.sum(axis=0))
    tokens = priors.alpha + counts.document_topics[document]
    old = tokens * (m - a * t) / (b + total_customers)
    new = tokens * (b + a * total_tables) / (b + total_customers) * shares
    return np.vstack([old[None], new]).T
