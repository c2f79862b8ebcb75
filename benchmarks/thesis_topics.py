"""Topics at the end of runs: the most differently worded ones, and how near the topics of one run are to another's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Row
from spdp_engine.corpus import Corpus
from spdp_engine.measures.matching import match_topics
from spdp_engine.models.spdp import SpdpSample
from spdp_engine.topics.reading import read_topics

TOPICS_SHOWN = 5
WORDS_KEPT = 50


def topic_rows(corpus: Corpus, sample: SpdpSample, topics: int = TOPICS_SHOWN) -> list[Row]:
    """The topics with the greatest wording gap, a row for each group: as the thesis's Tables 10 to 21."""
    read = read_topics(sample, corpus.vocabulary, corpus.group_names)
    rows: list[Row] = []
    for topic in read.order("gap")[:topics].tolist():
        for group, words in enumerate(read.top_words(topic, WORDS_KEPT)):
            rows.append({
                "topic": topic + 1,
                "gap": f"{read.gap[topic]:.4f}",
                "group": corpus.group_names[group],
                "probability": f"{read.prevalence[group, topic]:.6f}",
                "rank": int(read.group_rank[group, topic]),
                "words": ", ".join(word.word for word in words),
            })  # fmt: skip
    return rows


@dataclass(frozen=True, eq=False)
class Matched:
    """A run's topics beside a reference run's.

    Attributes:
        name: of the run.
        seed: of the run.
        reference_seed: of the reference.
        permutation: int64 [K], permutation[k] is the run's topic that matches the reference's topic k.
        distances: float64 [K, K], Hellinger distances, mean over groups: [reference's topic, run's topic].
    """

    name: str
    seed: int
    reference_seed: int
    permutation: NDArray[np.int64]
    distances: NDArray[np.float64]

    @property
    def matched(self) -> NDArray[np.float64]:
        """The distance of each of the reference's topics to its match: float64 [K]."""
        distances: NDArray[np.float64] = self.distances[np.arange(len(self.permutation)), self.permutation]
        return distances

    @property
    def mean(self) -> float:
        """Mean distance over matched pairs."""
        return float(self.matched.mean())

    def aligned(self) -> NDArray[np.float64]:
        """The distances with matched pairs on the diagonal, the nearest pair first: float64 [K, K]."""
        order = np.argsort(self.matched, kind="stable")
        return self.distances[np.ix_(order, self.permutation[order])]

    def rows(self) -> list[Row]:
        """A row for each matched pair, topics counted from 1."""
        return [
            {
                "contestant": self.name, "seed": self.seed, "reference_seed": self.reference_seed,
                "topic": k + 1, "match": int(j) + 1, "distance": f"{near:.5f}",
            }
            for k, (j, near) in enumerate(zip(self.permutation, self.matched, strict=True))
        ]  # fmt: skip


Runs = Mapping[tuple[str, int], SpdpSample]
"""The last sample of each run, by contestant and seed."""


def between_seeds(runs: Runs, reference: str) -> list[Matched]:
    """The reference's runs beside one another, every pair of seeds once: how far apart chance alone takes two runs."""
    seeds = sorted(seed for name, seed in runs if name == reference)
    return [_matched(runs, reference, (reference, b), a) for a, b in combinations(seeds, 2)]


def between_schedules(runs: Runs, reference: str) -> dict[str, list[Matched]]:
    """The runs of every other schedule beside those of the reference that have another seed, by contestant.

    Two runs of one seed may draw the same random numbers, and would then be nearer than chance brings two runs.
    """
    seeds = sorted(seed for name, seed in runs if name == reference)
    found: dict[str, list[Matched]] = {}
    for name, seed in runs:
        if name != reference:
            pairs = [_matched(runs, reference, (name, seed), other) for other in seeds if other != seed]
            found.setdefault(name, []).extend(pairs)
    return found


def _matched(runs: Runs, reference: str, run: tuple[str, int], seed: int) -> Matched:
    return Matched(*run, seed, *match_topics(runs[reference, seed].group_wordings(), runs[run].group_wordings()))
