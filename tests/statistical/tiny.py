"""Corpora so small that the posterior can be written down, and long runs of the sampler on them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import lgamma, log
from pathlib import Path

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray
from scipy.stats import chi2

from spdp_engine.models.spdp import Priors
from spdp_engine.sampling import programs
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.sampling.sampler import Sampler, SamplerSettings

State = tuple[int, ...]
"""Topics of the tokens, then the tables of each cell (group, word, topic)."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """The least that a sampler takes for a corpus (`spdp_engine.types.TokenArrays`)."""

    token_word: NDArray[np.int32]
    token_document: NDArray[np.int32]
    document_group: NDArray[np.int32]
    n_words: int
    n_groups: int


@dataclass(frozen=True)
class Case:
    """A corpus, given as (group, document, word) of each token, a number of topics and priors."""

    tokens: tuple[tuple[int, int, int], ...]
    topics: int
    priors: Priors

    @property
    def corpus(self) -> Tokens:
        group, document, word = np.array(self.tokens, np.int32).T
        document_group = np.zeros(document.max() + 1, np.int32)
        document_group[document] = group
        return Tokens(word.copy(), document.copy(), document_group, int(word.max()) + 1, int(group.max()) + 1)


# ---- the posterior, written down ------------------------------------------------------------------------------------


@cache
def log_stirling(discount: float, n: int, t: int) -> float:
    """The logarithm of S(n, t), by the definition."""
    row = [1.0]
    for m in range(n):
        longer = [0.0] * (m + 2)
        for tables, value in enumerate(row):
            longer[tables] += (m - tables * discount) * value
            longer[tables + 1] += value
        row = longer
    return log(row[t])


def log_rising(x: float, step: float, n: int) -> float:
    """The logarithm of x (x + step) (x + 2 step) ..., n factors."""
    return sum(log(x + step * j) for j in range(n))


def log_beta(x: NDArray[np.float64]) -> float:
    """The logarithm of the multivariate beta function."""
    return sum(lgamma(value) for value in x) - lgamma(x.sum())


def exact_posterior(case: Case) -> dict[State, float]:
    """The probability of each state: topics of all tokens, and tables of all cells.

        p(z, t) ~ prod_d B(alpha + n_d) * prod_k B(gamma + q_k) / B(gamma)
                * prod_ik (b|a)_T / (b)_M * prod_ikw S(m, t)
    """
    corpus, priors = case.corpus, case.priors
    shape = (corpus.n_groups, corpus.n_words, case.topics)
    a, b = priors.discount, priors.concentration
    group = corpus.document_group[corpus.token_document]
    states, logs = [], []
    for z in product(range(case.topics), repeat=len(case.tokens)):
        n = np.zeros((len(corpus.document_group), case.topics))
        np.add.at(n, (corpus.token_document, z), 1)
        m = np.zeros(shape, int)
        np.add.at(m, (group, corpus.token_word, z), 1)
        of_topics = sum(log_beta(priors.alpha + row) for row in n)
        of_topics -= sum(log_rising(b, 1.0, int(total)) for total in m.sum(axis=1).ravel())
        cells = list(zip(*np.nonzero(m), strict=True))
        for tables in product(*(range(1, m[cell] + 1) for cell in cells)):
            t = np.zeros(shape, int)
            total = of_topics
            for cell, count in zip(cells, tables, strict=True):
                t[cell] = count
                total += log_stirling(a, int(m[cell]), count)
            total += sum(log_rising(b, a, int(count)) for count in t.sum(axis=1).ravel())
            q = t.sum(axis=0)
            total += sum(log_beta(priors.gamma + q[:, k]) for k in range(case.topics))
            states.append((*z, *t.ravel().tolist()))
            logs.append(total)
    p = np.exp(np.array(logs) - max(logs))
    return dict(zip(states, p / p.sum(), strict=True))


# ---- long runs ------------------------------------------------------------------------------------------------------

CHAIN = """
/* Many sweeps of `sequential` in one launch, so that a test sees hundreds of thousands of them. It records topics and
 * tables after every `thin` sweeps. */
__kernel void chain(const int samples, const int thin, const int tokens, __global const int *restrict token_word,
                    __global const int *restrict token_document, __global ushort *restrict token_topic,
                    const uint seed, __global int *restrict records, MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const Sums sums = load_sums(&model, 0);
    const int cells = groups * words * TOPICS;
    uint iteration = 0;
    for (int sample = 0; sample < samples; ++sample) {
        for (int sweep = 0; sweep < thin; ++sweep) {
            ++iteration;
            for (int l = 0; l < tokens; ++l)
                resample_token(&model, &sums, token_word[l], token_document[l], token_topic + l,
                               uniforms(seed, iteration, l));
        }
        __global int *record = records + (size_t)sample * (tokens + cells);
        for (int l = 0; l < tokens; ++l)
            record[l] = token_topic[l];
        for (int x = 0; x < cells; ++x)
            record[tokens + x] = seats[x].y;
    }
}
"""


def copy_of_kernels(folder: Path, change: tuple[str, str] | None = None) -> Path:
    """The kernels with `chain` beside them, and one text of spdp.clh replaced by another."""
    kernels = folder / "kernels"
    shutil.copytree(programs.KERNELS, kernels)
    (kernels / "chain.cl").write_text(CHAIN)
    if change:
        header = kernels / "spdp.clh"
        text = header.read_text()
        assert text.count(change[0]) == 1, f"the text to change stands {text.count(change[0])} times in spdp.clh"
        header.write_text(text.replace(*change))
    return kernels


def chain(case: Case, samples: int, thin: int, seed: int) -> Counter[State]:
    """States after every `thin` sweeps of one long run, counted. `programs.KERNELS` must hold `chain.cl`."""
    corpus = case.corpus
    sampler = start(case, "sequential", 1, seed)
    sampler.step()
    state, schedule = sampler._state, sampler._schedule
    tokens, cells = len(case.tokens), corpus.n_groups * corpus.n_words * state.padded
    records = np.empty((samples, tokens + cells), np.int32)
    device = sampler.device
    buffer = cl.Buffer(context_of(device), cl.mem_flags.WRITE_ONLY, records.nbytes)
    kernel = cl.Kernel(build_program(device, (state.header, "chain.cl"), state.constants), "chain")
    kernel(state.queue, (1,), (1,), np.int32(samples), np.int32(thin), np.int32(tokens), schedule._token_word,
           schedule._token_document, schedule._token_topic, np.uint32(seed), buffer, *state.arguments)  # fmt: skip
    cl.enqueue_copy(state.queue, records, buffer)
    z = np.empty((samples, tokens), np.int32)
    z[:, schedule._order] = records[:, :tokens]
    t = records[:, tokens:].reshape(samples, -1, state.padded)[:, :, : case.topics].reshape(samples, -1)
    return Counter(map(tuple, np.hstack([z, t]).tolist()))


def start(case: Case, schedule: str, workers: int, seed: int) -> Sampler:
    settings = SamplerSettings(
        case.topics, case.priors, schedule, workers, seed=seed, held_out=0.0, measure_every=0
    )
    return Sampler(case.corpus, settings)


def steps(sampler: Sampler, samples: int, thin: int) -> Iterator[State]:
    """States after every `thin` steps of the sampler as it is used."""
    sampler.run(50)
    for _ in range(samples):
        for _ in range(thin):
            sampler.step()
        yield (*sampler.topics().tolist(), *sampler.inspect().counts.tables.ravel().tolist())


# ---- comparison -----------------------------------------------------------------------------------------------------


def chi_square(observed: Counter[State], exact: dict[State, float]) -> float:
    """The p-value of Pearson's test. States expected fewer than five times are taken together."""
    if not observed.keys() <= exact.keys():
        return 0.0  # a state that cannot be
    total = observed.total()
    expected = np.array(list(exact.values())) * total
    found = np.array([observed[state] for state in exact])
    rare = expected < 5
    expected = np.append(expected[~rare], expected[rare].sum())
    found = np.append(found[~rare], found[rare].sum())
    if expected[-1] < 5:
        expected[-2] += expected[-1]
        found[-2] += found[-1]
        expected, found = expected[:-1], found[:-1]
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


def total_variation(
    observed: Counter[State], exact: dict[State, float], feature: Callable[[State], object]
) -> float:
    """Half the sum of the differences between the two distributions of a feature of the state."""
    difference: Counter[object] = Counter()
    for state, p in exact.items():
        difference[feature(state)] -= p  # type: ignore[assignment]
    for state, count in observed.items():
        difference[feature(state)] += count / observed.total()  # type: ignore[assignment]
    return 0.5 * sum(abs(value) for value in difference.values())
