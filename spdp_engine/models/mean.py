"""The mean of samples of the posterior: what is read of a run once its chain has settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.types import Sample


@dataclass(frozen=True, eq=False)
class MeanSample:
    """Estimates averaged over samples.

    One sample shows what the model believes at a moment, with that moment's chance; the mean is what it believes. Topics keep their
    numbers from sample to sample, since each sweep begins where the last one ended; should two change places all the same, the
    sampler begins its means anew.

    Attributes:
        iteration: iterations done when it was taken.
        samples: how many samples are averaged.
        since: the iteration of the first of them.
        last: the newest of them, or one soon after.
        wordings: mean phi, float32 [R, V, K], R = I, or 1 where the model words a topic alike for all groups.
        shares: mean theta, float32 [D, K].
        words: mean tokens of each group, word and topic, float32 [I, V, K].
    """

    iteration: int
    samples: int
    since: int
    last: Sample
    wordings: NDArray[np.float32]
    shares: NDArray[np.float32]
    words: NDArray[np.float32]

    @property
    def priors(self) -> Any:
        """Hyperparameters in force."""
        return self.last.priors

    @property
    def counts(self) -> Any:
        """The counts of the newest sample."""
        return self.last.counts

    def base_wording(self) -> NDArray[np.float64]:
        """phi0 of the newest sample: float64 [V, K]."""
        return self.last.base_wording()

    def group_wordings(self) -> NDArray[np.float64]:
        """Mean phi[i, w, k]: float64 [I, V, K], each [i, :, k] sums to 1."""
        wordings = self.wordings.astype(np.float64)
        wordings /= wordings.sum(axis=1, keepdims=True)
        return np.broadcast_to(wordings, self.words.shape)

    def group_topic_tokens(self) -> NDArray[np.float64]:
        """Mean tokens of each group in each topic: float64 [I, K]."""
        tokens: NDArray[np.float64] = self.words.sum(axis=1, dtype=np.float64)
        return tokens

    def group_word_tokens(self, topic: int) -> NDArray[np.float64]:
        """Mean tokens of each word of each group in one topic: float64 [I, V]."""
        return self.words[:, :, topic].astype(np.float64)

    def document_shares(self) -> NDArray[np.float64]:
        """Mean theta[d, k]: float64 [D, K], rows sum to 1."""
        shares = self.shares.astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares
