"""The marker by which tests state how often they fail a right sampler."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "false_alarms(rate): how often the test would fail a right sampler, at most")
