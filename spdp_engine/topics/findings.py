"""How sure what an analyst reads is: intervals, what chance alone would give, and what other seeds find again.

`evidence` measures it in the background, step by step, and so every part is None until it is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.measures.intervals import interval

LEVEL = 0.9
"""Share of intervals that hold the truth."""


@dataclass(frozen=True)
class WordFinding:
    """A word of a topic in one group, against the other groups together.

    Attributes:
        log_odds: natural logarithm of the odds ratio; above 0 the group uses the word more than the others.
        low: lower end of its interval.
        high: upper end.
        sure: whether it is more than chance; None: not yet known.
        found: runs, this one included, in which it is one of the group's own words; None: not yet known.
        of: runs that have the topic, this one included; None: not yet known.
    """

    log_odds: float
    low: float
    high: float
    sure: bool | None
    found: int | None
    of: int | None


@dataclass(frozen=True, eq=False)
class WordEvidence:
    """What is known of the words that can be shown: P pairs of a topic and a word, rising by topic, then by word.

    Attributes:
        vocabulary: V words.
        topic: int32 [P].
        word: int32 [P], into the vocabulary.
        log_odds: float32 [P, I], of each group against the others.
        low: float32 [P, I], lower ends of intervals.
        high: float32 [P, I], upper ends.
        sure: bool [P, I], whether it is more than chance: by intervals alone, cautiously, until it is known what groups that are
            dealt out to documents at random have for words of their own; None: not yet known.
    """

    vocabulary: tuple[str, ...] = field(repr=False)
    topic: NDArray[np.int32]
    word: NDArray[np.int32]
    log_odds: NDArray[np.float32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    sure: NDArray[np.bool_] | None = None

    @cached_property
    def rows(self) -> dict[tuple[int, str], int]:
        """The row of a topic and a word."""
        words = (self.vocabulary[word] for word in self.word.tolist())
        return {pair: row for row, pair in enumerate(zip(self.topic.tolist(), words, strict=True))}


@dataclass(frozen=True, eq=False)
class SeedEvidence:
    """How often runs with other seeds find the same.

    Attributes:
        of: runs in all, the one that is read included.
        topics: int32 [K], runs that have the topic, that one included.
        words: int32 [P, I], runs in which a word of `WordEvidence` is the group's own in that topic.
    """

    of: int
    topics: NDArray[np.int32]
    words: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Findings:
    """What is known so far. I groups, K topics, B draws, R dealings-out of the groups to documents at random.

    Attributes:
        level: share of intervals that hold the truth.
        prevalence_draws: float32 [B, I, K], each group's shares of topics.
        gap_draws: float32 [B, K], wording gaps; NaN where one is not known.
        gap_baseline: float32 [R, K], wording gaps where groups were dealt out at random; NaN where they are not known.
        words: of words.
        seeds: of other seeds.
        gap_limit: float32 [K], above which a wording gap is called real, since chance would give one in 20 of those at most; NaN
            where it is not known.
    """

    level: float = LEVEL
    prevalence_draws: NDArray[np.float32] | None = None
    gap_draws: NDArray[np.float32] | None = None
    gap_baseline: NDArray[np.float32] | None = None
    words: WordEvidence | None = None
    seeds: SeedEvidence | None = None
    gap_limit: NDArray[np.float32] | None = None

    def prevalence_interval(self, topic: int) -> NDArray[np.float64] | None:
        """Interval of each group's share of a topic: float64 [I, 2]; None where it is not known."""
        if self.prevalence_draws is None:
            return None
        return interval(self.prevalence_draws[:, :, topic], self.level)

    def difference_interval(self, topic: int, i: int, j: int) -> tuple[float, float] | None:
        """Interval of group i's share of a topic less group j's; None where it is not known."""
        if self.prevalence_draws is None:
            return None
        low, high = interval(self.prevalence_draws[:, i, topic] - self.prevalence_draws[:, j, topic], self.level)
        return float(low), float(high)

    def gap(self, topic: int) -> float | None:
        """The wording gap of a topic without what chance adds to it; None where it is not known.

        It is the root of the mean squared Hellinger distance over pairs of groups, which for two groups is their distance.
        """
        draws = self._gap(topic)
        return None if draws is None else float(np.median(draws))

    def gap_interval(self, topic: int) -> tuple[float, float] | None:
        """Interval of the wording gap of a topic; None where it is not known."""
        draws = self._gap(topic)
        if draws is None:
            return None
        low, high = interval(draws, self.level)
        return float(low), float(high)

    def gap_by_chance(self, topic: int) -> tuple[float, float] | None:
        """The mean wording gap of groups that are dealt out at random, and the one above which a gap is called real, since chance
        would give one in 20 of those at most; None where they are not known. Both are without what chance adds on average."""
        if self._gap(topic) is None or self.gap_baseline is None or self.gap_limit is None:
            return None
        return float(self.gap_baseline[:, topic].mean()), float(self.gap_limit[topic])

    def gap_is_real(self, topic: int) -> bool | None:
        """Whether the wording gap is more than chance, and its interval leaves out none; None where it is not known."""
        gap, interval, chance = self.gap(topic), self.gap_interval(topic), self.gap_by_chance(topic)
        return None if gap is None or interval is None or chance is None else gap > chance[1] and interval[0] > 0

    def word(self, topic: int, group: int, word: str) -> WordFinding | None:
        """What is known of a word in one group; None where nothing is."""
        words, seeds = self.words, self.seeds
        row = words.rows.get((topic, word)) if words else None
        if words is None or row is None:
            return None
        at = row, group
        return WordFinding(
            float(words.log_odds[at]), float(words.low[at]), float(words.high[at]),
            None if words.sure is None else bool(words.sure[at]),
            int(seeds.words[at]) if seeds else None, int(seeds.topics[topic]) if seeds else None,
        )  # fmt: skip

    def topic_found(self, topic: int) -> tuple[int, int] | None:
        """Runs that have the topic, and runs in all; None where it is not known."""
        if self.seeds is None or self.seeds.topics[topic] == 0:
            return None
        return int(self.seeds.topics[topic]), self.seeds.of

    def merged(self, parts: Mapping[int, int]) -> Findings:
        """The findings where topics are read as part of others: shares are added, and the rest of a whole is not known.

        Args:
            parts: {part: whole}, as a `View` has it.
        """
        if not parts:
            return self
        changed = sorted({*parts, *parts.values()})
        draws, words, seeds = self.prevalence_draws, self.words, self.seeds
        if draws is not None:
            draws = draws.copy()
            for part, whole in parts.items():
                draws[:, :, whole] += draws[:, :, part]
                draws[:, :, part] = 0
            np.minimum(draws, 1, out=draws)
        gaps = (
            None if of_topics is None else _with(of_topics, changed, np.nan)
            for of_topics in (self.gap_draws, self.gap_baseline, self.gap_limit)
        )
        gap_draws, gap_baseline, gap_limit = gaps
        if seeds is not None:
            seeds = replace(seeds, topics=_with(seeds.topics, changed, 0))
        if words is not None:
            kept = ~np.isin(words.topic, changed)
            seeds = replace(seeds, words=seeds.words[kept]) if seeds else None
            sure = None if words.sure is None else words.sure[kept]
            words = WordEvidence(
                words.vocabulary, words.topic[kept], words.word[kept], words.log_odds[kept], words.low[kept], words.high[kept], sure
            )  # fmt: skip
        return Findings(self.level, draws, gap_draws, gap_baseline, words, seeds, gap_limit)

    def _gap(self, topic: int) -> NDArray[np.float32] | None:
        """Draws of the gap; None where it is not known."""
        if self.gap_draws is None or np.isnan(self.gap_draws[0, topic]):
            return None
        return self.gap_draws[:, topic]


def _with(values: NDArray[Any], topics: list[int], value: float) -> NDArray[Any]:
    """A copy whose columns of these topics have this value."""
    values = values.copy()
    values[..., topics] = value
    return values
