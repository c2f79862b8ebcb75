"""Whether sampling in blocks, where sums lag within a phase, fits as well as exact sequential Gibbs sampling."""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt

from benchmarks.data import NamedCorpus, add_corpus_arguments, load_corpus
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Lengths, Options, add_options, positive, read_options
from benchmarks.report import Row, counted, table, write_page
from benchmarks.runs import complete
from spdp_engine.sampling.devices import choose_device
from spdp_engine.sampling.sampler import Sampler, SamplerSettings
from spdp_engine.types import Iteration

NAME = "fit-quality"
CLAIM = "held-out perplexity of blocks and of sequential sampling: within 1 % of each other"
LENGTHS = Lengths(iterations=200, quick_iterations=20, seeds=5, quick_seeds=2)
CLAIMED = 0.01


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
    wanted = [
        {
            **corpus.sizes, "topics": options.topics, "iterations": options.iterations, "schedule": schedule,
            "workers": count, "seed": seed, "device": machine.device, "engine": machine.engine,
        }
        for seed in range(1, options.seeds + 1)
        for schedule, count in (("blocks", workers), ("sequential", 1))
    ]  # fmt: skip
    rows = complete(NAME, options.result(NAME, corpus.name, "csv"), wanted, partial(run_once, corpus, machine))
    print(write_page(
        options.result(NAME, corpus.name, "md"), f"Quality of fit: {corpus.name}, {options.topics} topics", machine,
        describe(corpus, rows, options),
    ))  # fmt: skip


def run_once(corpus: NamedCorpus, machine: Machine, wanted: Row, progress: Callable[[Iteration], None]) -> Row:
    """One run to its last iteration."""
    settings = SamplerSettings(
        topics=int(str(wanted["topics"])), schedule=str(wanted["schedule"]), workers=int(str(wanted["workers"])),
        device=machine.device, seed=int(str(wanted["seed"])), measure_every=0,
    )  # fmt: skip
    sampler = Sampler(corpus.arrays, settings)
    records = sampler.run(int(str(wanted["iterations"])), progress)
    return {
        "perplexity": f"{sampler.perplexity():.4f}",
        "seconds": f"{records[-1].elapsed:.2f}",
        **machine.columns(),
    }


def describe(corpus: NamedCorpus, rows: Sequence[dict[str, str]], options: Options) -> list[str]:
    """The page's paragraphs."""
    blocks, sequential = (
        [float(row["perplexity"]) for row in rows if row["schedule"] == schedule]
        for schedule in ("blocks", "sequential")
    )
    workers = int(next(row["workers"] for row in rows if row["schedule"] == "blocks"))
    ratios = [one / other for one, other in zip(blocks, sequential, strict=True)]
    body = [
        [str(seed), f"{one:.1f}", f"{other:.1f}", f"{ratio:.4f}"]
        for seed, (one, other, ratio) in enumerate(zip(blocks, sequential, ratios, strict=True), start=1)
    ]
    means = statistics.fmean(blocks), statistics.fmean(sequential)
    ratio = means[0] / means[1]
    body.append(["mean", f"{means[0]:.1f}", f"{means[1]:.1f}", f"{ratio:.4f}"])
    return [
        f"{corpus}. Held-out perplexity after {counted(options.iterations, 'iteration')}; lower is better. "
        "A seed decides what is held out, too, so that the two of a seed are compared.",
        table(["seed", f"blocks, {counted(workers, 'worker')}", "sequential", "ratio"], body),
        f"**Blocks over sequential: {ratio:.4f}**{_error(ratios)}. {_verdict(ratio, options)}",
    ]


def _error(ratios: Sequence[float]) -> str:
    """The standard error of the mean ratio over seeds, in brackets."""
    if len(ratios) < 2:
        return ""
    return f" (standard error over seeds {statistics.stdev(ratios) / sqrt(len(ratios)):.4f})"


def _verdict(ratio: float, options: Options) -> str:
    if options.quick:
        return "This run was shortened: it says nothing about the claim."
    holds = "holds" if abs(ratio - 1) <= CLAIMED else "does not hold"
    return f"The claim, a difference of at most {CLAIMED:.0%}, {holds} here."
