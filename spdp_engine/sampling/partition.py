"""Cutting documents x words into blocks that workers can sample without touching each other's counts."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Blocks:
    """An order of tokens in which each phase's blocks lie one after another.

    In phase s worker p samples the tokens of document part p and word part (p + s) mod P.

    Attributes:
        order: int64 [N], token that stands at each place: by phase, worker, word, group, document.
        visits: int32 [N], places in the order of the first pass: the same blocks, each by document.
        starts: int32 [P, P + 1], starts[s, p] is the first place of worker p in phase s; starts[s, P] the end of the phase.
        word_part: int64 [V], the part of each word.
    """

    order: NDArray[np.int64]
    visits: NDArray[np.int32]
    starts: NDArray[np.int32]
    word_part: NDArray[np.int64]

    @property
    def workers(self) -> int:
        """P, the number of workers and of phases."""
        return len(self.starts)


def balanced_parts(sizes: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """Deals things out to parts of nearly equal total size: the largest first, each to the part that is least full.

    Args:
        sizes: [n], not negative.
        parts: how many.

    Returns:
        int64 [n], the part of each.
    """
    part = np.zeros(len(sizes), np.int64)
    if parts == 1:
        return part
    heap = [(0, p) for p in range(parts)]
    for index in np.argsort(-sizes, kind="stable"):
        load, p = heap[0]
        part[index] = p
        heapq.heapreplace(heap, (load + int(sizes[index]), p))
    return part


def stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order that sorts non-negative keys, equal ones as they stand: argsort by digits of 16 bits.

    NumPy sorts numbers of 16 bits by counting, several times as fast as by comparing.
    """
    order = np.argsort((keys & 0xFFFF).astype(np.uint16), kind="stable")
    shift = 16
    while len(keys) and int(keys.max()) >> shift:
        digits = ((keys >> shift) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order


def cut_into_blocks(
    token_word: NDArray[np.int32],
    token_document: NDArray[np.int32],
    document_group: NDArray[np.int32],
    words: int,
    workers: int,
    document_rank: NDArray[np.int64],
    word_clusters: NDArray[np.int64] | None = None,
) -> Blocks:
    """Cuts the tokens for `workers` workers.

    Args:
        token_word: [N].
        token_document: [N].
        document_group: [D].
        words: V.
        workers: P.
        document_rank: [D], the place of each document in the first pass.
        word_clusters: [V], words of one number stay in one part, unless there are too many of them for it.
    """
    documents = len(document_group)
    part_of_word = _word_parts(np.bincount(token_word, minlength=words), workers, word_clusters)
    word_part = part_of_word[token_word]
    document_part = balanced_parts(np.bincount(token_document, minlength=documents), workers)[token_document]
    phase = (word_part - document_part) % workers
    block = phase * workers + document_part
    groups = int(document_group.max()) + 1
    order = stable_order((block * words + token_word) * groups + document_group[token_document])
    block = block[order]
    visits = stable_order(block * documents + document_rank[token_document[order]])
    firsts = np.searchsorted(block, np.arange(workers * workers + 1)).astype(np.int32)
    starts = np.lib.stride_tricks.sliding_window_view(firsts, workers + 1)[::workers].copy()
    return Blocks(order, visits.astype(np.int32), starts, part_of_word)


def _word_parts(sizes: NDArray[np.int64], parts: int, clusters: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The part of each word: int64 [V]. Clusters with more tokens than half a part holds are taken apart."""
    if clusters is None:
        return balanced_parts(sizes, parts)
    cluster_sizes = np.bincount(clusters, weights=sizes, minlength=len(sizes))
    alone = cluster_sizes[clusters] > sizes.sum() / (2 * parts)
    together = np.where(alone, len(sizes) + np.arange(len(sizes)), clusters)
    _, unit = np.unique(together, return_inverse=True)
    return balanced_parts(np.bincount(unit, weights=sizes).astype(np.int64), parts)[unit]
