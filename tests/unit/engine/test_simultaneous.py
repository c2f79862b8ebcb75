"""Intervals that hold all at once."""

from __future__ import annotations

import numpy as np
import pytest

from spdp_engine.measures.simultaneous import simultaneous_intervals


def test_one_value_has_the_interval_of_a_normal_distribution() -> None:
    draws = np.random.default_rng(1).normal(3, 2, (200_000, 1))
    assert simultaneous_intervals(draws, 0.9)[0] == pytest.approx([3 - 1.645 * 2, 3 + 1.645 * 2], abs=0.03)


def test_all_of_many_values_lie_within_at_the_level() -> None:
    """Of 20,000 fresh draws 90 % lie within all 40 intervals; intervals for each value by itself hold about 1 % of them."""
    random = np.random.default_rng(2)
    spread = np.linspace(0.1, 5, 40)
    draws, fresh = random.normal(0, spread, (20_000, 40)), random.normal(0, spread, (20_000, 40))
    found = simultaneous_intervals(draws, 0.9)
    assert ((fresh > found[:, 0]) & (fresh < found[:, 1])).all(axis=1).mean() == pytest.approx(0.9, abs=0.01)
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    assert ((fresh > low) & (fresh < high)).all(axis=1).mean() < 0.05


def test_intervals_reach_as_far_as_values_vary() -> None:
    random = np.random.default_rng(4)
    found = simultaneous_intervals(random.normal(0, (1, 10), (5000, 2)), 0.9)
    assert np.ptp(found[1]) / np.ptp(found[0]) == pytest.approx(10, rel=0.05)


def test_values_that_never_vary_are_their_own_intervals() -> None:
    draws = np.stack([np.full(50, 0.2), np.linspace(0, 1, 50)], axis=1)
    assert simultaneous_intervals(draws, 0.9)[0] == pytest.approx([0.2, 0.2])
    assert simultaneous_intervals(draws[:, :1].astype(np.float32), 0.9)[0] == pytest.approx([0.2, 0.2])
