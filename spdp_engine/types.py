"""Plain types that pass between the rooms of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class TokenArrays(Protocol):
    """What a sampler needs of a corpus: flat arrays and sizes. `corpus.Corpus` is one."""

    @property
    def token_word(self) -> NDArray[np.int32]:
        """int32 [N], the word of each token, 0 .. n_words - 1."""

    @property
    def token_document(self) -> NDArray[np.int32]:
        """int32 [N], the document of each token, non-decreasing."""

    @property
    def document_group(self) -> NDArray[np.int32]:
        """int32 [D], the group of each document."""

    @property
    def n_words(self) -> int:
        """V, size of the vocabulary."""

    @property
    def n_groups(self) -> int:
        """I, number of groups."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """`TokenArrays` and nothing else: see there for the fields."""

    token_word: NDArray[np.int32]
    token_document: NDArray[np.int32]
    document_group: NDArray[np.int32]
    n_words: int
    n_groups: int


@dataclass(frozen=True, eq=False)
class ScoredTokens:
    """Tokens that are scored and never trained on.

    Attributes:
        token_word: int32 [M], numbers of the corpus's words.
        token_document: int32 [M], numbers of the corpus's documents.
    """

    token_word: NDArray[np.int32]
    token_document: NDArray[np.int32]


class Sample(Protocol):
    """A consistent copy of a model's state, and the estimates drawn from it: all that is read of a run, of whatever model."""

    @property
    def iteration(self) -> int:
        """Iterations done when it was taken."""

    @property
    def priors(self) -> Any:
        """Hyperparameters in force, the model's kind of `models.Priors`."""

    @property
    def counts(self) -> Any:
        """The model's counts."""

    def base_wording(self) -> NDArray[np.float64]:
        """[V, K], what the groups share."""

    def group_wordings(self) -> NDArray[np.float64]:
        """[I, V, K]; not to be written to."""

    def group_topic_tokens(self) -> NDArray[Any]:
        """[I, K], whole numbers in a single sample, means in an average."""

    def group_word_tokens(self, topic: int) -> NDArray[Any]:
        """[I, V], tokens of each word in the topic; as above."""

    def document_shares(self) -> NDArray[np.float64]:
        """[D, K]."""


@dataclass(frozen=True)
class Iteration:
    """What a sampler tells after each iteration.

    Attributes:
        iteration: 1 for the first pass, then one more each time.
        seconds: sampling time of this iteration, without the measuring of perplexity.
        elapsed: seconds since the first iteration began, measuring included, pauses not.
        tokens_per_second: training tokens over `seconds`.
        perplexity: held-out perplexity after this iteration; None where it was not measured.
        averaged: the same of the probabilities' mean over the samples since the chain settled; None before, or where not measured.
        samples: how many those are.
        hyperparameters: those in force, by name.
    """

    iteration: int
    seconds: float
    elapsed: float
    tokens_per_second: float
    perplexity: float | None
    averaged: float | None = None
    samples: int = 0
    hyperparameters: Mapping[str, float] = field(default_factory=dict)
