"""OpenCL devices: which there are, which to take, and what to say when there is none."""

from __future__ import annotations

import logging
import platform
from dataclasses import dataclass

import pyopencl as cl

from spdp_engine.errors import DeviceError
from spdp_engine.sampling.newer_processors import name_processor

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Device:
    """An OpenCL device.

    Attributes:
        name: the device's name, made unique by its number where several share one.
        platform: name of its driver.
        kind: 'GPU', 'CPU' or 'accelerator'.
        compute_units: cores of a CPU, multiprocessors of a GPU.
        memory: bytes of global memory.
        largest_buffer: bytes one buffer may have.
        handle: the pyopencl device.
    """

    name: str
    platform: str
    kind: str
    compute_units: int
    memory: int
    largest_buffer: int
    handle: cl.Device

    @property
    def default_workers(self) -> int:
        """Workers of the `blocks` schedule: each core of a CPU; several for each multiprocessor of a GPU, to hide latency."""
        return self.compute_units if self.kind == "CPU" else min(256, 8 * self.compute_units)

    @property
    def driver(self) -> str:
        """Name and version of its driver."""
        return f"{self.platform} {self.handle.driver_version}"


def list_devices() -> tuple[Device, ...]:
    """Every OpenCL device of this machine, GPUs first, then the CPU; within a kind those with more compute units first."""
    found: list[Device] = []
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:  # no driver at all
        log.info("no OpenCL platform: %s", error)
        return ()
    for driver in platforms:
        try:
            handles = driver.get_devices()
        except cl.Error as error:
            log.warning("OpenCL platform %s has no usable device: %s", driver.name, error)
            continue
        found += [_describe(handle, driver.name) for handle in handles]
    order = {"GPU": 0, "accelerator": 1, "CPU": 2}
    found.sort(key=lambda device: (order[device.kind], -device.compute_units))
    return _number_equal_names(found)


def choose_device(name: str | None = None) -> Device:
    """The device whose name contains `name`, or the first of `list_devices`.

    Raises:
        DeviceError: there is no device, or none of that name.
    """
    devices = list_devices()
    if not devices:
        raise DeviceError(f"No OpenCL device was found on this machine. {_remedy()}")
    if not name:
        return devices[0]
    wanted = name.casefold()
    exact = [device for device in devices if device.name.casefold() == wanted]
    partial = [device for device in devices if wanted in f"{device.name} {device.kind}".casefold()]
    if not exact and not partial:
        there = "; ".join(device.name for device in devices)
        raise DeviceError(f"There is no OpenCL device called “{name}”. Choose one of these: {there}.")
    return (exact or partial)[0]


def _describe(handle: cl.Device, driver: str) -> Device:
    name_processor(handle)
    if handle.type & cl.device_type.GPU:
        kind = "GPU"
    elif handle.type & cl.device_type.CPU:
        kind = "CPU"
    else:
        kind = "accelerator"
    return Device(
        name=" ".join(handle.name.split()),
        platform=driver.strip(),
        kind=kind,
        compute_units=handle.max_compute_units,
        memory=handle.global_mem_size,
        largest_buffer=handle.max_mem_alloc_size,
        handle=handle,
    )


def _number_equal_names(devices: list[Device]) -> tuple[Device, ...]:
    names = [device.name for device in devices]
    seen: dict[str, int] = {}
    numbered = []
    for device in devices:
        seen[device.name] = seen.get(device.name, 0) + 1
        if names.count(device.name) > 1:
            fields = {**device.__dict__, "name": f"{device.name} #{seen[device.name]}"}
            device = Device(**fields)
        numbered.append(device)
    return tuple(numbered)


def _remedy() -> str:
    """What to install, for the system this runs on."""
    system, machine = platform.system(), platform.machine().lower()
    if system == "Linux" and machine in ("x86_64", "amd64"):
        return "Run “pip install 'pyopencl[pocl]'” in the same environment, which brings a driver for the CPU."
    if system == "Linux":
        return "Install the CPU driver of your distribution, for example “sudo apt install pocl-opencl-icd”."
    if system == "Windows":
        return "Run “pip install intel-opencl-rt” in the same environment, or install your graphics card's driver."
    if system == "Darwin":
        return "macOS brings OpenCL itself; restart the computer, and if that does not help reinstall pyopencl."
    return "Install an OpenCL driver for its processor or graphics card."
