"""Corpora so small that the posterior can be written down, the posterior itself, and comparisons with it.

Every state is enumerated, by the formulae of the joint distribution and nothing else: no conditional, no sampler, no device.
`test_enumeration.py` holds these formulae to drawing tokens one by one, and the samplers' conditionals to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import lgamma, log
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chi2
from scipy.stats import t as student

from spdp_engine.models.lda import LdaPriors
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.spdp import SpdpPriors
from spdp_engine.types import Tokens

LEVEL = 1e-4
"""The p-value below which a comparison fails: its false-alarm rate. See the folder's `__init__` for their sum."""

Float = NDArray[np.float64]
Integer = NDArray[np.int64]

State = tuple[int, ...]
"""Topics of the tokens. For SPDP then the tables of each cell, [I, V, K] raveled, and, with transformation matrices, the
tables of each entry of the matrices' pattern, [E, K] raveled: see `Case.entries` for their order."""

Posterior = dict[State, float]

P = TypeVar("P", SpdpPriors, LdaPriors)


@dataclass(frozen=True, eq=False)
class Case(Generic[P]):
    """A corpus, a number of topics, and priors.

    Attributes:
        tokens: (group, document, word) of each token, documents non-decreasing. LDA does not look at groups.
        topics: K.
        priors: those of SPDP or of LDA.
        matrices: SPDP's transformation matrices, one float64 [V, V] to a group, columns sum to 1; entries that are 0 are
            outside the pattern. None for identity matrices, whose states leave the base words out.

    Raises:
        ValueError: documents are not in order, columns of the matrices do not sum to 1, or they make a token's word impossible.
    """

    tokens: tuple[tuple[int, int, int], ...]
    topics: int
    priors: P
    matrices: Sequence[Float] | None = None

    def __post_init__(self) -> None:
        corpus = self.corpus
        if np.any(np.diff(corpus.token_document) < 0):
            raise ValueError("The documents of a case's tokens must not decrease.")
        if self.matrices is None:
            return
        dense = np.stack(self.matrices)
        if dense.shape != (corpus.n_groups, corpus.n_words, corpus.n_words):
            raise ValueError(f"The matrices of a case must be [I, V, V]; they are {dense.shape}.")
        if np.any(dense < 0) or not np.allclose(dense.sum(axis=1), 1, rtol=0, atol=1e-12):
            raise ValueError("The matrices' entries must be at least 0 and their columns sum to 1.")
        reachable = dense.sum(axis=2) > 0
        if not reachable[self.token_group, corpus.token_word].all():
            raise ValueError("A token has a word that no base word of its group becomes.")

    @property
    def corpus(self) -> Tokens:
        """The tokens as a sampler takes them."""
        group, document, word = np.array(self.tokens, np.int32).T
        document_group = np.zeros(document.max() + 1, np.int32)
        document_group[document] = group
        return Tokens(word.copy(), document.copy(), document_group, int(word.max()) + 1, int(group.max()) + 1)

    @property
    def token_group(self) -> NDArray[np.int32]:
        """The group of each token: int32 [N]."""
        return np.array(self.tokens, np.int32)[:, 0]

    @property
    def entries(self) -> tuple[Integer, Integer, Integer, Float]:
        """The matrices' pattern, in the order of groups, words, base words.

        Returns:
            group, word, base word (int64 [E]) and weight (float64 [E]) of each entry.
        """
        corpus = self.corpus
        identity = np.broadcast_to(np.eye(corpus.n_words), (corpus.n_groups, corpus.n_words, corpus.n_words))
        dense = identity if self.matrices is None else np.stack(self.matrices)
        group, word, base_word = np.nonzero(dense)
        return group, word, base_word, dense[group, word, base_word]

    @property
    def associations(self) -> Matrices | None:
        """The matrices as a sampler takes them."""
        if self.matrices is None:
            return None
        return Matrices.from_entries(self.corpus.n_groups, self.corpus.n_words, *self.entries)

    def unpack(self, state: State) -> tuple[Integer, Integer, Integer]:
        """Topics [N], tables [I, V, K] and tables by entry [E, K] of an SPDP state, int64.

        Without transformation matrices the last is what identity matrices would have: all tables, by cell.
        """
        corpus, n = self.corpus, len(self.tokens)
        shape = (corpus.n_groups, corpus.n_words, self.topics)
        cells = int(np.prod(shape))
        array = np.array(state)
        tables = array[n : n + cells].reshape(shape)
        by_entry = tables if self.matrices is None else array[n + cells :]
        return array[:n], tables, by_entry.reshape(-1, self.topics)

    def pack(self, topics: Integer, tables: Integer, associated: Integer) -> State:
        """The SPDP state that `unpack` takes apart; without transformation matrices `associated` is left out."""
        parts = [topics, tables.ravel()]
        if self.matrices is not None:
            parts.append(associated.ravel())
        return tuple(np.concatenate(parts).tolist())


# ---- cases ----------------------------------------------------------------------------------------------------------

MIXED = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 2, 1), (1, 2, 0), (1, 3, 0))
CROWDED = ((0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 0), (1, 3, 1))
THREE_WORDS = ((0, 0, 0), (0, 0, 1), (0, 0, 1), (1, 1, 1), (1, 1, 2), (1, 2, 1))
ONE_GROUP = ((0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 2, 1))

SPDP_CASES = {
    "two words": Case(MIXED, 2, SpdpPriors(0.5, 0.4, 0.6, 1.5)),
    "crowded cells": Case(CROWDED, 2, SpdpPriors(0.3, 0.2, 0.3, 0.8)),
    "crowded cells, a = 0": Case(CROWDED, 2, SpdpPriors(1.0, 0.5, 0.0, 1.0)),
    "three words, a = 0.9": Case(THREE_WORDS, 2, SpdpPriors(0.2, 1.0, 0.9, 5.0)),
    "three topics": Case(THREE_WORDS[:5], 3, SpdpPriors(0.4, 0.3, 0.5, 0.5)),
    "one group": Case(ONE_GROUP, 2, SpdpPriors(0.6, 0.3, 0.7, 2.0)),
}
"""Identity transformation matrices."""

MIXING = np.array([[0.8, 0.3], [0.2, 0.7]])
LEANING = np.array([[0.6, 0.1], [0.4, 0.9]])
SPARSE = np.array([[0.7, 0.0, 0.2], [0.3, 1.0, 0.0], [0.0, 0.0, 0.8]])
ONE_SIDED = np.array([[0.0, 0.0, 0.0], [1.0, 0.6, 0.5], [0.0, 0.4, 0.5]])  # group 1 has no word 0

ASSOCIATED_CASES = {
    "dense beside the identity": Case(MIXED, 2, SpdpPriors(0.5, 0.4, 0.6, 1.5), (MIXING, np.eye(2))),
    "dense": Case(MIXED[:5], 2, SpdpPriors(0.3, 0.2, 0.3, 0.8), (MIXING, LEANING)),
    "dense, a = 0": Case(CROWDED[1:6], 2, SpdpPriors(1.0, 0.5, 0.0, 1.0), (LEANING, MIXING)),
    "dense, crowded cells": Case(ONE_GROUP, 2, SpdpPriors(0.6, 0.3, 0.7, 2.0), (MIXING,)),
    "zeros in the pattern": Case(THREE_WORDS[:5], 2, SpdpPriors(0.4, 0.3, 0.5, 0.5), (SPARSE, ONE_SIDED)),
    "dense, three topics": Case(MIXED[:4], 3, SpdpPriors(0.4, 0.6, 0.5, 2.0), (MIXING, LEANING)),
}
"""Other transformation matrices. Pearson's test wants some counts for each state, so they are smaller than the others."""

FIVE_OF_A_KIND = ((0, 0, 0), (0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0), (1, 1, 1))
FOUR_BLOCKS = ((0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 2), (0, 1, 2))

LDA_CASES = {
    "blocks of 5, 1, 2, 1": Case(FIVE_OF_A_KIND, 2, LdaPriors(0.5, 0.3)),
    "blocks of 5, 1, 2, 1, small priors": Case(FIVE_OF_A_KIND, 2, LdaPriors(0.1, 0.05)),
    "blocks of 3, 1, 1, 2, three topics": Case(FOUR_BLOCKS, 3, LdaPriors(0.4, 0.2)),
    "one block of 5, three topics": Case(((0, 0, 0),) * 5 + ((0, 1, 0), (0, 1, 1)), 3, LdaPriors(0.2, 0.6)),
    "one word": Case(((0, 0, 0),) * 4 + ((0, 1, 0),) * 3, 2, LdaPriors(0.7, 1.0)),
}
"""Words repeat in documents. A blocked sampler draws such tokens together; they are not always neighbours."""

# ---- SPDP -----------------------------------------------------------------------------------------------------------


@cache
def log_stirling(discount: float, n: int, t: int) -> float:
    """The logarithm of S(n, t), by the definition."""
    row = [1.0]
    for m in range(n):
        longer = [0.0] * (m + 2)
        for tables, value in enumerate(row):
            longer[tables] += (m - tables * discount) * value
            longer[tables + 1] += value
        row = longer
    return log(row[t])


def log_rising(x: float, step: float, n: int) -> float:
    """The logarithm of x (x + step) (x + 2 step) ..., n factors."""
    return sum(log(x + step * j) for j in range(n))


def log_beta(x: Float) -> float:
    """The logarithm of the multivariate beta function."""
    return sum(lgamma(value) for value in x) - lgamma(x.sum())


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write a number as the sum of so many numbers, zeros allowed, in their order."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


Seatings = tuple[Integer, Integer, Float]
"""Tables [S, I, V], tables by entry [S, E] and log weight [S] of every way to seat the customers of one topic."""


def seatings(case: Case[SpdpPriors], customers: Integer) -> Seatings:
    """Every way to seat one topic's customers (int64 [I, V]), with

    prod_i (b|a)_T / (b)_M * prod_iw [S(m, t) * t! / prod_v c_v! * prod_v P[w, v]^c_v] * B(gamma + q) / B(gamma).
    """
    a, b, gamma = case.priors.discount, case.priors.concentration, case.priors.gamma
    entry_group, entry_word, entry_base, weight = case.entries
    groups, words = customers.shape
    cells = list(zip(*np.nonzero(customers), strict=True))
    rows = [np.nonzero((entry_group == i) & (entry_word == w))[0] for i, w in cells]
    options = []
    for (i, w), row in zip(cells, rows, strict=True):
        m = int(customers[i, w])
        options.append([
            (t, c, log_stirling(a, m, t) + lgamma(t + 1) - sum(lgamma(x + 1) for x in c) + float(c @ np.log(weight[row])))
            for t in range(1, m + 1)
            for c in map(np.array, compositions(t, len(row)))
        ])  # fmt: skip
    of_customers = sum(log_rising(b, 1.0, int(total)) for total in customers.sum(axis=1))
    ways = list(product(*options))
    tables, associated = np.zeros((len(ways), groups, words), int), np.zeros((len(ways), len(weight)), int)
    logs = np.full(len(ways), -of_customers - log_beta(np.full(words, gamma)))
    for s, way in enumerate(ways):
        for cell, row, (t, c, value) in zip(cells, rows, way, strict=True):
            tables[s][cell] = t
            associated[s, row] = c
            logs[s] += value
        logs[s] += sum(log_rising(b, a, int(total)) for total in tables[s].sum(axis=1))
        q: Float = np.bincount(entry_base, associated[s], words).astype(np.float64)
        logs[s] += log_beta(gamma + q)
    return tables, associated, logs


def spdp_posterior(case: Case[SpdpPriors]) -> Posterior:
    """The probability of each state: topics of all tokens, tables of all cells, base words of the tables.

    p(z, t, c) ~ prod_d B(alpha + n_d) * the product over topics of what `seatings` says of one. Given their tokens, topics
    have nothing to do with one another.
    """
    corpus, topics = case.corpus, range(case.topics)
    group, documents = case.token_group, len(corpus.document_group)
    of_customers: dict[bytes, Seatings] = {}
    states: list[State] = []
    logs = []
    for z in product(topics, repeat=len(case.tokens)):
        of_tokens = np.array(z)
        n = np.zeros((documents, case.topics))
        np.add.at(n, (corpus.token_document, of_tokens), 1)
        m = np.zeros((case.topics, corpus.n_groups, corpus.n_words), int)
        np.add.at(m, (of_tokens, group, corpus.token_word), 1)
        parts = []
        for customers in m:
            key = customers.tobytes()
            if key not in of_customers:
                of_customers[key] = seatings(case, customers)
            parts.append(of_customers[key])
        ways = np.indices([len(part[2]) for part in parts]).reshape(case.topics, -1)
        t = np.stack([parts[k][0][ways[k]] for k in topics], axis=-1)
        c = np.stack([parts[k][1][ways[k]] for k in topics], axis=-1)
        rows = [np.tile(z, (ways.shape[1], 1)), t.reshape(ways.shape[1], -1)]
        if case.matrices is not None:
            rows.append(c.reshape(ways.shape[1], -1))
        states += map(tuple, np.hstack(rows).tolist())
        of_documents = sum(log_beta(case.priors.alpha + row) for row in n)
        logs.append(of_documents + sum(parts[k][2][ways[k]] for k in topics))
    return normalised(states, np.concatenate(logs))


def normalised(states: Iterable[State], logs: Float) -> Posterior:
    """Probabilities of states from their logarithms up to a constant."""
    p = np.exp(logs - logs.max())
    return dict(zip(states, (p / p.sum()).tolist(), strict=True))


# ---- LDA ------------------------------------------------------------------------------------------------------------


def lda_log_posterior(corpus: Tokens, priors: LdaPriors, z: NDArray[np.integer], topics: int) -> Float:
    """log p(z | w) up to a constant, of many states at once.

    p(z | w) ~ prod_dk Gamma(alpha + n_dk) * prod_k [prod_v Gamma(beta + n_kv)] / Gamma(beta V + n_k)

    Args:
        corpus: D documents, V words, N tokens.
        priors: alpha and beta.
        z: [states, N].
        topics: K.

    Returns:
        float64 [states].
    """
    alpha, beta, logs = priors.alpha, priors.beta, np.zeros(len(z))
    in_document = np.eye(len(corpus.document_group))[corpus.token_document]
    of_word = np.eye(corpus.n_words)[corpus.token_word]
    for k in range(topics):
        in_topic = (z == k).astype(float)
        logs += gammaln(alpha + in_topic @ in_document).sum(axis=1)
        logs += gammaln(beta + in_topic @ of_word).sum(axis=1)
        logs -= gammaln(beta * corpus.n_words + in_topic.sum(axis=1))
    return logs


def lda_posterior(case: Case[LdaPriors]) -> Posterior:
    """The probability of the topics of all tokens."""
    z = np.array(list(product(range(case.topics), repeat=len(case.tokens))))
    return normalised(map(tuple, z.tolist()), lda_log_posterior(case.corpus, case.priors, z, case.topics))


def blocks(case: Case[LdaPriors]) -> list[Integer]:
    """The tokens of each block, all of one word in one document: by document, then by word."""
    pairs = [(document, word) for _, document, word in case.tokens]
    return [np.array([at for at, pair in enumerate(pairs) if pair == block]) for block in sorted(set(pairs))]


def block_counts(case: Case[LdaPriors], state: State) -> State:
    """How many tokens of each block are in each topic, [blocks, K] raveled: all that a blocked sampler's state says."""
    z = np.array(state)
    return tuple(np.concatenate([np.bincount(z[block], minlength=case.topics) for block in blocks(case)]).tolist())


def block_distribution(
    priors: LdaPriors, size: int, document_topics: Integer, word_topics: Integer, topic_tokens: Integer, n_words: int
) -> dict[tuple[int, ...], float]:
    """The probability of (j_1, ..., j_K), how many tokens of a block are in each topic, given all other tokens.

    p(j) ~ prod_k f_k(j_k) with f_k(j) = (alpha + n_dk)^(j) (beta + n_kv)^(j) / ((beta V + n_k)^(j) j!)

    Args:
        priors: LDA's.
        size: tokens of the block.
        document_topics: n_dk [K], of the block's document without the block.
        word_topics: n_kv [K], of the block's word without the block.
        topic_tokens: n_k [K], without the block.
        n_words: V.
    """

    def log_f(k: int, j: int) -> float:
        total = log_rising(priors.alpha + document_topics[k], 1.0, j)
        total += log_rising(priors.beta + word_topics[k], 1.0, j)
        return total - log_rising(priors.beta * n_words + topic_tokens[k], 1.0, j) - lgamma(j + 1)

    counts = compositions(size, len(topic_tokens))
    return normalised(counts, np.array([sum(log_f(k, j) for k, j in enumerate(row)) for row in counts]))


# ---- comparison -----------------------------------------------------------------------------------------------------


def marginal(exact: Posterior, feature: Callable[[State], State]) -> Posterior:
    """The distribution of a feature of the state."""
    shares: Posterior = {}
    for state, p in exact.items():
        value = feature(state)
        shares[value] = shares.get(value, 0.0) + p
    return shares


def chi_square(states: Iterable[State], exact: Posterior) -> float:
    """The p-value of Pearson's test. States expected fewer than five times are taken together."""
    observed = Counter(states)
    if not observed.keys() <= exact.keys():
        return 0.0  # a state that cannot be
    total = observed.total()
    expected = np.array(list(exact.values())) * total
    found = np.array([observed[state] for state in exact])
    rare = expected < 5
    expected = np.append(expected[~rare], expected[rare].sum())
    found = np.append(found[~rare], found[rare].sum())
    if expected[-1] < 5:
        expected[-2] += expected[-1]
        found[-2] += found[-1]
        expected, found = expected[:-1], found[:-1]
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


def total_variation(states: Sequence[State], exact: Posterior, feature: Callable[[State], State]) -> float:
    """Half the sum of the differences between the two distributions of a feature of the state."""
    share = {value: -p for value, p in marginal(exact, feature).items()}
    for state, count in Counter(states).items():
        value = feature(state)
        share[value] = share.get(value, 0.0) + count / len(states)
    return 0.5 * sum(abs(difference) for difference in share.values())


def paired_p_value(differences: Float) -> float:
    """The smallest p-value of t-tests that each feature's differences are 0 on average, times their number (Bonferroni).

    Args:
        differences: [replicates, features]; features that never differ are left out.
    """
    change = differences[:, np.any(differences, axis=0)]
    replicates, features = change.shape
    t = change.mean(axis=0) / (change.std(axis=0, ddof=1) / np.sqrt(replicates))
    return min(1.0, float(2 * student.sf(np.abs(t).max(), replicates - 1) * features))


def rank_uniformity(ranks: Sequence[int] | Integer, levels: int) -> float:
    """The p-value of Pearson's test that ranks are uniform, for posterior calibration.

    Where a value is drawn from the prior, data from the value, and L values from the posterior given the data, the rank of
    the first among the others is uniform on 0 .. L (S. Talts and others, "Validating Bayesian Inference Algorithms with
    Simulation-Based Calibration", arXiv 1804.06788): `levels` is L + 1. Values that can be equal are ranked at random
    among their equals, by whoever counts the ranks.

    Neighbouring ranks share a bin, so that ten ranks or more are expected in each; there are at most twenty bins, because few
    see best what goes wrong with a sampler: too many ranks at one end, at both ends, or in the middle.

    Args:
        ranks: [R], 0 .. levels - 1.
        levels: how many ranks there are.

    Raises:
        ValueError: a rank is out of range, or there are too few for two bins.
    """
    ranks = np.asarray(ranks)
    bins = min(levels, len(ranks) // 10, 20)
    if bins < 2:
        raise ValueError("Uniformity needs at least twenty ranks of at least two levels.")
    if ranks.min() < 0 or ranks.max() >= levels:
        raise ValueError(f"Ranks must lie between 0 and {levels - 1}.")
    bin_of_rank = np.arange(levels) * bins // levels
    expected = np.bincount(bin_of_rank) * (len(ranks) / levels)
    found = np.bincount(bin_of_rank[ranks], minlength=bins)
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), bins - 1))
