"""How fast the schedules sample, beside the thesis's Algorithm 1, in one process on one corpus.

All contestants hold out and train on the same tokens. They take turns, so that a machine which slows down or speeds up does so for
all; ratios are taken within a round, and their median is reported.
"""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from tqdm import tqdm

from benchmarks.data import NamedCorpus, add_corpus_arguments, load_corpus
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Lengths, Options, add_options, read_options
from benchmarks.report import counted, table, write_page, write_rows
from benchmarks.thesis_algorithm1 import ThesisAlgorithm1
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import Iteration

NAME = "speed"
CLAIM = "tokens a second of the schedules and of the thesis's Algorithm 1"
LENGTHS = Lengths(iterations=15, quick_iterations=3)
WARM_UP = 10
QUICK_WARM_UP = 2
TURN_SECONDS = 0.5

THESIS = "thesis, Algorithm 1"


class Contestant(Protocol):
    """What can be stepped and scored."""

    def step(self) -> Iteration:
        """Runs one iteration."""

    def perplexity(self) -> float | None:
        """Held-out perplexity now."""


@dataclass(frozen=True)
class Turn:
    """A contestant's turn.

    Attributes:
        contestant: its name.
        round: 1 for the first.
        iterations: how many it ran.
        seconds: that it sampled.
        measuring_seconds: that went into held-out perplexity after each iteration, on top.
        tokens_per_second: training tokens sampled in a second of `seconds`.
    """

    contestant: str
    round: int
    iterations: int
    seconds: float
    measuring_seconds: float
    tokens_per_second: float


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_corpus_arguments(parser)
    add_options(parser, LENGTHS, f"turns of each contestant, of an iteration or as many as {TURN_SECONDS} seconds take")


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    options = read_options(arguments, LENGTHS)
    measure(load_corpus(arguments), options, QUICK_WARM_UP if options.quick else WARM_UP)


def measure(corpus: NamedCorpus, options: Options, warm_up: int, turn_seconds: float = TURN_SECONDS) -> None:
    """Lets the contestants run `warm_up` iterations each, then take their turns; writes and prints the results."""
    machine = describe_machine(options.device)
    contestants = make_contestants(corpus, options, machine)
    bar = tqdm(total=len(contestants) * (warm_up + options.iterations), desc=NAME, unit="turn")
    for _ in range(warm_up):
        for contestant in contestants.values():
            contestant.step()
            bar.update()
    perplexities = {name: contestant.perplexity() or 0.0 for name, contestant in contestants.items()}
    turns = []
    for number in range(1, options.iterations + 1):
        for name, contestant in contestants.items():
            turns.append(take_turn(name, contestant, number, turn_seconds))
            bar.update()
    bar.close()
    common = {**corpus.sizes, "topics": options.topics, **machine.columns()}
    write_rows(options.result(NAME, corpus.name, "csv"), [{**asdict(turn), **common} for turn in turns])
    print(write_page(
        options.result(NAME, corpus.name, "md"), f"Speed: {corpus.name}, {options.topics} topics", machine,
        describe(corpus, turns, perplexities, warm_up),
    ))  # fmt: skip


def make_contestants(corpus: NamedCorpus, options: Options, machine: Machine) -> dict[str, Contestant]:
    """The schedules and the thesis's algorithm, by the names that results give them."""

    def sampler(schedule: str, workers: int | None = None, **others: Any) -> Sampler:
        settings = plain_settings(options.topics, schedule=schedule, workers=workers, device=options.device, **others)
        return Sampler(corpus.arrays, settings)

    all_cores = sampler("blocks")
    workers = all_cores.settings.workers or 1
    contestants: dict[str, Contestant] = {f"blocks, {counted(workers, 'worker')}": all_cores}
    contestants["the same, words repeat"] = sampler("blocks", repeats=True)
    if workers > 1:
        contestants["blocks, 1 worker"] = sampler("blocks", 1)
    contestants["sequential"] = sampler("sequential")
    contestants[THESIS] = ThesisAlgorithm1(corpus.arrays, options.topics, device=options.device)
    return contestants


def take_turn(name: str, contestant: Contestant, number: int, turn_seconds: float) -> Turn:
    """Runs an iteration, and further ones until `turn_seconds` have been spent on sampling."""
    begin = time.perf_counter()
    records = [contestant.step()]
    while sum(record.seconds for record in records) < turn_seconds:
        records.append(contestant.step())
    everything = time.perf_counter() - begin
    seconds = sum(record.seconds for record in records)
    tokens = sum(record.seconds * record.tokens_per_second for record in records)
    return Turn(name, number, len(records), seconds, everything - seconds, tokens / seconds)


def describe(corpus: NamedCorpus, turns: Sequence[Turn], perplexities: Mapping[str, float], warm_up: int) -> list[str]:
    """The page's paragraphs."""
    rates = {name: [turn.tokens_per_second for turn in turns if turn.contestant == name] for name in perplexities}
    rows = []
    for name, perplexity in perplexities.items():
        millions = [rate / 1e6 for rate in rates[name]]
        ratios = [rate / thesis for rate, thesis in zip(rates[name], rates[THESIS], strict=True)]
        own = [turn for turn in turns if turn.contestant == name]
        rows.append([
            name, f"{statistics.median(millions):.2f}", f"{min(millions):.2f}", f"{max(millions):.2f}",
            f"{statistics.median(ratios):.1f}", f"{min(ratios):.1f} to {max(ratios):.1f}",
            "not measured" if name == THESIS else f"{100 * held_out_share(own):.1f} %", f"{perplexity:.1f}",
        ])  # fmt: skip
    fastest, median, span = rows[0][0], rows[0][4], rows[0][5]
    header = [
        "",
        "Mtokens/s, median",
        "min",
        "max",
        "times the thesis",
        "rounds",
        "held-out measure",
        f"perplexity at {warm_up}",
    ]
    rounds = max(turn.round for turn in turns)
    return [
        f"{corpus}. {counted(rounds, 'round')} in which each takes a turn, after {counted(warm_up, 'iteration')} of each.",
        table(header, rows),
        f"**{fastest}: {median} times as fast as the thesis's Algorithm 1** (median of the ratios within a round; {span}).",
        "Tokens a second are training tokens over sampling time. The held-out measure is the share that measuring perplexity "
        "after every iteration takes of all time. Algorithm 1 is the thesis's own, in OpenCL with one work-item "
        "(`benchmarks/thesis_algorithm1.cl`), built with the same compiler and options. Where words "
        "repeat it is another model, the app's default; perplexities after as many iterations of each show that the "
        "others sample the same.",
    ]


def held_out_share(turns: Iterable[Turn]) -> float:
    """Measuring time over all time."""
    sampling = measuring = 0.0
    for turn in turns:
        sampling += turn.seconds
        measuring += turn.measuring_seconds
    return measuring / (sampling + measuring)
