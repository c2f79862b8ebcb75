"""Whether the schedules fit as well as exact sequential Gibbs sampling: held-out perplexity of each, over seeds."""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import sqrt

from benchmarks.data import NamedCorpus, add_corpus_arguments, load_corpus
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Lengths, Options, add_options, positive, read_options
from benchmarks.report import Row, counted, table, write_page
from benchmarks.runs import complete
from benchmarks.schedules import NamedSchedule, all_schedules
from spdp_engine.sampling.devices import choose_device
from spdp_engine.sampling.sampler import Sampler
from spdp_engine.types import Iteration

NAME = "fit-quality"
CLAIM = "held-out perplexity of every spdp schedule: blocks within 0.5 % of sequential, token_parallel interleaved within 2 %"
LENGTHS = Lengths(iterations=300, quick_iterations=20, seeds=5, quick_seeds=2)
EXACT = "sequential"
CLAIMED = {"blocks": 0.005, "token_parallel, interleaved": 0.02}
"""How far from exact sampling a schedule may be, as a share of its perplexity."""


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_corpus_arguments(parser)
    add_options(parser, LENGTHS)
    parser.add_argument("--workers", type=positive, metavar="P", help="workers of blocks (default: every core)")


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    measure(load_corpus(arguments), read_options(arguments, LENGTHS), arguments.workers)


def measure(corpus: NamedCorpus, options: Options, workers: int | None = None) -> None:
    """Runs what the CSV file has not yet; writes and prints the results."""
    machine = describe_machine(options.device)
    workers = workers or choose_device(options.device).default_workers
    schedules = {schedule.name: schedule for schedule in all_schedules("spdp", EXACT)}
    wanted = [
        {
            **corpus.sizes, "topics": options.topics, "iterations": options.iterations, "schedule": name,
            "workers": workers, "seed": seed, "device": machine.device, "engine": machine.engine,
        }
        for seed in range(1, options.seeds + 1)
        for name in schedules
    ]  # fmt: skip
    rows = complete(
        NAME, options.result(NAME, corpus.name, "csv"), wanted, partial(run_once, corpus, machine, schedules)
    )
    print(write_page(
        options.result(NAME, corpus.name, "md"), f"Quality of fit: {corpus.name}, {options.topics} topics", machine,
        describe(corpus, rows, options, workers),
    ))  # fmt: skip


def run_once(
    corpus: NamedCorpus,
    machine: Machine,
    schedules: Mapping[str, NamedSchedule],
    wanted: Row,
    progress: Callable[[Iteration], None],
) -> Row:
    """One run to its last iteration."""
    schedule = schedules[str(wanted["schedule"])]
    settings = schedule.settings(
        int(str(wanted["topics"])),
        int(str(wanted["seed"])),
        machine.device,
        held_out=0.1,
        workers=int(str(wanted["workers"])),
    )
    sampler = Sampler(corpus.arrays, settings)
    records = sampler.run(int(str(wanted["iterations"])), progress)
    return {
        "perplexity": f"{sampler.perplexity():.4f}",
        "seconds": f"{records[-1].elapsed:.2f}",
        **machine.columns(),
    }


def describe(corpus: NamedCorpus, rows: Sequence[dict[str, str]], options: Options, workers: int) -> list[str]:
    """The page's paragraphs."""
    names = list(dict.fromkeys(row["schedule"] for row in rows))
    perplexities = {name: [float(row["perplexity"]) for row in rows if row["schedule"] == name] for name in names}
    exact = perplexities[EXACT]
    body = []
    for name in names:
        ratios = [one / other for one, other in zip(perplexities[name], exact, strict=True)]
        ratio = statistics.fmean(perplexities[name]) / statistics.fmean(exact)
        body.append([
            name, *(f"{perplexity:.1f}" for perplexity in perplexities[name]),
            f"{statistics.fmean(perplexities[name]):.1f}", f"{ratio:.4f}", _error(ratios), _verdict(name, ratio, options),
        ])  # fmt: skip
    seeds = [f"seed {seed}" for seed in range(1, len(exact) + 1)]
    return [
        f"{corpus}. Held-out perplexity after {counted(options.iterations, 'iteration')}; lower is better. A seed decides what "
        f"is held out, too, so that the schedules of a seed are compared. `blocks` and `hybrid` run with "
        f"{counted(workers, 'worker')}.",
        table(["schedule", *seeds, "mean", f"over {EXACT}", "standard error", "claim"], body),
        "The ratio is of the means; its standard error is that of the seeds' ratios. "
        + ("This run was shortened: it says nothing about the claims." if options.quick else ""),
    ]


def _error(ratios: Sequence[float]) -> str:
    """The standard error of the mean ratio over seeds."""
    return f"{statistics.stdev(ratios) / sqrt(len(ratios)):.4f}" if len(ratios) > 1 else ""


def _verdict(name: str, ratio: float, options: Options) -> str:
    if name not in CLAIMED or options.quick:
        return ""
    return f"within {CLAIMED[name]:.1%}: {'holds' if abs(ratio - 1) <= CLAIMED[name] else 'does not hold'}"
