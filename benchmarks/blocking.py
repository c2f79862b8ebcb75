"""The samplers of LDA against each other, as in "Blocking Collapsed Gibbs Sampler for Latent Dirichlet Allocation Models"."""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.blocking_figures import timing_figure, traces_figure
from benchmarks.blocking_findings import read_traces
from benchmarks.blocking_page import AUGMENTED, BACKWARD, BLOCKS, INTRODUCTION, NESTED, SINGLE, Study
from benchmarks.blocking_real_page import describe_real, kos_findings, nips_findings
from benchmarks.blocking_runs import AVERAGED, TimedRun, TracedRun, hold_out_last, lone_share, timing_topics
from benchmarks.blocking_simulated_page import describe_simulated
from benchmarks.blocking_timing_page import describe_timing, seconds_of
from benchmarks.data import NamedCorpus, bars, bars_corpus, find_bag_of_words, read_bag_of_words
from benchmarks.figures import shown, write_figure
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Options, add_common_options, positive
from benchmarks.report import Row, write_page
from benchmarks.runs import complete, complete_traced
from spdp_engine.errors import SettingsError
from spdp_engine.sampling.devices import choose_device
from spdp_engine.types import Tokens

NAME = "blocking"
CLAIM = "the blocking paper's figures 1 to 3: log posterior, perplexity and seconds a sweep of LDA's samplers"

SAMPLERS = (SINGLE, NESTED, AUGMENTED)
TIMED_SAMPLERS = (SINGLE, BACKWARD, NESTED, BLOCKS)
BACKWARD_RUNS = 5
"""Runs of backward draws on the simulated corpus: enough to see that they do what nested ones do."""

SIMULATED_ALPHA = 0.1
TIMED_SWEEPS = 3
SECONDS = 20.0


@dataclass(frozen=True, eq=False)
class Plan:
    """What is run on one corpus.

    Attributes:
        corpus: all its tokens.
        topics: K.
        iterations: of each run.
        seeds: runs of each sampler.
        held_out_documents: the last documents, half of whose words are held out.
        bars: its true topics, where it was drawn from some.
    """

    corpus: NamedCorpus
    topics: int
    iterations: int
    seeds: int
    held_out_documents: int
    bars: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Known:
    """A corpus that is looked for: the paper's, or the one that stands in for it."""

    option: str
    folder: str
    topics: int
    seeds: int
    held_out_documents: int


KOS = Known("kos", "uci_kos", 32, 5, 430)
NEWS = Known("news", "uci_20news_train", 40, 3, 1100)
QUICK_DOCUMENTS, QUICK_HELD_OUT = 300, 40


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    for known, stands in ((KOS, "KOS"), (NEWS, "20 Newsgroups, in place of the paper's NIPS")):
        parser.add_argument(
            f"--{known.option}", metavar="PATH",
            help=f"folder of {stands}, in UCI's bag-of-words format (default: {known.folder} in the folder that PARALLAX_DATA "
            "names; left out where there is none)",
        )  # fmt: skip
    parser.add_argument(
        "--iterations",
        type=positive,
        metavar="N",
        help="iterations of each run (default: 500 simulated, 300 on real corpora)",
    )
    parser.add_argument(
        "--seeds", type=positive, metavar="N",
        help=f"runs of each sampler (default: 30 simulated, {KOS.seeds} on KOS, {NEWS.seeds} on 20 Newsgroups)",
    )  # fmt: skip
    parser.add_argument("--processes", type=positive, metavar="N", help="runs at once (default: every core)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        metavar="S",
        help="bound on timing a sampler at one K (default: %(default)s)",
    )
    add_common_options(parser)


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    if arguments.iterations and arguments.iterations < AVERAGED:
        raise SettingsError(
            f"There must be {AVERAGED} iterations or more, which perplexity is averaged over; there are {arguments.iterations}."
        )
    simulated, real, absent = _plans(arguments)
    options = Options(
        simulated.topics, simulated.iterations, device=arguments.device, output=arguments.output, quick=arguments.quick
    )
    measure(simulated, real, absent, options, arguments.processes, arguments.seconds)


def measure(
    simulated: Plan,
    real: Mapping[Known, Plan],
    absent: Sequence[str],
    options: Options,
    processes: int | None = None,
    seconds: float = SECONDS,
) -> None:
    """Runs what the CSV files have not yet; writes and prints the results.

    Args:
        simulated: the corpus of bars.
        real: the others that are there.
        absent: a sentence on each that is not.
        options: device, folder and whether the runs are shortened; topics and iterations are the plans' own.
        processes: runs at once, save where time is measured; None: every core.
        seconds: bound on timing a sampler at one K.
    """
    machine = describe_machine(options.device)
    processes = processes or machine.cores
    parts = [INTRODUCTION]
    if options.quick:
        parts.append("**This run was shortened: it says nothing about the paper.**")
    study = _study(simulated, options, machine, processes, BACKWARD)
    parts += describe_simulated(study, SIMULATED_ALPHA)
    for letter, (known, plan) in zip("ab", real.items(), strict=False):
        study = _study(plan, options, machine, processes)
        findings = kos_findings(study) if known is KOS else nips_findings(study)
        parts += describe_real(study, findings, f"2{letter}")
    if real:
        parts += _timing({known: plan.corpus for known, plan in real.items()}, options, machine, seconds)
    parts += absent
    path = options.output / f"{NAME}{'-quick' if options.quick else ''}.md"
    print(write_page(path, "Blocked sampling of LDA, beside the paper", machine, parts))


def _plans(arguments: Namespace) -> tuple[Plan, dict[Known, Plan], list[str]]:
    """What is run on the simulated corpus and on the real ones, and a sentence for each that is not there."""
    quick: bool = arguments.quick
    iterations = arguments.iterations or (20 if quick else None)
    seeds = arguments.seeds or (2 if quick else None)
    topics = bars()
    documents, held_out = (QUICK_DOCUMENTS, QUICK_HELD_OUT) if quick else (2000, 250)
    simulated = Plan(
        bars_corpus(topics, documents, 100, SIMULATED_ALPHA), len(topics), iterations or 500, seeds or 30, held_out, topics
    )  # fmt: skip
    real, absent = {}, []
    for known in (KOS, NEWS):
        folder = find_bag_of_words(getattr(arguments, known.option), known.folder)
        if folder is None:
            absent.append(
                f"Not measured: `{known.folder}`, which was neither given with `--{known.option}` nor found in the folder that "
                "`PARALLAX_DATA` names."
            )
            continue
        corpus = read_bag_of_words(folder)
        if quick:
            corpus = _last_documents(corpus, QUICK_DOCUMENTS)
        real[known] = Plan(
            corpus, known.topics, iterations or 300, seeds or known.seeds, QUICK_HELD_OUT if quick else known.held_out_documents
        )  # fmt: skip
    return simulated, real, absent


def _last_documents(corpus: NamedCorpus, documents: int) -> NamedCorpus:
    """The corpus cut down to its last documents."""
    arrays = corpus.arrays
    first = max(0, len(arrays.document_group) - documents)
    kept = arrays.token_document >= first
    cut = Tokens(
        arrays.token_word[kept], arrays.token_document[kept] - np.int32(first), arrays.document_group[first:],
        arrays.n_words, arrays.n_groups,
    )  # fmt: skip
    return NamedCorpus(corpus.name, cut)


def _study(plan: Plan, options: Options, machine: Machine, processes: int, some: str | None = None) -> Study:
    """Runs what the CSV files have not yet, `some` in fewer runs than the other samplers; draws the figure."""
    corpus = plan.corpus
    options = replace(options, topics=plan.topics, iterations=plan.iterations)
    training, held_out = hold_out_last(corpus.arrays, plan.held_out_documents)
    runs = [(name, seed) for seed in range(1, plan.seeds + 1) for name in SAMPLERS]
    if some:
        runs += [(some, seed) for seed in range(1, min(plan.seeds, BACKWARD_RUNS) + 1)]
    wanted = [
        {
            **corpus.sizes, "topics": plan.topics, "iterations": plan.iterations, "held_out": held_out.tokens, "sampler": name,
            "seed": seed, "device": machine.device, "engine": machine.engine,
        }
        for name, seed in runs
    ]  # fmt: skip
    rows, points = complete_traced(
        f"{NAME}: {corpus.name}", options.result(NAME, corpus.name, "csv"), wanted,
        TracedRun(training, held_out, machine, plan.bars), processes,
    )  # fmt: skip
    traces = read_traces(points)
    title = f"{corpus.name}, K = {plan.topics}: thin lines are runs, thick ones their means"
    picture = write_figure(traces_figure(title, traces), options.result(NAME, corpus.name, "x").with_suffix(""))
    return Study(
        corpus=corpus,
        topics=plan.topics,
        iterations=plan.iterations,
        traces=traces,
        bars_found=_bars_found(rows) if plan.bars is not None else {},
        held_out=held_out.tokens,
        held_out_documents=plan.held_out_documents,
        lone=lone_share(corpus.arrays),
        lone_training=lone_share(training),
        seconds={name: _median_seconds(rows, name) for name in traces},
        figure=shown(picture, f"Log posterior and perplexity on {corpus.name} against iterations"),
    )


def _bars_found(rows: Sequence[Row]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in sorted(rows, key=lambda row: int(str(row["seed"]))):
        found.setdefault(str(row["sampler"]), []).append(int(str(row["bars_found"])))
    return found


def _median_seconds(rows: Sequence[Row], sampler: str) -> float:
    return statistics.median(float(str(row["seconds"])) for row in rows if row["sampler"] == sampler)


def _timing(corpora: Mapping[Known, NamedCorpus], options: Options, machine: Machine, seconds: float) -> list[str]:
    """Seconds a sweep against K, one run at a time; the page's paragraphs."""
    rows = []
    for corpus in corpora.values():
        wanted = [
            {
                **corpus.sizes, "topics": topics, "sampler": name, "seed": 1, "iterations": 1 + TIMED_SWEEPS,
                "device": machine.device, "compute_units": machine.compute_units, "engine": machine.engine,
            }
            for topics in timing_topics(options.quick)
            for name in TIMED_SAMPLERS
        ]  # fmt: skip
        path = options.output / f"{NAME}-seconds-{corpus.name}{'-quick' if options.quick else ''}.csv"
        rows += complete(f"{NAME}: seconds, {corpus.name}", path, wanted, TimedRun(corpus.arrays, machine, seconds))
    times = {corpus.name: seconds_of(rows, corpus.name) for corpus in corpora.values()}
    picture = write_figure(
        timing_figure(times, TIMED_SAMPLERS), options.output / f"{NAME}-seconds{'-quick' if options.quick else ''}"
    )
    workers = choose_device(options.device).default_workers
    names = {corpus.name: known is KOS for known, corpus in corpora.items()}
    return describe_timing(names, rows, shown(picture, "Seconds a sweep against the number of topics"), workers)
