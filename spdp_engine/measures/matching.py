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
    """Matches the topics of two runs by linear assignment: the permutation whose distances have the smallest sum.

    The distance of two topics is the Hellinger distance of their wordings, sqrt(1 - sum_w sqrt(p_w q_w)), and its mean over the
    groups where they are worded group by group.

    Source: H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly 2, 1955; solved here
    by scipy.

    Args:
        wordings_a: [V, K] or [I, V, K], each [..., :, k] a distribution over words.
        wordings_b: the same of another run, in the same shape.

    Returns:
        Two arrays: the permutation, int64 [K], topic permutation[k] of b being the match of topic k of a; and the distances,
        float64 [K, K], [k, l] between topic k of a and topic l of b, in the runs' own order.

    Raises:
        ValueError: the shapes differ, or are of neither kind.
    """
    if wordings_a.shape != wordings_b.shape or wordings_a.ndim not in (2, 3):
        raise ValueError(
            f"Wordings that are matched must both be [V, K] or both [I, V, K]; they are {wordings_a.shape} and {wordings_b.shape}."
        )
    groups_a, groups_b = (np.sqrt(w, dtype=np.float64).reshape(-1, *w.shape[-2:]) for w in (wordings_a, wordings_b))
    overlap = groups_a.transpose(0, 2, 1) @ groups_b  # [I, K, K]
    distances: NDArray[np.float64] = np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0)).mean(axis=0)
    _, permutation = linear_sum_assignment(distances)
    return permutation.astype(np.int64), distances
