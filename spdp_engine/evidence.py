"""How sure is what a run has found? Measured in the background once it rests: by the run itself, by chance, and by other seeds.

    evidence = Evidence(job.corpus, job.settings, job.topics(), topics, queue)
    evidence.wait()
    evidence.findings().gap_interval(3)

Samplers of its own do the work, each in its turn in the queue; the run is not touched. They begin at the run's topics, first with
the groups as they are, then with groups dealt out to documents at random, which shows what chance makes of groups; then other
seeds begin from nothing. All of it is decided by the run's seed and the size of the corpus.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from spdp_engine.background import Background, Cancelled
from spdp_engine.corpus import Corpus
from spdp_engine.jobs import JobState, Queue
from spdp_engine.measures.intervals import share_draws
from spdp_engine.sampling import Sampler, SamplerSettings
from spdp_engine.topics import OWN_WORD_Z, Topics, read_topics
from spdp_engine.topics.estimates import Counted, Units, WordEstimates, WordSums, estimate_gaps, words_to_look_at
from spdp_engine.topics.findings import Findings, SeedEvidence, WordEvidence
from spdp_engine.topics.reading import OWN_WORD_COUNT
from spdp_engine.types import Tokens

MANY_TOKENS = 1_000_000
"""Tokens from which on sweeps are saved: so many, and all is done in a minute or two on two cores."""

SOME_TOKENS = 200_000
"""... and from which on groups are dealt out less often."""

COUNTING = 2
"""Sweeps that take as long as counting a sample does, about."""

ALIKE = 0.8
"""A topic of another run is the same where it is nearer by this factor than any other topic of this run: in Hellinger distance of
wordings. Topics of two seeds that pass share a third or more of their tokens (Dice), others a tenth, which is what topics share by
chance."""

_RANDOM = 0xE71D


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes:
        settle: sweeps before the first sample, in which what goes with the run's topics finds its place.
        samples: of the run.
        apart: sweeps from one sample to the next.
        draws: of shares, from each sample.
        dealings: how often groups are dealt out to documents at random; 19 or more for limits of 5 %, which are the sharper the
            more there are.
        adapt: sweeps in which topics follow such groups.
        counted: samples of each, after `between` sweeps each.
        between: see there.
        seeds: other seeds.
        iterations: of each, or as many as the run has done.
    """

    settle: int = 30
    samples: int = 20
    apart: int = 4
    draws: int = 20
    dealings: int = 39
    adapt: int = 20
    counted: int = 3
    between: int = 2
    seeds: int = 4
    iterations: int = 200

    def sized(self, tokens: int) -> Plan:
        """The plan for so many tokens: large corpora get less, which is enough, since more is known of their topics."""
        part = min(1.0, MANY_TOKENS / max(tokens, 1))

        def fewer(sweeps: int, least: int) -> int:
            return min(sweeps, max(least, round(sweeps * part)))

        return replace(
            self, settle=fewer(self.settle, 15), apart=fewer(self.apart, 2), adapt=fewer(self.adapt, 10),
            iterations=fewer(self.iterations, 100), dealings=min(self.dealings, 20) if tokens > SOME_TOKENS else self.dealings,
        )  # fmt: skip

    def work(self, compared: bool, dealt_out: bool) -> int:
        """Sweeps in all, with what else takes time put in terms of sweeps."""
        samples = self.settle + self.samples * (self.apart + COUNTING)
        dealings = self.dealings * (self.adapt + self.counted * (self.between + COUNTING))
        return samples + (dealings if compared and dealt_out else 0) + self.seeds * self.iterations


class Phase(enum.Enum):
    """What is being measured, in plain words."""

    SAMPLES = "how much documents and topics vary"
    CHANCE = "what chance would give"
    SEEDS = "what other seeds find"


@dataclass(frozen=True)
class EvidenceStatus:
    """Evidence at a glance.

    Attributes:
        state: where it stands; never paused.
        phase: what is being measured, or was last.
        share: of the work that is done, 0 to 1.
        waiting_before: jobs that are to run before it goes on, 0 unless it waits.
        seconds_left: what the rest will take at the pace so far, without waiting; None before there is a pace.
        error: a sentence or two where it failed, else ''.
    """

    state: JobState
    phase: Phase
    share: float
    waiting_before: int
    seconds_left: float | None
    error: str


@dataclass(frozen=True, eq=False)
class _Observed:
    """What dealings-out of the groups are compared with.

    Attributes:
        words: log-odds of the run's words.
        gaps: float64 [S, K, 3], `Counted.gaps` of the run's samples.
        compared: the groups that are compared, by topic.
        frequent: words of each topic that could be shown as a group's own.
    """

    words: WordEstimates
    gaps: NDArray[np.float64]
    compared: list[list[int]]
    frequent: list[NDArray[np.int64]]


class Evidence(Background[EvidenceStatus]):
    """The handle of what is measured of one run.

    Attributes:
        corpus: of the run.
        settings: of the run.
        plan: how much is measured.
    """

    name = "parallax-evidence"
    kept = (
        "The measuring stopped unexpectedly. What is known until then is kept.",
        "How sure the findings are could not be measured to the end; the log says why. What is known until then is kept.",
        "How sure the findings are could not be measured to the end.",
    )

    def __init__(
        self, corpus: Corpus, settings: SamplerSettings, topics: NDArray[np.integer], topics_read: Topics, queue: Queue,
        plan: Plan = Plan(),
    ) -> None:  # fmt: skip
        """Starts to measure in a daemon thread.

        Args:
            corpus: of the run.
            settings: of the run.
            topics: [N], the topic of each token where the run rests, -1 of those that are held out.
            topics_read: what is read of the run there.
            queue: in which each of the samplers waits for its place.
            plan: how much is measured; it is brought to the size of the corpus.
        """
        super().__init__()
        self.corpus, self.settings, self.plan = corpus, settings, plan.sized(corpus.n_tokens)
        self.plan = replace(self.plan, iterations=max(1, min(self.plan.iterations, topics_read.sample.iteration)))
        self._read, self._queue = topics_read, queue
        self._others_pass_until = 0.0
        self._units = Units.of_corpus(corpus)
        self._compared = not topics_read.worded_alike
        kept = np.asarray(topics) >= 0
        self._start = np.asarray(topics)[kept].astype(np.uint16)
        self._word, self._document = corpus.token_word[kept], corpus.token_document[kept]
        self._unit = self._units.of[self._document]
        self._phase = Phase.SAMPLES
        self._findings = Findings()
        self._done, self._seconds, self._since = 0, 0.0, cast(float | None, None)
        self._all = self.plan.work(self._compared, self._can_deal_out)
        self._begin()

    # --- what others see and ask for

    def give_way(self, seconds: float) -> None:
        """Leaves the cores to others for so long, from the next sweep on."""
        self._others_pass_until = max(self._others_pass_until, time.monotonic() + seconds)

    def findings(self) -> Findings:
        """What is known so far."""
        return self._findings

    def status(self) -> EvidenceStatus:
        """Where it stands now."""
        with self._changed:
            self._see_whether_it_lives()
            state, waiting = self._state, 0
            if state is JobState.WAITING:
                waiting = self._queue.before(self)
            share = 1.0 if state is JobState.FINISHED else min(1.0, self._done / self._all)
            left = self._spent() / share * (1 - share) if share else None
            return EvidenceStatus(state, self._phase, share, waiting, left, self._error)

    # --- the worker

    def _work(self) -> None:
        observed = self._sample()
        if observed and self._can_deal_out:
            self._deal_out(observed)
        self._try_seeds()

    @property
    def _can_deal_out(self) -> bool:
        """Whether groups can be dealt out to documents: associations say which words a group can have, and so they cannot."""
        return self.settings.associations is None

    def _sample(self) -> _Observed | None:
        """Samples of the run as it is: publishes shares and words. None where groups word topics alike."""
        plan, groups, rng = self.plan, self.corpus.n_groups, self._random(Phase.SAMPLES)
        first = self._count(self._start, self._units)
        compared = first.compared()
        words = WordSums(words_to_look_at(self._read) if self._compared else [], groups)
        draws, shares, gaps = [], [], []
        with self._place(Phase.SAMPLES):
            sampler = self._sampler(self._units, rng)
            self._sweep(sampler, plan.settle)
            for _ in range(plan.samples):
                self._sweep(sampler, plan.apart)
                sample = self._count(sampler.topics(), self._units)
                tokens = sample.unit_tokens()
                draws.append(share_draws(tokens, self._units.group, groups, plan.draws, rng))
                shares.append(sample.group_shares(tokens))
                if self._compared:
                    gaps.append(sample.gaps(compared))
                    words.add(sample)
                self._worked(COUNTING)
        centred = self._centred(np.concatenate(draws), np.mean(shares, axis=0))
        if not self._compared:
            self._publish(prevalence_draws=centred)
            return None
        found = words.estimates()
        self._publish(prevalence_draws=centred, words=found.evidence(self.corpus.vocabulary, found.cautious_limit))
        return _Observed(found, np.array(gaps), compared, first.frequent_words())

    def _centred(self, draws: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float32]:
        """Draws about the shares of these samples as draws about the shares that are read, which are the mean of more samples."""
        read = self._read.prevalence
        factor = np.divide(read, shares, out=np.ones_like(shares), where=(shares > 0) & (read > 0))
        return np.minimum(draws * factor, 1).astype(np.float32)

    def _deal_out(self, observed: _Observed) -> None:
        """Groups dealt out at random: publishes wording gaps and which words are sure."""
        rng = self._random(Phase.CHANCE)
        dealings = [self._dealing(observed, rng) for _ in range(self.plan.dealings)]
        gaps, scores = np.array([gaps for gaps, _ in dealings]), [scores for _, scores in dealings]
        gap = estimate_gaps(observed.gaps, gaps, self.plan.samples * self.plan.draws)
        words = observed.words.evidence(self.corpus.vocabulary, observed.words.limits(scores))
        self._publish(gap_draws=gap.draws, gap_baseline=gap.by_chance, gap_limit=gap.limit, words=words)

    def _dealing(
        self, observed: _Observed, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """One dealing-out, which topics follow: squared gaps as of a sample, and scores of all words, by class of evidence."""
        units, gaps = self._units.dealt_out(rng), []
        words = WordSums(observed.frequent, self.corpus.n_groups)
        with self._place(Phase.CHANCE):
            sampler = self._sampler(units, rng)
            self._sweep(sampler, self.plan.adapt)
            for _ in range(self.plan.counted):
                self._sweep(sampler, self.plan.between)
                sample = self._count(sampler.topics(), units)
                gaps.append(sample.gaps(observed.compared))
                words.add(sample)
                self._worked(COUNTING)
        return np.mean(gaps, axis=0), words.estimates().own_scores()

    def _try_seeds(self) -> None:
        """Other seeds from the beginning: publishes after each how often topics and words are found."""
        # here, since importing scipy takes a moment that the app need not wait for
        from spdp_engine.measures.matching import match_topics, topic_distances

        read, words = self._read, self._findings.words
        wordings = read.wordings.astype(np.float32)
        nearest = topic_distances(wordings, wordings)
        np.fill_diagonal(nearest, np.inf)
        near = ALIKE * nearest.min(axis=1)
        there = read.tokens.sum(axis=0) > 0
        topics, found = there.astype(np.int32), _own(read, words, np.arange(read.n_topics))
        for turn in range(1, self.plan.seeds + 1):
            settings = replace(self.settings, seed=(self.settings.seed + turn) % 2**32)
            with self._place(Phase.SEEDS):
                sampler = Sampler(self.corpus, settings)
                self._sweep(sampler, self.plan.iterations)
                other = read_topics(sampler.inspect(), read.vocabulary, read.group_names)
            match, distances = match_topics(wordings, other.wordings.astype(np.float32))
            again = there & (distances[np.arange(len(match)), match] < near)
            topics = topics + again
            found = found + _own(other, words, np.where(again, match, -1))
            self._publish(seeds=SeedEvidence(turn + 1, topics, found))

    # --- the worker's tools

    @contextmanager
    def _place(self, phase: Phase) -> Iterator[None]:
        """A place in the queue for what is measured next."""
        with self._changed:
            self._check()
            self._state, self._phase = JobState.WAITING, phase
        if not self._queue.enter(self, lambda: not self._wanted):
            raise Cancelled
        try:
            self._become(JobState.RUNNING)
            self._since = time.perf_counter()
            yield
            self._seconds, self._since = self._spent(), None
        finally:
            self._queue.leave(self)

    def _let_others_pass(self) -> None:
        """Leaves its place to runs that wait for one, since a person looks on while they do, and waits as long as it has to give
        way. Time that is waited is not its own. Raises `Cancelled` once nobody wants it any more."""
        begin = time.perf_counter()
        if self._queue.awaited:
            self._become(JobState.WAITING)
            if not self._queue.let_pass(self, lambda: not self._wanted):
                raise Cancelled
            self._become(JobState.RUNNING)
        with self._changed:
            while self._wanted and (left := self._others_pass_until - time.monotonic()) > 0:
                self._changed.wait(left)
            self._check()
        if self._since is not None:
            self._since += time.perf_counter() - begin

    def _spent(self) -> float:
        """Seconds in places so far."""
        since = self._since
        return self._seconds + (time.perf_counter() - since if since else 0.0)

    def _random(self, phase: Phase) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, _RANDOM, list(Phase).index(phase)])

    def _sampler(self, units: Units, rng: np.random.Generator) -> Sampler:
        """A sampler at the run's topics, whose documents have the groups of these units; it trains on the run's training tokens.

        It has the run's hyperparameters and leaves them as they are, but for the groups' shares of topics, which it learns if the
        run does: the tables of given topics are too few at first to learn from.
        """
        corpus = self.corpus
        tokens = Tokens(self._word, self._document, units.document_group, corpus.n_words, corpus.n_groups)
        priors = self._read.sample.priors
        kept = {one.name for one in fields(priors)} - {"alpha"}
        settings = replace(
            self.settings, priors=priors, held_out=0.0, measure_every=0, seed=int(rng.integers(2**32)),
            fixed=tuple(sorted(kept | set(self.settings.fixed))),
        )  # fmt: skip
        sampler = Sampler(tokens, settings)
        sampler.start_at(self._start)
        return sampler

    def _count(self, topics: NDArray[np.uint16], units: Units) -> Counted:
        sizes = self._read.n_topics, self.corpus.n_groups, self.corpus.n_words
        return Counted.of(topics, self._unit, self._word, units, sizes)

    def _sweep(self, sampler: Sampler, sweeps: int) -> None:
        for _ in range(sweeps):
            self._let_others_pass()
            sampler.step()
            self._worked(1)

    def _worked(self, sweeps: int) -> None:
        self._done += sweeps

    def _publish(self, **known: object) -> None:
        with self._changed:
            self._check()
            self._findings = replace(self._findings, **known)  # type: ignore[arg-type]
            self._changed.notify_all()


def _own(topics: Topics, words: WordEvidence | None, numbers: NDArray[np.integer]) -> NDArray[np.int32]:
    """Whether words are a group's own in a run's topics: int32 [P, I], 0 or 1.

    Args:
        topics: of the run.
        words: those that are asked for.
        numbers: [K], the run's number of each topic that `words` speak of, -1 where it has none.
    """
    groups = len(topics.group_names)
    if words is None:
        return np.zeros((0, groups), np.int32)
    own = np.zeros((len(words.word), groups), np.int32)
    for topic in np.unique(words.topic).tolist():
        number = int(numbers[topic])
        if number < 0:
            continue
        asked = words.topic == topic
        which = words.word[asked].astype(np.int64)
        z, counts = topics.log_odds(number, which), topics.sample.group_word_tokens(number)[:, which]
        own[asked] = ((z > OWN_WORD_Z) & (counts >= OWN_WORD_COUNT)).T
    return own
