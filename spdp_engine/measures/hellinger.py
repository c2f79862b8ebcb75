"""Hellinger distance between distributions over words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def hellinger_between_groups(wordings: NDArray[np.floating]) -> NDArray[np.float64]:
    """How far apart the groups word each topic: sqrt(1 - sum_w sqrt(p_w q_w)), 0 (alike) to 1 (no word in common).

    Args:
        wordings: [I, V, K], each [i, :, k] a distribution over words.

    Returns:
        float64 [K, I, I], symmetric, zero on the diagonal.
    """
    roots = np.sqrt(wordings).transpose(2, 0, 1)
    overlap = roots @ roots.transpose(0, 2, 1)
    distances: NDArray[np.float64] = np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0))
    diagonal = np.arange(wordings.shape[0])
    distances[:, diagonal, diagonal] = 0.0  # rounding would leave 1e-8
    return distances


def mean_gap(distances: NDArray[np.floating]) -> NDArray[np.float64]:
    """The mean distance over all pairs of groups: float64 [K]; 0 where there is one group.

    Args:
        distances: [K, I, I], as `hellinger_between_groups` returns.
    """
    groups = distances.shape[1]
    if groups < 2:
        return np.zeros(distances.shape[0])
    mean: NDArray[np.float64] = distances.sum(axis=(1, 2), dtype=np.float64) / (groups * (groups - 1))
    return mean
