"""Whether intervals hold what they are said to hold, and how often chance is taken for a finding."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace

from benchmarks.evidence_corpora import KINDS, TOPICS
from benchmarks.evidence_page import describe
from benchmarks.evidence_runs import WAYS, EvidenceRun
from benchmarks.machine import describe_machine
from benchmarks.options import Options, add_common_options, positive
from benchmarks.report import write_page
from benchmarks.runs import complete
from spdp_engine.evidence import Plan

NAME = "evidence"
CLAIM = (
    "how sure findings are, on corpora whose truth is known: intervals of 90 % hold it in 85 to 95 % of cases; where groups do not "
    "differ, at most 5 % of the words shown as a group's own are called sure; topics are in the order of their true gaps"
)

FIRST_SEED = 1001
"""Of the corpora. What is measured was made with the corpora of seeds 1 to 24 in sight; these had not been seen then."""

SEEDS, QUICK_SEEDS = 20, 1
ITERATIONS, QUICK_ITERATIONS = 150, 10

QUICK = Plan(settle=5, samples=4, apart=1, draws=10, dealings=4, adapt=2, counted=2, between=1, seeds=1, iterations=5)

COMPARED = ("bursty", "alike")
"""Kinds of corpora on which the other ways to measure are tried,"""

OF_COMPARED = 2 / 5
"""... on this part of the corpora."""


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    parser.add_argument("--seeds", type=positive, metavar="N", help=f"corpora of each kind (default: {SEEDS})")
    parser.add_argument("--iterations", type=positive, metavar="N", help=f"of each run (default: {ITERATIONS})")
    add_common_options(parser)


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    quick: bool = arguments.quick
    measure(
        Options(
            TOPICS, arguments.iterations or (QUICK_ITERATIONS if quick else ITERATIONS),
            arguments.seeds or (QUICK_SEEDS if quick else SEEDS), arguments.device, arguments.output, quick,
        )
    )  # fmt: skip


def measure(options: Options) -> None:
    """Runs what the CSV file has not yet; writes and prints the results. Every corpus has `TOPICS` topics."""
    machine = describe_machine(options.device)
    path = options.output / f"{NAME}{'-quick' if options.quick else ''}"
    seeds = {way: options.seeds if way == "as it is" else math.ceil(OF_COMPARED * options.seeds) for way in WAYS}
    wanted = [
        {
            "kind": kind, "way": way, "seed": seed, "iterations": options.iterations, "device": machine.device,
            "engine": machine.engine,
        }
        for way in WAYS for kind in KINDS if way == "as it is" or kind in COMPARED
        for seed in range(FIRST_SEED, FIRST_SEED + seeds[way])
    ]  # fmt: skip
    rows = complete(NAME, path.with_suffix(".csv"), wanted, EvidenceRun(machine, QUICK if options.quick else Plan()))
    print(write_page(path.with_suffix(".md"), "How sure findings are", machine, describe(rows, options.quick)))
