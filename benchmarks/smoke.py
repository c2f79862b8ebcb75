"""All measurements, shortened, on a small generated corpus: whether they run, not what they find."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from benchmarks import associations, blocking, evidence, fit_quality, learning, speed, table_limit
from benchmarks.data import NamedCorpus, bars, bars_corpus, generated_corpus
from benchmarks.options import Options

NAME = "smoke"
CLAIM = "that every measurement runs: a few seconds on generated data"


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    parser.add_argument(
        "measurements", nargs="*", type=_measurement, metavar="MEASUREMENT",
        help=f"of {', '.join(MEASUREMENTS)} (default: all)",
    )  # fmt: skip
    parser.add_argument("--device", metavar="NAME", help="part of an OpenCL device's name")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="keep the results, in this folder")


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    with tempfile.TemporaryDirectory() as folder:
        options = Options(8, iterations=5, device=arguments.device, output=arguments.output or Path(folder), quick=True)
        corpus = generated_corpus()
        for name in arguments.measurements or MEASUREMENTS:
            MEASUREMENTS[name](corpus, options)


def _measurement(name: str) -> str:
    if name not in MEASUREMENTS:
        raise ArgumentTypeError(f"There is no “{name}”; choose of {', '.join(MEASUREMENTS)}.")
    return name


def _blocking(corpus: NamedCorpus, options: Options) -> None:
    simulated = blocking.Plan(
        bars_corpus(bars(), 60, 20, 0.1), 10, iterations=10, seeds=1, held_out_documents=10, bars=bars()
    )
    real = blocking.Plan(corpus, options.topics, iterations=10, seeds=1, held_out_documents=30)
    blocking.measure(simulated, {blocking.KOS: real}, [], options, processes=1, seconds=0.01)


MEASUREMENTS: dict[str, Callable[[NamedCorpus, Options], object]] = {
    speed.NAME: lambda corpus, options: speed.measure(corpus, options, warm_up=1, turn_seconds=0.01),
    fit_quality.NAME: fit_quality.measure,
    learning.NAME: lambda corpus, options: learning.measure([corpus], options, ablated=[corpus.name]),
    associations.NAME: associations.measure,
    table_limit.NAME: lambda corpus, options: table_limit.measure(corpus, options, limits=(2, 512)),
    evidence.NAME: lambda _, options: evidence.measure(options),
    blocking.NAME: _blocking,
}
"""Each measurement that needs nothing but a corpus, by its name."""
