"""Intervals of shares and distances, and limits that chance seldom passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

OUTERMOST = 0.01
"""Draws of shares lie within these quantiles on either side; what is beyond is for few documents to say, and no interval asks."""


def interval(draws: NDArray[np.floating], level: float) -> Float:
    """The middle part of draws: float64 [..., 2], lower and upper ends.

    Args:
        draws: [B, ...].
        level: share of the draws that lie within.
    """
    ends = (1 - level) / 2
    return np.moveaxis(np.quantile(draws.astype(np.float64), [ends, 1 - ends], axis=0), 0, -1)


def share_draws(
    tokens: NDArray[np.number], document_group: NDArray[np.integer], groups: int, draws: int, rng: np.random.Generator
) -> Float:
    """Draws of each group's shares of topics, as other documents of the same kind might have given them.

    A share is a mean over documents, and hangs on each of them by its influence e, which counts for more where a document is large
    beside its group. The logarithm of the share varies with the root of sum e^2, and with the t distribution whose degrees of
    freedom are the number of documents that decide it, (sum e^2)^2 / sum e^4. So a share that hangs on two or three long documents
    has a wide interval, and all have longer upper ends than lower. Topics of a group vary together, as they do in documents.

    Resampling documents (the bootstrap, plain or Bayesian) gives intervals that are too short where few documents speak of a topic,
    and that lie too low.

    Sources: J. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite sample
    properties", Journal of Econometrics 29, 1985, for the influences (HC2); F. E. Satterthwaite, "An approximate distribution of
    estimates of variance components", Biometrics Bulletin 2, 1946, for the degrees of freedom.

    Args:
        tokens: [D, K], tokens of each document in each topic.
        document_group: [D].
        groups: I.
        draws: B.
        rng: random numbers.

    Returns:
        float64 [B, I, K], from 0 to 1. Of a topic that none of a group's n documents has, one in n of its documents may still have
        what documents with the topic have on average. A group of a single document, which says nothing of others: anything.
    """
    from scipy.special import ndtr, stdtrit  # here, since importing scipy takes a moment that the app need not wait for

    usual = tokens.sum(axis=0) / np.maximum(np.count_nonzero(tokens, axis=0), 1)
    shares = np.zeros((draws, groups, tokens.shape[1]))
    for group in range(groups):
        own = tokens[(document_group == group) & tokens.any(axis=1)].astype(np.float64)
        lengths, total = own.sum(axis=1), own.sum()
        if len(own) == 1:
            shares[:, group] = rng.random((draws, tokens.shape[1]))
        if len(own) < 2:
            continue
        share = own.sum(axis=0) / total
        absent = share == 0
        shares[:, group, absent] = np.minimum(
            rng.standard_exponential((draws, absent.sum())) * usual[absent] / total, 1
        )
        influence = (own - share * lengths[:, None]) / (total * np.sqrt(1 - lengths / total))[:, None]
        squares = (influence**2).sum(axis=0)
        varies = squares > 0
        error = np.sqrt(squares[varies])
        freedom = squares[varies] ** 2 / (influence[:, varies] ** 4).sum(axis=0)
        normal = rng.standard_normal((draws, len(own))) @ influence[:, varies] / error
        t = stdtrit(freedom, np.clip(ndtr(normal), OUTERMOST, 1 - OUTERMOST))
        shares[:, group, ~absent] = share[~absent]
        shares[:, group, varies] = np.minimum(share[varies] * np.exp(t * error / share[varies]), 1)
    return shares


def normal_draws(mean: Float, error: Float, draws: int) -> Float:
    """Values that lie as a normal distribution has them, without chance of their own: float64 [B, ...].

    Args:
        mean: of any shape.
        error: standard deviations, of the same shape.
        draws: B.
    """
    from scipy.special import ndtri  # as above

    quantiles = ndtri((np.arange(draws) + 0.5) / draws)
    return mean + error * quantiles.reshape(-1, *[1] * mean.ndim)


def chance_limits(found: Float, by_chance: Float, rate: float) -> Float:
    """The limit of each of K values from which on at most a share of those found would be found by chance: float64 [K].

    By chance each value has a mean and a spread of its own; in units of these, those of all values go together into
    `false_discovery_limit`. What is by chance is measured by the other repetitions, as what is found is.

    Args:
        found: [K], not a number where a value is not known.
        by_chance: [R, K], R repetitions of the K values by chance, 3 or more; a value that is not known is not in any.
        rate: the share.

    Returns:
        Not a number where a value is not known. Where none is found, what a value would need to be.
    """
    repetitions, known = len(by_chance), np.isfinite(found) & np.isfinite(by_chance).all(axis=0)
    limits = np.full(len(found), np.nan)
    found, by_chance = found[known], by_chance[:, known]
    if not len(found):
        return limits
    mean, spread = by_chance.mean(axis=0), by_chance.std(axis=0, ddof=1)
    others = repetitions - 1
    without = (by_chance.sum(axis=0) - by_chance) / others
    squares = (by_chance**2).sum(axis=0) - by_chance**2 - others * without**2
    scores = _scores(by_chance - without, np.sqrt(np.maximum(squares, 0) / (others - 1)))
    limit = false_discovery_limit(_scores(found - mean, spread), list(scores), rate)
    if np.isinf(limit):  # what one alone must pass
        limit = np.sort(scores, axis=None)[-max(1, int(rate * (repetitions + 1) + 1e-9))]
    limits[known] = mean + limit * spread
    return limits


def _scores(difference: Float, spread: Float) -> Float:
    """Differences in units of a spread; 0 where there is none."""
    return np.divide(difference, spread, out=np.zeros_like(difference), where=spread > 0)


def false_discovery_limit(found: NDArray[np.floating], by_chance: Sequence[NDArray[np.floating]], rate: float) -> float:
    """The score from which on at most a share of what is found would be found by chance.

    Of the scores from s on, (1 + number by chance)/(R + 1) are expected by chance, with the number over all R repetitions: the one
    is there since what was found might itself be the largest by chance.

    Source: J. D. Storey, R. Tibshirani, "Statistical significance for genomewide studies", PNAS 100, 2003, with the permuted scores
    taken together and no correction for the share that differs.

    Args:
        found: scores.
        by_chance: the same of R repetitions where there is nothing to find.
        rate: the share.

    Returns:
        A score half way between the smallest that passes and the next below, of what is found or by chance; infinity where none
        passes.
    """
    scores = np.sort(np.asarray(found, np.float64))[::-1]
    chance = np.sort(np.concatenate([*by_chance, np.empty(0)]))
    above = len(chance) - np.searchsorted(chance, scores)
    passing = np.flatnonzero((1 + above) / (len(by_chance) + 1) <= rate * np.arange(1, len(scores) + 1))
    if not len(passing):
        return float("inf")
    smallest = float(scores[passing[-1]])
    below = max(float(values[values < smallest].max(initial=-np.inf)) for values in (scores, chance))
    return (smallest + below) / 2 if np.isfinite(below) else smallest


def false_discovery_limits(
    found: Sequence[NDArray[np.floating]], by_chance: Sequence[Sequence[NDArray[np.floating]]], rate: float
) -> Float:
    """The limits of C classes of scores, from which on at most a share of what is found would be found by chance.

    Each class has the `false_discovery_limit` of its own scores, so that one of which hardly any differ, or in which chance goes
    far, sets no limit to another. The class must say nothing of what is looked for: where there is nothing to find, class and score
    are to be independent.

    The rate holds for all classes together, too. By chance comes at most that share of what is expected to be found in each class,
    and so of the sum. Where there is nothing to find in any, C limits would be passed up to C times as often as one; so none can be
    passed unless something is found with one limit for all scores together. Should a single class hold something, each of the
    others adds a false find in that share of cases, to a find that is true.

    Sources: L. Sun, R. V. Craiu, A. D. Paterson, S. B. Bull, "Stratified False Discovery Control for Large-Scale Hypothesis Testing
    with Application to Genome-Wide Association Studies", Genetic Epidemiology 30, 2006; B. Efron, "Simultaneous Inference: When
    Should Hypothesis Testing Problems Be Combined?", Annals of Applied Statistics 2, 2008.

    Args:
        found: scores of each class.
        by_chance: the same of R repetitions where there is nothing to find.
        rate: the share.

    Returns:
        float64 [C], infinity where none passes.
    """
    together = false_discovery_limit(np.concatenate(found), [np.concatenate(scores) for scores in by_chance], rate)
    if np.isinf(together):
        return np.full(len(found), np.inf)
    classes = (false_discovery_limit(own, chance, rate) for own, *chance in zip(found, *by_chance, strict=True))
    return np.fromiter(classes, np.float64, len(found))
