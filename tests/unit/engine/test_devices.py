"""Devices and programs: choosing, building, and what is said when something is missing."""

from __future__ import annotations

import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from spdp_engine.errors import DeviceError
from spdp_engine.sampling import METHODS, devices, programs, sampler
from spdp_engine.sampling.devices import Device, choose_device, list_devices
from spdp_engine.sampling.sampler import Sampler, memory_for, plain_settings
from spdp_engine.sampling.state import padded_topics

from .corpora import random_matrices, random_tokens
from .test_sampler import assert_sentences

CORPUS = random_tokens(500, 20, 30, 2, seed=51)


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache of programs for the time of a test, so that it builds its own."""
    monkeypatch.setattr(programs, "_programs", {})


def pretend(monkeypatch: pytest.MonkeyPatch, *found: Device) -> None:
    monkeypatch.setattr(devices, "list_devices", lambda: found)


def test_a_device_is_found_and_described() -> None:
    found = list_devices()
    assert found, "these tests need an OpenCL driver, such as PoCL"
    for device in found:
        assert device.name
        assert device.platform
        assert device.kind in ("GPU", "CPU", "accelerator")
        assert device.compute_units >= 1
        assert device.memory >= device.largest_buffer > 0
        assert device.default_workers >= device.compute_units
    assert len({device.name for device in found}) == len(found)


def test_the_workers_that_a_large_device_asks_for_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cards of 132 multiprocessors exist."""
    large = replace(list_devices()[0], kind="GPU", compute_units=132)
    monkeypatch.setattr(sampler, "choose_device", lambda name: large)
    assert Sampler(CORPUS, plain_settings(3)).settings.workers


def test_no_name_takes_the_first() -> None:
    assert choose_device() == list_devices()[0]
    assert choose_device("") == list_devices()[0]


def test_a_part_of_the_name_or_the_kind_is_enough_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    real = list_devices()[0]
    card = replace(real, name="Fast Card 9", kind="GPU")
    both = replace(real, name="Fast Card 9 Big", kind="GPU")
    chip = replace(real, name="Slow Chip", kind="CPU")
    pretend(monkeypatch, both, card, chip)
    assert choose_device("slow") is chip
    assert choose_device("CPU") is chip
    assert choose_device("fast card 9") is card, "an exact name goes before a part of another"
    assert choose_device("card") is both


def test_a_wrong_name_lists_the_devices_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    real = list_devices()[0]
    pretend(monkeypatch, replace(real, name="Fast Card"), replace(real, name="Slow Chip"))
    with pytest.raises(DeviceError) as caught:
        choose_device("abacus")
    message = str(caught.value)
    assert all(word in message for word in ("abacus", "Fast Card", "Slow Chip"))
    assert_sentences(message)


def test_equal_names_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    real = list_devices()[0].handle

    class Driver:
        name = "Twin"

        def get_devices(self) -> list[cl.Device]:
            return [real, real]

    monkeypatch.setattr(cl, "get_platforms", lambda: [Driver()])
    first, second = list_devices()
    assert (first.name[-3:], second.name[-3:]) == (" #1", " #2")
    assert choose_device("#2") == second


def test_a_platform_without_devices_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "Broken"

        def get_devices(self) -> list[cl.Device]:
            raise cl.RuntimeError("DEVICE_NOT_FOUND")

    working = cl.get_platforms()
    monkeypatch.setattr(cl, "get_platforms", lambda: [Broken(), *working])
    assert list_devices()


def refuse() -> list[cl.Platform]:
    raise cl.LogicError("PLATFORM_NOT_FOUND_KHR")


@pytest.mark.parametrize("platforms", [refuse, list], ids=["no driver loader", "no platform"])
@pytest.mark.parametrize(
    ("system", "machine", "remedy"),
    [
        ("Linux", "x86_64", "pip install 'pyopencl[pocl]'"),
        ("Linux", "aarch64", "pocl-opencl-icd"),
        ("Windows", "AMD64", "intel-opencl-rt"),
        ("Darwin", "arm64", "macOS"),
        ("Plan9", "mips", "driver"),
    ],
)
def test_without_a_device_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch, platforms: object, system: str, machine: str, remedy: str
) -> None:
    monkeypatch.setattr(cl, "get_platforms", platforms)
    monkeypatch.setattr(devices.platform, "system", lambda: system)
    monkeypatch.setattr(devices.platform, "machine", lambda: machine)
    assert list_devices() == ()
    with pytest.raises(DeviceError) as caught:
        Sampler(CORPUS, plain_settings(3))
    assert remedy in str(caught.value)
    assert_sentences(str(caught.value))


def test_a_failed_build_speaks_plainly_and_logs_the_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, no_programs: None
) -> None:
    kernels = tmp_path / "kernels"
    shutil.copytree(programs.KERNELS, kernels)
    broken = kernels / "topics.clh"
    broken.write_text(broken.read_text() + "\nint broken(void) { return undeclared_thing; }\n")
    monkeypatch.setattr(programs, "KERNELS", kernels)
    with caplog.at_level(logging.ERROR, "spdp_engine"), pytest.raises(DeviceError) as caught:
        Sampler(CORPUS, plain_settings(3))
    message = str(caught.value)
    assert_sentences(message)
    assert list_devices()[0].name in message
    for words in ("undeclared", "error:", "clBuildProgram", "BUILD_PROGRAM_FAILURE", ".cl"):
        assert words not in message
    assert "undeclared_thing" in caplog.text


def test_missing_kernels_are_a_device_error_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_programs: None
) -> None:
    monkeypatch.setattr(programs, "KERNELS", tmp_path / "nowhere")
    with pytest.raises(DeviceError) as caught:
        Sampler(CORPUS, plain_settings(3))
    assert_sentences(str(caught.value))


def test_a_failed_build_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_programs: None) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "merge_totals.cl").write_text("nonsense")
    device = list_devices()[0]
    with monkeypatch.context() as patch:
        patch.setattr(programs, "KERNELS", kernels)
        with pytest.raises(DeviceError):
            programs.build_program(device, ("merge_totals.cl",), {})
    assert programs.build_program(device, ("merge_totals.cl",), {}).num_kernels == 1


def test_the_same_request_returns_the_same_program() -> None:
    device = list_devices()[0]
    one = programs.build_program(device, ("merge_totals.cl",), {"TOPICS": 8})
    assert programs.build_program(device, ("merge_totals.cl",), {"TOPICS": 8}) is one
    assert programs.build_program(device, ("merge_totals.cl",), {"TOPICS": 16}) is not one


COMPANY = {
    "spdp.clh": ("spdp_identity.clh", "spdp.clh"),
    "tokens.clh": ("lda.clh", "tokens.clh"),
    "repeats.clh": ("lda.clh", "repeats.clh"),
    "blocked.clh": ("lda.clh", "blocked.clh", "blocked_nested.cl"),
}
"""Headers that say that others must stand before or after them; every other stands for itself."""


@pytest.mark.parametrize("path", sorted(programs.KERNELS.glob("*.clh")), ids=lambda path: path.name)
def test_each_header_compiles_alone(path: Path) -> None:
    programs.build_program(list_devices()[0], COMPANY.get(path.name, (path.name,)), {})


@pytest.mark.parametrize("base", sorted(path.name for path in programs.KERNELS.glob("spdp_*.clh")))
def test_every_base_measure_may_stand_before_spdp(base: str) -> None:
    program = programs.build_program(list_devices()[0], (base, "spdp.clh", "sequential.cl"), {})
    assert {kernel.function_name for kernel in program.all_kernels()} == {"sequential", "sequential_first"}


def test_includes_are_expanded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_programs: None) -> None:
    (tmp_path / "value.clh").write_text("constant int value = 3;\n")
    (tmp_path / "one.cl").write_text('#include "value.clh"\nkernel void one(global int *x) { *x = value; }\n')
    (tmp_path / "two.cl").write_text('#include "value.clh"\nkernel void two(global int *x) { *x = value; }\n')
    monkeypatch.setattr(programs, "KERNELS", tmp_path)
    assert programs.build_program(list_devices()[0], ("one.cl", "two.cl"), {}).num_kernels == 2


# ---- memory ---------------------------------------------------------------------------------------------------------


def sampler_on(monkeypatch: pytest.MonkeyPatch, **figures: Any) -> None:
    small = replace(list_devices()[0], name="Small Card", **figures)
    monkeypatch.setattr(sampler, "choose_device", lambda name: small)
    Sampler(CORPUS, plain_settings(10, held_out=0.0))


def test_too_little_memory_is_refused_with_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl, "Buffer", None)  # refused before anything is allocated
    with pytest.raises(DeviceError, match="Small Card") as caught:
        sampler_on(monkeypatch, memory=3 * 2**10)
    message = str(caught.value)
    assert "MB" in message
    assert "30 words" in message
    assert_sentences(message)


def test_the_refusal_speaks_of_the_topics_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of the number they are padded to: "fewer than 16" is no advice to a person who asked for 10."""
    with pytest.raises(DeviceError, match=r"fewer topics than 10\b"):
        sampler_on(monkeypatch, memory=3 * 2**10)


def test_a_buffer_too_large_for_the_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="largest piece"):
        sampler_on(monkeypatch, largest_buffer=2**10)


def test_memory_enough_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler_on(monkeypatch, memory=2**30, largest_buffer=2**28)


RUNS = [
    pytest.param(
        method.model, method.schedule, associations, id=f"{method.model} {method.schedule}{' matrices' * associations}"
    )
    for method in METHODS
    for associations in ((False, True) if method.associations else (False,))
]


@pytest.mark.parametrize(("model", "schedule", "associations"), RUNS)
@pytest.mark.parametrize("tokens", [1_000, 60_000])
def test_memory_is_counted_as_it_is_allocated(
    tokens: int, model: str, schedule: str, associations: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a corpus of few tokens, of which counts take most, and on one where it is the table of how customers sit."""
    allocated: list[int] = []
    real = cl.Buffer

    def counting(*arguments: object, **more: object) -> cl.Buffer:
        buffer = real(*arguments, **more)  # type: ignore[arg-type]
        allocated.append(buffer.size)
        return buffer

    monkeypatch.setattr(cl, "Buffer", counting)
    corpus = random_tokens(tokens, 300, 1_000, 4, seed=52)
    matrices = random_matrices(corpus, 3.0) if associations else None
    settings = plain_settings(20, schedule=schedule, workers=2, held_out=0.0, model=model, associations=matrices)
    Sampler(corpus, settings)
    assert 0.85 * sum(allocated) < memory_for(corpus, settings) < 1.8 * sum(allocated)


def test_topics_are_padded_to_whole_vectors() -> None:
    assert [padded_topics(topics) for topics in (1, 7, 8, 9, 1000, 1001)] == [8, 8, 8, 16, 1000, 1008]
