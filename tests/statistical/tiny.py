"""Corpora so small that the posterior can be written down, and long runs of the sampler on them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import lgamma, log

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray
from scipy.stats import chi2

from spdp_engine.models.spdp import Priors
from spdp_engine.sampling import programs
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.programs import context_of
from spdp_engine.sampling.sampler import Sampler, SamplerSettings
from spdp_engine.types import Tokens

State = tuple[int, ...]
"""Topics of the tokens, then the tables of each cell (group, word, topic)."""


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
/* Many sweeps of a schedule in one launch, so that a test sees hundreds of thousands of them: phases one after another,
 * in each the workers one after another, each with sums of its own; then the totals are merged. It records topics and
 * tables after every `thin` sweeps. */
__kernel void chain(const int samples, const int thin, const int workers, __global const int *restrict starts,
                    const int tokens, __global const int *restrict token_word,
                    __global const int *restrict token_document, __global ushort *restrict token_topic,
                    const uint seed, __global int *restrict records, MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const int cells = groups * words * TOPICS, count = 2 * groups * TOPICS;
    uint iteration = 0;
    for (int sample = 0; sample < samples; ++sample) {
        for (int sweep = 0; sweep < thin; ++sweep) {
            ++iteration;
            for (int phase = 0; phase < workers; ++phase) {
                for (int worker = 0; worker < workers; ++worker) {
                    const Sums sums = load_sums(&model, worker);
                    __global const int *bounds = starts + phase * (workers + 1) + worker;
                    for (int l = bounds[0]; l < bounds[1]; ++l)
                        resample_token(&model, &sums, token_word[l], token_document[l], token_topic + l,
                                       uniforms(seed, iteration, l));
                }
                for (int x = 0; x < count; ++x) {
                    int after = totals[x];
                    for (int worker = 0; worker < workers; ++worker)
                        after += worker_totals[worker * count + x] - totals[x];
                    ((__global int *)totals)[x] = after;
                }
            }
        }
        __global int *record = records + (size_t)sample * (tokens + cells);
        for (int l = 0; l < tokens; ++l)
            record[l] = token_topic[l];
        for (int x = 0; x < cells; ++x)
            record[tokens + x] = seats[x].y;
    }
}
"""


@cache
def chain_program(device: Device, topics: int, change: tuple[str, str] | None) -> cl.Program:
    """`chain` with the model's header, one text of which is replaced by another."""
    source = programs._expand("spdp.clh", set())
    if change:
        assert source.count(change[0]) == 1, f"the text to change stands {source.count(change[0])} times in the header"
        source = source.replace(*change)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return cl.Program(context_of(device), source + CHAIN).build([*programs.OPTIONS, f"-DTOPICS={topics}"])


def chain(
    case: Case, schedule: str, workers: int, samples: int, thin: int, seed: int, change: tuple[str, str] | None = None
) -> list[State]:
    """States after every `thin` sweeps of one long run; `change` makes the sampler wrong on purpose."""
    sampler = start(case, schedule, workers, seed)
    sampler.step()
    state, laid_out = sampler._state, sampler._schedule
    tokens, cells = len(case.tokens), state.groups * state.words * state.padded
    if schedule == "sequential":
        starts = np.array([[0, tokens]], np.int32)
    else:
        starts = np.empty((workers, workers + 1), np.int32)
        for row, buffer in zip(starts, laid_out._starts, strict=True):
            cl.enqueue_copy(state.queue, row, buffer)
    records = np.empty((samples, tokens + cells), np.int32)
    context, flags = context_of(sampler.device), cl.mem_flags
    starts_there = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=starts)
    records_there = cl.Buffer(context, flags.WRITE_ONLY, records.nbytes)
    kernel = cl.Kernel(chain_program(sampler.device, state.padded, change), "chain")
    kernel(state.queue, (1,), (1,), np.int32(samples), np.int32(thin), np.int32(workers), starts_there,
           np.int32(tokens), laid_out._token_word, laid_out._token_document, laid_out._token_topic, np.uint32(seed),
           records_there, *state.arguments)  # fmt: skip
    cl.enqueue_copy(state.queue, records, records_there)
    z = np.empty((samples, tokens), np.int32)
    z[:, laid_out._order] = records[:, :tokens]
    t = records[:, tokens:].reshape(samples, -1, state.padded)[:, :, : case.topics].reshape(samples, -1)
    return [tuple(row) for row in np.hstack([z, t]).tolist()]


def steps(case: Case, schedule: str, workers: int, samples: int, seed: int) -> list[State]:
    """States after each step of the sampler as it is used, from the second step on."""
    sampler = start(case, schedule, workers, seed)
    sampler.step()
    states = []
    for _ in range(samples):
        sampler.step()
        states.append((*sampler.topics().tolist(), *sampler.inspect().counts.tables.ravel().tolist()))
    return states


def start(case: Case, schedule: str, workers: int, seed: int) -> Sampler:
    settings = SamplerSettings(case.topics, case.priors, schedule, workers, seed=seed, held_out=0.0, measure_every=0)
    return Sampler(case.corpus, settings)


# ---- comparison -----------------------------------------------------------------------------------------------------


def chi_square(states: Iterable[State], exact: dict[State, float]) -> float:
    """The p-value of Pearson's test. States expected fewer than five times are taken together."""
    observed = Counter(states)
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


def total_variation(states: list[State], exact: dict[State, float], feature: Callable[[State], object]) -> float:
    """Half the sum of the differences between the two distributions of a feature of the state."""
    share: dict[object, float] = {}
    for state, p in exact.items():
        share[feature(state)] = share.get(feature(state), 0.0) - p
    for state, count in Counter(states).items():
        share[feature(state)] = share.get(feature(state), 0.0) + count / len(states)
    return 0.5 * sum(abs(difference) for difference in share.values())
