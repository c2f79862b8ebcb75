"""The sampler once more, one token after another in plain Python: what the kernels must agree with, token for token.

Weights come from `spdp_engine.models.spdp.topic_weights`, the conditional as it stands in the literature. From the kernels
it has only what decides which of several right samplers they are: random numbers, the order of tokens, the order in
which topics are tried, and which sums a worker sees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spdp_engine.models.spdp import Counts, Priors, topic_weights
from spdp_engine.models.stirling import seating_factors

from .corpora import Tokens

LANES = 8


def uniforms(seed: int, iteration: int, tokens: int) -> NDArray[np.float32]:
    """Three uniform numbers for each token by pcg3d (Jarzynski and Olano, JCGT 9(3), 2020): float32 [tokens, 3]."""
    key = np.stack([np.full(tokens, seed, np.uint32), np.full(tokens, iteration, np.uint32), np.arange(tokens)], axis=0)
    x, y, z = key.astype(np.uint32) * np.uint32(1664525) + np.uint32(1013904223)
    x += y * z
    y += z * x
    z += x * y
    x, y, z = (value ^ (value >> np.uint32(16)) for value in (x, y, z))
    x += y * z
    y += z * x
    z += x * y
    return (np.stack([x, y, z], axis=1) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def draw_topic(weights: NDArray[np.float64], u: float) -> int:
    """The topic that u falls on when topics are laid end to end: 0, 8, 16, ..., 1, 9, ..., 7, 15, ..."""
    padded = np.zeros(-(-len(weights) // LANES) * LANES)
    padded[: len(weights)] = weights
    order = np.arange(len(padded)).reshape(-1, LANES).T.ravel()
    ends = padded[order].cumsum()
    return int(order[np.searchsorted(ends, u * ends[-1], side="right")])


class Reference:
    """SPDP's state on the host, and its two moves.

    Attributes:
        counts: n, m and t as they are.
        topics: int [N], the topic of each token, -1 before it has one.
    """

    def __init__(self, corpus: Tokens, topics: int, priors: Priors, seed: int) -> None:
        self.corpus, self.priors, self.seed = corpus, priors, seed
        cells = corpus.token_group.astype(np.int64) * corpus.n_words + corpus.token_word
        self.factors = seating_factors(priors.discount, int(np.bincount(cells).max()))
        shape = (corpus.n_groups, corpus.n_words, topics)
        self.counts = Counts(
            np.zeros((len(corpus.document_group), topics), np.int32),
            np.zeros(shape, np.int32),
            np.zeros(shape, np.int32),
        )
        self.topics = np.full(len(corpus), -1)

    def visit(self, counts: Counts, token: int, u: NDArray[np.float32]) -> None:
        """Gives a token its first topic, or samples it again; u are the numbers of its place on the device."""
        word, document = int(self.corpus.token_word[token]), int(self.corpus.token_document[token])
        group = int(self.corpus.document_group[document])
        old = int(self.topics[token])
        if old >= 0:
            m, t = counts.customers[group, word, old], counts.tables[group, word, old]
            opens = u[0] * np.float32(m) < np.float32(t)
            if opens and t == 1 and m > 1:
                return
            self._add(counts, group, word, document, old, -1, -int(opens))
        weights = topic_weights(counts, self.priors, self.factors, group, word, document)
        new = draw_topic(weights.sum(axis=1), float(u[1]))
        at_old_table, at_new_table = weights[new]
        opened = float(u[2]) * (at_old_table + at_new_table) < at_new_table
        self._add(counts, group, word, document, new, 1, int(opened))
        self.topics[token] = new

    @staticmethod
    def _add(counts: Counts, group: int, word: int, document: int, topic: int, token: int, table: int) -> None:
        counts.document_topics[document, topic] += token
        counts.customers[group, word, topic] += token
        counts.tables[group, word, topic] += table

    def pass_in_order(self, order: NDArray[np.int64], iteration: int) -> None:
        """One iteration of `sequential`."""
        for token, u in zip(order.tolist(), uniforms(self.seed, iteration, len(order)), strict=True):
            self.visit(self.counts, token, u)

    def pass_in_blocks(
        self, order: NDArray[np.int64], starts: NDArray[np.int32], visits: NDArray[np.int32] | None, iteration: int
    ) -> None:
        """One iteration of `blocks`.

        Each worker of a phase has counts of its own, as they were when the phase began. Since no two share a document
        or a word, what it sees of the others' work late is the sums over words, and nothing else.
        """
        numbers = uniforms(self.seed, iteration, len(order))
        for bounds in starts:
            before = self._copied()
            for worker in range(len(starts)):
                own = Counts(*(array.copy() for array in before))
                for place in range(bounds[worker], bounds[worker + 1]):
                    at = int(visits[place]) if visits is not None else place
                    self.visit(own, int(order[at]), numbers[at])
                changes = zip(self._arrays(), (own.document_topics, own.customers, own.tables), before, strict=True)
                for merged, after, start in changes:
                    merged += after - start

    def _arrays(self) -> tuple[NDArray[np.int32], ...]:
        return self.counts.document_topics, self.counts.customers, self.counts.tables

    def _copied(self) -> tuple[NDArray[np.int32], ...]:
        return tuple(array.copy() for array in self._arrays())
