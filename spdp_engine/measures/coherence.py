"""Whether the words of a topic are found together in a text: NPMI and PMI over windows of words.

A window of s words slides over each document one word at a time, and a word is in a window or not, however often it stands there
(a "boolean sliding window"). A document of L words has L - s + 1 windows; one no longer than s is a single window.

Sources: M. Röder, A. Both, A. Hinneburg, "Exploring the Space of Topic Coherence Measures", WSDM 2015; J. H. Lau, D. Newman,
T. Baldwin, "Machine Reading Tea Leaves", EACL 2014; G. Bouma, "Normalized (Pointwise) Mutual Information in Collocation
Extraction", GSCL 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spdp_engine.errors import SettingsError

WINDOW = 10
"""Words in a window, as in the thesis and in most that has been published."""

_BLOCK = 1 << 20
"""Tokens that are looked at in one go, so that a long text needs little memory."""

_MOST_WORDS = 2048
"""Words whose pairs are counted in one pass over a text, the square of which is held."""


@dataclass(frozen=True, eq=False)
class WindowCounts:
    """How often W words of interest stand in the windows of a text.

    Attributes:
        words: int64 [W], their numbers, rising.
        together: int64 [W, W], windows that hold both words; on the diagonal those that hold the word.
        frequency: int64 [W], tokens of each word.
        windows: windows of the text.
        tokens: tokens of the text.
    """

    words: NDArray[np.int64]
    together: NDArray[np.int64]
    frequency: NDArray[np.int64]
    windows: int
    tokens: int

    @property
    def occurrences(self) -> NDArray[np.int64]:
        """Windows that hold each word: int64 [W]."""
        return np.diagonal(self.together)


@dataclass(frozen=True, eq=False)
class Coherence:
    """How coherent T lists of words are in a text.

    Attributes:
        npmi: float64 [T], mean NPMI over the pairs of each list, -1 to 1; NaN for a list of fewer than two words.
        pmi: float64 [T], mean PMI likewise, in nats.
        missing: int64, the numbers of words in the lists that the text never holds, rising.
        windows: windows of the text.
        tokens: tokens of the text.
    """

    npmi: NDArray[np.float64]
    pmi: NDArray[np.float64]
    missing: NDArray[np.int64]
    windows: int
    tokens: int


def topic_coherence(
    token_word: NDArray[np.integer],
    token_document: NDArray[np.integer],
    topics: Sequence[NDArray[np.integer]],
    window: int | None = WINDOW,
) -> Coherence:
    """The mean NPMI and PMI over all pairs of words of each topic.

    A word that the text never holds counts as any word that is never found with another: its pairs have NPMI -1 and PMI 0.

    Args:
        token_word: [N], the words of a text.
        token_document: [N], their documents, never falling.
        topics: T lists of different words, most often a topic's ten most probable.
        window: words in a window; None: whole documents.

    Raises:
        SettingsError: the window is shorter than two words.
    """
    means: list[tuple[float, float]] = []
    missing: set[int] = set()
    for batch in _batches(topics):
        words = np.unique(np.concatenate([*batch, np.empty(0, np.int64)]))
        counts = window_counts(token_word, token_document, words, window)
        missing.update(counts.words[counts.frequency == 0].tolist())
        means += [_mean_over_pairs(counts, np.searchsorted(counts.words, topic)) for topic in batch]
    by_topic = np.array(means, np.float64).reshape(-1, 2)
    return Coherence(by_topic[:, 0], by_topic[:, 1], np.array(sorted(missing), np.int64), counts.windows, counts.tokens)


def npmi(together: ArrayLike, occurrences_a: ArrayLike, occurrences_b: ArrayLike, windows: int) -> NDArray[np.float64]:
    """Normalised pointwise mutual information of pairs of words, log(P(a, b) / (P(a) P(b))) / -log P(a, b).

    The probabilities are shares of windows. 1: neither word without the other; 0: as if independent; -1: never together, which is
    what the quotient tends to. Others add a small number to P(a, b) instead, and so score such a pair between -1 and 0.

    Args:
        together: [P], windows that hold both words.
        occurrences_a: [P], windows that hold the first.
        occurrences_b: [P], windows that hold the second.
        windows: all windows.

    Returns:
        float64 [P].
    """
    both, a, b = (np.asarray(counts, np.float64) for counts in (together, occurrences_a, occurrences_b))
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = -np.log(both / windows)
        quotient = np.log(both * windows / (a * b)) / surprise
    return np.where(both == 0, -1.0, np.where(both == windows, 1.0, quotient))


def pmi(
    together: ArrayLike, windows: int, frequency_a: ArrayLike, frequency_b: ArrayLike, tokens: int
) -> NDArray[np.float64]:
    """Pointwise mutual information of pairs of words, log(P(a, b) / (P(a) P(b))), as the thesis on SPDP defines it.

    The definition is in its section 10.2.1, in the text, without a number: P(a, b) is the probability that a and b stand in the
    same window of 10 words, P(a) and P(b) are estimated from the words' frequencies; a topic's score is the mean over the 45 pairs
    of its ten first words, that of a run the sum over its topics. Since P(a, b) is a share of windows and P(a) one of tokens,
    independent words come to about log(s (s - 1)) in windows of s words, which is 4.5 for ten, and not to 0: scores can be compared
    for the same window and reference alone. NPMI has no such shift.

    The thesis does not say what a pair adds that is never found together, whose logarithm has no bound. It adds 0 here, as in
    the program that Lau et al. published.

    Args:
        together: [P], windows that hold both words.
        windows: all windows.
        frequency_a: [P], tokens of the first word.
        frequency_b: [P], tokens of the second.
        tokens: all tokens.

    Returns:
        float64 [P], in nats.
    """
    both, a, b = (np.asarray(counts, np.float64) for counts in (together, frequency_a, frequency_b))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (both / windows) / ((a / tokens) * (b / tokens))
        return np.where(both == 0, 0.0, np.log(ratio))


def window_counts(
    token_word: NDArray[np.integer],
    token_document: NDArray[np.integer],
    words: NDArray[np.integer],
    window: int | None = WINDOW,
) -> WindowCounts:
    """Counts the windows that hold words of interest, and those that hold two of them.

    Time goes with the tokens of interest times the words in a window; memory with the square of the words of interest.

    Args:
        token_word: [N], the words of a text.
        token_document: [N], their documents, never falling.
        words: the words of interest.
        window: words in a window; None: whole documents.

    Raises:
        SettingsError: the window is shorter than two words.
    """
    if window is not None and window < 2:
        raise SettingsError(f"A window of coherence must have 2 words or more; it has {window}.")
    asked: NDArray[np.int64] = np.unique(np.asarray(words, np.int64))
    size = len(asked)
    place_of = np.full(
        max((int(array.max()) + 1 for array in (token_word, asked) if len(array)), default=0), -1, np.int32
    )
    place_of[asked] = np.arange(size)
    together = np.zeros((size, size), np.int64)
    frequency = np.zeros(size, np.int64)
    windows = 0
    for block in _blocks(token_document):
        begin = np.flatnonzero(np.diff(token_document[block], prepend=-1))
        length = np.diff(begin, append=block.stop - block.start)
        place = place_of[token_word[block]]
        at = np.flatnonzero(place >= 0)
        place = place[at]
        document = np.searchsorted(begin, at, side="right") - 1
        frequency += np.bincount(place, minlength=size)
        if window is None:
            windows += len(begin)
            together += _in_documents(place, document, size)
        else:
            windows += int(np.maximum(length - window + 1, 1).sum())
            together += _in_windows(place, at, begin[document], length[document], window, size)
    return WindowCounts(asked, together, frequency, windows, len(token_word))


def _in_windows(
    place: NDArray[np.int32],
    at: NDArray[np.int64],
    begin: NDArray[np.int64],
    length: NDArray[np.int64],
    window: int,
    size: int,
) -> NDArray[np.int64]:
    """Windows that hold both words of a pair: int64 [size, size].

    A window is named by where it ends, and is counted for the last token of each word in it. Such a token at p is in the windows
    that end from p (or from the end of its document's first window) to p + s - 1, before the word's next token and within the
    document. So the windows of a pair of tokens are an interval, the overlap of theirs, which is empty where the tokens are too
    far apart or in different documents.

    Args:
        place: [n], words of the tokens of interest, 0 .. size - 1.
        at: [n], where these stand, rising.
        begin: [n], where their documents begin.
        length: [n], and how long these are.
        window: words in a window.
        size: number of words.
    """
    span = np.minimum(length, window)
    first = np.maximum(at, begin + span - 1).astype(np.int32)
    last = np.minimum(at + span, begin + length)
    order = np.argsort(place.astype(np.min_scalar_type(size)), kind="stable")  # sorts by radix where the type is short
    again = place[order[1:]] == place[order[:-1]]
    before, after = order[:-1][again], order[1:][again]
    last[before] = np.minimum(last[before], at[after])
    last = last.astype(np.int32)  # one past the last
    row = place.astype(np.int64) * size
    counts = np.zeros(size * size)
    for step in range(len(place)):
        upto = len(place) - step
        if not (last[:upto] > first[step:]).any():  # `first` never falls, so nothing comes after
            break
        overlap = np.minimum(last[:upto], last[step:])
        overlap -= first[step:]
        np.maximum(overlap, 0, out=overlap)
        counts += np.bincount(row[:upto] + place[step:], weights=overlap, minlength=size * size)
    ordered = counts.astype(np.int64).reshape(size, size)
    together: NDArray[np.int64] = ordered + ordered.T
    np.fill_diagonal(together, np.diagonal(ordered))
    return together


def _in_documents(place: NDArray[np.int32], document: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Documents that hold both words of a pair: int64 [size, size]; arguments as above, `document` counted from 0."""
    from scipy.sparse import csr_array  # here, since importing scipy takes a moment that the app need not wait for

    rows = int(document[-1]) + 1 if len(document) else 0
    holds = csr_array((np.ones(len(place), np.int32), (document, place)), shape=(rows, size))
    holds.sum_duplicates()
    holds.data[:] = 1
    together: NDArray[np.int64] = (holds.T @ holds).toarray().astype(np.int64)
    return together


def _mean_over_pairs(counts: WindowCounts, places: NDArray[np.int64]) -> tuple[float, float]:
    """NPMI and PMI of the words at these places of the counts."""
    if len(places) < 2:
        return np.nan, np.nan
    one, other = np.triu_indices(len(places), 1)
    a, b = places[one], places[other]
    together = counts.together[a, b]
    occurrences, frequency = counts.occurrences, counts.frequency
    return (
        float(npmi(together, occurrences[a], occurrences[b], counts.windows).mean()),
        float(pmi(together, counts.windows, frequency[a], frequency[b], counts.tokens).mean()),
    )


def _batches(topics: Sequence[NDArray[np.integer]]) -> Iterator[list[NDArray[np.integer]]]:
    """The topics in order, as many together as have `_MOST_WORDS` different words; one batch at least, which may be empty."""
    batch: list[NDArray[np.integer]] = []
    words: set[int] = set()
    for topic in topics:
        own = set(topic.tolist())
        if batch and len(words | own) > _MOST_WORDS:
            yield batch
            batch, words = [], set()
        batch.append(topic)
        words |= own
    yield batch


def _blocks(token_document: NDArray[np.integer]) -> Iterator[slice]:
    """The tokens in blocks that end where a document ends; a document longer than a block is one."""
    start = 0
    while start < len(token_document):
        last = token_document[min(start + _BLOCK, len(token_document)) - 1]
        stop = int(np.searchsorted(token_document, last, side="right"))
        yield slice(start, stop)
        start = stop
