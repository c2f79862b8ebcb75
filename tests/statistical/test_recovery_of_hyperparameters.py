"""Hyperparameters planted in generated corpora are learned by runs as they are used, with two workers, that begin from others.

Two corpora are of small discounts and two are of large ones, and learning begins in between. A Pitman-Yor process with a larger
discount and a smaller concentration has about as many tables, so that data say little of both at once; one of the two is known.
Topics and tables begin where they were planted, since chains seldom leave a mode of topics, and tables take hundreds of sweeps to
follow a discount. Hyperparameters are due after every sweep, the discount after every other.

What may be missing. In 160 corpora, taken four at a time, the mean over the four fell short by this much on average, with this
standard deviation (of posteriors, mostly, for which 40 sweeps are few), and learning began so far away:

                            SPDP                    LDA                     began    allowed
    alpha                   0.07, sd 0.015          0.07, sd 0.022          0.26     0.19
    gamma, beta (log)       0.05, sd 0.13           -0.05, sd 0.10          1.04     0.75
    discount                0.08, sd 0.039                                  0.35     0.29
    concentration (log)     0.36, sd 0.30                                   2.56     1.9
    repeats' (discount)     0.00, sd 0.012          0.00, sd 0.011          0.25     0.12
    repeats' (log)          0.01, sd 0.059          0.01, sd 0.058          1.45     0.35

Allowed is five standard deviations and more beyond the average: a right sampler goes beyond with less than LEVEL, even where tails
are heavier than a normal distribution's.
"""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from spdp_engine.models.lda import LdaPriors
from spdp_engine.models.spdp import SpdpPriors
from spdp_engine.sampling import learning
from spdp_engine.sampling.repeats import Repeats
from spdp_engine.sampling.spdp_state import SpdpState

from .exact import LEVEL, Float
from .simulate import Size, draw_lda, draw_spdp, place_of_alpha

SIZE = Size(groups=2, documents=80, words=60, topics=4, length=60)
CORPORA, BURN_IN, SWEEPS = 2, 40, 40

ALPHAS = np.array([[0.8, 0.4, 0.2, 0.1], [0.1, 0.2, 0.4, 0.8]])
"""Planted, by group and topic; in LDA the first row."""

FEW, MANY = (
    {"repeat_discount": 0.1, "repeat_concentration": 10.0},
    {"repeat_discount": 0.6, "repeat_concentration": 5.0},
)
BETWEEN = {"repeat_discount": 0.35, "repeat_concentration": 30.0}

PLANTED: dict[str, tuple[Any, list[Any]]] = {
    "spdp": (
        SpdpPriors(0.1, 0.14, 0.45, 200.0, **BETWEEN),
        [SpdpPriors(0.1, 0.4, 0.1, 8.0, **FEW), SpdpPriors(0.1, 0.05, 0.8, 30.0, **MANY)],
    ),
    "lda": (LdaPriors(0.1, 0.14, **BETWEEN), [LdaPriors(0.1, 0.4, **FEW), LdaPriors(0.1, 0.05, **MANY)]),
}
"""Hyperparameters with which learning begins, and those planted; of alpha see `ALPHAS`."""

ALLOWED = {
    "alpha": 0.19, "gamma": 0.75, "beta": 0.75, "discount": 0.29, "concentration": 1.9, "repeat_discount": 0.12,
    "repeat_concentration": 0.35,
}  # fmt: skip
"""What learned hyperparameters may fall short by, as `shortfalls` measures it."""


def scaled(name: str, value: Any) -> Float:
    """Discounts as they are, alpha as its place in its prior, others as logarithms."""
    value = np.asarray(value, np.float64)
    return value if name.endswith("discount") else place_of_alpha(value) if name == "alpha" else np.log(value)


def learned(model: str, planted: Any, begin: Any, fixed: tuple[str, ...], corpus: int) -> dict[str, Float]:
    """What is learned of a corpus: means over sweeps, on the scale of `scaled`. Of alpha: [groups, K]."""
    alphas = ALPHAS if model == "spdp" else ALPHAS[:1]
    draw: Any = draw_spdp if model == "spdp" else draw_lda
    drawn = draw(SIZE, planted, np.random.default_rng(corpus), repeats=True, alphas=alphas)
    begin = replace(begin, **{name: getattr(planted, name) for name in fixed})
    sampler = drawn.sampler(model, "blocks", begin, corpus, workers=2, learn=True, fixed=fixed)
    replace(drawn, alphas=None).begin(sampler)
    sampler.run(BURN_IN)
    found: dict[str, list[Float]] = {one.name: [] for one in fields(planted) if one.name not in fixed}
    for _ in range(SWEEPS):
        record = sampler.step()
        for name, values in found.items():
            values.append(scaled(name, sampler._state.alphas if name == "alpha" else record.hyperparameters[name]))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def shortfalls(model: str, known: str, corpora: int = CORPORA) -> dict[str, float]:
    """How far what was learned lies short of what was planted, on the way from where it began: the mean over corpora.

    Of alpha, which is learned for each group and topic, the root of the mean square error. known: what names of hyperparameters
    end with that are not learned.
    """
    begin, plantings = PLANTED[model]
    fixed = tuple(one.name for one in fields(begin) if one.name.endswith(known))
    short: dict[str, list[float]] = {}
    for planted, corpus in product(plantings, range(corpora)):
        for name, found in learned(model, planted, begin, fixed, corpus).items():
            if name == "alpha":
                off = float(np.sqrt(np.square(found - scaled(name, ALPHAS[: len(found)])).mean()))
            else:
                truth, start = scaled(name, getattr(planted, name)), scaled(name, getattr(begin, name))
                off = float((found - truth) * np.sign(start - truth))
            short.setdefault(name, []).append(off)
    return {name: float(np.mean(values)) for name, values in short.items()}


@pytest.fixture(autouse=True)
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "is_due", lambda iteration: True)
    monkeypatch.setattr(learning, "is_due_for_discount", lambda iteration: iteration % 2 == 0)


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("known", ["discount", "concentration"])
@pytest.mark.parametrize("model", PLANTED)
def test_planted_hyperparameters_are_learned(model: str, known: str) -> None:
    """False alarms: LEVEL for each."""
    short = shortfalls(model, known)
    assert {name: off for name, off in short.items() if abs(off) > ALLOWED[name]} == {}


@pytest.mark.parametrize(
    ("model", "known", "name"),
    [
        ("lda", "discount", "repeat_concentration"),
        ("lda", "concentration", "repeat_discount"),
        ("spdp", "discount", "concentration"),
    ],
)
def test_where_sweeps_go_on_with_the_first_they_are_not(
    model: str, known: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hyperparameters are drawn, but never put in force on the device: learning falls short."""

    def with_first_priors(arguments: Any) -> property:
        def first(self: Any) -> tuple[Any, ...]:
            state = getattr(self, "_state", self)
            in_force, state.priors = state.priors, state.__dict__.setdefault("first", state.priors)
            found: tuple[Any, ...] = arguments.fget(self)
            state.priors = in_force
            return found

        return property(first)

    for kind in (Repeats, SpdpState):
        monkeypatch.setattr(kind, "arguments", with_first_priors(kind.arguments))
    assert shortfalls(model, known)[name] > ALLOWED[name]
