"""What is said of how sure findings are holds on corpora whose truth is known: `python -m benchmarks evidence` in small.

Bounds stand four standard deviations below what 20 other corpora gave on average, by the spread that corpora have, and so fail a
right implementation in less than one of 10,000 cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from benchmarks import evidence_runs
from benchmarks.evidence_corpora import KINDS, TOPICS, planted_corpus
from spdp_engine import evidence
from spdp_engine.evidence import Plan
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics.estimates import estimate_gaps

from .exact import LEVEL

SEEDS = range(101, 105)
MORE = range(101, 109)
"""For shares, which differ most from corpus to corpus."""
FEW = SEEDS[:2]
"""For companions, which are wrong by far."""

ITERATIONS = 60
PLAN = Plan(settle=20, samples=10, apart=2, dealings=19, adapt=10, seeds=0)
OF_SHARES = Plan(settle=20, samples=10, apart=2, dealings=3, adapt=1, seeds=0)
"""Of which shares have the same intervals: they have nothing to do with groups that are dealt out."""

Gaps = NDArray[np.float64]


@cache
def told(
    kind: str, way: str = "as it is", seeds: range = SEEDS, plan: Plan = PLAN
) -> tuple[Mapping[str, float], Gaps, Gaps]:
    """Sums over corpora of what holds (`evidence_runs.told`), and squared gaps without chance, [corpora, K]: of the run's samples
    and of dealings-out."""
    sums: dict[str, float] = defaultdict(float)
    squares: list[tuple[Gaps, Gaps]] = []

    def spied(samples: Gaps, dealt_out: Gaps, draws: int) -> object:
        squares.append((samples[..., 0].mean(axis=0), dealt_out[..., 0].mean(axis=0)))
        return estimate_gaps(samples, dealt_out, draws)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "estimate_gaps", spied)
        for seed in seeds:
            planted = planted_corpus(KINDS[kind], seed)
            settings = SamplerSettings(topics=TOPICS, seed=seed, workers=2)
            for name, value in evidence_runs.told(
                planted, *evidence_runs.measured(planted, settings, ITERATIONS, plan, way)
            ).items():
                sums[name] += value
    found, dealt_out = zip(*squares, strict=True)
    return sums, np.array(found), np.array(dealt_out)


def held(name: str, kinds: Sequence[str], way: str = "as it is", seeds: range = SEEDS, plan: Plan = PLAN) -> float:
    """The share of intervals that hold the truth."""
    sums = [told(kind, way, seeds, plan)[0] for kind in kinds]
    return sum(one[f"{name}, held"] for one in sums) / sum(one[f"{name}, all"] for one in sums)


BOUNDS = {
    "share": (("bursty", "alike"), 0.86),  # 0.936 on average, 0.053 from corpus to corpus
    "difference": (("bursty", "alike"), 0.81),  # 0.931, 0.086
    "word": (("bursty", "alike"), 0.87),  # 0.903, 0.022
    "gap": (("bursty",), 0.78),  # 0.933, 0.076
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.false_alarms(LEVEL)
def test_intervals_of_ninety_per_cent_hold_the_truth(name: str) -> None:
    """Of eight corpora of each kind for shares, else of four. False alarms: LEVEL for each."""
    kinds, bound = BOUNDS[name]
    of_shares = name in ("share", "difference")
    assert bound < (held(name, kinds, seeds=MORE, plan=OF_SHARES) if of_shares else held(name, kinds))


@pytest.mark.parametrize("name", ["share", "difference", "word"])
def test_without_documents_they_would_not(name: str) -> None:
    kinds, bound = BOUNDS[name]
    assert held(name, kinds[:1], "tokens apart", FEW) < bound


@pytest.mark.false_alarms(LEVEL)
def test_where_groups_do_not_differ_words_are_seldom_called_sure() -> None:
    """Of about 400 words that z-scores alone would show as a group's own; 2 of 2,000 were called sure in 20 other corpora, both in
    corpora of their own, so that 5 % of these, 20, come about in far fewer than one of 10,000 cases. False alarms: below LEVEL."""
    sums, _, _ = told("alike")
    assert sums["shown"] > 200 and sums["sure"] == sums["false sure"]
    assert sums["false sure"] <= 0.05 * sums["shown"]
    assert sums["false real"] <= 4  # of 32 topics; on average one in 20 corpora has any


def test_where_they_do_differ_most_of_what_is_called_sure_is_true() -> None:
    """And something is called sure: planted words are found, a third of the gaps are."""
    sums, _, _ = told("bursty")
    assert sums["sure"] > 40 and sums["false sure"] <= 0.2 * sums["sure"]
    assert sums["real"] >= 0.25 * sums["differing"] and sums["order"] / len(SEEDS) > 0.6


def test_z_scores_alone_call_many_words_a_groups_own_that_are_not() -> None:
    sums, _, _ = told("alike")
    assert sums["false shown"] > 0.05 * sums["tested"]
    sums, _, _ = told("bursty")
    assert sums["false shown"] > 0.3 * sums["shown"]


@pytest.mark.false_alarms(LEVEL)
def test_dealing_out_gives_the_gaps_of_groups_that_do_not_differ() -> None:
    """Labels that mean nothing are dealings-out themselves, so that squared gaps differ by chance alone.

    False alarms: LEVEL, by the t distribution of the corpora's mean differences, of which there are four.
    """
    _, found, dealt_out = told("alike")
    difference = np.nanmean(found - dealt_out, axis=1)
    score = difference.mean() / (difference.std(ddof=1) / len(SEEDS) ** 0.5)
    assert abs(score) < stats.t.ppf(1 - LEVEL / 2, len(SEEDS) - 1)


def test_topics_that_do_not_follow_give_smaller_ones() -> None:
    """Squared gaps of dealings-out are about 0 where topics are held; where they follow, about as large as the run's own."""
    _, found, dealt_out = told("alike")
    _, _, without = told("alike", "topics held", FEW)
    own, followed, held = (float(np.nanmean(one)) for one in (found, dealt_out, without))
    assert abs(own - followed) < 0.5 * own and held < 0.5 * own
