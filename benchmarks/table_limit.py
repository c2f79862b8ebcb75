"""What bounding the number of tables of a cell does to the fit."""

from __future__ import annotations

import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from benchmarks.data import NamedCorpus, add_corpus_arguments, load_corpus
from benchmarks.machine import Machine, describe_machine
from benchmarks.options import Lengths, Options, add_options, read_options
from benchmarks.report import Row, counted, table, write_page
from benchmarks.runs import complete
from spdp_engine.models import stirling
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import Iteration

NAME = "table-limit"
CLAIM = "held-out perplexity with cells bounded to few tables, to many, and not at all"
LENGTHS = Lengths(iterations=200, quick_iterations=20, seeds=5, quick_seeds=1)
LIMITS = (16, 64, 512)
UNBOUNDED = 2**31


def add_arguments(parser: ArgumentParser) -> None:
    """See `__main__.Command`."""
    add_corpus_arguments(parser)
    add_options(parser, LENGTHS)


def run(arguments: Namespace) -> None:
    """See `__main__.Command`."""
    measure(load_corpus(arguments), read_options(arguments, LENGTHS))


def measure(corpus: NamedCorpus, options: Options, limits: Sequence[int] = LIMITS) -> None:
    """Runs what the CSV file has not yet, for each limit and without one; writes and prints the results."""
    machine = describe_machine(options.device)
    wanted = [
        {
            **corpus.sizes, "topics": options.topics, "iterations": options.iterations, "limit": limit, "seed": seed,
            "device": machine.device, "compute_units": machine.compute_units, "engine": machine.engine,
        }
        for seed in range(1, options.seeds + 1)
        for limit in (*limits, UNBOUNDED)
    ]  # fmt: skip
    rows = complete(NAME, options.result(NAME, corpus.name, "csv"), wanted, partial(run_once, corpus, machine))
    print(write_page(
        options.result(NAME, corpus.name, "md"), f"Bound on tables: {corpus.name}, {options.topics} topics", machine,
        describe(corpus, rows, options.iterations),
    ))  # fmt: skip


def run_once(corpus: NamedCorpus, machine: Machine, wanted: Row, progress: Callable[[Iteration], None]) -> Row:
    """One run of `blocks` to its last iteration."""
    limit = int(str(wanted["limit"]))
    settings = plain_settings(
        topics=int(str(wanted["topics"])), device=machine.device, seed=int(str(wanted["seed"])), measure_every=0
    )
    with tables_bounded(limit):
        sampler = Sampler(corpus.arrays, settings)
    sampler.run(int(str(wanted["iterations"])), progress)
    tables = sampler.inspect().counts.tables
    return {
        "perplexity": f"{sampler.perplexity():.4f}",
        "most_tables": int(tables.max()),
        "cells_at_limit": int((tables >= limit).sum()),
        "cells": int((tables > 0).sum()),
        **machine.columns(),
    }


@contextmanager
def tables_bounded(limit: int) -> Iterator[None]:
    """Samplers that are made meanwhile bound tables by `limit`; by nothing, memory neither, where it is `UNBOUNDED`."""
    bytes_of_table = 2**62 if limit == UNBOUNDED else stirling.MAXIMUM_BYTES
    with patch.object(stirling, "MAXIMUM_TABLES", limit), patch.object(stirling, "MAXIMUM_BYTES", bytes_of_table):
        yield


def describe(corpus: NamedCorpus, rows: Sequence[dict[str, str]], iterations: int) -> list[str]:
    """The page's paragraphs."""
    free = {row["seed"]: float(row["perplexity"]) for row in rows if int(row["limit"]) == UNBOUNDED}
    body = []
    for limit in dict.fromkeys(row["limit"] for row in rows):
        own = [row for row in rows if row["limit"] == limit]
        changes = [float(row["perplexity"]) / free[row["seed"]] - 1 for row in own]
        body.append([
            "none" if int(limit) == UNBOUNDED else limit,
            f"{statistics.fmean(float(row['perplexity']) for row in own):.1f}",
            f"{statistics.fmean(changes):+.2%}", f"{min(changes):+.2%} to {max(changes):+.2%}",
            str(max(int(row["most_tables"]) for row in own)),
            f"{statistics.fmean(int(row['cells_at_limit']) for row in own):,.0f}",
        ])  # fmt: skip
    cells = statistics.fmean(int(row["cells"]) for row in rows)
    header = ["tables at most", "perplexity", "change", "seeds", "most tables in a cell", "cells at the limit"]
    engine = f"at most {stirling.MAXIMUM_TABLES}, and fewer where their table would take more than "
    return [
        f"{corpus}. Held-out perplexity of `blocks` after {counted(iterations, 'iteration')}, mean of "
        f"{counted(len(free), 'seed')}; the change is against no limit. About {cells:,.0f} cells (group, topic, word) "
        "have customers.",
        table(header, body),
        f"The engine's own bound is {engine}{stirling.MAXIMUM_BYTES / 2**20:.0f} MB. It bounds tables, never counts.",
    ]
