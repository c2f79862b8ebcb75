"""Whether another run finds the same differences in wording again.

The package does not name this module by itself, as little as `matching`: importing scipy takes a moment that the app need not wait
for.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spdp_engine.measures.matching import match_topics


def gap_agreement(
    wordings_a: NDArray[np.floating],
    wordings_b: NDArray[np.floating],
    weights_a: NDArray[np.floating],
    weights_b: NDArray[np.floating],
) -> float:
    """How well two runs agree on how differently the groups word their topics, word by word: 0 (not at all) to 1 (the same gaps).

    The wording gap of group i on topic k is the vector g[i, w, k] = sqrt(phi[i, w, k]) - mean over groups of the same: how far
    the group's words lie from what all have in common. Its squares, summed over groups and words, are 2/I times the squared
    Hellinger distances summed over pairs of groups. With topics matched, the agreement is the concordance of the two runs' gaps,

        2 sum_k u_k sum_iw g_a g_b / sum_k u_k sum_iw (g_a^2 + g_b^2)

    with u the mean of both runs' weights. It is below 1 where other words set the groups apart, where the same words do more or
    less, and where a topic of one run has no counterpart in the other; below 0, which only chance brings about, it is 0.

    Comparing one gap to a topic, a number, would tell less: with few topics their correlation is chance, and their difference is
    small even between topics that have nothing in common.

    Source: L. I-K. Lin, "A Concordance Correlation Coefficient to Evaluate Reproducibility", Biometrics 45(1), 1989, equation 1,
    with the means 0 that gaps have over the groups.

    Args:
        wordings_a: [I, V, K], each [i, :, k] a distribution over words.
        wordings_b: the same of another run.
        weights_a: [K], how much each topic of a counts, such as the share of the text that it has.
        weights_b: [K], the same of b.

    Returns:
        The agreement; NaN where the groups word every topic alike in both runs, such as a single group does.

    Raises:
        ValueError: the wordings' shapes differ.
    """
    if wordings_a.shape != wordings_b.shape:
        raise ValueError(f"Wordings must both be of one shape; they are {wordings_a.shape} and {wordings_b.shape}.")
    match, _ = match_topics(wordings_a, wordings_b)
    common_a, common_b = _common(wordings_a), _common(wordings_b)[:, match]
    weights = (weights_a + weights_b[match]) / 2
    both = single = 0.0
    for wording_a, wording_b in zip(wordings_a, wordings_b, strict=True):  # by group, since all of them may be large
        gap_a, gap_b = np.sqrt(wording_a) - common_a, np.sqrt(wording_b[:, match]) - common_b
        both += 2 * float(weights @ (gap_a * gap_b).sum(axis=0, dtype=np.float64))
        single += float(weights @ (gap_a**2 + gap_b**2).sum(axis=0, dtype=np.float64))
    alike = 1e-9 * float(weights.sum())  # rounding leaves less than this of gaps that are none
    return min(1.0, max(0.0, both / single)) if single > alike else math.nan


def _common(wordings: NDArray[np.floating]) -> NDArray[np.floating]:
    """The mean over groups of the wordings' roots: [V, K]."""
    total = np.zeros(wordings.shape[1:], wordings.dtype)
    for wording in wordings:
        total += np.sqrt(wording)
    return total / len(wordings)
