"""The topics of two runs beside one another: which topic of the one is which of the other, and which is not found again.

    pairing = pair_runs(RunTopics.of(topics), RunTopics.of(others))
    for pair in pairing.pairs:
        print(pair.verdict, pair.distance)

The runs may differ in whatever a run is started with: seed, number of topics, model, sampler, words, groups, documents.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import InputError
from spdp_engine.topics.reading import Topics

SAME = 0.55
"""Two topics are the same where their distance is at most this share of what unrelated topics of the two runs are apart.

A distance alone says little: unrelated topics are 0.5 apart in 4,000 tokens of hotel reviews and 0.85 in 250,000 tokens of
speeches, since a topic of little text is worded nearly as all texts are. As a share of that the figures of seven collections (two
newspapers, hotel reviews, bitterlemons, party conventions, UN debates, product reviews, State of the Union) with 10, 20 and 40
topics agree. Three seeds of each make 1,470 pairs. Those at a share of 0.50 to 0.55 have 7 of their 10 main words in common (the
median; 4 to 9 in nine of ten pairs), and their shares of the documents correlate by 0.80 (0.66 to 0.95): a person would call them
one topic. Nearer pairs agree better. SPDP beside LDA, and 10 topics beside 20 or 40, give the same figures within 0.03.
"""

SIMILAR = 0.75
"""... and similar up to this share; beyond it the topic is not found again.

At a share of 0.70 to 0.75, pairs of those runs still have 3 of 10 main words in common (median) and correlate by 0.55; at 0.75 to
0.80 they correlate by 0.45, which is a topic on something else nearby. Of 2,380 pairs of runs on two collections that have nothing
to do with each other, none is near enough to be the same, one in a hundred to be similar, and 5 have words for it, too (below).
"""

MAIN_WORDS = 10
"""Most probable words of a topic over all groups together that are looked at ..."""

WORDS_OF_SAME, WORDS_OF_SIMILAR = 3, 2
"""... and how many of them two topics must have in common to be the same, and to be similar.

Topics of a handful of tokens, of which there are many where too many topics are asked for, are worded like nothing much, and so
like one another. Of the 380 pairs of those runs that are near enough to be the same this leaves out 5, of which one is on the same
documents (a correlation above 0.5); of the 419 that are near enough to be similar 41, of which 9 are, and 25 are on quite other
documents (below 0.3).
"""

USUALLY_UNRELATED = 0.7
"""What unrelated topics are apart, where two runs of one topic each have none to measure it by: the middle of those collections."""

PART_OF = 0.9
"""A topic is part of one of the other run where, read as one with that one's partner, it brings the distance down to this share.

In the same collections one in two hundred topics that are drawn at random does (at 0.95 one in twenty), and 18 of the 21 topics
that 40 have beyond 20 in the State of the Union."""

ONLY_IN_ONE = 2.0
"""A word is more a topic's than its partner's where it is at least so many times as probable."""


MOST_LEFT_OUT = 5
"""Words of each run that are named where the other does not have them."""


class Verdict(enum.StrEnum):
    """What two topics are to each other, in words that people read."""

    SAME = "the same"
    SIMILAR = "similar"
    LOST = "not found again"


@dataclass(frozen=True, eq=False)
class RunTopics:
    """The topics of a run as far as two runs are compared; light enough to be kept when the run is gone.

    Attributes:
        vocabulary: V words.
        group_names: I names.
        numbers: K numbers of the topics in their run, rising; topics that are not shown are not here.
        names: K names, what people call them.
        wordings: float32 [R, V, K], each group's probability of each word in each topic; R = I, or 1 where all groups word every
            topic alike.
        shares: float64 [I, K], of each group's tokens; those of topics that are not here make up what is missing to 1.
        group_tokens: float64 [I], tokens of each group.
        gaps: float64 [K], mean Hellinger distance between the groups' wordings, 0 where they are alike.
    """

    vocabulary: tuple[str, ...] = field(repr=False)
    group_names: tuple[str, ...]
    numbers: tuple[int, ...]
    names: tuple[str, ...]
    wordings: NDArray[np.float32]
    shares: NDArray[np.float64]
    group_tokens: NDArray[np.float64]
    gaps: NDArray[np.float64]

    @classmethod
    def of(cls, topics: Topics, shown: Sequence[int] | None = None, names: Sequence[str] | None = None) -> RunTopics:
        """Takes what is needed of topics that can be read.

        Args:
            topics: of a run.
            shown: the numbers of those that are compared, rising; None: all.
            names: of these; None: "Topic 1" and so on.
        """
        numbers = tuple(range(topics.n_topics)) if shown is None else tuple(shown)
        columns = list(numbers)
        worded = topics.wordings[:1] if topics.worded_alike else topics.wordings
        return cls(
            vocabulary=topics.vocabulary,
            group_names=topics.group_names,
            numbers=numbers,
            names=tuple(names) if names is not None else tuple(f"Topic {number + 1}" for number in numbers),
            wordings=worded[:, :, columns].astype(np.float32),
            shares=topics.prevalence[:, columns],
            group_tokens=topics.tokens.sum(axis=1, dtype=np.float64),
            gaps=topics.gap[columns],
        )

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.numbers)

    @property
    def worded_alike(self) -> bool:
        """Whether all groups word every topic the same, or there is one group."""
        return len(self.wordings) == 1

    @cached_property
    def overall(self) -> NDArray[np.float64]:
        """The mean of the groups' shares: float64 [K]."""
        mean: NDArray[np.float64] = self.shares.mean(axis=0)
        return mean

    @cached_property
    def tokens(self) -> NDArray[np.float64]:
        """Tokens of each topic in all groups together: float64 [K]."""
        total: NDArray[np.float64] = self.group_tokens @ self.shares
        return total

    @cached_property
    def pooled(self) -> NDArray[np.float32]:
        """The topics' wordings over all groups together, each group counting by its tokens in the topic: float32 [V, K].

        Unlike a base wording every model has it, and whatever the groups are, it is of the same text.
        """
        if self.worded_alike:
            return self.wordings[0]
        tokens = self.group_tokens[:, None] * self.shares
        weights = np.where(tokens.sum(axis=0) > 0, tokens, 1.0)
        weights = (weights / weights.sum(axis=0)).astype(np.float32)
        pooled = np.zeros(self.wordings.shape[1:], np.float32)
        for wording, weight in zip(self.wordings, weights, strict=True):
            pooled += wording * weight
        return pooled

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, `pooled` included."""
        return self.wordings.nbytes + (0 if self.worded_alike else self.wordings[0].nbytes)

    def top_words(self, topic: int, count: int = MAIN_WORDS) -> tuple[str, ...]:
        """The most probable words of a topic over all groups together, by its place here."""
        best = np.argsort(-self.pooled[:, topic], kind="stable")[:count]
        return tuple(self.vocabulary[word] for word in best)


@dataclass(frozen=True)
class Pair:
    """A topic of the first run and one of the second.

    Attributes:
        first: the place of the one in its `RunTopics`.
        second: that of the other.
        distance: Hellinger distance of their wordings, 0 (alike) to 1 (no word in common).
        unrelated: what these two are from the other topics of the other's run: the median.
        shared: how many of their `MAIN_WORDS` they have in common.
        verdict: what they are to each other.
    """

    first: int
    second: int
    distance: float
    unrelated: float
    shared: int
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """The distance over that of unrelated topics."""
        return self.distance / self.unrelated if self.unrelated > 0 else float(self.distance > 0)


@dataclass(frozen=True)
class Alone:
    """A topic that is not found again in the other run, and what is nearest to it there.

    Attributes:
        topic: its place in its `RunTopics`.
        nearest: the pair with the topic of the other run that is nearest to it.
        sibling: the place, in its own run, of the topic that is the partner of that one, where the two of them together are nearer
            to it than the partner is by itself: the other run has as one what is here in two. Else None.
        together: how far the two together are from it, in wordings over all groups together; None without a sibling.
        by_itself: the same of the sibling alone.
    """

    topic: int
    nearest: Pair
    sibling: int | None = None
    together: float | None = None
    by_itself: float | None = None


@dataclass(frozen=True, eq=False)
class WordsInBoth:
    """The words by which two runs of different vocabularies are compared.

    Attributes:
        first: int64 [W], the words' numbers in the first run, rising.
        second: int64 [W], the same in the second.
        first_share: share of the first run's tokens that these words are, 0 to 1.
        second_share: the same of the second.
        only_first: the most frequent words that the second run does not have, `MOST_LEFT_OUT` at most.
        only_second: likewise.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    first_share: float
    second_share: float
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


@dataclass(frozen=True)
class PairWord:
    """A word and its probability in two topics; None where it is not in that run's vocabulary."""

    word: str
    first: float | None
    second: float | None


@dataclass(frozen=True)
class PairWords:
    """The words of two topics: those that both use most, and those that are more the one's and more the other's."""

    both: tuple[PairWord, ...]
    first: tuple[PairWord, ...]
    second: tuple[PairWord, ...]


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two runs, paired.

    Attributes:
        first: topics of the one, K of them.
        second: topics of the other, L.
        distances: float64 [K, L], Hellinger distance of each topic of the first and each of the second.
        match: int64 [K], the place in the second of each topic's partner; -1 where it has none.
        by_group: whether distances are means over the groups' own wordings; else of the wordings over all groups together.
        words: by which words they are compared; None where both runs have the same.
    """

    first: RunTopics
    second: RunTopics
    distances: NDArray[np.float64]
    match: NDArray[np.int64]
    by_group: bool
    words: WordsInBoth | None

    def pair(self, first: int, second: int) -> Pair:
        """Any two topics, by their places."""
        distance = float(self.distances[first, second])
        others = np.concatenate([np.delete(self.distances[first], second), np.delete(self.distances[:, second], first)])
        unrelated = float(np.median(others)) if len(others) else USUALLY_UNRELATED
        shared = int(self._shared[first, second])
        verdict = Verdict.LOST
        if distance <= SAME * unrelated and shared >= min(WORDS_OF_SAME, self._compared):
            verdict = Verdict.SAME
        elif distance <= SIMILAR * unrelated and shared >= min(WORDS_OF_SIMILAR, self._compared):
            verdict = Verdict.SIMILAR
        return Pair(first, second, distance, unrelated, shared, verdict)

    @property
    def _compared(self) -> int:
        """Words by which the runs are compared."""
        return len(self.words.first if self.words else self.first.vocabulary)

    @cached_property
    def _shared(self) -> NDArray[np.int64]:
        """Main words that each topic of the first and each of the second have in common: int64 [K, L]."""
        main = []
        for wordings in _wordings(self.first, self.second, self.words, by_group=False):
            there = np.zeros(wordings.shape, np.int64)
            np.put_along_axis(there, np.argsort(-wordings, axis=0, kind="stable")[:MAIN_WORDS], 1, axis=0)
            main.append(there)
        return np.asarray(main[0].T @ main[1])

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The matched topics by verdict, and of each the nearest first; as many as the smaller run has topics."""
        pairs = [self.pair(first, int(second)) for first, second in enumerate(self.match) if second >= 0]
        verdicts = list(Verdict)
        return tuple(sorted(pairs, key=lambda pair: (verdicts.index(pair.verdict), pair.ratio, pair.first)))

    @property
    def found(self) -> int:
        """Pairs that are the same or similar."""
        return sum(pair.verdict is not Verdict.LOST for pair in self.pairs)

    @property
    def unrelated(self) -> float:
        """What topics of the two runs that are no pair are apart: the median."""
        others = np.ones(self.distances.shape, bool)
        for pair in self.pairs:
            others[pair.first, pair.second] = False
        return float(np.median(self.distances[others])) if others.any() else USUALLY_UNRELATED

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the first run's topics and of the second's, in which pairs lie on the diagonal, the nearest first.

        Those without a partner follow, beside the topics that they are nearest to: int64 [K] and [L].
        """
        rows, columns = [pair.first for pair in self.pairs], [pair.second for pair in self.pairs]
        left = [k for k in range(self.first.n_topics) if k not in set(rows)]
        right = [k for k in range(self.second.n_topics) if k not in set(columns)]
        near_row = {row: place for place, row in enumerate(rows)}
        near_column = {column: place for place, column in enumerate(columns)}
        left.sort(key=lambda k: near_column[int(self.distances[k].argmin())])
        right.sort(key=lambda k: near_row[int(self.distances[:, k].argmin())])
        return np.array(rows + left, np.int64), np.array(columns + right, np.int64)

    @cached_property
    def alone_in_first(self) -> tuple[Alone, ...]:
        """Topics of the first run that the second does not have, by their shares, the largest first."""
        return _alone(self)

    @cached_property
    def alone_in_second(self) -> tuple[Alone, ...]:
        """Topics of the second run that the first does not have, likewise. In their pairs, too, `first` is of the first run."""
        return _alone(self, turned=True)

    def group_distances(self, first: int, second: int) -> NDArray[np.float64] | None:
        """How far each group's wordings of two topics are apart: float64 [I]; None where they are not compared by group."""
        if not self.by_group:
            return None
        one, other = _wordings(self.first, self.second, self.words, by_group=True)
        overlap = np.sqrt(one[:, :, first] * other[:, :, second]).sum(axis=1, dtype=np.float64)
        distances: NDArray[np.float64] = np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0))
        return distances

    def words_of(self, first: int, second: int, count: int = 10) -> PairWords:
        """The words of two topics over all groups together, in each run's own probabilities.

        What both use most: the largest of the smaller probability. What is more the one's: at least twice as probable
        (`ONLY_IN_ONE`), by what it adds to the distance, sqrt(p) - sqrt(q).
        """
        words, mine, theirs = self._all_words
        p = np.where(mine >= 0, self.first.pooled[mine, first], 0.0)
        q = np.where(theirs >= 0, self.second.pooled[theirs, second], 0.0)

        def best(scores: NDArray[np.float64]) -> tuple[PairWord, ...]:
            order = np.argsort(-scores, kind="stable")[:count]
            return tuple(
                PairWord(words[w], float(p[w]) if mine[w] >= 0 else None, float(q[w]) if theirs[w] >= 0 else None)
                for w in order[scores[order] > 0].tolist()
            )

        lead = np.sqrt(p) - np.sqrt(q)
        return PairWords(
            best(np.minimum(p, q)),
            best(np.where(p >= ONLY_IN_ONE * q, lead, 0.0)),
            best(np.where(q >= ONLY_IN_ONE * p, -lead, 0.0)),
        )

    @cached_property
    def _all_words(self) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
        """The words of both runs, U of them, and their numbers in each: int64 [U], -1 where it does not have the word."""
        here, there = self.first.vocabulary, self.second.vocabulary
        if self.words is None:
            same = np.arange(len(here))
            return here, same, same
        theirs = np.full(len(here), -1)
        theirs[self.words.first] = self.words.second
        more = np.setdiff1d(np.arange(len(there)), self.words.second)
        words = (*here, *(there[word] for word in more.tolist()))
        none = np.full(len(more), -1)
        return words, np.concatenate([np.arange(len(here)), none]), np.concatenate([theirs, more])


def pair_runs(first: RunTopics, second: RunTopics) -> Pairing:
    """Pairs the topics of two runs so that the distances within pairs have the smallest sum.

    Topics are compared group by group where both runs word them by group and have the same groups, in whatever order; else by
    their wordings over all groups together. Where the vocabularies differ, they are compared by the words that both have, whose
    probabilities are brought to a sum of 1 again.

    Raises:
        InputError: the runs have no word in common, or one has no topics that are shown.
    """
    # here, since scipy takes a moment that the app need not wait for
    from spdp_engine.measures.matching import match_topics

    if not first.n_topics or not second.n_topics:
        raise InputError("One of the two runs has no topics that are shown. Bring back topics that are hidden.")
    by_group = (
        not first.worded_alike and not second.worded_alike and sorted(first.group_names) == sorted(second.group_names)
    )
    words = None if first.vocabulary == second.vocabulary else _words_in_both(first, second)
    match, distances = match_topics(*_wordings(first, second, words, by_group))
    return Pairing(first, second, distances, match, by_group, words)


def _words_in_both(first: RunTopics, second: RunTopics) -> WordsInBoth:
    """Raises InputError where there are none."""
    numbers = {word: number for number, word in enumerate(second.vocabulary)}
    both = [(number, numbers[word]) for number, word in enumerate(first.vocabulary) if word in numbers]
    if not both:
        raise InputError(
            "The two runs have no word in common, so their topics cannot be compared. Choose runs on texts in the same language, "
            "made into words in the same way."
        )
    mine, theirs = np.array(both, np.int64).T
    (first_share, only_first), (second_share, only_second) = _left_out(first, mine), _left_out(second, theirs)
    return WordsInBoth(mine, theirs, first_share, second_share, only_first, only_second)


def _left_out(run: RunTopics, kept: NDArray[np.int64]) -> tuple[float, tuple[str, ...]]:
    """The share of a run's tokens that some of its words are, and the most frequent of the others."""
    shares = run.pooled @ (run.tokens / max(float(run.tokens.sum()), 1e-12))
    others = np.setdiff1d(np.arange(len(shares)), kept)
    frequent = others[np.argsort(-shares[others], kind="stable")[:MOST_LEFT_OUT]]
    return float(shares[kept].sum()), tuple(run.vocabulary[word] for word in frequent)


def _wordings(
    first: RunTopics, second: RunTopics, words: WordsInBoth | None, by_group: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What is compared of two runs: [I, W, K] and [I, W, L], groups in the order of the first, or [W, K] and [W, L]."""
    one, other = (first.wordings, second.wordings) if by_group else (first.pooled, second.pooled)
    if by_group and first.group_names != second.group_names:
        other = other[[second.group_names.index(name) for name in first.group_names]]
    if words is not None:
        one, other = _brought_to_one(one[..., words.first, :]), _brought_to_one(other[..., words.second, :])
    return one, other


def _brought_to_one(wordings: NDArray[np.float32]) -> NDArray[np.float32]:
    """Wordings that are missing some words as distributions again; one that misses all of them stays 0."""
    total = wordings.sum(axis=-2, keepdims=True)
    total[total == 0] = 1
    return wordings / total


def _alone(pairing: Pairing, turned: bool = False) -> tuple[Alone, ...]:
    """The topics of the first run (of the second where turned) that the other does not have."""
    from spdp_engine.measures.matching import distances_together

    run = pairing.second if turned else pairing.first
    distances = pairing.distances.T if turned else pairing.distances
    found = {
        (pair.second, pair.first) if turned else (pair.first, pair.second)
        for pair in pairing.pairs
        if pair.verdict is not Verdict.LOST
    }
    partner = {there: here for here, there in found}
    lost = sorted(set(range(run.n_topics)) - {here for here, _ in found}, key=lambda k: (-run.overall[k], k))
    nearest = [int(distances[k].argmin()) for k in lost]
    # Those whose nearest topic has a partner already may be a part of it.
    parts = [(k, partner[there], there) for k, there in zip(lost, nearest, strict=True) if there in partner]
    together: dict[int, tuple[int, float, float]] = {}
    if parts:
        one, other = _wordings(pairing.first, pairing.second, pairing.words, by_group=False)
        own, others = (other, one) if turned else (one, other)
        topics, siblings, theirs = (list(column) for column in zip(*parts, strict=True))
        weights = np.maximum(np.stack([run.tokens[siblings], run.tokens[topics]]), 1e-9)
        both = distances_together(others[:, theirs], own[:, siblings], own[:, topics], weights)
        single = distances_together(others[:, theirs], own[:, siblings], own[:, siblings], weights)
        together = {
            k: (sibling, float(near), float(alone))
            for k, sibling, near, alone in zip(topics, siblings, both, single, strict=True)
            if near <= PART_OF * alone
        }
    return tuple(
        Alone(
            k,
            pairing.pair(there, k) if turned else pairing.pair(k, there),
            *together.get(k, (None, None, None)),
        )
        for k, there in zip(lost, nearest, strict=True)
    )
