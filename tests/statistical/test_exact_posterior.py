"""Samplers against the posterior of tiny corpora, every state of which is enumerated.

A state is the topic of each token and the number of tables of each cell, so tables are tested with the topics. Runs are
thinned until the samples are as good as independent. Each test that compares states its false-alarm rate; seeds are
fixed, so that it was decided once. Samplers made wrong on purpose must fail the same comparison.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from spdp_engine.models.spdp import Priors
from spdp_engine.models.stirling import SeatingFactors, seating_factors
from spdp_engine.sampling import programs, spdp_state

from .tiny import Case, State, chain, chi_square, copy_of_kernels, exact_posterior, start, steps, total_variation

MIXED = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 2, 1), (1, 2, 0), (1, 3, 0))
CROWDED = ((0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 0), (1, 3, 1))
THREE_WORDS = ((0, 0, 0), (0, 0, 1), (0, 0, 1), (1, 1, 1), (1, 1, 2), (1, 2, 1))

CASES = {
    "two words": Case(MIXED, 2, Priors(0.5, 0.4, 0.6, 1.5)),
    "crowded cells": Case(CROWDED, 2, Priors(0.3, 0.2, 0.3, 0.8)),
    "crowded cells, a = 0": Case(CROWDED, 2, Priors(1.0, 0.5, 0.0, 1.0)),
    "three words, a = 0.9": Case(THREE_WORDS, 2, Priors(0.2, 1.0, 0.9, 5.0)),
    "three topics": Case(THREE_WORDS[:5], 3, Priors(0.4, 0.3, 0.5, 0.5)),
    "one group": Case(((0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 2, 1)), 2, Priors(0.6, 0.3, 0.7, 2.0)),
}
SAMPLES, THIN = 20_000, 20


@cache
def posterior(name: str) -> dict[State, float]:
    return exact_posterior(CASES[name])


@pytest.fixture
def own_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the kernels to change, and no program remembered from other kernels."""
    monkeypatch.setattr(programs, "_programs", {})
    kernels = copy_of_kernels(tmp_path)
    monkeypatch.setattr(programs, "KERNELS", kernels)
    return kernels


@pytest.mark.parametrize("name", CASES)
def test_the_sampler_visits_states_as_often_as_they_are_probable(name: str, own_programs: Path) -> None:
    """False alarms: 1e-3 for each case."""
    observed = chain(CASES[name], SAMPLES, THIN, seed=1)
    assert chi_square(observed, posterior(name)) > 1e-3


# Errors a person could make in spdp.clh: (the text, what stands there instead).
WRONG = {
    "a table may lose its last opener": ("    if (opens && seat.y == 1 && seat.x > 1)\n        return;\n", ""),
    "the opener of the only table leaves as if it had not opened it": (
        "    const int opens = u.x * (float)seat.x < (float)seat.y;\n",
        "    const int opens = u.x * (float)seat.x < (float)seat.y && !(seat.y == 1 && seat.x > 1);\n",
    ),
    "the token is still a customer of its cell": (
        "model->width, seat.x - 1, seat.y - opens);\n    const float tokens",
        "model->width, seat.x, seat.y - opens);\n    const float tokens",
    ),
    "the token is still one of its document": (
        "rows.document[old] - 1.0f + model->alpha[old]",
        "rows.document[old] + model->alpha[old]",
    ),
    "the token is still a customer of its topic": ("(float)(sums->customers[x] - 1)", "(float)(sums->customers[x])"),
    "the token's table is still one of its topic": ("(float)(sums->tables[x] - opens)", "(float)(sums->tables[x])"),
    "the token's table is still in the base": ("(rows.base[old] - (float)opens + ", "(rows.base[old] + "),
    "the token's table is still in the base's sum": (
        "sums->base_tables[old] - (float)opens)",
        "sums->base_tables[old])",
    ),
    "tables are forgotten as topics are left": ("    change_tables(model, sums, &rows, old, -opens);\n", ""),
    "quotients are not renewed as topics are left": (
        "    refresh_quotients(model, sums, x);\n    *topic = (ushort)k;\n",
        "    *topic = (ushort)k;\n",
    ),
    "a new table is judged by the number that chose the topic": (
        "    *topic = (ushort)k;\n    seat_token(model, sums, &rows, k, u.z);\n}\n\n#endif",
        "    *topic = (ushort)k;\n    seat_token(model, sums, &rows, k, u.y);\n}\n\n#endif",
    ),
    "a topic that stays never opens a table again": (
        "seat.x == 1 || u.z * (stay_old + stay_new) < stay_new",
        "seat.x == 1 || (opens && u.z * (stay_old + stay_new) < stay_new)",
    ),
    "gamma is not in the base": ("(STRIP(rows->base, strip) + model->gamma)", "(STRIP(rows->base, strip))"),
    "the discount is not in the new table's weight": (
        "inverse * (model->concentration + model->discount * (float)sums->tables[x])",
        "inverse * model->concentration",
    ),
}


@pytest.mark.parametrize("error", WRONG)
def test_a_wrong_kernel_is_rejected(error: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The comparison above sees each of these errors, by a p-value below 1e-6."""
    monkeypatch.setattr(programs, "_programs", {})
    monkeypatch.setattr(programs, "KERNELS", copy_of_kernels(tmp_path, WRONG[error]))
    observed = chain(CASES["crowded cells"], SAMPLES, THIN, seed=1)
    assert chi_square(observed, posterior("crowded cells")) < 1e-6


def without(factor: str, table: SeatingFactors) -> SeatingFactors:
    """The table of seating factors, one of its two combinatorial factors left out."""
    pairs = table.pairs.copy()
    for m in range(1, table.maximum_customers + 1):
        t = np.arange(min(m, table.table_limit) + 1)
        rows = table.index(np.full(len(t), m), t)
        if factor == "new table":
            pairs[rows, 1] /= ((t + 1) / (m + 1)).astype(np.float32)
        else:
            pairs[rows, 0] /= ((m - t + 1) / (m + 1)).astype(np.float32)
    return replace(table, pairs=pairs)


@pytest.mark.parametrize("factor", ["new table", "old table"])
def test_a_wrong_table_is_rejected(factor: str, monkeypatch: pytest.MonkeyPatch, own_programs: Path) -> None:
    """The share of seatings in which a token opens its table is left out, and seen to be."""
    monkeypatch.setattr(spdp_state, "seating_factors", lambda a, m: without(factor, seating_factors(a, m)))
    observed = chain(CASES["crowded cells"], SAMPLES, THIN, seed=1)
    assert chi_square(observed, posterior("crowded cells")) < 1e-6


@pytest.mark.parametrize("schedule", ["sequential", "blocks"])
@pytest.mark.parametrize("name", ["crowded cells", "three topics"])
def test_schedules_of_one_worker_are_exact(name: str, schedule: str) -> None:
    """The schedules as they are used, step by step: far fewer samples, but nothing of the test's own in the kernel.

    False alarms: 1e-3 for each.
    """
    observed = Counter(steps(start(CASES[name], schedule, 1, seed=5), 800, 6))
    assert chi_square(observed, posterior(name)) > 1e-3
