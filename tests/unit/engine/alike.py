"""Whether two values are the same to the bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

OF_TIME = ("seconds", "elapsed", "tokens_per_second")
"""What no two runs have in common."""


def differences(one: Any, other: Any, name: str = "") -> list[str]:
    """Where two values differ by a bit; what tells the time is passed over."""
    if type(one) is not type(other):
        return [name]
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape and np.ascontiguousarray(one).tobytes() == (
            np.ascontiguousarray(other).tobytes()
        )  # fmt: skip
        return [] if alike else [name]
    if is_dataclass(one):
        names = [field.name for field in fields(one) if field.name not in OF_TIME]
        return [
            part
            for field in names
            for part in differences(getattr(one, field), getattr(other, field), f"{name}.{field}")
        ]
    if isinstance(one, pd.DataFrame):
        return [] if one.equals(other) and list(one.columns) == list(other.columns) else [name]
    if isinstance(one, tuple) and len(one) == len(other):
        return [
            part
            for place, (a, b) in enumerate(zip(one, other, strict=True))
            for part in differences(a, b, f"{name}.{place}")
        ]
    if isinstance(one, dict):
        return [part for key in {*one, *other} for part in differences(one.get(key), other.get(key), f"{name}.{key}")]
    return [] if one == other else [name]
