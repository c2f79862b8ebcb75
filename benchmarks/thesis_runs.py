"""Runs of every SPDP schedule on the same training tokens: perplexity on the way, and the sample at the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import Machine
from benchmarks.report import Row, read_rows, write_rows
from benchmarks.runs import Points, Progress
from benchmarks.schedules import NamedSchedule
from benchmarks.thesis_algorithm1 import held_out_perplexity
from spdp_engine.models.spdp import Counts, SpdpPriors, SpdpSample
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.sampling.sampler import Sampler
from spdp_engine.types import TokenArrays, Tokens

MARKS = (1, 2, 5, 10, 25, 50, 75, 100, 150, 200, 250, 300, 400, 500, 750, 1000, 1500, 2000)
"""Iterations after which perplexity is measured, beside the last."""

THINNED = frozenset((75, 150, 250, 400, 750, 1500))
"""Marks that a table of perplexities and the ticks of an axis leave out."""

HELD_OUT = 0.1
HELD_OUT_SEED = 1


@dataclass(frozen=True, eq=False)
class Split:
    """A corpus, and which of its tokens all runs are scored on, whatever their seed.

    Attributes:
        corpus: all tokens.
        held_out: bool [N].
        training: the others.
    """

    corpus: TokenArrays
    held_out: NDArray[np.bool_]
    training: Tokens


def split(corpus: TokenArrays) -> Split:
    """Holds out what the engine would hold out for seed 1. Runs that differ in their seed then differ in nothing else."""
    held_out = choose_held_out(corpus, HELD_OUT, HELD_OUT_SEED)
    word, document = corpus.token_word[~held_out], corpus.token_document[~held_out]
    return Split(corpus, held_out, Tokens(word, document, corpus.document_group, corpus.n_words, corpus.n_groups))


@dataclass(frozen=True)
class Samples:
    """Samples at the end of runs, kept in a folder so that an interrupted measurement need not begin again.

    Attributes:
        folder: where they are; not part of the results.
    """

    folder: Path

    def keep(self, wanted: Row, sample: SpdpSample) -> None:
        """Writes the sample of the run with these settings."""
        counts, base = sample.counts, sample.base
        arrays: dict[str, NDArray[Any]] = {
            "document_topics": counts.document_topics,
            "customers": counts.customers,
            "tables": counts.tables,
            "base": np.zeros(0) if base is None else base,
            "iteration": np.array(sample.iteration),
            "settings": np.array(_settings(wanted)),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(self._path(wanted), allow_pickle=False, **arrays)

    def find(self, wanted: Row) -> SpdpSample | None:
        """The sample of the run with these settings; None where there is none."""
        path = self._path(wanted)
        if not path.exists():
            return None
        with np.load(path) as arrays:
            if str(arrays["settings"]) != _settings(wanted):
                return None
            counts = Counts(arrays["document_topics"], arrays["customers"], arrays["tables"])
            base = arrays["base"] if arrays["base"].size else None
            return SpdpSample(int(arrays["iteration"]), SpdpPriors(), counts, base=base)

    def get(self, wanted: Row) -> SpdpSample:
        """The sample of the run with these settings, which was kept."""
        sample = self.find(wanted)
        assert sample is not None, self._path(wanted)
        return sample

    def _path(self, wanted: Row) -> Path:
        name = str(wanted["contestant"]).replace(", ", "-")
        return self.folder / f"{name}-k{wanted['topics']}-seed{wanted['seed']}.npz"


def forget_without_sample(path: Path, wanted: Sequence[Row], samples: Samples) -> None:
    """Takes those of the wanted runs out of a file of runs whose sample is not there, so that they are run anew."""
    lost = [{column: str(value) for column, value in one.items()} for one in wanted if samples.find(one) is None]
    rows = read_rows(path)
    kept = [row for row in rows if not any(row.items() >= one.items() for one in lost)]
    if kept and len(kept) < len(rows):
        write_rows(path, kept)
    elif not kept:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """Measures one run.

    Attributes:
        split: what is trained on, and what is held out.
        schedules: the contestants.
        machine: where.
        samples: where the last sample goes.
    """

    split: Split
    schedules: Sequence[NamedSchedule]
    machine: Machine
    samples: Samples

    def __call__(self, wanted: Row, progress: Progress) -> tuple[Row, Points]:
        """See `runs.TracedMeasure`. Ends at the first mark at which the wanted 'minutes' are over."""
        schedule = next(one for one in self.schedules if one.name == wanted["contestant"])
        settings = schedule.settings(int(str(wanted["topics"])), int(str(wanted["seed"])), self.machine.device)
        sampler = Sampler(self.split.training, settings)
        points: list[Row] = []
        seconds, limit = 0.0, 60 * float(str(wanted["minutes"]))
        for mark in marks(int(str(wanted["iterations"]))):
            while sampler.iteration < mark:
                record = sampler.step()
                seconds += record.seconds
                progress(record)
            sample = _spdp_sample(sampler)
            perplexity = held_out_perplexity(sample, self.split.corpus, self.split.held_out)
            points.append({
                **{column: wanted[column] for column in ("contestant", "topics", "seed")},
                "iteration": mark, "perplexity": f"{perplexity:.4f}", "seconds": f"{seconds:.3f}",
            })  # fmt: skip
            if seconds > limit:
                break
        self.samples.keep(wanted, sample)
        return {
            "done": sampler.iteration,
            "perplexity": points[-1]["perplexity"],
            "seconds": points[-1]["seconds"],
            "largest_topic": f"{largest_share(sample):.5f}",
            **self.machine.columns(),
        }, points


def marks(iterations: int) -> list[int]:
    """The iterations after which perplexity is measured in a run of so many."""
    return [*(mark for mark in MARKS if mark < iterations), iterations]


def largest_share(sample: SpdpSample) -> float:
    """The share of its tokens that the groups give to the topic which they give most, by the mean over groups."""
    tokens = sample.group_topic_tokens()
    shares = tokens / np.maximum(tokens.sum(axis=1, keepdims=True), 1)
    return float(shares.mean(axis=0).max())


def _spdp_sample(sampler: Sampler) -> SpdpSample:
    sample = sampler.inspect()
    assert isinstance(sample, SpdpSample)
    return sample


def _settings(wanted: Row) -> str:
    return json.dumps({column: str(value) for column, value in wanted.items()}, sort_keys=True)
