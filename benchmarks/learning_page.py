"""The page of `python -m benchmarks learning`: fit, seconds to it, each hyperparameter by itself, and what it all costs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from benchmarks.fit_page import Ratio
from benchmarks.learning_findings import (
    LEARNING_LIMIT,
    SECONDS_LIMIT,
    TOGETHER_LIMIT,
    WITHIN,
    Run,
    Runs,
    Saving,
    TextRows,
    Wait,
    saving_verdict,
    share_verdict,
)
from benchmarks.learning_runs import DEFAULT, FIXED, HYPERPARAMETERS, RIVALS, SCHEDULE, VARIANTS
from benchmarks.report import counted, table

SHORTENED = "This run was shortened: it says nothing about the claims."


def describe(
    runs: Runs, ablated: Runs, shares: TextRows, corpora: Sequence[str], iterations: int, figure: str, quick: bool
) -> list[str]:
    """The page's paragraphs.

    Args:
        runs: of the variants.
        ablated: those with one hyperparameter fixed; may lack corpora, or be empty.
        shares: rows of `learning_shares.SharesRun`.
        corpora: a sentence on each.
        iterations: after which variants are compared; the length of each run that is not longer.
        figure: Markdown that shows it.
        quick: whether runs were shortened.
    """
    return [
        _introduction(runs, iterations),
        "\n".join(f"- `{one.name}`: {one.what}." for one in VARIANTS.values()),
        *([SHORTENED] if quick else []),
        *_fits(runs),
        *_seconds(runs, iterations, figure, quick),
        *(_ablations(runs, ablated) if ablated else []),
        *_costs(shares, quick),
        "## Corpora",
        "\n".join(f"- {corpus}." for corpus in corpora),
    ]


def _introduction(runs: Runs, iterations: int) -> str:
    seeds = max(len(own) for variants in runs.values() for own in variants.values())
    return (
        f"Held-out perplexity after {counted(iterations, 'iteration')} of SPDP with the schedule `{SCHEDULE}`, "
        f"{counted(seeds, 'seed')}; lower is better. A seed decides what is held out, too, half the tokens of a tenth of the "
        "documents, so that the variants of a seed are compared. Single: of the last sample; averaged: of probabilities averaged "
        "over samples. What is compared:"
    )


def _fits(runs: Runs) -> list[str]:
    """Table A: perplexities at the end; and what was learned."""
    body, learned = [], []
    for corpus, variants in runs.items():
        default = variants[DEFAULT.name]
        for name, own in variants.items():
            ratios = [
                "" if own is default else str(Ratio.of([of(run) for run in own], [of(run) for run in default]))
                for of in (_single, _averaged)
            ]
            body.append([corpus, name, _mean(own, _single), _mean(own, _averaged), *ratios])
        means = [statistics.fmean(run.learned[name] for run in default) for name in HYPERPARAMETERS]
        learned.append([corpus, *(f"{mean:.3g}" for mean in means)])
    header = ["corpus", "variant", "single", "averaged", "single over default's", "averaged over default's"]
    return [
        "## Fit",
        table(header, body, left=(0, 1)),
        "Means over seeds. Ratios are of the means, with the standard error of the seeds' ratios.",
        "What the default had learned in the end (α: the mean over groups and topics):",
        table(["corpus", *HYPERPARAMETERS], learned),
    ]


def _seconds(runs: Runs, iterations: int, figure: str, quick: bool) -> list[str]:
    """Table B: seconds to the default's fit and to a variant's own."""
    body = []
    beside: dict[str, list[list[str]]] = {rival.name: [] for rival in RIVALS}
    savings: dict[str, dict[str, Saving]] = {rival.name: {} for rival in RIVALS}
    for corpus, variants in runs.items():
        default = variants[DEFAULT.name]
        goals = [run.averaged for run in default]
        waits = {name: Wait.of(own, goals) for name, own in variants.items()}
        for name, own in variants.items():
            own_goals = [run.averaged for run in own]
            whole = statistics.fmean(run.seconds[-1] for run in own)
            cells = [str(waits[name]), str(Wait.of(own, own_goals)), str(Wait.of(default, own_goals))]
            body.append([corpus, name, f"{whole:.2f}", *cells])
        for name, rows in beside.items():
            saving = savings[name][corpus] = Saving.of(waits[DEFAULT.name], waits[name])
            verdict = [] if quick else [saving.verdict]
            rows.append([corpus, str(waits[DEFAULT.name]), str(waits[name]), str(saving), *verdict])
    claim = [] if quick else [f"at most {SECONDS_LIMIT:.2f}"]
    header = ["corpus", "variant", "whole run", "to the default's fit", "to its own fit", "the default to that fit"]
    return [
        "## Seconds to a fit",
        figure,
        table(header, body, left=(0, 1)),
        f"Seconds of sampling, learning and measuring perplexity after every iteration, until perplexity is within {WITHIN:.0%} of "
        "the default's last averaged one, or of the variant's own, and stays there; means over seeds. Perplexity is the averaged "
        "one as soon as there is one, the single one before. After the 50th iteration one in five is looked at. Random first "
        "topics take no time here. A run of a few iterations goes before, uncounted, in which drivers compile. To see when it "
        "reaches the default's fit, a variant with random first topics runs for "
        f"{counted(RIVALS[0].times * iterations, 'iteration')}; "
        f"its own fit is that after {iterations:,}, as above.",
        "Below: runs that do not reach it count with the whole of their seconds, which are fewer than they would take.",
        *(
            part
            for name, rows in beside.items()
            for part in (
                f"`{DEFAULT.name}` beside `{name}`, to the default's fit:",
                table(["corpus", f"{DEFAULT.name}, s", f"{name}, s", "ratio", *claim], rows),
                *([] if quick else [saving_verdict(name, savings[name])]),
            )
        ),
    ]


def _ablations(runs: Runs, ablated: Runs) -> list[str]:
    """Averaged perplexity with one hyperparameter fixed; a row to each, a pair of columns to a corpus."""
    everything = {
        "nothing": {corpus: runs[corpus][DEFAULT.name] for corpus in ablated},
        **{name: {corpus: variants[name] for corpus, variants in ablated.items()} for name in HYPERPARAMETERS},
        "everything": {corpus: runs[corpus][FIXED.name] for corpus in ablated},
    }
    body = []
    for name, by_corpus in everything.items():
        cells = [name]
        for corpus, own in by_corpus.items():
            default = everything["nothing"][corpus]
            ratio = Ratio.of([run.averaged for run in own], [run.averaged for run in default])
            cells += [_mean(own, _averaged), "" if own is default else str(ratio)]
        body.append(cells)
    header = ["not learned"]
    for corpus in ablated:
        header += [corpus, "over default's"]
    return [
        "## Each hyperparameter by itself",
        "Averaged perplexity at the end where one hyperparameter stays at its default, the thesis's value where the thesis "
        "has it, and all others are learned.",
        table(header, body),
    ]


def _costs(rows: TextRows, quick: bool) -> list[str]:
    """Table C: shares of a run."""
    body = []
    learning, together = {}, {}
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        own = [row for row in rows if row["corpus"] == corpus]
        shares = [_share(own, part) for part in ("learning", "topics_averaged", "scores_averaged")]
        learning[corpus], together[corpus] = shares[0], sum(shares)
        body.append([corpus, f"{_total(own, 'seconds') / len(own):.2f}", *map(_percent, shares), _percent(sum(shares))])
    header = ["corpus", "seconds a run", "learning", "averages for readers", "averaged perplexity", "together"]
    verdicts = [
        share_verdict("Learning takes", LEARNING_LIMIT, learning),
        share_verdict("Learning and averages take", TOGETHER_LIMIT, together),
    ]
    return [
        "## What learning and averages cost",
        table(header, body),
        "Shares of all seconds of a run with default settings, over seeds. The device is waited for before and after each part. "
        "Averaged perplexity: by how much longer measuring takes with it than without.",
        SHORTENED if quick else "\n".join(f"- {one}" for one in verdicts),
    ]


def _mean(runs: Sequence[Run], of: Callable[[Run], float]) -> str:
    return f"{statistics.fmean(of(run) for run in runs):.1f}"


def _single(run: Run) -> float:
    return run.single


def _averaged(run: Run) -> float:
    return run.averaged


def _share(rows: TextRows, part: str) -> float:
    return _total(rows, part) / _total(rows, "seconds")


def _total(rows: TextRows, column: str) -> float:
    return sum(float(row[column]) for row in rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
