"""From a sample of the model to what an analyst reads: topics, how much each group gives them, and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.measures.hellinger import hellinger_between_groups, mean_gap
from spdp_engine.measures.log_odds import log_odds_z
from spdp_engine.types import Sample

OWN_WORD_Z = 1.96
"""A word is a group's own where its log-odds z-score exceeds this (two-sided 5 % for a single word)."""

OWN_WORD_COUNT = 3
"""... and the group used it in the topic at least so often."""

PRIOR_TOKENS = 500.0
"""The log-odds prior weighs as much as so many tokens of the topic's base wording."""


@dataclass(frozen=True)
class Word:
    """A word of a topic in one group.

    Attributes:
        word: as in the vocabulary.
        probability: phi[i, w, k], of the group's words on this topic.
        z: log-odds z-score against the other groups (see measures.log_odds); 0 where there is one group.
        own: it sets the group apart: z above `OWN_WORD_Z`.
    """

    word: str
    probability: float
    z: float
    own: bool


@dataclass(frozen=True, eq=False)
class Topics:
    """A sample, ready to be read. Topic k keeps its number for the life of a run; people see k + 1.

    Attributes:
        sample: where it comes from.
        vocabulary: V words.
        group_names: I names.
        wordings: float64 [I, V, K], phi: each group's probability of each word in each topic.
        tokens: [I, K], tokens of each group in each topic; means where samples were averaged.
    """

    sample: Sample
    vocabulary: tuple[str, ...]
    group_names: tuple[str, ...]
    wordings: NDArray[np.float64]
    tokens: NDArray[Any]

    @property
    def n_topics(self) -> int:
        """K."""
        return self.tokens.shape[1]

    @cached_property
    def prevalence(self) -> NDArray[np.float64]:
        """Share of each group's tokens in each topic: float64 [I, K], rows sum to 1 (0 for a group without tokens)."""
        total = self.tokens.sum(axis=1, keepdims=True)
        shares: NDArray[np.float64] = self.tokens / np.maximum(total, 1)
        return shares

    @cached_property
    def overall(self) -> NDArray[np.float64]:
        """The mean of the groups' shares, so that a large group does not outvote a small one: float64 [K]."""
        mean: NDArray[np.float64] = self.prevalence.mean(axis=0)
        return mean

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Rank of each topic by `overall`, 1 for the largest: int64 [K]."""
        return _ranks(self.overall[None])[0]

    @cached_property
    def group_rank(self) -> NDArray[np.int64]:
        """Rank of each topic within each group: int64 [I, K]."""
        return _ranks(self.prevalence)

    @cached_property
    def worded_alike(self) -> bool:
        """Whether all groups word every topic the same: there is one group, or the model does not tell groups' words apart."""
        return all(np.array_equal(self.wordings[0], other) for other in self.wordings[1:])

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Hellinger distance between the groups' wordings: float64 [K, I, I]; exactly 0 where they are worded alike."""
        groups, _, topics = self.wordings.shape
        return np.zeros((topics, groups, groups)) if self.worded_alike else hellinger_between_groups(self.wordings)

    @cached_property
    def gap(self) -> NDArray[np.float64]:
        """Mean Hellinger distance over pairs of groups: float64 [K], 0 where they are worded alike."""
        return mean_gap(self.distances)

    def order(self, by: str) -> NDArray[np.int64]:
        """Topics from first to last.

        Args:
            by: 'prevalence' (largest mean share first) or 'gap' (most differently worded first).
        """
        key = {"prevalence": self.overall, "gap": self.gap}[by]
        return np.argsort(-key, kind="stable")

    @cached_property
    def _prior(self) -> NDArray[np.float64]:
        """Pseudo-counts of the log-odds, in proportion to the topics' base wordings: float64 [V, K]."""
        prior: NDArray[np.float64] = self.sample.base_wording() * PRIOR_TOKENS
        return prior

    def log_odds(self, topic: int, words: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """z-scores of words in every group against the other groups, within the topic: float64 [I, V], or [I, W] of `words`."""
        return log_odds_z(self.sample.group_word_tokens(topic), self._prior[:, topic], words)

    def top_words(self, topic: int, count: int = 10) -> tuple[tuple[Word, ...], ...]:
        """Each group's most probable words of a topic, the most probable first: one tuple to a group."""
        best = [_largest(wording, count) for wording in self.wordings[:, :, topic]]
        scored = np.unique(np.concatenate(best))
        z = self.log_odds(topic, scored)
        return tuple(
            tuple(self._word(topic, i, int(w), z[i, np.searchsorted(scored, w)]) for w in words)
            for i, words in enumerate(best)
        )

    def shared_words(self, topic: int, count: int = 10) -> tuple[str, ...]:
        """Words that all groups use much in this topic: those whose smallest probability over groups is largest."""
        return tuple(self.vocabulary[w] for w in _largest(self.wordings[:, :, topic].min(axis=0), count))

    def own_words(self, topic: int, count: int = 10, least_z: float = OWN_WORD_Z) -> tuple[tuple[Word, ...], ...]:
        """Words that set each group apart in this topic, by log-odds z-score, the strongest first: one tuple to a group.

        Only words with a z-score above `least_z` that the group used at least `OWN_WORD_COUNT` times count, so there may
        be fewer than asked for. Whatever `least_z`, a word is called `own` above `OWN_WORD_Z` alone.
        """
        z = self.log_odds(topic)
        counts = self.sample.group_word_tokens(topic)
        eligible = np.where((z > least_z) & (counts >= OWN_WORD_COUNT), z, -np.inf)
        return tuple(
            tuple(self._word(topic, i, int(w), z[i, w]) for w in _largest(scores, count) if np.isfinite(scores[w]))
            for i, scores in enumerate(eligible)
        )

    def label(self, topic: int, count: int = 3) -> str:
        """A short name: the words all groups share most."""
        return ", ".join(self.shared_words(topic, count))

    def _word(self, topic: int, group: int, word: int, z: float) -> Word:
        probability = float(self.wordings[group, word, topic])
        return Word(self.vocabulary[word], probability, float(z), bool(z > OWN_WORD_Z))


def read_topics(sample: Sample, vocabulary: tuple[str, ...], group_names: tuple[str, ...]) -> Topics:
    """Makes a sample readable."""
    return Topics(sample, vocabulary, group_names, sample.group_wordings(), sample.group_topic_tokens())


def _largest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of the largest values, the largest first; ties by index."""
    count = min(count, len(values))
    if count == len(values):
        return np.argsort(-values, kind="stable")
    threshold = np.partition(values, len(values) - count)[len(values) - count]
    candidates = np.flatnonzero(values >= threshold)
    return candidates[np.argsort(-values[candidates], kind="stable")][:count]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank along the last axis, 1 for the largest; ties by index."""
    order = np.argsort(-values, axis=-1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(1, values.shape[-1] + 1), order.shape), axis=-1)
    return ranks
