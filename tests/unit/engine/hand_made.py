"""Topics and findings written by hand, so that what is told of them can be compared with what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.topics import Topics
from spdp_engine.topics.findings import Findings, WordEvidence, WordFinding

LANDLORDS = ("rent", "house", "landlords", "investment", "tenants", "eviction")


@dataclass(frozen=True, eq=False)
class Counted:
    """A sample of counts [I, V, K], whose wordings are the counts' shares."""

    counts: NDArray[np.float64]
    iteration: int = 1
    priors: None = None

    def base_wording(self) -> NDArray[np.float64]:
        base: NDArray[np.float64] = self.counts.sum(axis=0) + 0.1
        return base / base.sum(axis=0)

    def group_wordings(self) -> NDArray[np.float64]:
        wordings: NDArray[np.float64] = self.counts + 0.1
        return wordings / wordings.sum(axis=1, keepdims=True)

    def group_topic_tokens(self) -> NDArray[np.float64]:
        tokens: NDArray[np.float64] = self.counts.sum(axis=1)
        return tokens

    def group_word_tokens(self, topic: int) -> NDArray[np.float64]:
        return self.counts[:, :, topic]

    def document_shares(self) -> NDArray[np.float64]:
        return np.ones((1, self.counts.shape[2])) / self.counts.shape[2]


def counted_topics(counts: NDArray[np.float64], names: Sequence[str], words: Sequence[str] = LANDLORDS) -> Topics:
    """Topics of these counts, [I, V, K]."""
    sample = Counted(counts.astype(np.float64))
    return Topics(sample, tuple(words), tuple(names), sample.group_wordings(), sample.group_topic_tokens())


def shared_out(shares: Sequence[Sequence[float]], names: Sequence[str], tokens: int = 1000) -> Topics:
    """Topics to which each group gives these shares, [I][K], of its words, all in the same words."""
    groups, topics = np.shape(shares)
    counts = tokens * np.repeat(np.asarray(shares)[:, None, :], len(LANDLORDS), axis=1) / len(LANDLORDS)
    wordings = np.full((groups, len(LANDLORDS), topics), 1 / len(LANDLORDS))
    return Topics(Counted(counts), LANDLORDS, tuple(names), wordings, counts.sum(axis=1))


def drawn_shares(topics: Topics, deviation: float, draws: int = 400, seed: int = 5) -> NDArray[np.float32]:
    """Draws [B, I, K] about the groups' shares with this standard deviation, independent of one another."""
    random = np.random.default_rng(seed)
    shape = (draws, *topics.prevalence.shape)
    return (topics.prevalence + random.normal(0, deviation, shape)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Known(Findings):
    """Findings that are given one by one.

    Attributes:
        gaps: topic: interval of the wording gap, in whose middle it is.
        chance: topic: mean and limit of the gap by chance.
        real: topic: whether the gap is real.
        told: (topic, group, word): what is known of the word.
        found: topic: runs that have it, and all.
    """

    gaps: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    chance: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    real: Mapping[int, bool] = field(default_factory=dict)
    told: Mapping[tuple[int, int, str], WordFinding] = field(default_factory=dict)
    found: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def gap(self, topic: int) -> float | None:
        return sum(self.gaps[topic]) / 2 if topic in self.gaps else None

    def gap_interval(self, topic: int) -> tuple[float, float] | None:
        return self.gaps.get(topic)

    def gap_by_chance(self, topic: int) -> tuple[float, float] | None:
        return self.chance.get(topic)

    def gap_is_real(self, topic: int) -> bool | None:
        return self.real.get(topic)

    def word(self, topic: int, group: int, word: str) -> WordFinding | None:
        return self.told.get((topic, group, word))

    def topic_found(self, topic: int) -> tuple[int, int] | None:
        return self.found.get(topic)

    def merged(self, parts: Mapping[int, int]) -> Findings:
        return self


def measured(topics: Topics, **known: Any) -> Known:
    """Findings that are given, of words and of chance among the rest: what is not told of a word is that nothing is known of it."""
    baseline = np.full((20, topics.n_topics), np.nan, np.float32)
    return Known(words=words_measured(topics), gap_baseline=baseline, **known)


def words_measured(topics: Topics) -> WordEvidence:
    """Says that words have been measured, and nothing of any of them."""
    none = np.zeros((0, len(topics.group_names)), np.float32)
    empty = np.zeros(0, np.int32)
    return WordEvidence(topics.vocabulary, empty, empty, none, none, none, none.astype(bool))


def sure(found: int | None = None, of: int | None = None, log_odds: float = 1.2) -> WordFinding:
    return WordFinding(log_odds, log_odds - 0.4, log_odds + 0.4, True, found, of)


def unsure(found: int | None = None, of: int | None = None) -> WordFinding:
    return WordFinding(0.3, -0.2, 0.8, False, found, of)
