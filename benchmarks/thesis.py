"""The thesis's experiments with every SPDP schedule: speeds, perplexities, topics and their distances, its figures beside ours."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import fmean

from benchmarks.data import NamedCorpus, add_corpus_arguments, load_corpus
from benchmarks.figures import write_figure
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Lengths, Options, add_options, positive, read_options
from benchmarks.report import Row, counted, write_page, write_rows
from benchmarks.runs import complete, complete_traced
from benchmarks.schedules import NamedSchedule, all_schedules
from benchmarks.speed import TURN_SECONDS
from benchmarks.thesis_figures import distances_figure, perplexity_figure
from benchmarks.thesis_findings import mean_curve, read_curves, read_speeds
from benchmarks.thesis_page import distances_part, introduction, perplexity_part, speed_part, topics_part
from benchmarks.thesis_runs import MeasuredRun, Samples, Split, forget_without_sample, split
from benchmarks.thesis_speed import LEAST_TURNS, Bounds, SpeedTable
from benchmarks.thesis_topics import Runs, between_schedules, between_seeds, topic_rows
from spdp_engine.corpus import Corpus
from spdp_engine.models.spdp import SpdpSample

NAME = "thesis"
CLAIM = "the thesis's tables and figures on SPDP: seconds an iteration, perplexity, topics and their distances, for every schedule"
LENGTHS = Lengths(iterations=300, quick_iterations=10, seeds=3, quick_seeds=2)
REFERENCE = "sequential"
READ = "blocks"
"""The schedule whose topics are shown."""


@dataclass(frozen=True)
class Limits:
    """What bounds the time of a measurement, beside its iterations.

    Attributes:
        topics: numbers of topics at which speed is measured.
        turns: at most so many of each contestant at each.
        seconds: that a contestant's turns may take together.
        minutes: that a run may sample before it ends at its next mark.
        turn_seconds: a turn lasts until so much time was spent on sampling.
    """

    topics: tuple[int, ...]
    turns: int
    seconds: float
    minutes: float
    turn_seconds: float = TURN_SECONDS


FULL = Limits(topics=(32, 64, 128), turns=7, seconds=60.0, minutes=30.0)
QUICK = Limits(topics=(), turns=2, seconds=1.0, minutes=1.0, turn_seconds=0.05)


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_corpus_arguments(parser)
    add_options(parser, LENGTHS)
    every = " ".join(map(str, FULL.topics))
    parser.add_argument(
        "--speed-topics", type=positive, nargs="+", metavar="K",
        help=f"topics at which speed is measured (default: {every}; with --quick: those of --topics)",
    )  # fmt: skip
    parser.add_argument(
        "--turns", type=positive, metavar="N",
        help=f"turns of each contestant at each of them, {LEAST_TURNS} at least (default: {FULL.turns})",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, metavar="S",
        help=f"no turn after the first {LEAST_TURNS} once a contestant has had S seconds (default: {FULL.seconds:g})",
    )  # fmt: skip
    parser.add_argument(
        "--minutes", type=float, metavar="M",
        help=f"a run for perplexity ends early, at its next mark, after M minutes (default: {FULL.minutes:g})",
    )  # fmt: skip


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    options = read_options(arguments, LENGTHS)
    default = QUICK if options.quick else FULL
    limits = replace(
        default,
        topics=tuple(arguments.speed_topics or default.topics or (options.topics,)),
        turns=max(LEAST_TURNS, arguments.turns or default.turns),
        seconds=default.seconds if arguments.seconds is None else arguments.seconds,
        minutes=default.minutes if arguments.minutes is None else arguments.minutes,
    )
    measure(load_corpus(arguments), options, limits)


def measure(corpus: NamedCorpus, options: Options, limits: Limits) -> None:
    """Measures what the CSV files have not yet; writes and prints the page."""
    machine = describe_machine(options.device)
    schedules = all_schedules("spdp", first=REFERENCE)
    parts = split(corpus.arrays)
    tokens = len(parts.training.token_word)
    page = [
        *introduction(str(corpus), tokens, schedules, options.quick),
        *_speeds(corpus, options, limits, machine, schedules, parts),
        *_topics(corpus, options, limits, machine, schedules, parts),
    ]
    print(write_page(_result(options, corpus, ".md"), f"The thesis's experiments: {corpus.name}", machine, page))


def _result(options: Options, corpus: NamedCorpus, ending: str) -> Path:
    """Path of a result. Numbers of topics are columns of the tables, not parts of the names."""
    return options.output / f"{NAME}-{corpus.name}{'-quick' if options.quick else ''}{ending}"


def _common(corpus: NamedCorpus, machine: Machine) -> Row:
    return {**corpus.sizes, "device": machine.device, "compute_units": machine.compute_units, "engine": machine.engine}


def _speeds(
    corpus: NamedCorpus, options: Options, limits: Limits, machine: Machine,
    schedules: Sequence[NamedSchedule], parts: Split,
) -> list[str]:  # fmt: skip
    """Seconds an iteration: measures, and returns the page's part."""
    timed = SpeedTable(parts.training, schedules, machine, Bounds(limits.turns, limits.seconds, limits.turn_seconds))
    wanted = [
        {
            **_common(corpus, machine), "topics": topics, "contestant": name,
            "iterations": limits.turns, "limit_seconds": limits.seconds,
        }
        for topics in limits.topics
        for name in timed.names
    ]  # fmt: skip
    rows = complete(f"{NAME}, speed", _result(options, corpus, "-speed.csv"), wanted, timed.measure)
    return speed_part(read_speeds(rows), schedules, len(parts.training.token_word), machine.device)


def _topics(
    corpus: NamedCorpus, options: Options, limits: Limits, machine: Machine,
    schedules: Sequence[NamedSchedule], parts: Split,
) -> list[str]:  # fmt: skip
    """Runs of every schedule: perplexity on the way, and topics at the end. Returns the page's parts.

    The reference has two seeds at least, or nothing would say how far two runs of the same sampler differ.
    """
    wanted = [
        {
            **_common(corpus, machine), "topics": options.topics, "contestant": schedule.name, "seed": seed,
            "iterations": options.iterations, "minutes": limits.minutes,
        }
        for schedule in schedules
        for seed in range(1, 1 + (max(2, options.seeds) if schedule.name == REFERENCE else options.seeds))
    ]  # fmt: skip
    samples = Samples(_result(options, corpus, "-samples"))
    path = _result(options, corpus, "-runs.csv")
    forget_without_sample(path, wanted, samples)
    rows, points = complete_traced(f"{NAME}, runs", path, wanted, MeasuredRun(parts, schedules, machine, samples))
    found = {(str(one["contestant"]), int(str(one["seed"]))): samples.get(one) for one in wanted}
    return [
        *_perplexities(corpus, options, schedules, rows, points),
        *_words(corpus, options, found[READ, 1]),
        *_distances(corpus, options, found),
    ]


def _perplexities(
    corpus: NamedCorpus,
    options: Options,
    schedules: Sequence[NamedSchedule],
    rows: Sequence[dict[str, str]],
    points: Sequence[dict[str, str]],
) -> list[str]:
    curves = read_curves(points)
    largest = {name: fmean(float(row["largest_topic"]) for row in rows if row["contestant"] == name) for name in curves}
    title = f"Held-out perplexity against iteration: {corpus.name}, {counted(options.topics, 'topic')}"
    means = {name: mean_curve(seeds) for name, seeds in curves.items()}
    figure = write_figure(perplexity_figure(means, title, REFERENCE), _result(options, corpus, "-perplexity"))
    return perplexity_part(curves, largest, schedules, options.iterations, options.topics, figure)


def _words(corpus: NamedCorpus, options: Options, sample: SpdpSample) -> list[str]:
    assert isinstance(corpus.arrays, Corpus)
    rows = topic_rows(corpus.arrays, sample)
    write_rows(_result(options, corpus, "-topics.csv"), rows)
    return topics_part(rows, READ, sample.iteration)


def _distances(corpus: NamedCorpus, options: Options, found: Runs) -> list[str]:
    seeds, schedules = between_seeds(found, REFERENCE), between_schedules(found, REFERENCE)
    pairs = [*seeds, *chain(*schedules.values())]
    write_rows(_result(options, corpus, "-distances.csv"), [row for pair in pairs for row in pair.rows()])
    title = (
        f"Hellinger distance between the topics of each schedule and of {REFERENCE}:<br>"
        f"{corpus.name}, {counted(options.topics, 'topic')}, matched pairs on the diagonal; their mean above"
    )
    shown = [seeds[0], *(own[0] for own in schedules.values())]
    figure = write_figure(
        distances_figure(shown, title, f"{REFERENCE}, seed 1"), _result(options, corpus, "-distances")
    )
    return distances_part(seeds, schedules, REFERENCE, options.topics, figure)
