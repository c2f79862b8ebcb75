"""Parallax on a split, through its command line with default settings, as anybody would run it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.fit_split import Split
from spdp_engine.errors import ParallaxError

ROOT = Path(__file__).resolve().parents[1]

COLUMNS = ("--text", "text", "--group", "group", "--id", "id")
WORDS = ("--pretokenised", "--no-passages")
"""The split's words are taken as they stand: none is left out, and no document is cut."""


def run(split: Split, model: str, topics: int, iterations: int, seed: int, device: str | None) -> dict[str, Any]:
    """Runs `fit` on the training words and scores the held-out ones.

    Args:
        split: training and held-out words.
        model: a name of `methods.MODELS`.
        topics: K.
        iterations: of the run.
        seed: of the sampler.
        device: part of an OpenCL device's name; None: the engine's choice.

    Returns:
        The figures that `fit --json` prints.

    Raises:
        ParallaxError: the command failed, or it did not train on and score exactly the words of the split.
    """
    with tempfile.TemporaryDirectory() as folder:
        training, held_out = split.write(Path(folder))
        run_of = ("--model", model, "--topics", str(topics), "--iterations", str(iterations), "--seed", str(seed))
        chosen = ("--device", device) if device else ()
        words = ("fit", str(training), "--score", str(held_out), *COLUMNS, *WORDS, *run_of, *chosen, "--json")
        done = subprocess.run(
            [sys.executable, "-m", "spdp_engine", *words],
            cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["It said nothing."]
        raise ParallaxError(f"A run of Parallax on {split.corpus} failed: {told[-1]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    check(split, figures)
    return figures


def check(split: Split, figures: dict[str, Any]) -> None:
    """Refuses figures of other words than those of the split.

    Raises:
        ParallaxError: as said.
    """
    sizes = split.columns
    there = {name: sizes[name] for name in ("documents", "training_tokens", "words", "scored_tokens")}
    told = {**{name: figures.get(name) for name in there}, "words": figures.get("vocabulary")}
    if told != there:
        raise ParallaxError(
            f"Parallax did not train on and score the words of the split of {split.corpus}: they are {there}, and it tells of "
            f"{told}. Take the same readers and settings of words for both."
        )
