"""What learned hyperparameters, repeats and averages give, and what they cost."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Sequence

from benchmarks.data import NamedCorpus
from benchmarks.figures import shown, write_figure
from benchmarks.fit_split import CORPORA, load
from benchmarks.learning_figures import fit_figure
from benchmarks.learning_findings import read_runs, sorted_runs
from benchmarks.learning_page import describe
from benchmarks.learning_runs import ABLATIONS, VARIANTS, FinalRun, TracedRun
from benchmarks.learning_shares import SharesRun
from benchmarks.machine import describe_machine
from benchmarks.options import Lengths, Options, add_options, read_options
from benchmarks.report import Row, write_page
from benchmarks.runs import complete, complete_traced

NAME = "learning"
CLAIM = (
    "what learning, repeats and averages give and cost: the default's fit in at most half the seconds of random first topics "
    "with fixed hyperparameters; learning under 5 % of a run, with averages under 10 %"
)
LENGTHS = Lengths(iterations=500, quick_iterations=40, seeds=3, quick_seeds=1)

ABLATED = ("product_reviews", "conventions2012")
"""The two smallest of `CORPORA`, on which each hyperparameter is fixed by itself."""


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    parser.add_argument(
        "--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA), metavar="NAME",
        help=f"of the folder that PARALLAX_DATA names (default: {' '.join(CORPORA)})",
    )  # fmt: skip
    add_options(parser, LENGTHS)


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    measure([load(name) for name in arguments.corpora], read_options(arguments, LENGTHS))


def measure(corpora: Sequence[NamedCorpus], options: Options, ablated: Collection[str] = ABLATED) -> None:
    """Runs what the CSV files have not yet; writes and prints the results.

    Args:
        corpora: on which.
        options: how.
        ablated: names of corpora on which each hyperparameter is fixed by itself, too.
    """
    machine = describe_machine(options.device)
    named = {corpus.name: corpus for corpus in corpora}

    def wanted(corpus: NamedCorpus, seed: int, **which: object) -> Row:
        return {
            **corpus.sizes, "topics": options.topics, "iterations": options.iterations, **which, "seed": seed,
            "device": machine.device, "compute_units": machine.compute_units, "engine": machine.engine,
        }  # fmt: skip

    each = [(corpus, seed) for corpus in corpora for seed in range(1, options.seeds + 1)]
    rows, points = complete_traced(
        f"{NAME}: variants", options.result(NAME, "runs", "csv"),
        [
            wanted(*one, variant=name, iterations=variant.times * options.iterations)
            for one in each for name, variant in VARIANTS.items()
        ],
        TracedRun(named, machine),
    )  # fmt: skip
    shares = complete(
        f"{NAME}: costs",
        options.result(NAME, "costs", "csv"),
        [wanted(*one) for one in each],
        SharesRun(named, machine),
    )
    without = complete(
        f"{NAME}: one fixed", options.result(NAME, "ablations", "csv"),
        [wanted(*one, fixed=name) for one in each if one[0].name in ablated for name in ABLATIONS], FinalRun(named, machine),
    )  # fmt: skip
    runs = sorted_runs(read_runs(rows, points, options.iterations))
    picture = write_figure(
        fit_figure(f"Averaged perplexity against seconds, K = {options.topics}", runs),
        options.result(NAME, "seconds", "x").with_suffix(""),
    )
    figure = shown(picture, "Averaged perplexity of each variant against seconds, on each corpus")
    path = options.output / f"{NAME}{'-quick' if options.quick else ''}.md"
    body = describe(
        runs,
        sorted_runs(read_runs(without)),
        shares,
        list(map(str, corpora)),
        options.iterations,
        figure,
        options.quick,
    )
    print(write_page(path, f"Learning, repeats and averages: {options.topics} topics", machine, body))
