"""A real corpus on the page of `blocking`, and the paper's findings on KOS and NIPS."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.blocking_findings import Traces, first_reaching
from benchmarks.blocking_page import (
    AGREES,
    AUGMENTED,
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
from benchmarks.report import counted, table

PAPER_LONE = 0.629
"""The paper's share of KOS's words that appear once in their documents."""

SEVERAL_HUNDRED = 200


def describe_real(study: Study, findings: Sequence[Finding], number: str) -> list[str]:
    """The paragraphs of a real corpus."""
    single = study.traces[SINGLE]
    level = settled_level(single)
    rows = []
    for name, traces in study.traces.items():
        reached = first_reaching(traces.iterations, traces.log_posterior.mean(axis=0), level)
        rows.append([
            f"`{name}`", str(len(traces.seeds)), minus(f"{traces.final.mean():,.0f}"),
            minus(f"{study.posterior_apart(name, SINGLE).mean:+,.0f}") if name != SINGLE else "",
            "never" if reached is None else str(reached), f"{traces.final_perplexity.mean():,.1f}",
            minus(f"{study.perplexity_apart(name, SINGLE).mean:+,.1f}") if name != SINGLE else "",
            f"{study.seconds[name]:,.0f}",
        ])  # fmt: skip
    header = [
        "", "runs", "log posterior", "less single site's", "at single site's level", "perplexity", "less single site's", "s a run",
    ]  # fmt: skip
    return [
        f"## {number}. {study.corpus.name}",
        f"{study.introduction()} {study.lone:.1%} of all tokens and {study.lone_training:.1%} of the training tokens are the only "
        "one of their word in their document.",
        table(header, rows),
        f"Means over runs at the last iteration. “At single site's level” is the first iteration at which the mean log posterior "
        f"is {minus(f'{level:,.0f}')}, the mean of `{SINGLE}` over the last fifth of its iterations.",
        study.figure,
        listed(findings),
    ]


def settled_level(traces: Traces) -> float:
    """Mean log posterior over runs and the last fifth of their iterations."""
    return float(traces.log_posterior[:, traces.settled].mean())


def _earlier(study: Study) -> tuple[int | None, int | None]:
    """The first iterations at which single-site and nested runs, on average, are at single-site's late level."""
    level = settled_level(study.traces[SINGLE])
    single, nested = (study.traces[name] for name in (SINGLE, NESTED))
    first = first_reaching(single.iterations, single.log_posterior.mean(axis=0), level)
    second = first_reaching(nested.iterations, nested.log_posterior.mean(axis=0), level)
    return first, second


def kos_findings(study: Study) -> list[Finding]:
    """The paper's findings on KOS."""
    posterior, perplexity = study.posterior_apart(NESTED, SINGLE), study.perplexity_apart(NESTED, SINGLE)
    return [
        Finding(
            MISSING if posterior.clear and posterior.mean > 0 else AGREES,
            "In log posterior, blocks do no better than single sites.",
            f"`{NESTED}` less `{SINGLE}` at the end: {signed(posterior, 0)}, {clearly(posterior)}.",
        ),
        Finding(
            verdict_of([-perplexity.mean], [perplexity.clear]),
            "In perplexity, blocks do a little better.",
            f"`{NESTED}` less `{SINGLE}`: {signed(perplexity, 2)}, {clearly(perplexity)}.",
        ),
        Finding(
            AGREES if min(abs(share - PAPER_LONE) for share in (study.lone, study.lone_training)) < 0.005 else MISSING,
            f"{PAPER_LONE:.1%} of the words appear only once in their documents.",
            f"{study.lone:.1%} of all tokens, {study.lone_training:.1%} of those that are trained on.",
        ),
        _augmented(study),
    ]


def nips_findings(study: Study) -> list[Finding]:
    """The paper's findings on NIPS, beside another corpus."""
    posterior, perplexity = study.posterior_apart(NESTED, SINGLE), study.perplexity_apart(NESTED, SINGLE)
    first, second = _earlier(study)
    gain = first - second if first is not None and second is not None else 0
    if gain >= SEVERAL_HUNDRED and posterior.clear and posterior.mean > 0:
        verdict = AGREES
    else:
        verdict = DIRECTION if gain > 0 and posterior.mean > 0 else MISSING
    times = f"`{SINGLE}` is at its late level after {_after(first)}, `{NESTED}` after {_after(second)}"
    return [
        Finding(
            verdict,
            "On NIPS, blocks reach the region of high posterior several hundred iterations sooner than single sites.",
            f"{times}; at the end, `{NESTED}` less `{SINGLE}` is {signed(posterior, 0)}, {clearly(posterior)}.",
        ),
        Finding(
            verdict_of([-perplexity.mean], [perplexity.clear]),
            "On NIPS, blocks reach a lower perplexity on average.",
            f"`{NESTED}` less `{SINGLE}`: {signed(perplexity, 2)}, {clearly(perplexity)}.",
        ),
        _augmented(study),
    ]


def _after(iteration: int | None) -> str:
    return "no iteration of these" if iteration is None else counted(iteration, "iteration")


def _augmented(study: Study) -> Finding:
    posterior, perplexity = study.posterior_apart(AUGMENTED, SINGLE), study.perplexity_apart(AUGMENTED, SINGLE)
    return Finding(
        OTHER,
        "Data augmentation on a real corpus.",
        f"`{AUGMENTED}` less `{SINGLE}` at the end: log posterior {signed(posterior, 0)}, perplexity {signed(perplexity, 1)}.",
    )
