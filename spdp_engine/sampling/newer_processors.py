"""PoCL on processors that are newer than the compiler in it.

The PoCL on PyPI carries LLVM 14. A processor that came later, as AMD's of 2024 on, LLVM 14 calls "generic"; PoCL hands that name to
its compiler, which refuses it: "unknown target CPU 'generic'" (pocl issue 1049). Later releases are not on PyPI. Until they are, a
device is told the name of a processor that LLVM 14 knows and whose instructions this one has, too.
"""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyopencl as cl

log = logging.getLogger(__name__)

UNKNOWN = b"generic"
POCL = "Portable Computing Language"

HASWELL = frozenset(
    ["abm", "aes", "avx2", "bmi1", "bmi2", "f16c", "fma", "fsgsbase", "movbe", "pclmulqdq", "popcnt", "rdrand"]
)
SKYLAKE = HASWELL | frozenset(
    ["adx", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "clflushopt", "rdseed", "xsavec"]
)
KNOWN = ((b"skylake-avx512", SKYLAKE), (b"haswell", HASWELL), (b"x86-64", frozenset[str]()))
"""Processors that LLVM 14 knows, the ablest first, with what Linux calls the instructions that it may use for them."""

POINTER = struct.calcsize("P")
MOST_BYTES = 4096
"""Of what PoCL keeps of a device, the part that is looked through."""

_names = {name: ctypes.create_string_buffer(name) for name, _ in KNOWN}
"""Devices point to these for as long as the process lives."""


def name_processor(handle: cl.Device) -> bool:
    """Tells a PoCL device of an unknown processor the name of one that its compiler knows; leaves every other device alone.

    Args:
        handle: the device.

    Returns:
        Whether the device has been given a name now.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    if handle.platform.name.strip() != POCL or not handle.version.encode().endswith(b"-" + UNKNOWN):
        return False
    place = place_of_name(handle.int_ptr)
    if place is None:
        return False
    name = name_for(instructions(Path("/proc/cpuinfo").read_text()))
    ctypes.c_void_p.from_address(place).value = ctypes.addressof(_names[name])
    log.info("PoCL does not know this processor; it takes it for %s", name.decode())
    return True


def instructions(told: str) -> frozenset[str]:
    """The instructions of the first processor.

    Args:
        told: the text of /proc/cpuinfo.
    """
    flags = next((line for line in told.splitlines() if line.startswith("flags")), "")
    return frozenset(flags.partition(":")[2].split())


def name_for(instructions: frozenset[str]) -> bytes:
    """Of the processors that LLVM 14 knows, the ablest whose instructions are all there."""
    return next(name for name, needed in KNOWN if needed <= instructions)


def place_of_name(device: int) -> int | None:
    """Address of the pointer to the processor's unknown name, which stands behind that to the target's: x86_64-....

    Args:
        device: address of what PoCL keeps of a device.

    Returns:
        None where it is not found, or not once.
    """
    with _memory() as memory:
        block = os.pread(memory, MOST_BYTES, device)
        pointers = [pointer for (pointer,) in struct.iter_unpack("P", block[: len(block) // POINTER * POINTER])]
        found = [
            device + number * POINTER
            for number in range(1, len(pointers))
            if _text(memory, pointers[number]) == UNKNOWN and _text(memory, pointers[number - 1]).startswith(b"x86_64-")
        ]
    return found[0] if len(found) == 1 else None


@contextmanager
def _memory() -> Iterator[int]:
    """This process's memory as a file, whose reading fails where nothing is."""
    descriptor = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _text(memory: int, address: int) -> bytes:
    """The text at an address; empty where nothing is."""
    try:
        return os.pread(memory, 32, address).partition(b"\0")[0]
    except (OSError, OverflowError):
        return b""
