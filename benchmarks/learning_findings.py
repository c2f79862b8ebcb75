"""What was found about learning: runs and their traces, seconds to a fit, and verdicts on the claims."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning_runs import HYPERPARAMETERS
from benchmarks.report import counted

TextRows = Sequence[Mapping[str, str]]

WITHIN = 0.01
"""A fit is reached where perplexity is at most by this share above it."""

SECONDS_LIMIT = 0.5
"""Claimed of the seconds of the default over those of a random start without learning, both to the default's fit."""

LEARNING_LIMIT, TOGETHER_LIMIT = 0.05, 0.10
"""Claimed of the share of a run that learning takes, and that learning and averages take together."""

HOLDS, FAILS, NOT_KNOWN = "holds", "does not hold", "not known"


@dataclass(frozen=True, eq=False)
class Run:
    """A run, with what happened on the way.

    Attributes:
        corpus: its name.
        variant: a name of `learning_runs.VARIANTS`, or of `ABLATIONS` where there is no trace.
        seed: of the run.
        single: perplexity of the last sample, where all variants are compared: at the end, or earlier in a longer run.
        averaged: perplexity of averaged probabilities, there.
        learned: hyperparameters in force at the end, by name; without those that the run does not have.
        iteration: int64 [P], where the trace has points.
        seconds: float64 [P], since the run began.
        fit: float64 [P], averaged perplexity where there is one, else the single one.
    """

    corpus: str
    variant: str
    seed: int
    single: float
    averaged: float
    learned: Mapping[str, float]
    iteration: NDArray[np.int64]
    seconds: NDArray[np.float64]
    fit: NDArray[np.float64]

    def reaching(self, fit: float) -> float | None:
        """Seconds until perplexity is within `WITHIN` of a fit and stays there; None where it is not in the end.

        It has to stay, since random first topics, all of them much alike, fit well for a moment before they part.
        """
        above = np.flatnonzero(self.fit > fit * (1 + WITHIN))
        first = above[-1] + 1 if len(above) else 0
        return float(self.seconds[first]) if first < len(self.fit) else None


@dataclass(frozen=True)
class Wait:
    """Seconds to a fit, over seeds.

    Attributes:
        mean: over seeds. One that never reaches it counts with the whole of its run, so that its wait is longer than that.
        reached: how many seeds do.
        seeds: of how many.
        iterations: of each run.
    """

    mean: float
    reached: int
    seeds: int
    iterations: int

    @classmethod
    def of(cls, runs: Sequence[Run], fits: Sequence[float]) -> Wait:
        """How long each run takes to its fit."""
        found = [run.reaching(fit) for run, fit in zip(runs, fits, strict=True)]
        waits = [float(run.seconds[-1]) if wait is None else wait for run, wait in zip(runs, found, strict=True)]
        reached = sum(wait is not None for wait in found)
        return cls(statistics.fmean(waits), reached, len(runs), int(runs[0].iteration[-1]))

    @property
    def ends(self) -> bool:
        """Whether every seed reaches it."""
        return self.reached == self.seeds

    def __str__(self) -> str:
        if self.ends:
            return f"{self.mean:.2f}"
        if self.reached:
            return f"over {self.mean:.2f} ({self.reached} of {self.seeds} seeds)"
        return f"not within {counted(self.iterations, 'iteration')} ({self.mean:.2f} seconds)"


@dataclass(frozen=True)
class Saving:
    """One wait over another, which always ends over one that may not.

    Attributes:
        value: the ratio of the means.
        bound: whether the ratio is below that, since the other wait did not end in all runs.
    """

    value: float
    bound: bool

    @classmethod
    def of(cls, one: Wait, other: Wait) -> Saving:
        """The first over the second."""
        return cls(one.mean / other.mean, not other.ends)

    @property
    def verdict(self) -> str:
        """Whether the ratio is at most `SECONDS_LIMIT`."""
        if self.value <= SECONDS_LIMIT:
            return HOLDS
        return NOT_KNOWN if self.bound else FAILS

    def __str__(self) -> str:
        return f"{'below ' if self.bound else ''}{self.value:.2f}"


def read_runs(rows: TextRows, points: TextRows = (), compared: int = 0) -> list[Run]:
    """Runs from the two files of `runs.complete_traced`, or without traces.

    Args:
        rows: a run to each.
        points: of their traces.
        compared: the iteration at which variants are compared; each trace has a point there.
    """
    traces: dict[str, list[Mapping[str, str]]] = {}
    for point in points:
        traces.setdefault(point["run"], []).append(point)
    return [_read_run(row, traces.get(row.get("run", ""), []), compared) for row in rows]


def _read_run(row: Mapping[str, str], trace: TextRows, compared: int) -> Run:
    single, averaged = row["single"], row["averaged"]
    if trace:
        (point,) = [point for point in trace if int(point["iteration"]) == compared]
        single, averaged = point["perplexity"], _fit(point)
    return Run(
        corpus=row["corpus"],
        variant=row["variant"] if "variant" in row else row["fixed"],
        seed=int(row["seed"]),
        single=float(single),
        averaged=float(averaged),
        learned={name: float(row[name]) for name in HYPERPARAMETERS if row[name]},
        iteration=np.array([int(point["iteration"]) for point in trace], np.int64),
        seconds=np.array([float(point["seconds"]) for point in trace]),
        fit=np.array([float(_fit(point)) for point in trace]),
    )


def _fit(point: Mapping[str, str]) -> str:
    return point["averaged"] or point["perplexity"]


Runs = Mapping[str, Mapping[str, Sequence[Run]]]
"""By corpus and variant, each in the order of seeds."""


def sorted_runs(runs: Sequence[Run]) -> Runs:
    """Runs by corpus and variant, both in the order in which they first appear."""
    found: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        found.setdefault(run.corpus, {}).setdefault(run.variant, []).append(run)
    for variants in found.values():
        for own in variants.values():
            own.sort(key=lambda run: run.seed)
    return found


def saving_verdict(rival: str, savings: Mapping[str, Saving]) -> str:
    """On how many corpora the default is at its fit in at most `SECONDS_LIMIT` of a rival's seconds, and on which it is not."""
    on = {
        verdict: [corpus for corpus, saving in savings.items() if saving.verdict == verdict]
        for verdict in (HOLDS, FAILS, NOT_KNOWN)
    }
    what = (
        f"The default is within {WITHIN:.0%} of its last averaged perplexity in at most {SECONDS_LIMIT:.2f} of the seconds that "
        f"`{rival}` would take"
    )
    against = f"; **{FAILS}** on {', '.join(on[FAILS])}" if on[FAILS] else ""
    ended = f"; {NOT_KNOWN} on {', '.join(on[NOT_KNOWN])}, where the other run ended first" if on[NOT_KNOWN] else ""
    return f"{what}: {HOLDS} on {len(on[HOLDS])} of {len(savings)}{against}{ended}."


def share_verdict(what: str, limit: float, shares: Mapping[str, float]) -> str:
    """Whether a share of a run is below its limit on every corpus.

    Args:
        what: takes the share, as the beginning of a sentence.
        limit: of the share.
        shares: by corpus.
    """
    above = [corpus for corpus, share in shares.items() if share >= limit]
    return f"{what} under {limit:.0%} of a run: {_on_which(above, list(shares))}."


def _on_which(against: Sequence[str], judged: Sequence[str]) -> str:
    return f"**{FAILS}** on {', '.join(against)}" if against else f"{HOLDS} on {', '.join(judged)}"
