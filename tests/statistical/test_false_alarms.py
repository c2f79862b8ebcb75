"""The sum of the rates at which this folder's tests fail right samplers."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import FALSE_ALARMS


def test_false_alarms_of_the_folder_are_few(request: pytest.FixtureRequest) -> None:
    """By the rates that the collected tests state: whatever they have to do with each other, at most the sum fails."""
    here = [item for item in request.session.items if item.path.parent == Path(__file__).parent]
    rates = [marker.args[0] for item in here for marker in item.iter_markers("false_alarms")]
    print(f"{len(rates)} of {len(here)} tests state a rate; the sum is {sum(rates):.4f}")
    assert sum(rates) <= FALSE_ALARMS + 1e-12
    assert FALSE_ALARMS < 0.01
    files = {item.path.name for item in here}
    chosen = request.config.option.keyword or request.config.option.markexpr
    if not chosen and files == {path.name for path in Path(__file__).parent.glob("test_*.py")}:
        assert sum(rates) == pytest.approx(FALSE_ALARMS)
