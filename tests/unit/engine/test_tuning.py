"""Choices made by measuring on the device, and how they are remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from spdp_engine.errors import DeviceError
from spdp_engine.sampling import Sampler, choose_device, method_named, plain_settings, programs, tuning

from .corpora import random_tokens

MEASURED = tuning._fastest  # which tests elsewhere do without
TOKEN_PARALLEL = method_named("spdp", "token_parallel")


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing is remembered yet, and what will be goes to a folder of the test's own."""
    path = tmp_path / "caches" / "tuning.json"
    monkeypatch.setattr(tuning, "memory_file", lambda: path)
    monkeypatch.setattr(tuning, "_fastest", MEASURED)
    monkeypatch.setattr(tuning, "_remembered", {})
    yield path


def measured_as(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float]) -> list[str]:
    """Candidates take so long, by a word of their schedule or shape; others an hour. Returns what gets measured, as it goes."""
    asked: list[str] = []

    def measure(method: object, device: object, topics: int, shape: object) -> float:
        asked.append(f"{method.schedule} {shape}")  # type: ignore[attr-defined]
        return next((time for word, time in seconds.items() if word in asked[-1]), 3600.0)

    monkeypatch.setattr(tuning, "_seconds", measure)
    return asked


def test_the_fastest_shape_is_taken_and_remembered(monkeypatch: pytest.MonkeyPatch, memory: Path) -> None:
    asked = measured_as(monkeypatch, {"'TEAM': 4": 0.5})
    device = choose_device()
    assert tuning.best_shape(TOKEN_PARALLEL, device, 40) == {"TEAM": 4, "TEAMS": 8}
    count = len(asked)
    assert count == len(TOKEN_PARALLEL.runner.shapes_for(device, 40)) > 1
    assert tuning.best_shape(TOKEN_PARALLEL, device, 40)["TEAM"] == 4
    monkeypatch.setattr(tuning, "_remembered", {})  # as in another process
    assert tuning.best_shape(TOKEN_PARALLEL, device, 37)["TEAM"] == 4, "as many topics, when padded"
    assert len(asked) == count, "what was measured once is not measured again"
    assert len(json.loads(memory.read_text())) == 1


def test_another_number_of_topics_is_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = measured_as(monkeypatch, {})
    tuning.best_shape(TOKEN_PARALLEL, choose_device(), 40)
    count = len(asked)
    tuning.best_shape(TOKEN_PARALLEL, choose_device(), 64)
    assert len(asked) > count


@pytest.mark.parametrize("content", ["", "no json", "[1, 2]", '{"other": 1}'])
def test_a_broken_memory_is_as_good_as_none(content: str, monkeypatch: pytest.MonkeyPatch, memory: Path) -> None:
    memory.parent.mkdir()
    memory.write_text(content)
    measured_as(monkeypatch, {"'TEAM': 4": 0.5})
    assert tuning.best_shape(TOKEN_PARALLEL, choose_device(), 40)["TEAM"] == 4


def test_a_memory_that_cannot_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch, memory: Path) -> None:
    memory.parent.write_text("a file where the folder should be")
    measured_as(monkeypatch, {"'TEAM': 4": 0.5})
    assert tuning.best_shape(TOKEN_PARALLEL, choose_device(), 40)["TEAM"] == 4


def test_teams_have_no_idle_members_and_fit_the_device() -> None:
    device = choose_device()
    assert all(shape["TEAM"] <= 2 for shape in TOKEN_PARALLEL.runner.shapes_for(device, 16))
    assert len(TOKEN_PARALLEL.runner.shapes_for(device, 1)) >= 1
    assert len(method_named("spdp", "topic_parallel").runner.shapes_for(device, 1)) == 1
    assert method_named("spdp", "blocks").runner.shapes_for(device, 16) == ()


def test_shapes_are_really_measured() -> None:
    assert 0 < tuning._seconds(TOKEN_PARALLEL, choose_device(), 8, {"TEAM": 1, "TEAMS": 8}) < 60


def test_a_shape_that_the_device_refuses_is_out() -> None:
    assert tuning._seconds(TOKEN_PARALLEL, choose_device(), 8, {"TEAM": 1 << 20, "TEAMS": 1}) == float("inf")


@pytest.mark.parametrize("fastest", ["blocks", "token_parallel"])
def test_a_gpu_gets_the_fastest_schedule_that_may_be_a_default(fastest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = measured_as(monkeypatch, {fastest: 0.5})
    gpu = replace(choose_device(), kind="GPU")
    assert tuning.default_schedule("spdp", gpu, 20, repeats=False) == fastest
    assert tuning.default_schedule("spdp", gpu, 20) == "blocks"  # the only one of them that has documents repeat words
    assert {words.split()[0] for words in asked} == {"blocks", "token_parallel"}


def test_a_cpu_gets_blocks_without_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = measured_as(monkeypatch, {})
    assert tuning.default_schedule("spdp", choose_device(), 20) == "blocks"
    assert tuning.default_schedule("lda", replace(choose_device(), kind="GPU"), 20) == "blocks"
    assert not asked


def test_a_sampler_takes_the_chosen_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    measured_as(monkeypatch, {"'TEAM': 4": 0.5})
    sampler = Sampler(random_tokens(200, 5, 20, 2), plain_settings(40, schedule="token_parallel"))
    assert sampler._schedule._shape == {"TEAM": 4, "TEAMS": 8}
    assert sampler.run(2)[-1].perplexity


def test_where_every_candidate_fails_that_is_said_and_nothing_remembered(
    monkeypatch: pytest.MonkeyPatch, memory: Path
) -> None:
    monkeypatch.setattr(tuning, "_seconds", lambda *_: float("inf"))
    with pytest.raises(DeviceError, match="could not run the sampler"):
        tuning.best_shape(TOKEN_PARALLEL, choose_device(), 40)
    assert not memory.exists() and not tuning._remembered


def test_choices_of_other_kernel_sources_are_let_go(monkeypatch: pytest.MonkeyPatch, memory: Path) -> None:
    memory.parent.mkdir()
    memory.write_text(json.dumps({"shape of something, 8 topics, a device, a driver, 0123456789ab": "TEAM=4"}))
    measured_as(monkeypatch, {})
    tuning.best_shape(TOKEN_PARALLEL, choose_device(), 40)
    assert all(key.endswith(programs.fingerprint()) for key in json.loads(memory.read_text()))


def test_a_device_with_little_local_memory_gets_one_work_item_to_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    device = choose_device()
    small = SimpleNamespace(handle=SimpleNamespace(max_work_group_size=1, local_mem_size=1024))
    assert TOKEN_PARALLEL.runner.shapes_for(small, 1000) == ({"TEAM": 1, "TEAMS": 1},)  # type: ignore[arg-type]
    assert tuning._seconds(TOKEN_PARALLEL, device, 8, {"TEAM": 1, "TEAMS": 1}) < 60
