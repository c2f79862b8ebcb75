"""What every command can be told."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import RESULTS


@dataclass(frozen=True)
class Options:
    """How a command measures.

    Attributes:
        topics: K.
        iterations: iterations of each run; of `speed`, turns of each contestant.
        seeds: runs that differ in nothing but the seed.
        device: part of an OpenCL device's name; None: the engine's choice.
        output: folder the results go to.
        quick: whether the run is shortened; its results get names of their own.
    """

    topics: int
    iterations: int
    seeds: int = 1
    device: str | None = None
    output: Path = RESULTS
    quick: bool = False

    def result(self, command: str, corpus: str, ending: str) -> Path:
        """Path of a result."""
        return self.output / f"{command}-{corpus}-k{self.topics}{'-quick' if self.quick else ''}.{ending}"


@dataclass(frozen=True)
class Lengths:
    """How long a command measures, in full and shortened by --quick."""

    iterations: int
    quick_iterations: int
    seeds: int = 1
    quick_seeds: int = 1


def add_options(parser: ArgumentParser, lengths: Lengths, iterations: str = "iterations of each run") -> None:
    """Adds the options; `iterations` says what there are so many of."""
    parser.add_argument("--topics", type=positive, default=32, metavar="K", help="topics (default: %(default)s)")
    parser.add_argument(
        "--iterations", type=positive, metavar="N", help=f"{iterations} (default: {lengths.iterations})"
    )
    if lengths.seeds > 1:
        parser.add_argument("--seeds", type=positive, metavar="N", help=f"seeds 1 to N (default: {lengths.seeds})")
    add_common_options(parser)


def add_common_options(parser: ArgumentParser) -> None:
    """Adds the options that have nothing to do with what is measured."""
    parser.add_argument("--quick", action="store_true", help="measure for a short time, to see that it works")
    parser.add_argument("--device", metavar="NAME", help="part of an OpenCL device's name")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FOLDER", help="where the results go")


def read_options(arguments: Namespace, lengths: Lengths) -> Options:
    """The options, with what was not given filled in from `lengths`."""
    quick: bool = arguments.quick
    return Options(
        topics=arguments.topics,
        iterations=arguments.iterations or (lengths.quick_iterations if quick else lengths.iterations),
        seeds=getattr(arguments, "seeds", None) or (lengths.quick_seeds if quick else lengths.seeds),
        device=arguments.device,
        output=arguments.output,
        quick=quick,
    )


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
