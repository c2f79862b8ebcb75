"""Whether Parallax fits as well as peers: held-out perplexity of the same words, on six corpora."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks import fit_parallax, fit_peers
from benchmarks.data import NamedCorpus
from benchmarks.fit_page import describe, peers_table
from benchmarks.fit_split import CORPORA, Split, load, split
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Lengths, Options, add_options, read_options
from benchmarks.report import Row, write_page
from benchmarks.runs import Progress, TextRow, complete
from spdp_engine.types import Iteration

NAME = "fit"
CLAIM = (
    "held-out perplexity beside tomotopy's: averaged at most 0.90 of the best peer's single sample on five of six corpora, "
    "and at most 1.00 of the best peer's average on all six, 0.97 on three"
)
LENGTHS = Lengths(iterations=500, quick_iterations=20, seeds=3, quick_seeds=1)

GROUPED, ONE_GROUP = "grouped", "one group"

CONTESTS = ((GROUPED, "spdp"), (ONE_GROUP, "spdp"), (ONE_GROUP, "lda"))
"""What of Parallax is run: how documents are grouped, and the model."""


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    parser.add_argument(
        "--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA), metavar="NAME",
        help=f"of the folder that PARALLAX_DATA names (default: {' '.join(CORPORA)})",
    )  # fmt: skip
    parser.add_argument(
        "--peers-only", action="store_true", help="run what is missing of the peers alone, and print their figures"
    )
    add_options(parser, LENGTHS)


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    corpora = [load(name) for name in arguments.corpora]
    measure(corpora, read_options(arguments, LENGTHS), peers_only=arguments.peers_only)


def measure(corpora: Sequence[NamedCorpus], options: Options, peers_only: bool = False) -> None:
    """Runs what the CSV files have not yet; writes and prints the results.

    Args:
        corpora: with words and names of groups.
        options: how.
        peers_only: whether Parallax is left out; then the page is left as it is.
    """
    machine = describe_machine(options.device)
    seeds = range(1, options.seeds + 1)
    peers: list[TextRow] = []
    ours: list[TextRow] = []
    for corpus in corpora:
        splits = {(GROUPED, seed): split(corpus, seed) for seed in seeds}
        peers += _peer_rows(corpus.name, splits, options, machine)
        if not peers_only:
            splits |= {(ONE_GROUP, seed): split(corpus, seed, one_group=True) for seed in seeds}
            ours += _our_rows(corpus.name, splits, options, machine)
    if peers_only:
        print(peers_table(peers))
        return
    path = options.output / f"{NAME}{'-quick' if options.quick else ''}.md"
    title = f"Fit beside peers: {options.topics} topics"
    print(write_page(path, title, machine, describe(peers, ours, options.iterations, options.quick)))


Splits = Mapping[tuple[str, int], Split]
"""A corpus's splits by how documents are grouped, and seed."""


def _peer_rows(corpus: str, splits: Splits, options: Options, machine: Machine) -> list[TextRow]:
    """One row to each peer, prior and seed. They hang on the split and on the peer's version, not on our engine."""
    version = fit_peers.version()
    wanted = [
        {
            **splits[GROUPED, seed].columns, "topics": options.topics, "iterations": options.iterations, "peer": peer,
            "version": version, "eta": eta, "seed": seed,
        }
        for (grouping, seed) in splits
        if grouping == GROUPED
        for peer in fit_peers.MODELS
        for eta in fit_peers.ETAS
    ]  # fmt: skip
    path = options.result(NAME, "peers", "csv")
    return complete(f"{NAME}: peers on {corpus}", path, wanted, _PeerRun(splits, machine))


def _our_rows(corpus: str, splits: Splits, options: Options, machine: Machine) -> list[TextRow]:
    """One row to each contest of `CONTESTS` and seed."""
    wanted = [
        {
            **split.columns, "topics": options.topics, "iterations": options.iterations, "grouping": grouping,
            "model": model, "seed": seed, "device": machine.device, "engine": machine.engine,
        }
        for (grouping, seed), split in splits.items()
        for contest, model in CONTESTS
        if contest == grouping
    ]  # fmt: skip
    path = options.result(NAME, "parallax", "csv")
    return complete(f"{NAME}: Parallax on {corpus}", path, wanted, _OurRun(splits, machine))


@dataclass(frozen=True)
class _PeerRun:
    splits: Splits = field(repr=False)
    machine: Machine

    def __call__(self, wanted: Row, progress: Progress) -> Row:
        """One run of a peer; see `runs.Measure`."""
        score = fit_peers.run(
            self.splits[GROUPED, int(str(wanted["seed"]))], str(wanted["peer"]), int(str(wanted["topics"])),
            float(str(wanted["eta"])), int(str(wanted["iterations"])), int(str(wanted["seed"])),
            lambda steps, seconds: _tell(progress, steps, seconds),
        )  # fmt: skip
        ours = ("device", "compute_units", "driver", "engine")
        return {
            "single": f"{score.single:.4f}",
            "averaged": f"{score.averaged:.4f}",
            "samples": score.samples,
            "seconds": f"{score.seconds:.2f}",
            **{name: value for name, value in self.machine.columns().items() if name not in ours},
        }


@dataclass(frozen=True)
class _OurRun:
    splits: Splits = field(repr=False)
    machine: Machine

    def __call__(self, wanted: Row, progress: Progress) -> Row:
        """One run of Parallax; see `runs.Measure`."""
        iterations, seed = int(str(wanted["iterations"])), int(str(wanted["seed"]))
        figures = fit_parallax.run(
            self.splits[str(wanted["grouping"]), seed], str(wanted["model"]), int(str(wanted["topics"])), iterations, seed,
            self.machine.device,
        )  # fmt: skip
        _tell(progress, iterations, figures["seconds"])
        single, averaged = figures["held_out_perplexity"], figures["averaged_perplexity"]
        return {
            "single": f"{single:.4f}",
            "averaged": f"{single if averaged is None else averaged:.4f}",  # a short run may end before it averages
            "averaging_began": figures["averaging_began"],
            "seconds": f"{figures['seconds']:.2f}",
            **self.machine.columns(),
        }


def _tell(progress: Progress, steps: int, seconds: float) -> None:
    """Moves a bar on by that many iterations."""
    for _ in range(steps):
        progress(Iteration(iteration=0, seconds=seconds / steps, elapsed=0.0, tokens_per_second=0.0, perplexity=None))
