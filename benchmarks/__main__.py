"""python -m benchmarks COMMAND: measures what the README claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Protocol

from benchmarks import (
    associations,
    blocking,
    browser,
    evidence,
    fit,
    fit_quality,
    large,
    learning,
    screenshots,
    smoke,
    speed,
    table_limit,
    thesis,
)
from spdp_engine.errors import ParallaxError


class Command(Protocol):
    """A module with one measurement: what it is called and tells of itself, its options, and the run."""

    NAME: str
    CLAIM: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the command's options."""

    def run(self, arguments: argparse.Namespace) -> None:
        """Measures, and writes the results."""


COMMANDS: tuple[Command, ...] = (
    speed,
    fit_quality,
    fit,
    learning,
    table_limit,
    associations,
    evidence,
    thesis,
    blocking,
    browser,
    large,
    screenshots,
    smoke,
)
"""All commands. A new one is a module of this package, named here."""


def main(words: Sequence[str] | None = None) -> int:
    """Runs a command. Returns the exit status: 0, or 2 where something is missing or wrong, which is said on stderr."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the README claims.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        one = commands.add_parser(command.NAME, help=command.CLAIM.replace("%", "%%"), description=command.CLAIM)
        command.add_arguments(one)
        one.set_defaults(run=command.run)
    arguments = parser.parse_args(words)
    try:
        arguments.run(arguments)
    except ParallaxError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
