"""Whether topics are about different things: how many different words they have among their most probable ones.

Source: A. B. Dieng, F. J. R. Ruiz, D. M. Blei, "Topic Modeling in Embedding Spaces", TACL 8, 2020.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORDS = 25
"""Words of a topic that are looked at, as in the paper."""


def topic_diversity(topics: Sequence[NDArray[np.integer]]) -> float:
    """The share of different words among the words of all topics: 1 (no word in two of them) down to 1/K (all the same).

    Args:
        topics: K lists of different words, a topic's `WORDS` most probable or, in a small vocabulary, all.

    Returns:
        The share; NaN where there are no words.
    """
    words = np.concatenate([*topics, np.empty(0, np.int64)])
    return len(np.unique(words)) / len(words) if len(words) else float("nan")
