"""Repeats of words within documents, on the device: kernels/repeats.clh says what they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.hyperparameters import draw_concentration, draw_discount
from spdp_engine.sampling.state import State
from spdp_engine.types import TokenArrays, Tokens


@dataclass(frozen=True, eq=False)
class Seats:
    """Which topic each token has, and who sits at which table where documents repeat words: all that a schedule knows of a run.

    Tokens stand in the order of the corpus, so that seats mean the same to every schedule and any number of workers.

    Attributes:
        topics: uint16 [N], the topic of each token; with repeats, of the table at each place of a run.
        seated: int32 [N], tokens at the table of each place, a run's tables first; None without repeats.
    """

    topics: NDArray[np.uint16]
    seated: NDArray[np.int32] | None = None

    def of_tokens(self, corpus: TokenArrays) -> NDArray[np.uint16]:
        """The topic of each token: uint16 [N]. A token that repeats has its table's."""
        if self.seated is None:
            return self.topics
        order = _by_run(corpus)
        topics = np.empty_like(self.topics)
        topics[order] = np.repeat(self.topics[order], self.seated[order])
        return topics

    def modelled(self, corpus: TokenArrays) -> tuple[TokenArrays, NDArray[np.uint16]]:
        """The tokens that a model counts, and their topics: all of them; with repeats, the tables."""
        if self.seated is None:
            return corpus, self.topics
        heads = np.flatnonzero(self.seated)
        return _some(corpus, heads), self.topics[heads]

    def check(self, corpus: TokenArrays, topics: int) -> None:
        """Refuses what no run of so many topics can have come to.

        Raises:
            SettingsError: as said.
        """
        n = len(corpus.token_word)
        if self.topics.dtype != np.uint16 or self.topics.shape != (n,) or int(self.topics.max(initial=0)) >= topics:
            raise SettingsError(
                f"A run of {topics} topics begins from {n:,} topics below that number, one for each training token."
            )
        if self.seated is None:
            return
        if self.seated.dtype != np.int32 or self.seated.shape != (n,) or not _seats_all(self.seated, corpus):
            raise SettingsError(
                "These tables do not seat each word of the documents once, the tables of a word in a document first. Take all of "
                "them from one run."
            )


def _by_run(corpus: TokenArrays) -> NDArray[np.int64]:
    """The order in which tokens of one word in one document stand side by side: int64 [N]."""
    return np.lexsort((corpus.token_word, corpus.token_document))


def _some(corpus: TokenArrays, tokens: NDArray[np.integer]) -> Tokens:
    """A corpus of some of its tokens."""
    return Tokens(
        corpus.token_word[tokens], corpus.token_document[tokens], corpus.document_group, corpus.n_words, corpus.n_groups
    )


def _seats_all(seated: NDArray[np.int32], corpus: TokenArrays) -> bool:
    """Whether the tables of each run stand first, and seat as many tokens as it has."""
    order = _by_run(corpus)
    key = corpus.token_document[order].astype(np.int64) * corpus.n_words + corpus.token_word[order]
    seated = seated[order]
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    lengths = np.diff(np.append(firsts, len(key)))
    after_none = (seated[1:] > 0) & (seated[:-1] == 0)
    after_none[firsts[1:] - 1] = False  # the next run begins
    full = not len(firsts) or np.array_equal(np.add.reduceat(seated, firsts, dtype=np.int64), lengths)
    return bool(full and not after_none.any() and (seated >= 0).all())


class Repeats:
    """Who sits at which table of the documents.

    Attributes:
        seated: on the device, int32 [N], by place of the schedule: tokens at the table of a place, 0 where there is none.
    """

    def __init__(self, state: State, corpus: TokenArrays, order: NDArray[np.int64]) -> None:
        """Finds the runs; nobody sits anywhere yet.

        Args:
            state: whose tokens the tables are.
            corpus: the training tokens.
            order: int64 [N], the token at each place. Tokens of one word in one document must stand side by side.
        """
        self._state, self._corpus, self._order = state, corpus, order
        document, word = corpus.token_document[order].astype(np.int64), corpus.token_word[order]
        key = document * corpus.n_words + word
        self._firsts = np.flatnonzero(np.diff(key, prepend=-1))
        runs = np.zeros(len(order), np.int32)
        runs[self._firsts] = np.diff(np.append(self._firsts, len(order)))
        by_key = np.argsort(key[self._firsts])
        self._keys, self._starts = key[self._firsts][by_key], self._firsts[by_key]
        self._lengths = np.bincount(corpus.token_document, minlength=state.documents)
        self._runs, self._run_lengths = state.copied(runs), runs[self._firsts]
        self.seated = state.cleared(len(order))
        self._document_tables = state.cleared(state.documents)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What REPEATS_ARGUMENTS declares, in its order."""
        priors = self._state.priors
        return (
            self._runs, self.seated, self._document_tables, self._state.document_prior,
            np.float32(priors.repeat_discount), np.float32(priors.repeat_concentration),
        )  # fmt: skip

    def places(self, words: NDArray[np.integer], documents: NDArray[np.integer]) -> NDArray[np.int32]:
        """Where the run of a word in a document begins: int32, of the arrays' shape; -1 where there is none."""
        wanted = documents.astype(np.int64) * self._corpus.n_words + words
        found = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[found] == wanted, self._starts[found], -1).astype(np.int32)

    def read_seated(self) -> NDArray[np.int32]:
        """`seated`, copied to the host; waits for the device."""
        seated = np.empty(len(self._order), np.int32)
        cl.enqueue_copy(self._state.queue, seated, self.seated)
        return seated

    def spread(self, topics: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Topics of places as topics of tokens, a token of a run for each that sits at a table: uint16 [N], by place.

        Before the first pass nobody sits anywhere, and all topics are as they lie.
        """
        seated = self.read_seated()
        return np.repeat(topics, seated) if seated.any() else topics

    def heads(self, topics: NDArray[np.uint16]) -> tuple[Tokens, NDArray[np.uint16]]:
        """The tables as tokens, and their topics. topics: uint16 [N], by place."""
        seated = self.read_seated() > 0
        return _some(self._corpus, self._order[seated]), topics[seated]

    def write(self, topics: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Seats tokens of given topics at as few tables as there can be: one to each topic of a word in a document.

        Args:
            topics: uint16 [N], by place.

        Returns:
            uint16 [N], by place: the topics of the tables.
        """
        run = np.repeat(np.arange(len(self._firsts)), self._run_lengths)
        most = int(topics.max(initial=0)) + 1
        keys, sizes = np.unique(run * most + topics, return_counts=True)
        table_run = keys // most
        place = self._firsts[table_run] + np.arange(len(keys)) - np.searchsorted(table_run, table_run)
        seated, tables = np.zeros(len(topics), np.int32), np.zeros(len(topics), np.uint16)
        seated[place], tables[place] = sizes, keys % most
        self.write_seated(seated)
        return tables

    def write_seated(self, seated: NDArray[np.int32]) -> None:
        """Puts `seated` in force: int32 [N], by place."""
        documents = self._corpus.token_document[self._order[seated > 0]]
        tables = np.bincount(documents, minlength=self._state.documents).astype(np.int32)
        cl.enqueue_copy(self._state.queue, self.seated, seated)
        cl.enqueue_copy(self._state.queue, self._document_tables, tables)

    def draw_hyperparameters(self, names: Collection[str], rng: np.random.Generator) -> None:
        """Draws the documents' discount and concentration, where they are among the names, and puts them in force."""
        wanted = {"repeat_discount", "repeat_concentration"} & set(names)
        if not wanted:
            return
        priors = self._state.priors
        tables = np.empty(self._state.documents, np.int32)
        cl.enqueue_copy(self._state.queue, tables, self._document_tables)
        if "repeat_concentration" in wanted:
            drawn = draw_concentration(priors.repeat_concentration, priors.repeat_discount, self._lengths, tables, rng)
            priors = replace(priors, repeat_concentration=drawn)
        if "repeat_discount" in wanted:
            above = np.bincount(self.read_seated())[::-1].cumsum()[::-1]  # tables of at least so many
            n = np.arange(1, max(2, len(above) - 1))
            steps = n, np.ones_like(n), np.append(above, [0, 0])[n + 1]
            drawn = draw_discount(priors.repeat_discount, priors.repeat_concentration, tables, steps, rng)
            priors = replace(priors, repeat_discount=drawn)
        self._state.priors = priors

    @staticmethod
    def memory_needed(corpus: TokenArrays) -> dict[str, int]:
        """Bytes of device memory, by purpose."""
        return {"repeats": 8 * len(corpus.token_word) + 4 * len(corpus.document_group)}
