"""How many topics? Several numbers are tried on a sample of the documents, measured, and one of them is recommended.

    choosing = Choosing(corpus, SamplerSettings(), queue, plan_for(corpus, suggested=20))
    choosing.wait()
    recommend(choosing.candidates())

Every fit is a `Job` of its own. So it takes its place in the queue like any other run, gives it back after some seconds, stops
between two iterations, and says in a sentence why it failed. The thread here starts one after the other and measures what they
found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spdp_engine.background import Background, Cancelled
from spdp_engine.corpus import Corpus
from spdp_engine.corpus.reference import Reference, own_texts
from spdp_engine.corpus.sampling import sample_documents
from spdp_engine.errors import InputError, ParallaxError, SettingsError
from spdp_engine.jobs import ACTIVE, Job, JobState, Queue
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics import Topics, read_topics
from spdp_engine.topics.quality import measure_quality

AROUND = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Numbers that are tried, as multiples of the suggested one."""

TOKENS_TO_A_TOPIC = 1_000
"""No more topics are tried than there are documents, or so many tokens of long ones."""

MOST_REFERENCE_TOKENS = 1_000_000
"""Coherence looks for words in a larger sample than is fitted: in so many tokens, which takes a few seconds at most."""

MOST_NUMBERS = 12
"""Numbers of topics in one comparison."""

CLOSE = 0.01
"""A perplexity is as good as the best where it is at most this share above it: with other seeds the order might be another."""

STILL_GOOD = 0.03
"""... and this much more perplexity is a fair price for topics that are clearly better."""

CLEARLY_MORE_COHERENT = 0.1
"""Mean NPMI by which topics are clearly more coherent than others."""

CLEARLY_MORE_STABLE = 0.2
"""Agreement of seeds by which wording gaps are clearly more stable than others."""


@dataclass(frozen=True)
class Plan:
    """What is tried.

    Attributes:
        numbers: numbers of topics, rising, two or more.
        seeds: fits of each number, 2 or more, from the settings' seed on.
        iterations: of each fit.
        tokens: about how many tokens the sample of the documents has.
        held_out: share of the sample's documents of which half the tokens measure the fit.
    """

    numbers: tuple[int, ...]
    seeds: int = 2
    iterations: int = 200
    tokens: int = 200_000
    held_out: float = 0.2

    @property
    def fits(self) -> int:
        """How many fits there are in all."""
        return len(self.numbers) * self.seeds

    def check(self, corpus: Corpus) -> None:
        """Refuses what cannot be compared.

        Raises:
            SettingsError: as said.
        """
        numbers = self.numbers
        if len(set(numbers)) < 2:
            raise SettingsError("There is nothing to compare: give two different numbers of topics or more.")
        if len(numbers) > MOST_NUMBERS:
            raise SettingsError(
                f"At most {MOST_NUMBERS} numbers of topics can be compared at once; there are {len(numbers)}. Leave some out."
            )
        if list(numbers) != sorted(set(numbers)):
            raise SettingsError("The numbers of topics must rise, and each must be there once.")
        if self.seeds < 2 or self.iterations < 1 or self.tokens < 1 or not 0 < self.held_out < 1:
            raise SettingsError(
                "A comparison takes 2 seeds or more, 1 iteration or more, 1 token or more, and a held-out share between 0 and 1."
            )
        for topics in numbers:
            SamplerSettings(topics=topics).check_makes_sense_for(corpus)


def plan_for(corpus: Corpus, suggested: int) -> Plan:
    """The plan whose numbers lie around the suggested one, as far as the corpus has words and documents for so many topics."""
    room = max(corpus.n_documents, corpus.n_tokens // TOKENS_TO_A_TOPIC)
    most = max(2, min(corpus.n_words, room))
    middle = min(suggested, most)
    return Plan(tuple(sorted({min(most, max(2, round(middle * factor))) for factor in AROUND})))


@dataclass(frozen=True)
class Fit:
    """One fit, measured.

    Attributes:
        topics: K.
        seed: of the sampler.
        perplexity: held-out perplexity, of the averaged probabilities where the sampler averages.
        coherence: mean NPMI of the words that all groups share, over topics; None where no topic has two words.
        diversity: share of different words among all topics' most probable ones.
        seconds: what it took, without waiting.
    """

    topics: int
    seed: int
    perplexity: float
    coherence: float | None
    diversity: float
    seconds: float


@dataclass(frozen=True)
class Candidate:
    """A number of topics, and what was measured of it.

    Attributes:
        topics: K.
        fits: one to a seed.
        stability: mean agreement of every two seeds on the wording gaps, 0 to 1 (see `measures.stability`); None where groups
            word topics alike.
    """

    topics: int
    fits: tuple[Fit, ...]
    stability: float | None

    @property
    def perplexity(self) -> float:
        """The geometric mean over seeds, since perplexities are compared by their ratios."""
        return math.exp(sum(math.log(fit.perplexity) for fit in self.fits) / len(self.fits))

    @property
    def coherence(self) -> float | None:
        """The mean over seeds."""
        known = [fit.coherence for fit in self.fits if fit.coherence is not None]
        return sum(known) / len(known) if known else None

    @property
    def diversity(self) -> float:
        """The mean over seeds."""
        return sum(fit.diversity for fit in self.fits) / len(self.fits)

    @property
    def seconds(self) -> float:
        """What one fit took, the mean over seeds."""
        return sum(fit.seconds for fit in self.fits) / len(self.fits)


def levelled(candidates: Sequence[Candidate]) -> list[tuple[float, ...]]:
    """Perplexities of the single fits, each seed's brought to the mean level of all: one tuple to a candidate.

    Each seed holds out other words, and some words are harder than others whatever the number of topics. Without what all fits of
    a seed have in common, what is left is how far a number of topics is better or worse for this seed, too.
    """
    logs = np.log([[fit.perplexity for fit in candidate.fits] for candidate in candidates])
    level = np.exp(logs - logs.mean(axis=0) + logs.mean())
    return [tuple(row) for row in level.tolist()]


@dataclass(frozen=True)
class Recommendation:
    """A number of topics to take, and why, in plain sentences."""

    topics: int
    reason: str


def recommend(candidates: Sequence[Candidate]) -> Recommendation | None:
    """The number of topics to take, by this rule:

    1. The fewest topics whose perplexity is within 1 % (`CLOSE`) of the best: more would be more to read, for nothing.
    2. But fewer, where their perplexity is within 3 % (`STILL_GOOD`) of the best and their topics are clearly better: more
       coherent by `CLEARLY_MORE_COHERENT` or more stable by `CLEARLY_MORE_STABLE`, and not clearly worse in the other. Of several
       such numbers the largest; and from there on again, as long as there is one.

    Args:
        candidates: in any order.

    Returns:
        The recommendation; None for fewer than two candidates, which leave nothing to choose.
    """
    if len(candidates) < 2:
        return None
    rows = sorted(candidates, key=lambda row: row.topics)
    best = min(rows, key=lambda row: row.perplexity)
    fitting = next(row for row in rows if row.perplexity <= (1 + CLOSE) * best.perplexity)
    chosen = fitting
    for row in reversed(rows[: rows.index(fitting)]):
        if row.perplexity <= (1 + STILL_GOOD) * best.perplexity and _clearly_better(row, chosen):
            chosen = row
    sentences = [_why_fewer(chosen, fitting) if chosen is not fitting else _why_it_fits(fitting, best, rows[0])]
    if chosen is rows[-1]:
        sentences.append("It is the largest number that was tried; more topics may fit better still.")
    elif chosen is rows[0]:
        sentences.append("It is the smallest number that was tried; fewer topics may do as well.")
    return Recommendation(chosen.topics, " ".join(sentences))


def _clearly_better(one: Candidate, other: Candidate) -> bool:
    coherent = _beyond(one.coherence, other.coherence, CLEARLY_MORE_COHERENT)
    stable = _beyond(one.stability, other.stability, CLEARLY_MORE_STABLE)
    return max(coherent, stable) > 0 and min(coherent, stable) >= 0


def _beyond(one: float | None, other: float | None, clear: float) -> int:
    """1 where one is clearly above the other, -1 where it is clearly below, else 0."""
    if one is None or other is None or abs(one - other) <= clear:
        return 0
    return 1 if one > other else -1


def _why_it_fits(fitting: Candidate, best: Candidate, smallest: Candidate) -> str:
    lowest = f"Perplexity is lowest with {_topics(best)} ({best.perplexity:,.0f})"
    close = f"within {100 * CLOSE:g} % of that"
    if fitting is not best:
        return f"{lowest}, but {_topics(fitting)} come {close} ({fitting.perplexity:,.0f}), and are fewer to read."
    return f"{lowest}." if best is smallest else f"{lowest}, and no smaller number comes {close}."


def _why_fewer(chosen: Candidate, fitting: Candidate) -> str:
    better = []
    if _beyond(chosen.coherence, fitting.coherence, CLEARLY_MORE_COHERENT) > 0:
        better.append(
            f"have words that belong together better (coherence {_versus(chosen.coherence, fitting.coherence)})"
        )
    if _beyond(chosen.stability, fitting.stability, CLEARLY_MORE_STABLE) > 0:
        better.append(f"differ less from seed to seed (stability {_versus(chosen.stability, fitting.stability)})")
    share = chosen.perplexity / fitting.perplexity - 1
    return (
        f"{_topics(fitting)} fit {100 * share:.1f} % better (perplexity {fitting.perplexity:,.0f}, not "
        f"{chosen.perplexity:,.0f}), but {_topics(chosen)} {' and '.join(better)}."
    )


def _versus(one: float | None, other: float | None) -> str:
    return f"{one:.2f}, not {other:.2f}".replace("-", "−")


def _topics(candidate: Candidate) -> str:
    return f"{candidate.topics} {'topic' if candidate.topics == 1 else 'topics'}"


# --- in the background


@dataclass(frozen=True)
class ChoosingStatus:
    """A comparison at a glance.

    Attributes:
        state: where it stands; never paused.
        topics: the number that is being fitted, or was last; 0 before the first.
        fits_done: fits that are measured.
        fits: fits in all.
        share: of the work that is done, 0 to 1.
        waiting_before: jobs that are to run before the next fit, 0 unless it waits.
        seconds_left: what the rest will take at the pace so far, without waiting; None before there is a pace.
        error: a sentence or two where it failed, else ''.
    """

    state: JobState
    topics: int
    fits_done: int
    fits: int
    share: float
    waiting_before: int
    seconds_left: float | None
    error: str


class Choosing(Background[ChoosingStatus]):
    """The handle of one comparison.

    Attributes:
        corpus: all of the documents.
        plan: what is tried.
        settings: of every fit, but for its number of topics and its seed.
    """

    name = "parallax-choosing"
    kept = (
        "The comparison stopped unexpectedly. What it had measured until then is kept.",
        "The comparison failed; the log says why. What it had measured until then is kept.",
        "",
    )

    def __init__(self, corpus: Corpus, settings: SamplerSettings, queue: Queue, plan: Plan) -> None:
        """Starts the comparison in a daemon thread.

        Args:
            corpus: the documents.
            settings: what runs would be started with; number of topics and held-out share are the plan's.
            queue: in which each fit waits for its place.
            plan: what is tried.

        Raises:
            SettingsError: there is nothing to compare, or not on this corpus.
        """
        plan.check(corpus)
        super().__init__()
        self.corpus, self.plan = corpus, plan
        self.settings = replace(settings, topics=plan.numbers[0], held_out=plan.held_out, measure_every=1)
        self._queue = queue
        self._job: Job | None = None
        self._done: list[Fit] = []
        self._candidates: list[Candidate] = []
        self._sample: Corpus | None = None
        self._begin()

    # --- what others see

    def candidates(self) -> tuple[Candidate, ...]:
        """The numbers of topics that are measured so far, rising."""
        return tuple(self._candidates)

    @property
    def sampled(self) -> tuple[int, int] | None:
        """Documents and tokens of the sample; None until it is drawn."""
        return (self._sample.n_documents, self._sample.n_tokens) if self._sample else None

    def status(self) -> ChoosingStatus:
        """Where the comparison stands now."""
        with self._changed:
            self._see_whether_it_lives()
            state, job, done = self._state, self._job, tuple(self._done)
        topics, waiting, fitted, seconds = (done[-1].topics if done else 0), 0, 0.0, sum(fit.seconds for fit in done)
        if state in ACTIVE and job:
            now = job.status()
            topics, waiting, fitted = job.settings.topics, now.waiting_before, now.iteration / now.target
            state = JobState.WAITING if now.state is JobState.WAITING else state
            seconds += now.last.elapsed if now.last else 0.0
        share = self._share(len(done), topics, fitted)
        left = seconds / share * (1 - share) if share and seconds else None
        return ChoosingStatus(state, topics, len(done), self.plan.fits, share, waiting, left, self._error)

    # --- what others ask for

    def cancel(self) -> None:
        """Ends the comparison; the fit that is running ends after its present iteration. What was measured stays."""
        super().cancel()
        with self._changed:
            job = self._job
        if job:
            job.discard()

    # --- the worker

    def _share(self, done: int, topics: int, fitted: float) -> float:
        """The share of the work: a fit of many topics takes longer, but not in proportion."""
        work = [20 + number for number in self.plan.numbers for _ in range(self.plan.seeds)]
        return min(1.0, (sum(work[:done]) + fitted * (20 + topics if done < len(work) else 0)) / sum(work))

    def _work(self) -> None:
        self._sample = sample_documents(self.corpus, self.plan.tokens, self.settings.seed)
        reference = own_texts(sample_documents(self.corpus, MOST_REFERENCE_TOKENS, self.settings.seed))
        self._become(JobState.RUNNING)
        for topics in self.plan.numbers:
            self._try(topics, self._sample, reference)

    def _try(self, topics: int, sample: Corpus, reference: Reference) -> None:
        """Fits a number of topics with every seed, and publishes what was measured."""
        fits, read = [], []
        for turn in range(self.plan.seeds):
            settings = replace(self.settings, topics=topics, seed=(self.settings.seed + turn) % 2**32)
            fit, gaps = self._fit(settings, sample, reference)
            fits.append(fit)
            read.append(gaps)
        candidate = Candidate(topics, tuple(fits), _stability(read))
        with self._changed:
            self._check()
            self._candidates.append(candidate)

    def _fit(self, settings: SamplerSettings, sample: Corpus, reference: Reference) -> tuple[Fit, _Gaps]:
        """One fit, measured, and its wordings.

        Raises:
            Cancelled: nobody wants it any more.
            ParallaxError: it failed, or cannot be measured.
        """
        with self._changed:
            self._check()
            job = self._job = Job(sample, settings, self.plan.iterations, self._queue)
        status = job.wait()
        job.discard()
        if status.state is JobState.FAILED:
            raise ParallaxError(f"The comparison ended at {settings.topics} topics. {status.error}")
        last, found = status.last, job.sample()
        if status.state is not JobState.FINISHED or last is None or found is None:
            raise Cancelled
        perplexity = last.perplexity if last.averaged is None else last.averaged
        if perplexity is None:
            raise InputError(
                "Numbers of topics cannot be compared, since no document has two words or more to measure the fit. "
                "Bring longer documents, or leave fewer words out."
            )
        begin = time.perf_counter()
        topics = read_topics(found, sample.vocabulary, sample.group_names)
        quality = measure_quality(topics, sample, reference)
        coherence = None if math.isnan(quality.mean_npmi) else quality.mean_npmi
        seconds = last.elapsed + time.perf_counter() - begin
        fit = Fit(settings.topics, settings.seed, perplexity, coherence, quality.diversity, seconds)
        with self._changed:
            self._check()
            self._done.append(fit)
            self._job = None
        return fit, _Gaps.of(topics)


@dataclass(frozen=True, eq=False)
class _Gaps:
    """What is kept of a fit until its wording gaps are compared: wordings float32 [I, V, K], shares of the text [K]."""

    wordings: NDArray[np.float32]
    shares: NDArray[np.float64]

    @staticmethod
    def of(topics: Topics) -> _Gaps:
        return _Gaps(topics.wordings.astype(np.float32), topics.overall)


def _stability(read: Sequence[_Gaps]) -> float | None:
    """The mean agreement of every two; None where groups word topics alike."""
    from spdp_engine.measures.stability import (
        gap_agreement,
    )  # here, since scipy takes a moment that the app need not wait for

    found = [gap_agreement(a.wordings, b.wordings, a.shares, b.shares) for a, b in combinations(read, 2)]
    return None if any(math.isnan(one) for one in found) else sum(found) / len(found)
