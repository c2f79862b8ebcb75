"""From a sample of the model to what an analyst reads: topics, how much each group gives them, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
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
        if self.worded_alike:
            return np.zeros((topics, groups, groups))
        distances = hellinger_between_groups(self.wordings)
        distances[~self.wordings[0].any(axis=0)] = 0.0  # topics that are read as part of others have no words
        return distances

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

    @cached_property
    def _kept(self) -> dict[tuple[str, int, int, float], tuple[tuple[Word, ...], ...]]:
        """Lists of words that were asked for: pages ask for the same ones whenever something is clicked."""
        return {}

    def top_words(self, topic: int, count: int = 10) -> tuple[tuple[Word, ...], ...]:
        """Each group's most probable words of a topic, the most probable first: one tuple to a group."""
        key = ("top", topic, count, 0.0)
        if key not in self._kept:
            self._kept[key] = self._top(topic, count)
        return self._kept[key]

    def _top(self, topic: int, count: int) -> tuple[tuple[Word, ...], ...]:
        best = [_most_probable(wording, count) for wording in self.wordings[:, :, topic]]
        scored = np.unique(np.concatenate(best))
        z = self.log_odds(topic, scored)
        return tuple(
            tuple(self._word(topic, i, int(w), z[i, np.searchsorted(scored, w)]) for w in words)
            for i, words in enumerate(best)
        )

    @cached_property
    def shared(self) -> NDArray[np.float64]:
        """The smallest probability over groups of each word in each topic: float64 [V, K]."""
        smallest: NDArray[np.float64] = self.wordings.min(axis=0)
        return smallest

    @cached_property
    def mean_wording(self) -> NDArray[np.float64]:
        """The mean over groups of each word's probability in each topic: float64 [V, K]."""
        mean: NDArray[np.float64] = self.wordings.mean(axis=0)
        return mean

    def likeness(self, topic: int) -> NDArray[np.float64]:
        """How much every topic is like this one, 0 (no word in common) to 1: float64 [K].

        It is the cosine of the mean wordings, in which main words weigh most. By a distance of distributions a topic of little
        text, which is worded nearly as all texts are, would be near every other.
        """
        lengths = np.linalg.norm(self.mean_wording, axis=0)
        products: NDArray[np.float64] = self.mean_wording[:, topic] @ self.mean_wording
        return products / np.maximum(lengths * lengths[topic], 1e-300)

    def shared_words(self, topic: int, count: int = 10) -> tuple[str, ...]:
        """Words that all groups use much in this topic: those whose smallest probability over groups is largest."""
        return tuple(self.vocabulary[w] for w in _most_probable(self.shared[:, topic], count))

    def own_words(self, topic: int, count: int = 10, least_z: float = OWN_WORD_Z) -> tuple[tuple[Word, ...], ...]:
        """Words that set each group apart in this topic, by log-odds z-score, the strongest first: one tuple to a group.

        Only words with a z-score above `least_z` that the group used at least `OWN_WORD_COUNT` times count, so there may
        be fewer than asked for. Whatever `least_z`, a word is called `own` above `OWN_WORD_Z` alone.
        """
        key = ("own", topic, count, least_z)
        if key not in self._kept:
            self._kept[key] = tuple(self._setting_apart(topic, range(len(self.group_names)), count, least_z))
        return self._kept[key]

    def words_between(
        self, topic: int, first: int, second: int, count: int = 10, least_z: float = OWN_WORD_Z
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Words that set two groups apart from one another in this topic, whatever the others say: as `own_words` has them."""
        one, other = self._setting_apart(topic, (first, second), count, least_z)
        return one, other

    def _setting_apart(self, topic: int, groups: Sequence[int], count: int, least_z: float) -> list[tuple[Word, ...]]:
        """Words that set each of these groups apart from the others of them."""
        counts = self.sample.group_word_tokens(topic)[list(groups)]
        z = log_odds_z(counts, self._prior[:, topic])
        eligible = np.where((z > least_z) & (counts >= OWN_WORD_COUNT), z, -np.inf)
        return [
            tuple(self._word(topic, group, int(w), row[w]) for w in _largest(row, count) if np.isfinite(row[w]))
            for group, row in zip(groups, eligible, strict=True)
        ]

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


def _most_probable(wording: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The words of the largest probabilities, the largest first; fewer where not so many have any."""
    words = _largest(wording, count)
    return words[wording[words] > 0]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank along the last axis, 1 for the largest; ties by index."""
    order = np.argsort(-values, axis=-1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(1, values.shape[-1] + 1), order.shape), axis=-1)
    return ranks
