"""PoCL on processors that its compiler does not know."""

from __future__ import annotations

import ctypes
import platform
import sys

import pyopencl as cl
import pytest

from spdp_engine.sampling.devices import list_devices
from spdp_engine.sampling.newer_processors import (
    HASWELL,
    KNOWN,
    POCL,
    SKYLAKE,
    instructions,
    name_for,
    name_processor,
    place_of_name,
)

linux_only = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="PoCL of PyPI is there on Linux and x86-64 only"
)

TOLD = """processor\t: 0
model name\t: AMD Ryzen AI 9 HX 370
flags\t\t: fpu sse2 {flags}
bugs\t\t: sysret_ss_attrs

processor\t: 1
flags\t\t: fpu
"""


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (SKYLAKE | {"avx512_vp2intersect"}, b"skylake-avx512"),
        (SKYLAKE - {"avx512bw"}, b"haswell"),
        (HASWELL, b"haswell"),
        (HASWELL - {"fma"}, b"x86-64"),
        (frozenset[str](), b"x86-64"),
    ],
)
def test_the_ablest_known_processor_is_named_whose_instructions_are_there(flags: frozenset[str], name: bytes) -> None:
    assert name_for(instructions(TOLD.format(flags=" ".join(sorted(flags))))) == name
    assert name in dict(KNOWN)


def test_without_a_word_on_instructions_the_plainest_is_named() -> None:
    assert name_for(instructions("")) == b"x86-64"


class Kept(ctypes.Structure):
    """Something like what PoCL keeps of a device."""

    _fields_ = [
        ("number", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("nowhere", ctypes.c_uint64),
        ("target", ctypes.c_char_p),
        ("processor", ctypes.c_char_p),
        ("other_target", ctypes.c_char_p),
        ("other_processor", ctypes.c_char_p),
        ("rest", ctypes.c_uint64 * 512),
    ]


def kept(processor: bytes, other: bytes = b"znver3") -> Kept:
    return Kept(7, b"generic", 2**63 + 5, b"x86_64-unknown-linux-gnu", processor, b"x86_64-pc", other)


@linux_only
def test_the_place_of_an_unknown_name_is_found_among_all_else() -> None:
    one = kept(b"generic")
    address = ctypes.addressof(one)
    assert place_of_name(address) == address + Kept.processor.offset


@linux_only
@pytest.mark.parametrize("one", [kept(b"znver3"), kept(b"generic", b"generic"), kept(b"generic-rv64")])
def test_where_it_is_not_there_once_nothing_is_found(one: Kept) -> None:
    assert place_of_name(ctypes.addressof(one)) is None


@linux_only
def test_a_device_is_named_once_and_then_builds() -> None:
    for device in list_devices():
        if device.platform != POCL:
            continue
        assert not name_processor(device.handle), "it has its name since it was listed"
        context = cl.Context([device.handle])
        cl.Program(context, "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").build()
