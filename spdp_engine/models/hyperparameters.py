"""Hyperparameters given a state of the sampler: one draw of each from its conditional distribution.

With these between sweeps the chain samples topics and hyperparameters together, still exactly. Each has a prior of its own, wide
enough to be told nothing by it: see the functions. Where a conditional has no name it is drawn by slice sampling; elsewhere
auxiliary variables make it a Gamma distribution:

    Gamma(x + n)/Gamma(x) = sum_s |s(n, s)| x^s               s: a sum of Bernoulli(x/(x + j)), j = 0 .. n - 1
    Gamma(A)/Gamma(A + N) ~ integral of q^(A-1) (1-q)^(N-1)   q: Beta(A, N)

Sources: M. Escobar and M. West, "Bayesian Density Estimation and Inference Using Mixtures" (JASA 1995); Y. W. Teh, "A Bayesian
Interpretation of Interpolated Kneser-Ney" (2006); R. Neal, "Slice Sampling" (Annals of Statistics 2003).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spdp_engine.models.stirling import Seating

Float = NDArray[np.float64]
Integers = NDArray[np.integer]

SMALLEST_PRIOR = 1e-5
"""Of a Dirichlet prior: what is drawn below it is taken for it, since single precision must tell it from nothing."""

ALPHA_SHAPE = 1.0
"""alpha of a group and topic ~ Gamma(shape, mean of the topic)."""

DISCOUNTS = (0.01, 0.95)
CONCENTRATIONS = (0.01, 1e5)
"""Bounds of what is drawn."""


def draw_alphas(alphas: Float, counts: Integers, row: Integers, rng: np.random.Generator) -> Float:
    """Priors of topics in documents, asymmetric, a row for each group.

    alpha[i, k] ~ Gamma(1, rate r_k), and r_k ~ Gamma(1, 0.1): groups that say much of a topic pull those up that have said little
    yet.

    Args:
        alphas: float64 [R, K], as they are.
        counts: n, integers [D, K].
        row: [D], the row of each document.
        rng: random numbers.

    Returns:
        float64 [R, K].
    """
    rows, topics = alphas.shape
    rate = rng.gamma(1.0 + ALPHA_SHAPE * rows, 1.0 / (0.1 + alphas.sum(axis=0)))
    lengths = counts.sum(axis=1)
    there = lengths > 0
    total = alphas.sum(axis=1)[row[there]]
    missing = -np.bincount(row[there], weights=_log_beta(total, lengths[there], rng), minlength=rows)
    columns = row[:, None].astype(np.int64) * topics + np.arange(topics)
    tables = _tables(alphas.ravel(), counts, columns, rng).reshape(alphas.shape)
    drawn = rng.gamma(ALPHA_SHAPE + tables) / (rate + missing[:, None])
    return np.maximum(drawn, SMALLEST_PRIOR)


def draw_symmetric(prior: float, counts: Integers, rng: np.random.Generator) -> float:
    """A symmetric Dirichlet prior of words: gamma of SPDP's base wordings, beta of LDA.

    gamma ~ Gamma(1, 1).

    Args:
        prior: as it is.
        counts: integers [V, K], what each topic has of each word.
        rng: random numbers.
    """
    totals = counts.sum(axis=0)
    totals = totals[totals > 0]
    tables = _tables(np.array([prior]), counts, np.zeros_like(counts), rng)[0]
    missing = -len(counts) * _log_beta(prior * len(counts), totals, rng).sum()
    return float(max(rng.gamma(1.0 + tables) / (1.0 + missing), SMALLEST_PRIOR))


def _log_beta(first: float | Float, second: Integers, rng: np.random.Generator) -> Float:
    """Logarithms of Beta(first, second) variates; where `first` is small the variates themselves would be 0 in double precision.

    A Gamma(x) variate is one of Gamma(x + 1) times U^(1/x) with U uniform.
    """
    x = np.log(rng.standard_gamma(first + 1.0, len(second))) - rng.standard_exponential(len(second)) / first
    logs: Float = x - np.logaddexp(x, np.log(rng.standard_gamma(second)))
    return logs


def _tables(priors: Float, counts: Integers, prior: Integers, rng: np.random.Generator) -> Integers:
    """The sum of s over counts n of each prior, each s a sum of Bernoulli(prior/(prior + j)), j = 0 .. n - 1: int64 [R].

    Args:
        priors: [R].
        counts: integers, of any shape.
        prior: of the same shape, which prior each has.
        rng: random numbers.
    """
    width = int(counts.max(initial=0)) + 1
    sizes = np.bincount((prior * width + counts).ravel(), minlength=len(priors) * width).reshape(len(priors), width)
    above = sizes[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]  # how many counts exceed j
    which, j = above.nonzero()  # most are 0
    drawn = rng.binomial(above[which, j], priors[which] / (priors[which] + j))
    return np.bincount(which, weights=drawn, minlength=len(priors)).astype(np.int64)


def draw_concentration(
    concentration: float, discount: float, customers: Integers, tables: Integers, rng: np.random.Generator
) -> float:
    """The concentration b that Pitman-Yor processes share, by slice sampling of log b.

        p(b | ...) ~ p(b) prod_i Gamma(b)/Gamma(b + M_i) prod_(t < T_i) (b + a t),   p(b) ~ 1/(b + 100)^2

    Args:
        concentration: as it is.
        discount: a.
        customers: M, of each process.
        tables: T, of each process.
        rng: random numbers.
    """
    from scipy.special import gammaln  # here, since importing scipy takes a moment that the app need not wait for

    there = customers.ravel() > 0
    m, m_times = np.unique(customers.ravel()[there], return_counts=True)
    t, t_times = np.unique(tables.ravel()[there], return_counts=True)

    def log_density(x: float) -> float:
        b = np.exp(x)
        seats = m_times @ (gammaln(b) - gammaln(b + m))
        if discount > 0:
            opened = t_times @ (gammaln(t + b / discount) - gammaln(b / discount) + t * np.log(discount))
        else:
            opened = x * (t_times @ t)
        return float(seats + opened + x - 2 * np.log(b + 100.0))

    low, high = np.log(CONCENTRATIONS)
    return float(np.exp(slice_sample(log_density, np.log(concentration), 0.5, low, high, rng)))


def old_table_steps(
    customers: Integers, tables: Integers, seating: Seating, rng: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """How the customers of cells came to sit down: how often one joined an old table when there were n customers at t tables.

    The order in which a cell's tables were opened is drawn given how many there are, the last customer first: of a cell (m, t) that
    customer sat down at an old table with probability (m - 1 - t a) S(m-1, t)/S(m, t), that of not sitting alone.

    Args:
        customers: m of every cell.
        tables: t of every cell.
        seating: the table of the discount in force.
        rng: random numbers.

    Returns:
        n, t and how often, each int64 [pairs].
    """
    most = int(customers.max(initial=0))
    width = int(tables.max(initial=0)) + 1
    keys = customers.astype(np.int64) * width + tables
    cells = np.bincount(keys, minlength=(most + 1) * width).reshape(most + 1, width)
    joins = np.zeros_like(cells)
    for m in range(most, 1, -1):
        row = cells[m]
        t = row[: min(m, width)].nonzero()[0]  # where t = m every customer opened a table
        before = cells[m - 1]
        if m < width:
            before[m - 1] += row[m]
        if not len(t):
            continue
        joined = rng.binomial(row[t], 1.0 - seating.alone[seating.start(m) + t].astype(np.float64))
        before[t] += joined
        before[t - 1] += row[t] - joined
        joins[m - 1, t] = joined
    n, t = joins.nonzero()
    return n, t, joins[n, t]


def draw_discount(
    discount: float,
    concentration: float,
    tables: Integers,
    steps: tuple[Integers, Integers, Integers],
    rng: np.random.Generator,
) -> float:
    """The discount a that Pitman-Yor processes share, by slice sampling; a ~ uniform.

        p(a | ...) ~ prod_i prod_(t < T_i) (b + a t) * prod_joins (n - t a)

    where each customer who joined an old table did so at n customers and t tables.

    Args:
        discount: as it is.
        concentration: b.
        tables: T, of each process.
        steps: n, t and how often, as `old_table_steps` gives them; t is 1 where the table that was joined is known.
        rng: random numbers.
    """
    from scipy.special import gammaln  # here, since importing scipy takes a moment that the app need not wait for

    n, t, times = (np.asarray(one, np.float64) for one in steps)
    totals, of_totals = np.unique(tables.ravel(), return_counts=True)

    def log_density(a: float) -> float:
        opened = of_totals @ (gammaln(totals + concentration / a) - gammaln(concentration / a) + totals * np.log(a))
        return float(opened + times @ np.log(n - t * a))

    return slice_sample(log_density, discount, 0.05, *DISCOUNTS, rng)


def slice_sample(
    log_density: Callable[[float], float], x: float, width: float, low: float, high: float, rng: np.random.Generator
) -> float:
    """One step of slice sampling within [low, high]: stepping out, then shrinking (Neal 2003, figures 3 and 5)."""
    x = float(np.clip(x, low, high))
    level = log_density(x) - rng.exponential()
    left = x - width * rng.random()
    right = left + width
    while left > low and log_density(left) > level:
        left -= width
    while right < high and log_density(right) > level:
        right += width
    left, right = max(left, low), min(right, high)
    for _ in range(200):
        drawn = rng.uniform(left, right)
        if log_density(drawn) >= level:
            return float(drawn)
        if drawn < x:
            left = drawn
        else:
            right = drawn
    return x
