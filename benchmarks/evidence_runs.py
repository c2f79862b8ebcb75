"""Runs on corpora whose truth is known, and whether what is said of them holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence_corpora import KINDS, TOPICS, PlantedCorpus, planted_corpus
from benchmarks.machine import Machine
from benchmarks.report import Row
from benchmarks.runs import Progress
from spdp_engine import evidence as engine
from spdp_engine.evidence import Evidence, Phase, Plan
from spdp_engine.jobs import JobState, Queue
from spdp_engine.measures.cells import Cells
from spdp_engine.sampling import Sampler, SamplerSettings
from spdp_engine.topics import OWN_WORD_Z, Topics, estimates, read_topics
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.reading import OWN_WORD_COUNT

ENOUGH = 10
"""Tokens that a group, and all others together, must have of a word in a topic for its log-odds to be looked at."""

NO_DIFFERENCE = 0.05
"""Log-odds below this are none: an odds ratio of 1.05."""


# --- three ways to measure


@contextmanager
def as_it_is() -> Iterator[type[Evidence]]:
    """Evidence as the app has it."""
    yield Evidence


@contextmanager
def tokens_apart() -> Iterator[type[Evidence]]:
    """Evidence that takes every token for a document of its own, so that ten uses in one document are ten pieces of evidence."""

    def apart(cells: Cells, group: NDArray[np.integer]) -> tuple[Cells, NDArray[np.integer]]:
        times = cells.count.astype(np.int64)
        total = int(times.sum())
        tokens = Cells(np.arange(total), np.repeat(cells.word, times), np.ones(total))
        return tokens, group[np.repeat(cells.document, times)]

    def share_draws(tokens: NDArray[np.number], group: NDArray[np.integer], *rest: object) -> NDArray[np.float64]:
        times = tokens.astype(np.int64).ravel()
        topic = np.repeat(np.tile(np.arange(tokens.shape[1]), len(tokens)), times)
        owner = np.repeat(np.repeat(group, tokens.shape[1]), times)
        return drawn(np.eye(tokens.shape[1])[topic], owner, *rest)  # type: ignore[arg-type]

    drawn, gap, odds = engine.share_draws, estimates.squared_gap, estimates.log_odds_by_document
    with (
        patch.object(engine, "share_draws", share_draws),
        patch.object(estimates, "squared_gap", lambda cells, group, compared: gap(*apart(cells, group), compared)),
        patch.object(estimates, "log_odds_by_document", lambda cells, group, *rest: odds(*apart(cells, group), *rest)),
    ):
        yield Evidence


@contextmanager
def topics_held() -> Iterator[type[Evidence]]:
    """Evidence in which topics do not follow groups that are dealt out, as they have followed the true ones."""

    class Held(Evidence):
        def _sweep(self, sampler: Sampler, sweeps: int) -> None:
            if self._phase is not Phase.CHANCE:
                super()._sweep(sampler, sweeps)

    yield Held


WAYS: dict[str, Callable[[], AbstractContextManager[type[Evidence]]]] = {
    "as it is": as_it_is, "tokens apart": tokens_apart, "topics held": topics_held,
}  # fmt: skip
"""By name; the latter two show what documents and dealing out are for."""


# --- one run


def measured(
    planted: PlantedCorpus,
    settings: SamplerSettings,
    iterations: int,
    plan: Plan,
    way: str = "as it is",
    progress: Progress = lambda _: None,
) -> tuple[Topics, Findings]:
    """Fits the model from the planted topics on, and gathers evidence.

    From the planted topics, since the question is what is said of topics that are there, not whether they are found.

    Args:
        planted: a corpus.
        settings: of the run, with `TOPICS` topics.
        iterations: of the run.
        plan: how much evidence.
        way: a name of `WAYS`.
        progress: told of each iteration.

    Returns:
        What is read of the run, and what is known of it.
    """
    corpus = planted.corpus
    sampler = Sampler(corpus, settings)
    sampler.start_at(planted.topics[~sampler.held_out].astype(np.uint16))
    sampler.run(iterations, progress)
    topics = np.full(corpus.n_tokens, -1, np.int32)
    topics[~sampler.held_out] = sampler.topics()
    read = read_topics(sampler.inspect(), corpus.vocabulary, corpus.group_names)
    with WAYS[way]() as kind:
        evidence = kind(corpus, sampler.settings, topics, read, Queue(1), plan)
        status = evidence.wait()
    assert status.state is JobState.FINISHED, status.error
    return read, evidence.findings()


INTERVALS = ("share", "difference", "gap", "no gap", "word", "planted word")
"""Kinds of intervals: groups' shares of topics, differences of two groups' shares, wording gaps where there are any and where there
are none, and log-odds of words, of all that are used often enough and of those among them that differ."""

OF_WORDS = ("tested", "shown", "false shown", "sure", "false sure")
"""Counts of words in groups. Shown: those that a z-score above 1.96 would show as a group's own; sure: those of these that evidence
calls sure; false: those that do not differ, or the other way round."""

OF_TOPICS = ("differing", "real", "same", "false real", "topics", "found")
"""Counts of topics. Differing in wording, and those of them whose gap is called real; the same, and those of them; runs in which a
topic was looked for, and those that have it."""


def told(planted: PlantedCorpus, read: Topics, findings: Findings) -> dict[str, float]:
    """What holds of what is said, in numbers that can be added over runs.

    Returns:
        `KIND, all` and `KIND, held` of each kind of `INTERVALS`: how many there are, and how many hold the truth; the counts
        `OF_WORDS` and `OF_TOPICS`; and `order` and `plain order`: Spearman's correlation of topics by wording gap with their true
        gaps, of the gap that evidence gives and of that of the mean wordings, or NaN.
    """
    from scipy.stats import spearmanr

    from spdp_engine.measures.matching import match_topics

    match, _ = match_topics(planted.wordings, read.wordings)
    holds: dict[str, list[bool]] = {name: [] for name in INTERVALS}
    counts = dict.fromkeys(OF_WORDS + OF_TOPICS, 0)
    for topic, number in enumerate(match.tolist()):
        _shares(planted.shares[:, topic], findings, number, holds)
        _gap(float(planted.gaps[topic]), findings, number, holds, counts)
        _words(planted, read, findings, (topic, number), holds, counts)
        if again := findings.topic_found(number):
            counts["topics"] += again[1]
            counts["found"] += again[0]
    gaps = [findings.gap(number) for number in match.tolist()]
    known = np.array([gap is not None for gap in gaps])
    orders = {"order": np.nan, "plain order": np.nan}
    if np.ptp(planted.gaps) > 0.1:
        both = np.array([gap for gap in gaps if gap is not None]), read.gap[match][known]
        orders = {name: float(spearmanr(planted.gaps[known], gap)[0]) for name, gap in zip(orders, both, strict=True)}
    sums = {f"{name}, all": float(len(hold)) for name, hold in holds.items()}
    sums |= {f"{name}, held": float(sum(hold)) for name, hold in holds.items()}
    return {**sums, **counts, **orders}


def _shares(true: NDArray[np.float64], findings: Findings, number: int, holds: dict[str, list[bool]]) -> None:
    """Of one topic. true: [I]."""
    intervals = findings.prevalence_interval(number)
    assert intervals is not None
    holds["share"] += ((intervals[:, 0] <= true) & (true <= intervals[:, 1])).tolist()
    for i in range(len(true)):
        for j in range(i):
            low, high = findings.difference_interval(number, i, j) or (0.0, 0.0)
            holds["difference"].append(bool(low <= true[i] - true[j] <= high))


def _gap(true: float, findings: Findings, number: int, holds: dict[str, list[bool]], counts: dict[str, int]) -> None:
    interval, real = findings.gap_interval(number), findings.gap_is_real(number)
    if interval is None:  # too few documents speak of it
        return
    differs = true > NO_DIFFERENCE
    holds["gap" if differs else "no gap"].append(interval[0] <= true <= interval[1])
    counts["differing" if differs else "same"] += 1
    counts["real" if differs else "false real"] += bool(real)


def _words(
    planted: PlantedCorpus, read: Topics, findings: Findings, topics: tuple[int, int], holds: dict[str, list[bool]],
    counts: dict[str, int],
) -> None:  # fmt: skip
    """Of one topic, by its number in truth and in the run."""
    topic, number = topics
    words = findings.words
    assert words is not None and words.sure is not None
    rows = np.flatnonzero(words.topic == number)
    which = words.word[rows].astype(np.int64)
    true = planted.log_odds(topic, which, read.tokens[:, number].astype(np.float64))
    tokens = read.sample.group_word_tokens(number)[:, which]
    low, high, sure = words.low[rows].T, words.high[rows].T, words.sure[rows].T
    enough = (tokens >= ENOUGH) & (tokens.sum(axis=0) - tokens >= ENOUGH)
    within = (low <= true) & (true <= high)
    different = np.abs(true) > NO_DIFFERENCE
    holds["word"] += within[enough].tolist()
    holds["planted word"] += within[enough & different].tolist()
    shown = (read.log_odds(number, which) > OWN_WORD_Z) & (tokens >= OWN_WORD_COUNT)
    wrong = ~different | (np.sign(true) != np.sign(words.log_odds[rows].T))
    counts["tested"] += shown.size
    for name, those in (("shown", shown), ("sure", shown & sure)):
        counts[name] += int(those.sum())
        counts[f"false {name}"] += int((those & wrong).sum())


@dataclass(frozen=True)
class EvidenceRun:
    """Measures one run on a planted corpus.

    Attributes:
        machine: where.
        plan: how much evidence; other seeds are tried where words are planted, and all is measured as it is.
    """

    machine: Machine
    plan: Plan

    def __call__(self, wanted: Row, progress: Progress) -> Row:
        """See `runs.Measure`."""
        kind, way, seed = KINDS[str(wanted["kind"])], str(wanted["way"]), int(str(wanted["seed"]))
        planted = planted_corpus(kind, seed)
        plan = self.plan if (kind.name, way) == ("planted", "as it is") else replace(self.plan, seeds=0)
        settings = SamplerSettings(topics=TOPICS, seed=seed, device=str(wanted["device"]))
        read, findings = measured(planted, settings, int(str(wanted["iterations"])), plan, way, progress)
        figures = {name: f"{value:.4g}" for name, value in told(planted, read, findings).items()}
        return {**figures, **self.machine.columns()}
