"""LDA, latent Dirichlet allocation: topics whose wording all groups share.

    phi[k] ~ Dirichlet(beta),   theta[d] ~ Dirichlet(alpha),   z[l] ~ theta[d],   word[l] ~ phi[z[l]]

Source: D. Blei, A. Ng, M. Jordan, "Latent Dirichlet Allocation" (JMLR 2003); collapsed: T. Griffiths, M. Steyvers, "Finding
scientific topics" (PNAS 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.models.priors import Priors, prior
from spdp_engine.models.readings import Readings, count_tokens

Float = NDArray[np.float64]


@dataclass(frozen=True)
class LdaPriors(Priors):
    """Hyperparameters of LDA.

    Attributes:
        alpha: Dirichlet prior of topics in a document, for each topic.
        beta: Dirichlet prior of words in a topic.

    Raises:
        SettingsError: a value is out of its range.
    """

    beta: float = prior(0.01, "prior of words in a topic")


@dataclass(frozen=True, eq=False)
class LdaCounts:
    """The state of the collapsed sampler as whole numbers.

    Attributes:
        document_topics: n, int32 [D, K].
        group_words: tokens of each word in each topic by group, int32 [I, V, K]; the model needs their sum over groups alone.
    """

    document_topics: NDArray[np.int32]
    group_words: NDArray[np.int32]

    def check(
        self,
        token_word: NDArray[np.int32],
        token_document: NDArray[np.int32],
        document_group: NDArray[np.int32],
        topics: NDArray[np.integer],
    ) -> None:
        """Derives the counts again from the tokens' topics. Arguments as for `spdp.Counts.check`.

        Raises:
            AssertionError: they differ from those kept.
        """
        n, words = count_tokens(token_word, token_document, document_group, topics, self.group_words.shape)
        assert np.array_equal(n, self.document_topics), "document-topic counts differ from the assignments"
        assert np.array_equal(words, self.group_words), "word-topic counts differ from the assignments"


@dataclass(frozen=True, eq=False)
class LdaSample(Readings):
    """A consistent copy of the sampler's state after an iteration, and the estimates drawn from it.

    Attributes:
        iteration: how many iterations had been done.
        priors: hyperparameters in force.
        counts: the state.
        alphas: as in `SpdpSample`.
        words: as in `SpdpSample`.
    """

    iteration: int
    priors: LdaPriors
    counts: LdaCounts
    alphas: Float | None = None
    words: NDArray[np.int32] | None = None

    @property
    def group_words(self) -> NDArray[np.int32]:
        """See `Readings`."""
        return self.counts.group_words

    def base_wording(self) -> Float:
        """phi[v, k] = (n[v, k] + beta) / (n[k] + beta V): float64 [V, K], columns sum to 1."""
        n = self.counts.group_words.sum(axis=0) + self.priors.beta
        wording: Float = n / n.sum(axis=0)
        return wording

    def group_wordings(self) -> Float:
        """The same wording for every group: float64 [I, V, K]."""
        shape = self.counts.group_words.shape
        return np.broadcast_to(self.base_wording(), shape)

    def log_posterior(self) -> float:
        """log p(z | w) up to a constant: of Gamma(n[d,k] + alpha), Gamma(n[v,k] + beta) and 1/Gamma(n[k] + beta V)."""
        from scipy.special import gammaln  # here, since importing scipy takes a moment that the app need not wait for

        alphas = self.priors.alpha if self.alphas is None else self.alphas
        beta = self.priors.beta
        words = self.counts.group_words.sum(axis=0)
        return float(
            gammaln(self.counts.document_topics + alphas).sum()
            + gammaln(words + beta).sum()
            - gammaln(words.sum(axis=0) + beta * len(words)).sum()
        )
