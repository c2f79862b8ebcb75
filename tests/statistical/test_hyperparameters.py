"""Draws of hyperparameters given counts: they must leave the joint distribution of both as it is.

As in `test_geweke`, but without a device: a hyperparameter is drawn from its prior, counts by it, and then it is drawn anew a few
times given the counts. What is computed from both has the same distribution before and after. Priors' tails are heavy (alpha's and
the concentration's have no mean), so that not a hyperparameter is compared but its place in its prior, the probability of less.
`test_learning` goes the whole way, over the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sample_data.generator import seat
from spdp_engine.models import hyperparameters
from spdp_engine.models.stirling import seating

from .exact import LEVEL, Float, paired_p_value
from .simulate import (
    draw_alphas,
    draw_concentration,
    draw_discount,
    draw_symmetric,
    place_of_alpha,
    place_of_concentration,
    place_of_symmetric,
)

Drawing = Mapping[str, Any]
"""The functions of spdp_engine.models.hyperparameters by name, or others instead."""


@dataclass(frozen=True)
class Joint:
    """A hyperparameter and what is drawn by it.

    Attributes:
        draw: the hyperparameter and the rest.
        again: the hyperparameter anew, given itself and the rest.
        features: bounded functions of both: float64 [features].
        replicates: how often both are drawn.
        draws: how often the hyperparameter is drawn anew.
    """

    draw: Callable[[np.random.Generator], tuple[Any, Any]]
    again: Callable[[Drawing, Any, Any, np.random.Generator], Any]
    features: Callable[[Any, Any], Float]
    replicates: int = 400
    draws: int = 8


DOCUMENTS, GROUPS, WORDS, TOPICS = 12, 2, 10, 4


def alphas_and_counts(rng: np.random.Generator) -> tuple[Float, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Tokens of each topic in documents of many lengths, one of them empty, and the group of each."""
    alphas, group = draw_alphas(GROUPS, TOPICS, rng), np.arange(DOCUMENTS) % GROUPS
    counts = [rng.multinomial(2 * d * d, rng.dirichlet(alphas[i])) for d, i in enumerate(group)]
    return alphas, (np.array(counts), group)


def of_alphas(alphas: Float, rest: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Float:
    counts, group = rest
    place = place_of_alpha(alphas)
    likely = (counts * place[group]).sum() / counts.sum()
    return np.array([place.mean(), np.square(place).mean(), place.prod(axis=0).mean(), likely, likely * place.mean()])


def prior_and_words(rng: np.random.Generator) -> tuple[float, NDArray[np.int64]]:
    """Tokens of each word in topics of a few sizes, one of them empty."""
    prior = draw_symmetric(rng)
    return prior, np.array([rng.multinomial(n, rng.dirichlet(np.full(WORDS, prior))) for n in (60, 15, 4, 0)]).T


def of_prior(prior: float, counts: NDArray[np.int64]) -> Float:
    place, few = place_of_symmetric(prior), np.square(counts / np.maximum(counts.sum(axis=0), 1)).mean() * WORDS
    return np.array([place, place**2, place * few])


@dataclass(frozen=True, eq=False)
class Restaurants:
    """What is known of Pitman-Yor processes.

    Attributes:
        concentration: b.
        discount: a.
        customers: int64 [R], of each restaurant, some of them empty.
        tables: int64 [R].
        cells: customers and tables of each dish of a restaurant, int64 [cells, 2].
    """

    concentration: float
    discount: float
    customers: NDArray[np.int64]
    tables: NDArray[np.int64]
    cells: NDArray[np.int64]


def restaurants(
    customers: Sequence[int], words: int, discount: float, concentration: float, rng: np.random.Generator
) -> Restaurants:
    cells = []
    for n in customers:
        served, opened = seat(n, rng.dirichlet(np.ones(words)), discount, concentration, rng)
        cells.append(np.stack([np.bincount(dishes, minlength=words) for dishes in (served, served[opened])], axis=1))
    tables = np.array([each[:, 1].sum() for each in cells])
    return Restaurants(concentration, discount, np.array(customers), tables, np.concatenate(cells))


def concentration_and_tables(rng: np.random.Generator) -> tuple[float, Restaurants]:
    """One in four has no discount, which is a case of its own."""
    concentration = draw_concentration(rng)
    discount = draw_discount(rng) if rng.random() < 0.75 else 0.0
    return concentration, restaurants([40, 15, 6, 1, 0], WORDS, discount, concentration, rng)


def of_concentration(concentration: float, rest: Restaurants) -> Float:
    place, opened = place_of_concentration(concentration), rest.tables.sum() / rest.customers.sum()
    return np.array([place, place**2, place * opened, np.log(concentration), np.log(concentration) * rest.discount])


def discount_and_seats(rng: np.random.Generator) -> tuple[float, Restaurants]:
    discount = draw_discount(rng)
    return discount, restaurants([40, 15, 6, 1, 0], 2, discount, rng.uniform(0.1, 3.0), rng)


def discount_again(drawing: Drawing, discount: float, rest: Restaurants, rng: np.random.Generator) -> float:
    m, t = rest.cells[rest.cells[:, 0] > 1].T
    steps = drawing["old_table_steps"](m, t, seating(discount, int(m.max())), rng)
    drawn: float = drawing["draw_discount"](discount, rest.concentration, rest.tables, steps, rng)
    return drawn


def of_discount(discount: float, rest: Restaurants) -> Float:
    opened, alone = rest.tables.sum() / rest.customers.sum(), (rest.cells[:, 1] == 1).mean()
    return np.array([discount, discount**2, discount * opened, discount * alone, discount * rest.concentration])


JOINTS = {
    "alpha": Joint(
        alphas_and_counts, lambda drawing, x, rest, rng: drawing["draw_alphas"](x, *rest, rng), of_alphas, 150
    ),
    "gamma": Joint(prior_and_words, lambda drawing, x, rest, rng: drawing["draw_symmetric"](x, rest, rng), of_prior),
    "concentration": Joint(
        concentration_and_tables,
        lambda drawing, x, rest, rng: drawing["draw_concentration"](x, rest.discount, rest.customers, rest.tables, rng),
        of_concentration,
    ),
    "discount": Joint(discount_and_seats, discount_again, of_discount, 350, 2),
}


@cache
def starts(name: str) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(2006)
    return [JOINTS[name].draw(rng) for _ in range(JOINTS[name].replicates)]


def p_value(name: str, drawing: Drawing) -> float:
    """Of paired tests of all features."""
    joint, differences, rng = JOINTS[name], [], np.random.default_rng(2007)
    for value, rest in starts(name):
        drawn = value
        for _ in range(joint.draws):
            drawn = joint.again(drawing, drawn, rest, rng)
        differences.append(joint.features(drawn, rest) - joint.features(value, rest))
    return paired_p_value(np.array(differences))


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("name", JOINTS)
def test_draws_leave_the_joint_distribution_as_it_is(name: str) -> None:
    """False alarms: LEVEL for each."""
    assert p_value(name, vars(hyperparameters)) > LEVEL


# ---- draws that are wrong on purpose --------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, str, str]] = {
    "the Jacobian of log b is left out": ("concentration", "opened + x - 2 *", "opened - 2 *"),
    "b has no prior": ("concentration", "+ x - 2 * np.log(b + 100.0)", "+ x"),
    "tables are not discounted": ("concentration", "if discount > 0:", "if discount > 1:"),
    "who joins a table is counted among those who are there": ("discount", "joins[m - 1, t] = joined", "joins[m, t] = joined"),
    "whoever opened a table is taken for one who sits alone": (
        "discount", "1.0 - seating.alone[seating.start(m) + t].astype(np.float64)", "np.where(t == 1, 1.0, 1.0 - t / m)",
    ),
    "old tables are discounted once": ("discount", "np.log(n - t * a)", "np.log(n - a)"),
    "beta variables of words are left out": ("gamma", "(1.0 + missing), SM", "1.0, SM"),
    "priors of words are not summed": ("gamma", "_log_beta(prior * len(counts), totals", "_log_beta(prior, totals"),
    "the first token of a word may open none": ("gamma", "(priors[which] + j))", "(priors[which] + j + 1))"),
    "beta variables of topics are left out": ("alpha", "(rate + missing[:, None])", "rate"),
    "groups do not tell each other of topics": ("alpha", "1.0 / (0.1 + alphas.sum(axis=0))", "1.0 / (0.1 + alphas[0])"),
}  # fmt: skip
"""Errors a person could make: where they are seen, what stands in the file, and what stands there instead."""


def changed(module: ModuleType, old: str, new: str) -> dict[str, Any]:
    """What a module defines where a text of it, which stands there once, is another."""
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"the text to change stands {text.count(old)} times in {module.__name__}: {old}"
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(text.replace(old, new), names)
    return names


@pytest.mark.parametrize("error", WRONG)
def test_wrong_draws_are_rejected(error: str) -> None:
    """The comparison above sees each of these errors, by a p-value below 1e-6."""
    name, *change = WRONG[error]
    assert p_value(name, changed(hyperparameters, *change)) < 1e-6
