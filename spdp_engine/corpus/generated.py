"""A corpus from arrays: for generated and for pre-counted data that never was text."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from spdp_engine.corpus.types import Corpus


def corpus_from_arrays(
    token_word: ArrayLike,
    token_document: ArrayLike,
    document_group: ArrayLike,
    vocabulary: Sequence[str] | None = None,
    group_names: Sequence[str] | None = None,
) -> Corpus:
    """Being written."""
    raise NotImplementedError
