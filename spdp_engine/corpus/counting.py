"""Texts -> flat arrays of word numbers, with one dictionary look-up for each run of characters between white space."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.tokeniser import Tokeniser

_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Tokens:
    """All words of all texts, numbered in the order in which they were first met.

    `words` W distinct words; `word` [N] int32 into them; `document` [N] int32 into the texts, never falls.
    """

    words: tuple[str, ...]
    word: NDArray[np.int32]
    document: NDArray[np.int32]


class _Runs(dict[str, int]):
    """Run -> its number; a run that is met for the first time is analysed and its words are written down."""

    def __init__(self, tokeniser: Tokeniser) -> None:
        super().__init__()
        self._tokeniser = tokeniser
        self.words: dict[str, int] = {}
        self.flat = array("i")  # the words of run 0, of run 1, ...
        self.ends = array("q")  # and where in `flat` those of each run end

    def __missing__(self, run: str) -> int:
        for _, _, word in self._tokeniser.analyse(run):
            self.flat.append(self.words.setdefault(word, len(self.words)))
        self.ends.append(len(self.flat))
        number = self[run] = len(self)
        return number


def count_words(texts: Sequence[str], tokeniser: Tokeniser, done: Callable[[int], None] | None = None) -> Tokens:
    """The words of each text; `done` is told the number of texts behind it now and then.

    Distinct runs are far fewer than tokens (Heaps' law), so each is analysed once and the rest is look-ups and NumPy.
    """
    runs = _Runs(tokeniser)
    run_of = array("i")
    runs_in = np.zeros(len(texts), dtype=np.int64)
    for index, text in enumerate(texts):
        before = len(run_of)
        run_of.extend(map(runs.__getitem__, tokeniser.runs(text)))
        runs_in[index] = len(run_of) - before
        if done is not None and index % 500 == 0:
            done(index)
    return _expand(runs, np.frombuffer(run_of, dtype=np.int32), runs_in)


def _expand(runs: _Runs, run_of: NDArray[np.int32], runs_in: NDArray[np.int64]) -> Tokens:
    """Replace each run by its words, which may be none, one or several."""
    ends = np.frombuffer(runs.ends, dtype=np.int64)
    lengths = np.diff(ends, prepend=0).astype(np.int32)
    flat = np.frombuffer(runs.flat, dtype=np.int32)
    first = ends - lengths
    words: list[NDArray[np.int32]] = []
    words_before = np.zeros(len(run_of) + 1, dtype=np.int64)
    np.cumsum(lengths[run_of], out=words_before[1:])
    for start in range(0, len(run_of), _BLOCK):  # in blocks, because the places are 8 bytes each
        block = run_of[start : start + _BLOCK]
        length = lengths[block]
        within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        words.append(flat[np.repeat(first[block], length) + within])
    runs_before = np.concatenate(([0], np.cumsum(runs_in)))
    tokens_in = np.diff(words_before[runs_before])
    return Tokens(
        words=tuple(runs.words),
        word=np.concatenate(words) if words else np.empty(0, dtype=np.int32),
        document=np.repeat(np.arange(len(runs_in), dtype=np.int32), tokens_in),
    )


def document_frequencies(tokens: Tokens) -> NDArray[np.int64]:
    """[W] in how many texts each word is."""
    frequencies = np.zeros(len(tokens.words), dtype=np.int64)
    start = 0
    while start < len(tokens.word):
        # A block ends where a text ends; a text longer than a block is a block.
        last = tokens.document[min(start + _BLOCK, len(tokens.word)) - 1]
        end = int(np.searchsorted(tokens.document, last, side="right"))
        pair = tokens.document[start:end].astype(np.int64) * len(tokens.words) + tokens.word[start:end]
        pair.sort()
        distinct = pair[np.concatenate(([True], pair[1:] != pair[:-1]))] % len(tokens.words)
        frequencies += np.bincount(distinct, minlength=len(tokens.words))
        start = end
    return frequencies
