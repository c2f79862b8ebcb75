"""From kernel sources to programs of a device."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import warnings
from functools import cache
from pathlib import Path

import pyopencl as cl

from spdp_engine.errors import DeviceError
from spdp_engine.sampling.devices import Device

log = logging.getLogger(__name__)

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
OPTIONS = (
    "-cl-std=CL1.2",
    "-cl-fast-relaxed-math",
)

_include = re.compile(r'^\s*#include\s+"([^"]+)"\s*$', re.MULTILINE)
_building = threading.Lock()
_contexts: dict[int, cl.Context] = {}
_programs: dict[tuple[int, tuple[str, ...], tuple[tuple[str, int], ...]], cl.Program] = {}


def context_of(device: Device) -> cl.Context:
    """The one context of a device, shared by every sampler on it, so that a program is built once.

    Raises:
        DeviceError: the driver refuses.
    """
    with _building:
        key = device.handle.int_ptr
        if key not in _contexts:
            try:
                _contexts[key] = cl.Context([device.handle])
            except cl.Error as error:
                log.exception("no OpenCL context on %s", device.name)
                raise DeviceError(
                    f"The OpenCL device “{device.name}” could not be opened ({error}). Choose another device."
                ) from error
        return _contexts[key]


def build_program(device: Device, files: tuple[str, ...], constants: dict[str, int]) -> cl.Program:
    """Builds kernel files, in their order, as one program; the same request returns the same program.

    Args:
        device: where it will run.
        files: names in `kernels/`. A file sees what stands before it.
        constants: preprocessor definitions.

    Raises:
        DeviceError: the build fails. The compiler's words go to the log.
    """
    context = context_of(device)
    key = (device.handle.int_ptr, files, tuple(sorted(constants.items())))
    with _building:
        if key not in _programs:
            seen: set[str] = set()
            try:
                source = "\n".join(_expand(name, seen) for name in files)
            except OSError as error:
                log.error("kernel sources are missing: %s", error)
                raise DeviceError(
                    f"The folder of kernels “{KERNELS}” is incomplete. Get Parallax again, with all its files."
                ) from error
            options = [*OPTIONS, *(f"-D{name}={value}" for name, value in sorted(constants.items()))]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", cl.CompilerWarning)
                    _programs[key] = cl.Program(context, source).build(options)
            except cl.Error as error:
                log.error("building %s with %s on %s failed:\n%s", files, options, device.name, error)
                raise DeviceError(
                    f"The sampler could not be built for the OpenCL device “{device.name}”. Choose another device or "
                    "update its driver; the compiler's messages are in the log."
                ) from error
        return _programs[key]


@cache
def fingerprint() -> str:
    """Twelve characters that change whenever the kernel sources do."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.glob("*.cl*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _expand(name: str, seen: set[str]) -> str:
    """The file's text with each include replaced by that file's text, once: drivers differ in how they find files."""
    if name in seen:
        return ""
    seen.add(name)
    text = (KERNELS / name).read_text(encoding="utf-8")
    return _include.sub(lambda match: _expand(match.group(1), seen), text)
