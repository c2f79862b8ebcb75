"""What samples of a run's topics say of shares, wordings and words, with what documents and chance make of it.

A sample is the topic of each token at a moment of the chain. Every estimate is made of each sample by itself, with the spread that
other documents of the same kind would bring about; over samples the means are taken, and the spread between samples is added (as
for imputed data: D. B. Rubin, "Multiple Imputation for Nonresponse in Surveys", 1987, equations 3.1.2 to 3.1.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.corpus.build import FEWEST_ORIGINALS
from spdp_engine.measures.cells import Cells, cells_by_topic
from spdp_engine.measures.document_gap import squared_gap
from spdp_engine.measures.document_odds import log_odds_by_document
from spdp_engine.measures.intervals import chance_limits, false_discovery_limits, normal_draws
from spdp_engine.topics.findings import LEVEL, WordEvidence
from spdp_engine.topics.reading import OWN_WORD_COUNT, Topics

Float = NDArray[np.float64]

FEWEST_IN_TOPIC = 5
"""Documents of a group that must have tokens of a topic for its wording to be compared."""

TOP_WORDS = 40
"""Each group's most probable words of a topic that are looked at, as many as any page shows."""

OWN_WORDS = 200
"""Each group's words that set it apart that are looked at, the strongest first."""

LEANING_Z = 1.0
"""... from this z-score on."""

FALSE_WORDS = 0.05
"""Of the words that are called sure, the share that chance alone would give, at most."""

EVIDENCE_CLASSES = 30.0, 100.0
"""Words with less `information` than so many tokens, words between the two, and words with more are judged apart.

What can be found hangs on it. Say that a limit lies at a z-score of 3.5, as it does where one word in two hundred differs, and that
documents which repeat their words leave half of the tokens to tell anything. Then 30 tokens show an odds ratio of about ten, and
100 one of about three. So of the rarest words, which are the most, a group must have nearly all uses, and hardly any can be found;
of the most frequent, which are the fewest, two or three times the odds of the others are enough.
"""

FALSE_GAPS = 0.05
"""Of the wording gaps that are called real, the share that chance alone would give, at most."""


@dataclass(frozen=True, eq=False)
class Units:
    """Documents as they are left out and dealt out: passages of one original document are a unit, since they are not independent.

    Attributes:
        of: int32 [D], the unit of each document.
        group: int32 [U], the group of each unit.
        originals: whether they are original documents. They are not where a group has fewer than `FEWEST_ORIGINALS`: then each
            passage stands for itself, and intervals say how much passages of these documents vary, not documents.
    """

    of: NDArray[np.int32]
    group: NDArray[np.int32]
    originals: bool

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> Units:
        """Those of a corpus."""
        first, of = np.unique(corpus.origin, return_index=True, return_inverse=True)[1:]
        group = corpus.document_group[first]
        present = np.bincount(group, minlength=corpus.n_groups)
        if present[present > 0].min(initial=FEWEST_ORIGINALS) >= FEWEST_ORIGINALS:
            return cls(of.astype(np.int32), group, True)
        return cls(np.arange(corpus.n_documents, dtype=np.int32), corpus.document_group, False)

    def dealt_out(self, rng: np.random.Generator) -> Units:
        """The groups dealt out to the units at random, as many units to each group as it has."""
        return replace(self, group=rng.permutation(self.group))

    @property
    def document_group(self) -> NDArray[np.int32]:
        """int32 [D]."""
        return self.group[self.of]


@dataclass(frozen=True, eq=False)
class Counted:
    """A sample, counted by topic, unit and word.

    Attributes:
        cells: K of them.
        units: with their groups.
        groups: I.
    """

    cells: list[Cells]
    units: Units
    groups: int

    @classmethod
    def of(
        cls, topics: NDArray[np.integer], unit: NDArray[np.integer], word: NDArray[np.integer], units: Units,
        sizes: tuple[int, int, int],
    ) -> Counted:  # fmt: skip
        """Counts a sample.

        Args:
            topics: [N], the topic of each token.
            unit: [N], its unit.
            word: [N], its word.
            units: all of them.
            sizes: topics K, groups I and words V.
        """
        n_topics, groups, words = sizes
        return cls(cells_by_topic(topics, unit, word, (n_topics, len(units.group), words)), units, groups)

    def unit_tokens(self) -> Float:
        """Tokens of each unit in each topic: float64 [U, K]."""
        units = len(self.units.group)
        return np.stack([np.bincount(cells.document, cells.count, units) for cells in self.cells], axis=1)

    def group_shares(self, unit_tokens: Float) -> Float:
        """Each group's shares of topics: float64 [I, K], 0 for a group without tokens. unit_tokens: as above."""
        tokens = np.zeros((self.groups, len(self.cells)))
        np.add.at(tokens, self.units.group, unit_tokens)
        shares: Float = tokens / np.maximum(tokens.sum(axis=1, keepdims=True), 1)
        return shares

    def compared(self) -> list[list[int]]:
        """For each topic the groups whose wordings can be compared: those with `FEWEST_IN_TOPIC` units in it, if there are two."""
        found = []
        for cells in self.cells:
            units = np.bincount(self.units.group[np.unique(cells.document)], minlength=self.groups)
            groups = np.flatnonzero(units >= FEWEST_IN_TOPIC).tolist()
            found.append(groups if len(groups) > 1 else [])
        return found

    def gaps(self, compared: Sequence[Sequence[int]]) -> Float:
        """Each topic's `measures.document_gap.SquaredGap`: float64 [K, 3], NaN where there is none. compared: see there."""
        gaps = np.full((len(self.cells), 3), np.nan)
        for topic, (cells, groups) in enumerate(zip(self.cells, compared, strict=True)):
            gap = squared_gap(cells, self.units.group, groups) if groups else None
            if gap:
                gaps[topic] = gap
        return gaps

    def frequent_words(self) -> list[NDArray[np.int64]]:
        """The words that have `OWN_WORD_COUNT` tokens or more in a topic, rising: one array to a topic."""
        found = []
        for cells in self.cells:
            words, at = np.unique(cells.word, return_inverse=True)
            found.append(words[np.bincount(at, cells.count, len(words)) >= OWN_WORD_COUNT])
        return found


# --- wording gaps


@dataclass(frozen=True, eq=False)
class GapEstimates:
    """Wording gaps, as distances between 0 and 1.

    Attributes:
        draws: float32 [B, K], NaN where a gap is not known.
        by_chance: float32 [R, K], of groups that were dealt out at random.
        limit: float32 [K], above which a gap is called real (`FALSE_GAPS`).
    """

    draws: NDArray[np.float32]
    by_chance: NDArray[np.float32]
    limit: NDArray[np.float32]


def estimate_gaps(samples: Float, dealt_out: Float, draws: int) -> GapEstimates:
    """Wording gaps without what chance adds, from the run's samples and from runs in which groups were dealt out at random.

    The jackknife has taken off what is due to few documents (see `measures.document_gap`). But topics follow the labels, too: a
    word that a group happens to use more in a topic gets more of its tokens into it. Where the labels mean nothing, all that is
    found is of this kind, so its mean is taken off. It grows with what the jackknife takes off, and is brought to the topic's own
    size by the ratio of the two; so is its spread, which takes the place of the part of the variance that chance has.

    Args:
        samples: float64 [S, K, 3], `Counted.gaps` of each sample.
        dealt_out: float64 [R, K, 3], the same of each dealing-out.
        draws: B.
    """
    square, variance, excess = samples.mean(axis=0).T
    dealt_out = _filled(dealt_out)
    scale = np.divide(excess, dealt_out[..., 2], out=np.ones(dealt_out.shape[:2]), where=dealt_out[..., 2] > 0)
    by_chance = dealt_out[..., 0] * scale
    chance = by_chance.mean(axis=0)
    variance = np.maximum(variance - (dealt_out[..., 1] * scale**2).mean(axis=0), 0.0)
    variance += by_chance.var(axis=0, ddof=1) * (1 + 1 / len(by_chance))
    variance += samples[..., 0].var(axis=0, ddof=1) * (1 + 1 / len(samples))
    values = normal_draws(square - chance, np.sqrt(variance), draws)
    limits = chance_limits(square, by_chance, FALSE_GAPS)
    return GapEstimates(*(_distance(one) for one in (values, by_chance - chance, limits - chance)))


def _filled(dealt_out: Float) -> Float:
    """Where a group happened to have too few documents of a topic, the values of other dealings-out, if half of them have any."""
    filled = dealt_out.copy()
    for topic in range(dealt_out.shape[1]):
        known = np.flatnonzero(np.isfinite(dealt_out[:, topic]).all(axis=1))
        if 2 * len(known) >= len(dealt_out):
            missing = np.setdiff1d(np.arange(len(dealt_out)), known)
            filled[missing, topic] = dealt_out[np.resize(known, len(missing)), topic]
    return filled


def _distance(square: Float) -> NDArray[np.float32]:
    return np.sqrt(np.clip(square, 0.0, 1.0)).astype(np.float32)


# --- words


def words_to_look_at(topics: Topics) -> list[NDArray[np.int64]]:
    """The words of each topic that a page can show, rising: each group's most probable and those that lean to it."""
    found = []
    for topic in range(topics.n_topics):
        z, counts = topics.log_odds(topic), topics.sample.group_word_tokens(topic)
        leaning = np.where((z > LEANING_Z) & (counts >= OWN_WORD_COUNT), z, -np.inf)
        words = [np.argsort(-wording, kind="stable")[:TOP_WORDS] for wording in topics.wordings[:, :, topic]]
        for scores in leaning:
            strongest = np.argsort(-scores, kind="stable")[:OWN_WORDS]
            words.append(strongest[np.isfinite(scores[strongest])])
        found.append(np.unique(np.concatenate(words)))
    return found


class WordSums:
    """Sums over samples of what is known of words."""

    def __init__(self, words: Sequence[NDArray[np.int64]], groups: int) -> None:
        """Nothing is added yet.

        Args:
            words: of each topic, rising.
            groups: I.
        """
        self._words, self._samples = words, 0
        shape = groups, sum(map(len, words))
        self._count, self._inverse_freedom = np.zeros(shape), np.zeros(shape)
        self._information = np.zeros(shape)
        self._odds, self._contrast = _Imputed(shape), _Imputed(shape)

    def add(self, sample: Counted) -> None:
        """Adds a sample."""
        start = 0
        for cells, words in zip(sample.cells, self._words, strict=True):
            odds = log_odds_by_document(cells, sample.units.group, sample.groups, words)
            here = slice(start, start + len(words))
            self._odds.add(here, odds.log_odds, odds.variance)
            self._contrast.add(here, odds.contrast, odds.contrast_variance)
            self._inverse_freedom[:, here] += 1 / odds.freedom
            self._count[:, here] += odds.count
            self._information[:, here] += odds.information
            start += len(words)
        self._samples += 1

    def estimates(self) -> WordEstimates:
        """Means and spreads of what was added: two samples or more."""
        n = self._samples
        log_odds, error, _ = self._odds.estimate(n, self._inverse_freedom / n)
        contrast, contrast_error, freedom = self._contrast.estimate(n, self._inverse_freedom / n)
        topic = np.repeat(np.arange(len(self._words), dtype=np.int32), [len(words) for words in self._words])
        word = np.concatenate(self._words).astype(np.int32)
        scores = _normal_scores(contrast / contrast_error, freedom)
        return WordEstimates(topic, word, log_odds.T, error.T, scores.T, self._count.T / n, self._information.T / n)


class _Imputed:
    """Sums over samples of a value and of its variance within a sample."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._sum, self._squares, self._variance = np.zeros(shape), np.zeros(shape), np.zeros(shape)

    def add(self, here: slice, value: Float, variance: Float) -> None:
        """Adds a sample of the values in these columns."""
        self._sum[:, here] += value
        self._squares[:, here] += value**2
        self._variance[:, here] += variance

    def estimate(self, n: int, inverse_freedom: Float) -> tuple[Float, Float, Float]:
        """Means, standard deviations and their degrees of freedom. inverse_freedom: one over those within a sample."""
        mean = self._sum / n
        within = self._variance / n
        between = np.maximum(self._squares / n - mean**2, 0) * n / (n - 1) * (1 + 1 / n)
        variance: Float = within + between
        freedom: Float = variance**2 / (within**2 * inverse_freedom + between**2 / (n - 1))
        return mean, np.sqrt(variance), freedom


def _normal_scores(scores: Float, freedom: Float) -> Float:
    """Scores of the t distribution as the scores that are as unlikely by the normal one.

    What hangs on two or three documents needs far more than 1.96 standard deviations to be unlikely.
    """
    from scipy.special import ndtri, stdtr  # here, since importing scipy takes a moment that the app need not wait for

    normal: Float = -np.sign(scores) * ndtri(stdtr(freedom, -np.abs(scores)))
    return normal


@dataclass(frozen=True, eq=False)
class WordEstimates:
    """Log-odds of P pairs of a topic and a word in I groups, each against all others together.

    Attributes:
        topic: int32 [P], rising.
        word: int32 [P].
        log_odds: float64 [P, I].
        error: float64 [P, I], standard deviations.
        scores: float64 [P, I], how surely there is a difference, in units of the normal distribution.
        count: float64 [P, I], tokens.
        information: float64 [P, I], how much is known of each (see `measures.document_odds.DocumentOdds`).
    """

    topic: NDArray[np.int32]
    word: NDArray[np.int32]
    log_odds: Float
    error: Float
    scores: Float
    count: Float
    information: Float

    @property
    def classes(self) -> NDArray[np.int64]:
        """The class of evidence in which each is judged, by `EVIDENCE_CLASSES`: int64 [P, I], 0 for the least."""
        return np.searchsorted(EVIDENCE_CLASSES, self.information, side="right")

    def own_scores(self) -> list[Float]:
        """z-scores in the groups that use a word at least `OWN_WORD_COUNT` times: float64, those of each class in no order."""
        own = self.count >= OWN_WORD_COUNT
        scores, classes = self.scores[own], self.classes[own]
        return [scores[classes == number] for number in range(len(EVIDENCE_CLASSES) + 1)]

    @property
    def cautious_limit(self) -> float:
        """The z-score that words must pass as long as chance was not looked at: none of all would by chance, 19 times out of 20."""
        from scipy.special import ndtri  # here, since importing scipy takes a moment that the app need not wait for

        return float(-ndtri(FALSE_WORDS / max(self.log_odds.size, 1)))

    def limits(self, by_chance: Sequence[Sequence[Float]]) -> Float:
        """The z-score of each from which on at most `FALSE_WORDS` of a group's own words are such by chance: float64 [P, I].

        Words are judged among those of which about as much is known (`EVIDENCE_CLASSES`): with one limit for all, a crowd of rare
        words, of which hardly any can be found, decides about words with much evidence. The class of a word says nothing of
        whether groups differ in it, as `false_discovery_limits` asks.

        Args:
            by_chance: `own_scores` of all words of topics in R dealings-out of the groups.

        Returns:
            Infinity where none is found.
        """
        limits: Float = false_discovery_limits(self.own_scores(), by_chance, FALSE_WORDS)[self.classes]
        return limits

    def evidence(self, vocabulary: tuple[str, ...], limit: float | Float) -> WordEvidence:
        """The words as pages ask for them; sure are those that pass a z-score and whose interval leaves out no difference.

        Args:
            vocabulary: V words.
            limit: the z-score, one for all or float64 [P, I].
        """
        from scipy.special import ndtri  # as above

        reach = float(ndtri((1 + LEVEL) / 2)) * self.error
        sure = (np.abs(self.scores) >= limit) & (np.abs(self.log_odds) > reach)
        ends = (self.log_odds - reach).astype(np.float32), (self.log_odds + reach).astype(np.float32)
        return WordEvidence(vocabulary, self.topic, self.word, self.log_odds.astype(np.float32), *ends, sure)
