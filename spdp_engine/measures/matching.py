"""Which topic of one run is which of another: matched so that they are worded as alike as they can be, all together.

The package does not name this module by itself: importing scipy takes a moment that the app need not wait for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


def match_topics(
    wordings_a: NDArray[np.floating], wordings_b: NDArray[np.floating]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Matches the topics of two runs by linear assignment: the pairs whose distances have the smallest sum.

    Source: H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly 2, 1955; where the
    runs have different numbers of topics, D. F. Crouse, "On implementing 2D rectangular assignment algorithms", IEEE Transactions
    on Aerospace and Electronic Systems 52(4), 2016. Both solved here by scipy.

    Args:
        wordings_a: [V, K] or [I, V, K], each [..., :, k] a distribution over words.
        wordings_b: the same of another run, [V, L] or [I, V, L].

    Returns:
        Two arrays: the match, int64 [K], topic match[k] of b being that of topic k of a, or -1 where a has more topics than b
        and k is one that is left over; and `topic_distances`, in the runs' own order.

    Raises:
        ValueError: the shapes do not fit.
    """
    distances = topic_distances(wordings_a, wordings_b)
    match = np.full(len(distances), -1, np.int64)
    rows, columns = linear_sum_assignment(distances)
    match[rows] = columns
    return match, distances


def topic_distances(wordings_a: NDArray[np.floating], wordings_b: NDArray[np.floating]) -> NDArray[np.float64]:
    """How far each topic of a run is from each of another: float64 [K, L], 0 (worded alike) to 1 (no word in common).

    It is the Hellinger distance of their wordings, sqrt(1 - sum_w sqrt(p_w q_w)), and its mean over the groups where they are
    worded group by group.

    Args:
        wordings_a: [V, K] or [I, V, K], each [..., :, k] a distribution over words.
        wordings_b: the same of another run, [V, L] or [I, V, L].

    Raises:
        ValueError: the shapes do not fit.
    """
    if wordings_a.shape[:-1] != wordings_b.shape[:-1] or wordings_a.ndim not in (2, 3):
        raise ValueError(
            "Wordings that are matched must both be [V, K] or both [I, V, K], with the same groups and words; they are "
            f"{wordings_a.shape} and {wordings_b.shape}."
        )
    groups_a, groups_b = (wordings.reshape(-1, *wordings.shape[-2:]) for wordings in (wordings_a, wordings_b))
    total = np.zeros((wordings_a.shape[-1], wordings_b.shape[-1]))
    for one, other in zip(groups_a, groups_b, strict=True):  # by group, since all of them may be large
        overlap = np.sqrt(one, dtype=np.float64).T @ np.sqrt(other, dtype=np.float64)
        total += np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0))
    distances: NDArray[np.float64] = total / len(groups_a)
    return distances


def distances_together(
    wholes: NDArray[np.floating],
    parts: NDArray[np.floating],
    others: NDArray[np.floating],
    weights: NDArray[np.floating],
) -> NDArray[np.float64]:
    """How far topics of a run are from two topics of another run that are read as one, P times.

    Where a run has cut a topic in two, the two together are nearer to the whole than either is. Topics that are read as one have
    the mean of their wordings by weight.

    Args:
        wholes: [V, P], each [:, p] a distribution over words.
        parts: [V, P], of the one topic of the other run.
        others: [V, P], of the second.
        weights: [2, P], what the one and the second weigh, such as their tokens; not both 0.

    Returns:
        Hellinger distances, float64 [P].
    """
    together = (parts * weights[0] + others * weights[1]) / weights.sum(axis=0)
    overlap = np.sqrt(wholes * together).sum(axis=0, dtype=np.float64)
    distances: NDArray[np.float64] = np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0))
    return distances
