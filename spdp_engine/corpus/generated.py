"""A corpus from arrays: for generated and for ready-counted data that never was text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from spdp_engine.corpus.tokeniser import Tokeniser
from spdp_engine.corpus.types import Columns, Corpus, CorpusSettings, Documents, Note
from spdp_engine.errors import InputError


def corpus_from_arrays(
    token_word: ArrayLike,
    token_document: ArrayLike,
    document_group: ArrayLike,
    vocabulary: Sequence[str] | None = None,
    group_names: Sequence[str] | None = None,
) -> Corpus:
    """A corpus of `token_word` [N] and `token_document` [N], non-decreasing, with `document_group` [D].

    Vocabulary and groups keep the order they have here; without names they are called w0, w1, ... and group 0, group
    1, ... The texts are the words of each document with spaces between. The arrays are copied. Raises `InputError`
    when they do not fit together.
    """
    word, document, group = (_numbers(values) for values in (token_word, token_document, document_group))
    if len(word) != len(document):
        raise InputError(f"There are {len(word):,} words of tokens but {len(document):,} documents of tokens.")
    if len(document) and (np.any(np.diff(document) < 0) or document[-1] >= len(group)):
        raise InputError(
            f"The documents of tokens must not fall, and must be below {len(group):,}, the number of groups given."
        )
    words = _names(vocabulary, word, "w", "words")
    groups = _names(group_names, group, "group ", "groups")
    texts = [""] * len(group)
    bounds = np.searchsorted(document, np.arange(len(group) + 1))
    for index, (start, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        texts[index] = " ".join(words[number] for number in word[start:end].tolist())
    notes = (Note("read", f"{len(group):,} documents were made from arrays.", len(group)),)
    blank = ("",) * len(group)
    return Corpus(
        vocabulary=words,
        token_word=word,
        token_document=document,
        document_group=group,
        group_names=groups,
        documents=Documents(
            texts=tuple(texts),
            groups=tuple(groups[number] for number in group.tolist()),
            titles=blank,
            dates=blank,
            fields=pd.DataFrame(index=pd.RangeIndex(len(group))),
            columns=Columns(text="text", group="group"),
            sources=(),
            notes=notes,
        ),
        origin=np.arange(len(group), dtype=np.int32),
        settings=CorpusSettings(
            language="none", minimum_documents=1, maximum_share=1.0, pretokenised=True, passages=False
        ),
        notes=notes,
        tokeniser=Tokeniser(pretokenised=True),
    )


def _numbers(values: ArrayLike) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise InputError("Words, documents and groups must be flat arrays of whole numbers.")
    if array.size and (array.min() < 0 or array.max() > np.iinfo(np.int32).max):
        raise InputError("Words, documents and groups must be numbered from 0.")
    return array.astype(np.int32, copy=True)


def _names(names: Sequence[str] | None, numbers: NDArray[np.int32], prefix: str, things: str) -> tuple[str, ...]:
    needed = int(numbers.max()) + 1 if numbers.size else 0
    if names is None:
        return tuple(f"{prefix}{number}" for number in range(needed))
    if len(names) < needed or len(set(names)) != len(names):
        raise InputError(
            f"There must be {needed:,} or more different names of {things}, but there are {len(set(names)):,}."
        )
    return tuple(names)
