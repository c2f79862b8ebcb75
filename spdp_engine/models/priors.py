"""What the models' priors share: bounds, and how their values are called by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from spdp_engine.errors import SettingsError

SMALLEST, LARGEST = 1e-6, 1e9
"""Bounds of Dirichlet priors and concentrations: far beyond what makes sense, well within single precision."""


def prior(default: float, help_text: str, by_name: bool = False) -> Any:
    """A field of priors: its default, and what it is, in a few words for those who set it. by_name: cannot be given by position."""
    return field(default=default, metadata={"help": help_text}, kw_only=by_name)


@dataclass(frozen=True)
class Priors:
    """Hyperparameters that every model has.

    Attributes:
        alpha: Dirichlet prior of topics in a document, for each topic.
        repeat_discount: discount of the documents, where a document's words repeat (kernels/repeats.clh), 0 <= a_d < 1.
        repeat_concentration: their concentration.

    Raises:
        SettingsError: a value is out of its range.
    """

    alpha: float = prior(0.1, "prior of topics in a document")
    repeat_discount: float = prior(
        0.7, "discount of a document's repeats: the larger, the fewer of a word's uses are repeats", by_name=True
    )
    repeat_concentration: float = prior(
        100.0, "concentration of a document's repeats: the larger, the fewer repeats", by_name=True
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            self._check(one.name, getattr(self, one.name))

    def _check(self, name: str, value: float) -> None:
        """Refuses a value out of range."""
        if name.endswith("discount"):
            if not 0 <= value < 1:
                raise SettingsError(f"The {name.replace('_', ' ')} must be at least 0 and below 1; it is {value:g}.")
            return
        if not SMALLEST <= value <= LARGEST:
            raise SettingsError(
                f"{name.capitalize().replace('_', ' ')} must lie between {SMALLEST:g} and {LARGEST:g}; it is {value:g}."
            )


P = TypeVar("P", bound=Priors)


def make_priors(kind: type[P], values: Mapping[str, float | None], model: str) -> P:
    """Priors of a kind from values by name; None: the default.

    Raises:
        SettingsError: a value is given that the model has no use for, or is out of its range.
    """
    given = {name: value for name, value in values.items() if value is not None}
    names = [one.name for one in fields(kind)]
    strange = [name for name in given if name not in names]
    if strange:
        raise SettingsError(f"The model {model} has no {strange[0]}. Its priors are {', '.join(names)}.")
    return kind(**given)
