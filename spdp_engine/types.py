"""Plain types that pass between the rooms of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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


@dataclass(frozen=True)
class Iteration:
    """What a sampler tells after each iteration.

    Attributes:
        iteration: 1 for the first pass, then one more each time.
        seconds: sampling time of this iteration, without the measuring of perplexity.
        elapsed: seconds since the first iteration began, measuring included, pauses not.
        tokens_per_second: training tokens over `seconds`.
        perplexity: held-out perplexity after this iteration; None where it was not measured.
    """

    iteration: int
    seconds: float
    elapsed: float
    tokens_per_second: float
    perplexity: float | None
