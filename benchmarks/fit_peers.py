"""The peer: tomotopy's LDA and DMR, trained and scored on a split."""

from __future__ import annotations

import importlib
import importlib.metadata
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_split import Split
from spdp_engine.errors import ParallaxError

MODELS = {"tomotopy LDA": "LDAModel", "tomotopy DMR": "DMRModel"}
"""What is run, and the class of it: DMR's prior of the topics depends on the document's group."""

ETAS = (0.01, 0.1, 0.3)
"""Dirichlet priors of the words in a topic; tomotopy does not learn this one."""

ALPHA = 0.1
"""Where the prior of the topics in a document begins; it is then learned, one value a topic."""

OPTIMISE_EVERY = 10
OPTIMISE_FROM = 20
"""Iterations between, and before, the optimisations of alpha."""

AVERAGE_EVERY = 5
"""Iterations between the samples, all of the second half of a run, over which probabilities are averaged."""

Tell = Callable[[int, float], None]
"""Called with how many iterations were just done, and the seconds they took."""


@dataclass(frozen=True)
class Score:
    """Held-out perplexity of a run.

    Attributes:
        single: of the last sample.
        averaged: of the mean over `samples` of the probability of each token.
        samples: how many were averaged.
        seconds: training time, without measuring.
    """

    single: float
    averaged: float
    samples: int
    seconds: float


def version() -> str:
    """tomotopy's version.

    Raises:
        ParallaxError: it is not installed.
    """
    try:
        return importlib.metadata.version("tomotopy")
    except importlib.metadata.PackageNotFoundError as error:
        raise ParallaxError(
            "The peer tomotopy is not installed. Install it with: pip install -r benchmarks/requirements.txt."
        ) from error


def run(split: Split, peer: str, topics: int, eta: float, iterations: int, seed: int, tell: Tell) -> Score:
    """Trains a peer with one thread, so that a seed decides the result, and scores the held-out words.

    Args:
        split: training and held-out words.
        peer: a name of `MODELS`.
        topics: K.
        eta: prior of the words in a topic.
        iterations: of the run; at least 1.
        seed: of the peer's random numbers.
        tell: told of progress.

    Returns:
        exp(-mean log sum_k theta phi) over the held-out words, of the last sample and of averaged probabilities.
    """
    model = _model(split, peer, topics, eta, seed)
    word, document, rows = _scored(model, split)
    total: NDArray[np.float64] = np.zeros(len(word))
    now = total
    samples, seconds = 0, 0.0
    for step in _steps(iterations):
        begin = time.perf_counter()
        model.train(step, workers=1)
        took = time.perf_counter() - begin
        seconds += took
        tell(step, took)
        if model.global_step > iterations // 2 and (iterations - model.global_step) % AVERAGE_EVERY == 0:
            now = _probabilities(model, topics, word, document, rows)
            total, samples = total + now, samples + 1
    return Score(perplexity(now), perplexity(total / samples), samples, seconds)


def perplexity(probabilities: NDArray[np.float64]) -> float:
    """exp(-mean log) of the probabilities of tokens."""
    return float(np.exp(-np.log(probabilities).mean()))


def _steps(iterations: int) -> list[int]:
    """Iterations at a time, so that every `AVERAGE_EVERY`-th before the last is the end of a step."""
    first = iterations % AVERAGE_EVERY
    return [*([first] if first else []), *[AVERAGE_EVERY] * (iterations // AVERAGE_EVERY)]


def _model(split: Split, peer: str, topics: int, eta: float, seed: int) -> Any:
    tomotopy = importlib.import_module("tomotopy")
    model = getattr(tomotopy, MODELS[peer])(k=topics, alpha=ALPHA, eta=eta, seed=seed)
    for document in split.training:
        if peer == "tomotopy DMR":
            model.add_doc(document.words, metadata=document.group)
        else:
            model.add_doc(document.words)
    model.optim_interval, model.burn_in = OPTIMISE_EVERY, OPTIMISE_FROM
    model.train(0, workers=1)  # draws the first topics and settles the vocabulary
    return model


def _scored(model: Any, split: Split) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """The held-out tokens as the peer numbers them: word [M]; document [M], an index of the third; the peer's documents."""
    number = {word: index for index, word in enumerate(model.used_vocabs)}
    place = {document.id: index for index, document in enumerate(split.training)}
    word = np.array([number[word] for document in split.held_out for word in document.words])
    document = np.repeat(np.arange(len(split.held_out)), [len(one.words) for one in split.held_out])
    return word, document, [place[one.id] for one in split.held_out]


def _probabilities(
    model: Any, topics: int, word: NDArray[np.int64], document: NDArray[np.int64], rows: list[int]
) -> NDArray[np.float64]:
    """sum_k theta[d,k] phi[k,w] of each held-out token: float64 [M]."""
    documents = list(model.docs)
    shares = np.array([documents[row].get_topic_dist() for row in rows], dtype=np.float64)
    wording = np.array([model.get_topic_word_dist(topic) for topic in range(topics)], dtype=np.float64)
    found: NDArray[np.float64] = np.einsum("nk,kn->n", shares[document], wording[:, word])
    return found
