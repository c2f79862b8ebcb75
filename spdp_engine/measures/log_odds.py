"""Words that set groups apart: log-odds ratio with an informative Dirichlet prior.

Source: B. Monroe, M. Colaresi, K. Quinn, "Fightin' Words", Political Analysis 16(4), 2008, equations 16, 20 and 22.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def log_odds_z(
    counts: NDArray[np.number], prior: NDArray[np.floating], words: NDArray[np.integer] | None = None
) -> NDArray[np.float64]:
    """z-scores of each word in each group against all other groups together.

    A positive score says that the group uses the word more than the others do, in units of the standard deviation that
    counts of this size have; the prior pulls rare words towards no difference.

    Args:
        counts: [I, V], how often each group used each word.
        prior: [V], pseudo-counts in proportion to what is common to the groups, above 0.
        words: [W], the words to score; all of them where None.

    Returns:
        float64 [I, W]; all 0 where there is one group.
    """
    groups = counts.shape[0]
    scored = slice(None) if words is None else words
    own = counts[:, scored].astype(np.float64)
    if groups < 2:
        return np.zeros(own.shape)
    rest = own.sum(axis=0) - own + prior[scored]
    own += prior[scored]
    totals = counts.sum(axis=1, keepdims=True, dtype=np.float64)
    own_total = totals + prior.sum()
    rest_total = totals.sum() - totals + prior.sum()
    difference = np.log(own / (own_total - own)) - np.log(rest / (rest_total - rest))
    z: NDArray[np.float64] = difference / np.sqrt(1.0 / own + 1.0 / rest)
    return z
