"""Intervals that hold all at once, for whoever looks at many of them and reads out the largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def simultaneous_intervals(draws: NDArray[np.floating], level: float) -> NDArray[np.float64]:
    """Intervals of M values that hold together with a probability, from draws of all of them.

    Where each of 66 differences has an interval of 90 % of its own, some of them will leave out nought by chance alone. Here all
    have the same number of standard deviations to either side, as many as the largest deviation of a draw seldom exceeds.

    Source: J. L. Montiel Olea, M. Plagborg-Møller, "Simultaneous confidence bands: Theory, implementation, and an application to
    SVARs", Journal of Applied Econometrics 34(1), 2019 (the sup-t band, algorithm 2).

    Args:
        draws: [B, M], B draws of the M values.
        level: probability with which all intervals hold, between 0 and 1.

    Returns:
        float64 [M, 2], lower and upper ends; a value that never varies is its own interval.
    """
    means = draws.mean(axis=0, dtype=np.float64)
    deviations = draws.std(axis=0, dtype=np.float64)
    varies = deviations > 0
    if not varies.any():
        return np.stack([means, means], axis=1)
    largest = (np.abs(draws[:, varies] - means[varies]) / deviations[varies]).max(axis=1)
    reach = np.quantile(largest, level) * deviations
    return np.stack([means - reach, means + reach], axis=1)
