"""What transformation matrices cost: time of an iteration with associations beside that with the identity."""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from benchmarks.data import NamedCorpus, add_corpus_arguments, load_corpus
from benchmarks.machine import describe_machine
from benchmarks.options import Lengths, Options, add_options, positive, read_options
from benchmarks.report import counted, table, write_page, write_rows
from benchmarks.schedules import all_schedules
from spdp_engine.models import Matrices
from spdp_engine.sampling.methods import method_named
from spdp_engine.sampling.sampler import Sampler
from spdp_engine.types import TokenArrays

NAME = "associations"
CLAIM = "time of an iteration with 10 associations a word: at most 4 times that of the identity"
LENGTHS = Lengths(iterations=15, quick_iterations=2)
WARM_UP, QUICK_WARM_UP = 10, 1
ASSOCIATIONS = 10
CLAIMED = 4.0


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_corpus_arguments(parser)
    add_options(parser, LENGTHS, "iterations of each contestant that are timed, in turn")
    parser.add_argument(
        "--associations", type=positive, default=ASSOCIATIONS, metavar="S",
        help="base words of each word, itself among them (default: %(default)s)",
    )  # fmt: skip


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    measure(load_corpus(arguments), read_options(arguments, LENGTHS), arguments.associations)


def measure(corpus: NamedCorpus, options: Options, associations: int = ASSOCIATIONS) -> None:
    """Lets each schedule that takes associations run with and without, in turn; writes and prints the results."""
    machine = describe_machine(options.device)
    matrices = random_matrices(corpus.arrays, associations)
    rows, body = [], []
    schedules = [one for one in all_schedules("spdp", "blocks") if method_named("spdp", one.schedule).associations]
    for schedule in tqdm(schedules, desc=NAME, unit="schedule"):
        samplers = [
            Sampler(corpus.arrays, schedule.settings(options.topics, 1, options.device, associations=given))
            for given in (None, matrices)
        ]
        for sampler in samplers:
            sampler.run(QUICK_WARM_UP if options.quick else WARM_UP)
        pairs = [[sampler.step().seconds for sampler in samplers] for _ in range(options.iterations)]
        rows += [
            {
                **corpus.sizes, "topics": options.topics, "associations": associations, "schedule": schedule.name,
                "round": number, "identity_seconds": f"{identity:.5f}", "associations_seconds": f"{other:.5f}",
                **machine.columns(),
            }
            for number, (identity, other) in enumerate(pairs, 1)
        ]  # fmt: skip
        body.append([schedule.name, *_figures(pairs)])
    write_rows(options.result(NAME, corpus.name, "csv"), rows)
    largest = max(float(row[3]) for row in body)
    verdict = "holds" if largest <= CLAIMED else "does not hold"
    print(write_page(
        options.result(NAME, corpus.name, "md"), f"Cost of associations: {corpus.name}, {options.topics} topics", machine,
        [
            f"{corpus}. Every word has {counted(associations, 'base word')} in every group: itself, with half of the weight, and "
            f"others drawn at random, so that every part of the vocabulary is linked with every other. Medians of "
            f"{counted(options.iterations, 'iteration')} of each, in turn.",
            table(["schedule", "identity, s", "associations, s", "ratio", "ratios within a round"], body),
            "This run was shortened: it says nothing about the claim." if options.quick
            else f"The claim, at most {CLAIMED:g} times the time, {verdict} here: the largest ratio is {largest:.2f}.",
        ],
    ))  # fmt: skip


def random_matrices(corpus: TokenArrays, associations: int, seed: int = 0) -> Matrices:
    """Matrices in which each word has so many base words in every group: itself, with half of the weight, and others by chance."""
    rng = np.random.default_rng(seed)
    words, groups = corpus.n_words, corpus.n_groups
    word = np.tile(np.repeat(np.arange(words), associations), groups)
    shift = np.concatenate([[0], 1 + rng.choice(words - 1, associations - 1, replace=False)])
    base = (word + np.tile(shift, words * groups)) % words
    weight = np.full(associations, 0.5 / max(1, associations - 1))
    weight[0] = 0.5
    group = np.repeat(np.arange(groups), words * associations)
    return Matrices.from_entries(groups, words, group, word, base, np.tile(weight, words * groups))


def _figures(pairs: Sequence[Sequence[float]]) -> list[str]:
    """Median seconds of both, the median ratio, and the ratios' range."""
    ratios = [other / identity for identity, other in pairs]
    medians = [statistics.median(seconds) for seconds in zip(*pairs, strict=True)]
    return [
        *(f"{median:.4f}" for median in medians),
        f"{statistics.median(ratios):.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
    ]
