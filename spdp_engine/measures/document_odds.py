"""Log-odds of words between groups, with a variance that minds documents: ten uses in one are not ten pieces of evidence.

The counts of a word are divided by its design effect, by how much more they vary from document to document than independent tokens
would. What is left is the number of independent uses that would tell as much, and goes into the log-odds ratio of Monroe, Colaresi
and Quinn (see `log_odds`).

Sources: L. Kish, "Survey Sampling", 1965, for the design effect; J. N. K. Rao, A. J. Scott, "A Simple Method for the Analysis of
Clustered Binary Data", Biometrics 48, 1992, for dividing counts by it; J. MacKinnon, H. White, "Some heteroskedasticity-consistent
covariance matrix estimators with improved finite sample properties", Journal of Econometrics 29, 1985, for the weights of documents
that are large beside their group (HC3); F. J. Anscombe, "The Transformation of Poisson, Binomial and Negative-Binomial Data",
Biometrika 35, 1948, for contrasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.measures.cells import Cells

Float = NDArray[np.float64]

PRIOR_TOKENS, PRIOR_SHARE = 50.0, 0.1
"""The prior says "no difference" with the weight of so many tokens of what all groups say on the topic together, or of this share
of its tokens where that is less."""

LEAST_REST = 0.05
"""A document's weight grows as one over the square of the rest's share of its group; that share counts as so much at least."""


@dataclass(frozen=True, eq=False)
class DocumentOdds:
    """Log-odds of W words in I groups, each against all the others together.

    Attributes:
        log_odds: float64 [I, W], natural logarithms of odds ratios.
        variance: float64 [I, W], of these.
        contrast: float64 [I, W], differences of shares on a scale on which shares of all sizes vary alike. Of a word that one group
            uses hundreds of times and the others once or twice, it is hard to say how large the odds ratio is, but not that it is
            large: the contrast tells that.
        contrast_variance: float64 [I, W], of these.
        freedom: float64 [W], degrees of freedom of the variance: how many documents it hangs on.
        count: float64 [I, W], tokens.
        information: float64 [I, W], how much is known of each, in tokens of the word: as many as all groups have together where the
            group has half of the topic's tokens, fewer where it has less or more, 4 s (1 - s) times as many where it has the share
            s. It hangs on the word's tokens over all groups and on the groups' tokens over all words, and so says nothing of
            a difference.
    """

    log_odds: Float
    variance: Float
    contrast: Float
    contrast_variance: Float
    freedom: Float
    count: Float
    information: Float


def log_odds_by_document(
    cells: Cells, document_group: NDArray[np.integer], groups: int, words: NDArray[np.integer]
) -> DocumentOdds:
    """Log-odds of words of a topic.

    Args:
        cells: of the topic.
        document_group: [D].
        groups: I, two or more.
        words: [W], rising.

    Returns:
        See the class; a word that the topic does not have has log-odds about 0 with a large variance.
    """
    tokens = np.bincount(cells.document, cells.count, len(document_group))
    totals = np.bincount(document_group, tokens, groups)
    rest = 1 - tokens / np.maximum(totals, 1)[document_group]
    weight = np.maximum(rest, LEAST_REST) ** -2
    place = np.minimum(np.searchsorted(words, cells.word), len(words) - 1)
    wanted = words[place] == cells.word if len(words) else np.zeros(len(place), bool)
    place, document, count = place[wanted], cells.document[wanted], cells.count[wanted]
    key, size = document_group[document] * len(words) + place, (groups, len(words))

    def by_word(values: Float) -> Float:
        sums = np.bincount(key, values, groups * len(words)).reshape(size)
        return sums.astype(np.float64, copy=False)

    counts = by_word(count)
    share = counts / np.maximum(totals, 1)[:, None]
    expected = share.ravel()[key] * tokens[document]
    squares = share**2 * np.bincount(document_group, tokens**2 * weight, groups)[:, None]
    squares += by_word(((count - expected) ** 2 - expected**2) * weight[document])
    fourths = by_word((count - expected) ** 4 * weight[document] ** 2).sum(axis=0)
    freedom = np.maximum(squares.sum(axis=0) ** 2 / np.maximum(fourths, 1e-9), 1.0)
    independent = (counts * (1 - share)).sum(axis=0)
    effect = np.maximum(squares.sum(axis=0) / np.maximum(independent, 1e-9), 1.0)
    everyone = counts.sum(axis=0)
    weight_of_prior = max(min(PRIOR_TOKENS, PRIOR_SHARE * totals.sum()), 0.5)
    prior = weight_of_prior * (everyone + 0.5) / (totals.sum() + 1)
    own, own_total = counts / effect, totals[:, None] / effect
    other, other_total = (everyone - counts) / effect, (totals.sum() - totals)[:, None] / effect
    log_odds = np.log((own + prior) / (own_total - own + weight_of_prior - prior))
    log_odds -= np.log((other + prior) / (other_total - other + weight_of_prior - prior))
    variance = 1 / (own + prior) + 1 / (other + prior)
    contrast = _stable(own, own_total) - _stable(other, other_total)
    spread = 1 / (own_total + 0.5) + 1 / (other_total + 0.5)
    of_topic = totals[:, None] / max(totals.sum(), 1)
    information = 4 * of_topic * (1 - of_topic) * everyone
    return DocumentOdds(log_odds, variance, contrast, spread, freedom, counts, information)


def _stable(count: Float, total: Float) -> Float:
    """Shares on a scale on which their variance is about 1/(total + 1/2): twice the arc sine of their root (Anscombe 1948)."""
    angle: Float = 2 * np.arcsin(np.sqrt((count + 3 / 8) / (total + 3 / 4)))
    return angle
