"""Runs of LDA's samplers from the same random topics: log posterior and held-out perplexity on the way, and seconds a sweep."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import Machine
from benchmarks.report import Row
from benchmarks.runs import Points, Progress
from spdp_engine.models.lda import LdaPriors, LdaSample
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import TokenArrays, Tokens

AVERAGED = 10
"""L of the paper: sweeps whose probabilities of the held-out words are averaged."""

FOUND_WITHIN = 0.25
"""Total variation within which a topic is a bar. A topic that two bars share is 0.5 from either."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out words of an LDA corpus, words of a document that are the same counted together.

    Attributes:
        document: int64 [P].
        word: int64 [P].
        count: int64 [P], how many held-out tokens of the document are that word.
    """

    document: NDArray[np.int64]
    word: NDArray[np.int64]
    count: NDArray[np.int64]

    @property
    def tokens(self) -> int:
        """How many tokens are held out."""
        return int(self.count.sum())

    def probabilities(self, sample: LdaSample) -> NDArray[np.float64]:
        """sum_k theta[d, k] phi[k, w] of each pair of document and word under one sample: float64 [P]."""
        wording, shares = sample.group_wordings()[0], sample.document_shares()
        return np.einsum("pk,pk->p", wording[self.word], shares[self.document])

    def perplexity(self, probabilities: NDArray[np.float64]) -> float:
        """exp(-mean log probability) over held-out tokens: the paper's equation 13."""
        return math.exp(-float(self.count @ np.log(probabilities)) / self.tokens)


class AveragedPerplexity:
    """Held-out perplexity with probabilities averaged over every `sweeps` sweeps, before the logarithm is taken."""

    def __init__(self, held_out: HeldOut, sweeps: int = AVERAGED) -> None:
        self._held_out, self._sweeps = held_out, sweeps
        self._sum = np.zeros(len(held_out.count))
        self._added = 0

    def add(self, sample: LdaSample) -> float | None:
        """Adds a sweep's sample. Returns the perplexity of the last `sweeps` sweeps when that many are together, else None."""
        self._sum += self._held_out.probabilities(sample)
        self._added += 1
        if self._added < self._sweeps:
            return None
        perplexity = self._held_out.perplexity(self._sum / self._added)
        self._sum[:] = 0
        self._added = 0
        return perplexity


def hold_out_last(corpus: TokenArrays, documents: int, seed: int = 7) -> tuple[Tokens, HeldOut]:
    """Holds out half the tokens, rounded down and chosen at random, of each of the last documents.

    Args:
        corpus: all tokens.
        documents: of how many of the last documents.
        seed: the same seed holds out the same tokens.

    Returns:
        The training tokens, and what is held out.
    """
    word, document = corpus.token_word, corpus.token_document
    lengths = np.bincount(document, minlength=len(corpus.document_group))
    order = np.lexsort((np.random.default_rng(seed).random(len(document)), document))
    place = np.arange(len(document)) - (lengths.cumsum() - lengths)[document]  # in its document
    last = document >= len(lengths) - documents
    held = np.zeros(len(document), bool)
    held[order] = last & (place < lengths[document] // 2)
    pairs, count = np.unique(np.stack([document[held], word[held]]).astype(np.int64), axis=1, return_counts=True)
    training = Tokens(word[~held], document[~held], corpus.document_group, corpus.n_words, corpus.n_groups)
    return training, HeldOut(pairs[0], pairs[1], count)


def lone_share(tokens: TokenArrays) -> float:
    """The share of tokens whose word appears once in its document."""
    blocks = tokens.token_document.astype(np.int64) * tokens.n_words + tokens.token_word
    sizes = np.unique(blocks, return_counts=True)[1]
    return int((sizes == 1).sum()) / len(blocks)


def first_topics(tokens: int, topics: int, seed: int) -> NDArray[np.uint16]:
    """Where every sampler begins in the run of that seed: a topic for each training token, at random. uint16 [tokens]."""
    return np.random.default_rng([seed, 0xB10C]).integers(topics, size=tokens, dtype=np.uint16)


def bars_found(wording: NDArray[np.float64], bars: NDArray[np.float64]) -> int:
    """How many `bars` [B, V] have a topic of `wording` [V, K] within a total variation of `FOUND_WITHIN`."""
    distance = 0.5 * np.abs(wording.T[:, None] - bars).sum(axis=2)
    return int((distance.min(axis=0) < FOUND_WITHIN).sum())


def is_traced(iteration: int) -> bool:
    """Whether a trace has a point there: close together where much happens, then every `AVERAGED` iterations."""
    return iteration <= 20 or iteration % (5 if iteration <= 100 else AVERAGED) == 0


@dataclass(frozen=True, eq=False)
class TracedRun:
    """Measures one run; picklable, so that it can go to another process.

    Attributes:
        training: what is sampled.
        held_out: what perplexity is measured on.
        machine: where.
        bars: true topics [B, V], where there are any.
    """

    training: Tokens
    held_out: HeldOut
    machine: Machine
    bars: NDArray[np.float64] | None = None

    def __call__(self, wanted: Row, progress: Progress) -> tuple[Row, Points]:
        """See `runs.TracedMeasure`."""
        iterations = int(str(wanted["iterations"]))
        sampler = begin(self.training, wanted)
        averaged = AveragedPerplexity(self.held_out)
        sample = _lda_sample(sampler)
        points = [_point(wanted, 0, sample, None)]
        seconds, perplexity, last = 0.0, None, None
        for iteration in range(1, iterations + 1):
            record = sampler.step()
            seconds += record.seconds
            sample = _lda_sample(sampler)
            perplexity = averaged.add(sample)
            last = perplexity or last
            if is_traced(iteration) or iteration == iterations:
                points.append(_point(wanted, iteration, sample, perplexity))
            progress(record)
        found = "" if self.bars is None else bars_found(sample.group_wordings()[0], self.bars)
        return {
            "log_posterior": points[-1]["log_posterior"],
            "perplexity": "" if last is None else f"{last:.4f}",
            "bars_found": found,
            "seconds": f"{seconds:.2f}",
            **self.machine.columns(),
        }, points


@dataclass(frozen=True, eq=False)
class TimedRun:
    """Measures the seconds of a sweep.

    Attributes:
        corpus: what is sampled.
        machine: where.
        seconds: no further sweep is begun that would end later than this many seconds after the first timed one began.
    """

    corpus: TokenArrays
    machine: Machine
    seconds: float

    def __call__(self, wanted: Row, progress: Progress) -> Row:
        """See `runs.Measure`. One sweep goes before, in which drivers compile; the others are timed."""
        sampler = begin(self.corpus, wanted)
        progress(sampler.step())
        took: list[float] = []
        for _ in range(int(str(wanted["iterations"])) - 1):
            if took and sum(took) + took[-1] > self.seconds:
                break
            record = sampler.step()
            took.append(record.seconds)
            progress(record)
        return {
            "seconds": f"{statistics.median(took):.5f}",
            "fastest": f"{min(took):.5f}",
            "slowest": f"{max(took):.5f}",
            "timed": len(took),
            **self.machine.columns(),
        }


def begin(training: TokenArrays, wanted: Row) -> Sampler:
    """A sampler of LDA by the settings in a row ('sampler', 'topics', 'seed', 'device'), at its random first topics."""
    topics, seed = int(str(wanted["topics"])), int(str(wanted["seed"]))
    settings = plain_settings(
        topics=topics, priors=LdaPriors(), model="lda", schedule=str(wanted["sampler"]), device=str(wanted["device"]),
        seed=seed, held_out=0.0, measure_every=0,
    )  # fmt: skip
    sampler = Sampler(training, settings)
    sampler.start_at(first_topics(sampler.training_tokens, topics, seed))
    return sampler


def _lda_sample(sampler: Sampler) -> LdaSample:
    sample = sampler.inspect()
    assert isinstance(sample, LdaSample)
    return sample


def _point(wanted: Row, iteration: int, sample: LdaSample, perplexity: float | None) -> Row:
    return {
        "sampler": wanted["sampler"],
        "seed": wanted["seed"],
        "iteration": iteration,
        "log_posterior": f"{sample.log_posterior():.1f}",
        "perplexity": "" if perplexity is None else f"{perplexity:.4f}",
    }


def timing_topics(quick: bool) -> Iterator[int]:
    """K of the paper's figure 3: 8, 16, ..., 1024."""
    return (2**power for power in range(3, 5 if quick else 11))
