"""Seconds a sweep on the page of `blocking`."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.blocking_page import (
    AGREES,
    BACKWARD,
    BLOCKS,
    DIRECTION,
    MISSING,
    NESTED,
    SINGLE,
    Finding,
    listed,
)
from benchmarks.report import counted, table

PAPER_SAVED = {True: 0.144, False: 0.365}
"""What nested draws saved of single-site sampling's time at K = 1024: on KOS, and on NIPS."""


def describe_timing(
    corpora: Mapping[str, bool], rows: Sequence[Mapping[str, str]], figure: str, workers: int
) -> list[str]:
    """The paragraphs of seconds a sweep against K.

    Args:
        corpora: names, and whether it is KOS.
        rows: of the CSV files, of all corpora.
        figure: Markdown that shows the figure.
        workers: of `blocks`.
    """
    parts = [
        "## 3. Seconds a sweep",
        f"Median seconds of a sweep over all tokens in the first sweeps from random topics, after one that is not counted; one "
        f"run at a time. `{BLOCKS}` is Parallax's own schedule, here with {counted(workers, 'worker')}; it is not exact beyond one "
        "worker. All others use one core.",
    ]
    for corpus in corpora:
        times = seconds_of(rows, corpus)
        names = [name for name in (SINGLE, BACKWARD, NESTED, BLOCKS) if any(name in own for own in times.values())]
        body = [
            [str(topics), *(f"{own[name]:.3g}" for name in names), *(f"{own[name] / own[SINGLE]:.2f}" for name in names[1:])]
            for topics, own in times.items()
        ]  # fmt: skip
        header = [f"K, {corpus}", *(f"`{name}`, s" for name in names), *(f"`{name}`, ratio" for name in names[1:])]
        parts += [table(header, body)]
    findings = [
        finding
        for corpus, is_kos in corpora.items()
        for finding in timing_findings(corpus, is_kos, seconds_of(rows, corpus))
    ]
    return [*parts, f"Ratios are to `{SINGLE}`.", figure, listed(findings)]


def seconds_of(rows: Sequence[Mapping[str, str]], corpus: str) -> dict[int, dict[str, float]]:
    """Seconds a sweep of each sampler, by K."""
    times: dict[int, dict[str, float]] = {}
    for row in rows:
        if row["corpus"] == corpus:
            times.setdefault(int(row["topics"]), {})[row["sampler"]] = float(row["seconds"])
    return times


def timing_findings(corpus: str, is_kos: bool, times: Mapping[int, Mapping[str, float]]) -> list[Finding]:
    """The paper's findings on the cost of a sweep; on a corpus that is not KOS, those on NIPS."""
    backward = [own[BACKWARD] / own[SINGLE] for own in times.values()]
    nested = {topics: own[NESTED] / own[SINGLE] for topics, own in times.items()}
    most = max(times)
    span = f"`{BACKWARD}` takes {min(backward):.2f} to {max(backward):.2f} times as long as `{SINGLE}`"
    saved = PAPER_SAVED[is_kos]
    passed = nested[most] < 1
    under = [topics for topics, ratio in nested.items() if ratio < 1]
    where = f"it is below 1 at K = {', '.join(map(str, under))}" if under else "it is below 1 at no K"
    verdict = AGREES if passed else DIRECTION if under else MISSING
    return [
        Finding(
            AGREES if (min(backward) > 2 if is_kos else abs(statistics.fmean(backward) - 1.25) < 0.15) else MISSING,
            "On KOS, single sites are more than twice as fast as backward draws at any number of topics."
            if is_kos
            else "On NIPS, backward draws take about 25 % longer.",
            f"on {corpus}, {span}.",
        ),
        Finding(
            verdict,
            f"On {'KOS' if is_kos else 'NIPS'}, nested draws overtake single sites as K grows, and save {saved:.1%} at K = 1024.",
            f"on {corpus}, the ratio of `{NESTED}` to `{SINGLE}` goes from {nested[min(times)]:.2f} at K = {min(times)} to "
            f"{nested[most]:.2f} at K = {most}; {where}. (Here a single site weighs eight topics with one instruction "
            "and costs little more than reading its rows; the paper's samplers were written in Python.)",
        ),
    ]  # fmt: skip
