"""The simulated corpus on the page of `blocking`: runs in local modes, and the paper's findings beside them."""

from __future__ import annotations

import statistics

import numpy as np

from benchmarks.blocking_findings import WIDE, Gap, Traces, chance, find_gap, in_local_modes, unpaired_chance
from benchmarks.blocking_page import (
    AGREES,
    AUGMENTED,
    BACKWARD,
    DIRECTION,
    MISSING,
    NESTED,
    OTHER,
    SINGLE,
    Finding,
    Study,
    clearly,
    listed,
    minus,
    signed,
    verdict_of,
)
from benchmarks.blocking_runs import FOUND_WITHIN
from benchmarks.report import counted, table

PAPER_RUNS = 30
PAPER_LOCAL = {SINGLE: 5, NESTED: 5, BACKWARD: 5, AUGMENTED: 10}
"""The paper's runs of 30 that were trapped in local modes after 500 iterations."""


def describe_simulated(study: Study, alpha: float) -> list[str]:
    """The paragraphs of the simulated corpus."""
    gap = _gap(study)
    best = max(float(traces.final.max()) for traces in study.traces.values())
    rows = []
    for name, traces in study.traces.items():
        local = int(in_local_modes(traces.final, best, gap).sum())
        rows.append([
            f"`{name}`", str(len(traces.seeds)), str(local), f"{PAPER_LOCAL[name]} of {PAPER_RUNS}",
            str(sum(found < study.topics for found in study.bars_found[name])),
            minus(f"{np.median(traces.final):,.0f}"), minus(f"{traces.final.min():,.0f}"),
            f"{traces.final_perplexity.mean():.3f}", _outside(traces, best, gap),
            f"{np.median(traces.settling()):.0f}", f"{study.seconds[name]:.1f}",
        ])  # fmt: skip
    header = [
        "", "runs", "in local modes", "paper", "lack a bar", "log posterior, median", "worst", "perplexity",
        "outside local modes", "settled at iteration", "s a run",
    ]  # fmt: skip
    return [
        "## 1. Simulated corpus",
        f"Bars of Griffiths and Steyvers (2004) on a 5 × 5 grid. They drew documents with Dirichlet(1) shares of topics; the paper "
        f"names α = 0.1 alone, and Dirichlet({alpha:g}) shares are drawn here. " + study.introduction(),
        table(header, rows),
        study.figure,
        _local_modes(study, gap, best),
        listed(simulated_findings(study)),
    ]


def _outside(traces: Traces, best: float, gap: Gap | None) -> str:
    """Mean perplexity of the runs that did not end in a local mode."""
    others = traces.final_perplexity[~in_local_modes(traces.final, best, gap)]
    return f"{others.mean():.3f}" if len(others) else ""


def _gap(study: Study) -> Gap | None:
    final = np.concatenate([traces.final for traces in study.traces.values()])
    return find_gap(final, _spread_within(study))


def _spread_within(study: Study) -> float:
    return statistics.median(traces.spread_within() for traces in study.traces.values())


def _local_modes(study: Study, gap: Gap | None, best: float) -> str:
    """How local modes are told, and whether that agrees with the bars that are missing."""
    spread = _spread_within(study)
    definition = (
        f"A run counts as in a local mode where its log posterior ends below the first gap from the top that is wider than "
        f"{WIDE:g} standard deviations of the log posterior within a run that has settled ({spread:,.0f})"
    )
    if gap is None:
        return f"{definition}. There is no such gap between the final log posteriors: no run ended in a local mode."
    agree = disagree = 0
    for name, traces in study.traces.items():
        local = in_local_modes(traces.final, best, gap)
        lacks = np.array(study.bars_found[name]) < study.topics
        agree += int((local == lacks).sum())
        disagree += int((local != lacks).sum())
    return (
        f"{definition}. That gap lies between {minus(f'{gap.upper:,.0f}')} and {minus(f'{gap.lower:,.0f}')}, so that the "
        f"bound is {gap.below_best:,.0f} below the best run. A bar is missing where no topic is within a total variation of "
        f"{FOUND_WITHIN:g} of it: two bars that share a topic are both missing. The two ways to tell agree in {agree} of "
        f"{agree + disagree} runs."
    )


def simulated_findings(study: Study) -> list[Finding]:
    """The paper's findings on its simulated corpus."""
    gap = _gap(study)
    best = max(float(traces.final.max()) for traces in study.traces.values())
    local = {name: int(in_local_modes(traces.final, best, gap).sum()) for name, traces in study.traces.items()}
    runs = {name: len(traces.seeds) for name, traces in study.traces.items()}
    collapsed, of_collapsed = local[SINGLE] + local[NESTED], runs[SINGLE] + runs[NESTED]
    by_chance = chance(collapsed, of_collapsed, local[AUGMENTED], runs[AUGMENTED])
    fewer = collapsed / of_collapsed < local[AUGMENTED] / runs[AUGMENTED]
    papers_chance = chance(2 * PAPER_LOCAL[SINGLE], 2 * PAPER_RUNS, PAPER_LOCAL[AUGMENTED], PAPER_RUNS)
    perplexities = {name: study.perplexity_apart(name, AUGMENTED) for name in (SINGLE, NESTED)}
    blocked = study.perplexity_apart(NESTED, SINGLE)
    settled = {name: float(np.median(traces.settling())) for name, traces in study.traces.items()}
    findings = [
        Finding(
            (AGREES if by_chance < 0.05 else DIRECTION) if fewer else MISSING,
            "Fewer runs of the collapsed samplers (5 of 30) than of data augmentation (10 of 30) are trapped in local modes.",
            f"{local[SINGLE]} of {runs[SINGLE]} of `{SINGLE}`, {local[NESTED]} of {runs[NESTED]} of `{NESTED}`, "
            f"{local[AUGMENTED]} of {runs[AUGMENTED]} of `{AUGMENTED}`. Collapsed against augmented, shares that differ as much "
            f"come about by chance with probability {by_chance:.2g} (Fisher's exact test); with the paper's counts it is "
            f"{papers_chance:.2g}.",
        ),
        Finding(
            verdict_of([-one.mean for one in perplexities.values()], [one.clear for one in perplexities.values()]),
            "Both collapsed samplers consistently reach a lower perplexity than data augmentation.",
            f"perplexity less data augmentation's is {signed(perplexities[SINGLE], 4)} for `{SINGLE}` and "
            f"{signed(perplexities[NESTED], 4)} for `{NESTED}`.",
        ),
        Finding(
            AGREES if not (blocked.clear and blocked.mean > 0) else MISSING,
            "Blocks of words do only slightly better than single sites.",
            f"perplexity of `{NESTED}` less that of `{SINGLE}` is {signed(blocked, 4)}, {clearly(blocked)}.",
        ),
        Finding(
            AGREES if max(settled[SINGLE], settled[NESTED]) <= 100 else MISSING,
            "Most runs of the collapsed samplers have burnt in after about 50 iterations, of all samplers after about 100.",
            "half the runs have settled after "
            + ", ".join(f"{settled[name]:.0f} (`{name}`)" for name in (SINGLE, NESTED, AUGMENTED))
            + " iterations: within two standard deviations of the mean of their last fifth.",
        ),
    ]  # fmt: skip
    if BACKWARD in study.traces:
        few = study.traces[BACKWARD]
        findings.append(Finding(
            OTHER,
            "Backward and nested draws have the same distribution.",
            f"final log posteriors of {counted(len(few.seeds), 'run')} of `{BACKWARD}` against `{NESTED}`: probability "
            f"{unpaired_chance(few.final, study.traces[NESTED].final):.2g} that two samples of one distribution are at least as "
            f"different (Kolmogorov and Smirnov); perplexity {few.final_perplexity.mean():.3f} against "
            f"{study.traces[NESTED].final_perplexity.mean():.3f}.",
        ))  # fmt: skip
    return findings
