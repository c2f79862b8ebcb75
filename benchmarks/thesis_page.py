"""The page of `python -m benchmarks thesis`: tables, figures, and the thesis's own figures beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import thesis_printed as printed
from benchmarks.figures import shown
from benchmarks.report import Row, counted, table
from benchmarks.schedules import NamedSchedule
from benchmarks.speed import THESIS
from benchmarks.thesis_findings import (
    Curve,
    Speeds,
    distance_findings,
    endings,
    mean_curve,
    mean_distance,
    perplexity_findings,
    speed_findings,
    spread,
)
from benchmarks.thesis_runs import THINNED
from benchmarks.thesis_topics import Matched
from spdp_engine.models.spdp import SpdpPriors

WORDS_SHOWN = 15


def bullets(sentences: Sequence[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def introduction(corpus: str, tokens: int, schedules: Sequence[NamedSchedule], quick: bool) -> list[str]:
    """What was measured, on what."""
    exact = ", ".join(f"`{one.name}`" for one in schedules if one.exact)
    priors = asdict(SpdpPriors())
    same = "as here" if priors == printed.HYPERPARAMETERS else f"here {_named(priors)}"
    parts = [
        f"{corpus}; {tokens:,} of the tokens are trained on, the others held out: half the words of a tenth of the "
        f"documents, the same for every run. The thesis's figures are those of its data “{printed.DATA}”, blogs on "
        f"politics, with about {printed.TOKENS:,} training tokens and {printed.WORDS:,} words, at "
        f"{_named(printed.HYPERPARAMETERS)} ({same}). Exact whatever the number of workers: {exact}; the others are "
        "approximations (`blocks` is exact with one worker)."
    ]
    if quick:
        parts.append("**This run was shortened: it shows that the measurement works, and nothing else.**")
    return parts


def _named(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


def speed_part(speeds: Speeds, schedules: Sequence[NamedSchedule], tokens: int, device: str) -> list[str]:
    """Seconds an iteration."""
    reference = schedules[0].name
    numbers = sorted(speeds[reference])
    header = ["seconds an iteration"]
    for topics in numbers:
        header += [f"K = {topics}", "× Algorithm 1", f"× {reference}"]
    rows = []
    for name, own in speeds.items():
        cells = [name]
        for topics in numbers:
            one = own[topics]
            cells += [f"{one.seconds:.3f}", f"{one.over_thesis:.2f}", f"{one.over_sequential:.2f}"]
        rows.append(cells)
    turns = spread((one.turns for own in speeds.values() for one in own.values()), "d")
    parts = [
        "## Seconds an iteration",
        table(header, rows),
        f"Medians of {turns} turns, after a warm-up; × is how many times as fast as Algorithm 1 as the thesis prints it "
        f"(`benchmarks/thesis_algorithm1.cl`) and as our `{reference}`, the median of the ratios within a round.",
    ]
    beside = list(_beside_the_thesis(speeds, schedules, tokens))
    if beside:
        header = [
            "thesis",
            "ours",
            "K",
            "thesis: s",
            "µs a token",
            "× original",
            "ours: s",
            "µs a token",
            "× Algorithm 1",
        ]
        parts += ["The thesis's Tables 8, 13 and 14 beside ours:", table(header, beside, left=(0, 1))]
    else:
        parts.append("The thesis has figures for K = 32, 64 and 128 alone.")
    return [*parts, bullets(speed_findings(speeds, schedules, device))]


def _beside_the_thesis(speeds: Speeds, schedules: Sequence[NamedSchedule], tokens: int) -> Iterator[list[str]]:
    over_topics = [one.name for one in schedules if one.schedule == "topic_parallel"]
    over_tokens = [one.name for one in schedules if (one.schedule, one.order) == ("token_parallel", "document")]
    tables = (
        ("original, Java", printed.JAVA_SECONDS, [THESIS]),
        ("over topics", printed.OVER_TOPICS_SECONDS, over_topics),
        ("GPU-SPDP", printed.OVER_TOKENS_SECONDS, over_tokens),
    )
    for label, theirs, names in tables:
        for name in names:
            for topics in sorted(speeds[name].keys() & theirs.keys()):
                one = speeds[name][topics]
                for where, seconds in theirs[topics].items():
                    yield [
                        f"{label}, {where}", name, str(topics), f"{seconds:.3f}", f"{1e6 * seconds / printed.TOKENS:.2f}",
                        f"{printed.OVER_TOKENS_BASIS[topics] / seconds:.2f}", f"{one.seconds:.3f}",
                        f"{1e6 * one.seconds / tokens:.2f}", f"{one.over_thesis:.2f}",
                    ]  # fmt: skip


def perplexity_part(
    curves: Mapping[str, Mapping[int, Curve]],
    largest: Mapping[str, float],
    schedules: Sequence[NamedSchedule],
    iterations: int,
    topics: int,
    figure: Path,
) -> list[str]:
    """Perplexity against iteration."""
    reference = schedules[0].name
    means = {name: mean_curve(seeds) for name, seeds in curves.items()}
    last = max(max(curve) for curve in means.values())
    columns = sorted({mark for curve in means.values() for mark in curve if mark not in THINNED or mark == last})
    ends = endings(curves, reference)
    rows = [
        [
            name, str(len(curves[name])), *(f"{curve[mark]:.0f}" if mark in curve else "" for mark in columns),
            f"{ends[name].excess:+.2%}", f"{largest[name]:.1%}",
        ]
        for name, curve in means.items()
    ]  # fmt: skip
    theirs = printed.PERPLEXITIES
    rows.append([
        "thesis, original", "1", *(str(theirs[mark]) if mark in theirs else "" for mark in columns), "", "",
    ])  # fmt: skip
    header = ["after iteration", "seeds", *map(str, columns), f"to {reference}", "largest topic"]
    text = f"held-out perplexity of every schedule against iteration at {counted(topics, 'topic')}, the iterations logarithmic"
    return [
        "## Perplexity against iteration",
        shown(figure, text),
        table(header, rows),
        f"Means over seeds, K = {topics}; lower is better. “To {reference}” compares the seeds that both have, at the "
        f"last iteration of both. The thesis's row is its Table 6, on its own data; after {max(theirs)} iterations it "
        f"has {theirs[max(theirs)]}.",
        bullets(perplexity_findings(curves, largest, schedules, iterations)),
    ]


def topics_part(rows: Sequence[Row], schedule: str, iterations: int) -> list[str]:
    """The topics with the greatest wording gap."""
    header = ["topic", "wording gap", "group", "probability", "rank", f"top words (first {WORDS_SHOWN})"]
    body = [
        [
            str(row["topic"]), str(row["gap"]), _plain(str(row["group"])), str(row["probability"]), str(row["rank"]),
            _plain(", ".join(str(row["words"]).split(", ")[:WORDS_SHOWN])),
        ]
        for row in rows
    ]  # fmt: skip
    theirs = [[str(one.topic), one.group, f"{one.probability:.6f}", str(one.rank), one.words] for one in printed.TOPICS]
    return [
        "## Topics that the groups word most differently",
        table(header, body, left=(0, 2, 5)),
        f"From `{schedule}` after {counted(iterations, 'iteration')}, seed 1. Probability is the topic's share of the "
        "group's words, rank its place among the group's topics; the wording gap is the mean Hellinger distance "
        "between the groups. The CSV file has 50 words of each.",
        "The thesis's Table 19 (Improved-GPU-SPDP, after 2000 iterations), topics of its own choice:",
        table(["topic", "group", "probability", "rank", "top words"], theirs, left=(0, 1, 4)),
        bullets([_ranges(rows)]),
    ]


def _plain(text: str) -> str:
    """Words and names with nothing in them that Markdown would read as markup, or as the end of a cell."""
    return re.sub(r"([\\`*_<>\[\]~$|])", r"\\\1", text)


def _ranges(rows: Sequence[Row]) -> str:
    probabilities = [float(str(row["probability"])) for row in rows]
    ranks = [int(str(row["rank"])) for row in rows]
    theirs = [one.probability for one in printed.TOPICS]
    low, high = min(theirs), max(theirs)
    inside = sum(low <= one <= high for one in probabilities)
    return (
        f"Probabilities are {spread(probabilities, '.4f')} here and {spread(theirs, '.4f')} in Table 19, ranks "
        f"{spread(ranks, 'd')} and {spread((one.rank for one in printed.TOPICS), 'd')}; {inside} of our {len(rows)} "
        "probabilities lie within the thesis's range."
    )


def distances_part(
    seeds: Sequence[Matched], schedules: Mapping[str, Sequence[Matched]], reference: str, topics: int, figure: Path
) -> list[str]:
    """Distances between runs' topics."""
    rows = [
        [
            name, str(len(pairs)), f"{mean_distance(pairs):.3f}", f"{min(pair.mean for pair in pairs):.3f}",
            f"{max(pair.mean for pair in pairs):.3f}", f"{min(pair.matched.min() for pair in pairs):.3f}",
            f"{max(pair.matched.max() for pair in pairs):.3f}",
        ]
        for name, pairs in ((f"{reference}, among itself", seeds), *schedules.items())
    ]  # fmt: skip
    text = f"heat maps of Hellinger distances between the {topics} topics of each schedule and those of {reference}"
    return [
        f"## Distance between the topics of each schedule and those of `{reference}`",
        shown(figure, text),
        table(
            ["distance of matched topics", "pairs of runs", "mean", "from", "to", "nearest topics", "farthest"], rows
        ),
        "Topics are matched by linear assignment; the distance of two topics is the mean of their Hellinger distances "
        f"over groups. The first row pairs the runs of `{reference}` with one another; the others pair the runs of a "
        f"schedule with those of `{reference}` that have another seed. All runs train on the same tokens, so that two "
        "seeds differ in nothing but chance.",
        bullets(distance_findings(seeds, schedules, reference)),
    ]
