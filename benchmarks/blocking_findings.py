"""What traces of samplers say: how many runs ended in a local mode, which sampler is ahead and by how much, and how soon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

WIDE = 5.0
"""A gap between neighbouring final log posteriors is one between modes where it is wider than this many standard deviations of the
log posterior within a run that has settled."""

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Traces:
    """The traces of one sampler's runs.

    Attributes:
        seeds: [R], in order.
        iterations: int64 [T], 0 first.
        log_posterior: float64 [R, T].
        perplexity: float64 [R, T], not a number where it was not measured.
    """

    seeds: tuple[int, ...]
    iterations: NDArray[np.int64]
    log_posterior: NDArray[np.float64]
    perplexity: NDArray[np.float64]

    @property
    def final(self) -> NDArray[np.float64]:
        """Log posterior at the last iteration: float64 [R]."""
        return self.log_posterior[:, -1]

    @property
    def final_perplexity(self) -> NDArray[np.float64]:
        """The last perplexity that was measured: float64 [R]."""
        return self.perplexity[:, self.measured[-1]]

    @property
    def measured(self) -> NDArray[np.int64]:
        """Places in `iterations` at which perplexity was measured."""
        return np.flatnonzero(~np.isnan(self.perplexity).all(axis=0))

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Places in `iterations` in the last fifth of a run: bool [T]."""
        last = 0.8 * self.iterations[-1]
        return self.iterations >= last

    def spread_within(self) -> float:
        """Standard deviation of the log posterior within the last fifth of a run; median over runs."""
        return float(np.median(np.std(self.log_posterior[:, self.settled], axis=1)))

    def settling(self) -> NDArray[np.int64]:
        """The first iteration of each run whose log posterior is within two standard deviations of its last fifth's mean: [R]."""
        late = self.log_posterior[:, self.settled]
        level = late.mean(axis=1) - 2 * late.std(axis=1)
        reached = self.log_posterior >= level[:, None]
        return self.iterations[reached.argmax(axis=1)]


def read_traces(points: Sequence[Mapping[str, str]]) -> dict[str, Traces]:
    """The traces of each sampler, from the points of a file of traces."""
    numbers = pd.DataFrame(points)
    columns = ["seed", "iteration", "log_posterior", "perplexity"]
    numbers[columns] = numbers[columns].apply(pd.to_numeric)
    found = {}
    for sampler, own in numbers.groupby("sampler", sort=False):
        posterior = own.pivot_table(index="seed", columns="iteration", values="log_posterior")
        perplexity = own.pivot_table(index="seed", columns="iteration", values="perplexity", dropna=False)
        found[str(sampler)] = Traces(
            tuple(posterior.index), posterior.columns.to_numpy(), posterior.to_numpy(),
            perplexity.reindex_like(posterior).to_numpy(float),
        )  # fmt: skip
    return found


@dataclass(frozen=True)
class Gap:
    """Where the runs that ended in the best mode part from those that did not.

    Attributes:
        below_best: a run is in a local mode where its log posterior ends more than this below the best of all runs.
        upper: final log posterior of the worst run above the gap.
        lower: of the best run below it.
    """

    below_best: float
    upper: float
    lower: float


def find_gap(final: NDArray[np.float64], spread_within: float) -> Gap | None:
    """The first gap from the top that is wider than `WIDE` times the spread within a run; None where there is none.

    Args:
        final: final log posteriors of all runs of all samplers: float64 [R].
        spread_within: standard deviation of the log posterior within a run that has settled.

    Returns:
        The gap; its middle parts the runs.
    """
    falling = np.sort(final)[::-1]
    drops = falling[:-1] - falling[1:]
    wide = np.flatnonzero(drops > WIDE * spread_within)
    if not len(wide):
        return None
    upper, lower = float(falling[wide[0]]), float(falling[wide[0] + 1])
    return Gap(float(falling[0]) - (upper + lower) / 2, upper, lower)


def in_local_modes(final: NDArray[np.float64], best: float, gap: Gap | None) -> NDArray[np.bool_]:
    """Which runs ended in a local mode: bool [R]."""
    return final < best - gap.below_best if gap else np.zeros(len(final), bool)


def chance(one: int, of_one: int, other: int, of_other: int) -> float:
    """How often two shares at least as different come about by chance (Fisher's exact test, two-sided)."""
    return float(stats.fisher_exact([[one, of_one - one], [other, of_other - other]]).pvalue)


@dataclass(frozen=True)
class Difference:
    """One sampler less another, over pairs of runs that began at the same topics.

    Attributes:
        mean: over pairs.
        error: its standard error; not a number where there is one pair.
        pairs: how many.
        clear: whether 0 lies outside the mean's confidence interval (Student's t, `CONFIDENCE`).
    """

    mean: float
    error: float
    pairs: int
    clear: bool


def difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> Difference:
    """`one` less `other`, paired: float64 [R] each."""
    apart = one - other
    mean = float(apart.mean())
    if len(apart) < 2:
        return Difference(mean, float("nan"), len(apart), False)
    error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
    limit = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(apart) - 1)) * error
    return Difference(mean, error, len(apart), abs(mean) > limit)


def unpaired_chance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How often two samples of one distribution are at least as different (Kolmogorov and Smirnov's test)."""
    return float(stats.ks_2samp(one, other).pvalue)


def first_reaching(iterations: NDArray[np.int64], values: NDArray[np.float64], level: float) -> int | None:
    """The first iteration at which a rising trace [T] is at `level`; None where it never is."""
    reached = np.flatnonzero(values >= level)
    return int(iterations[reached[0]]) if len(reached) else None
