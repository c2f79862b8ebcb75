"""Pieces of OpenCL on the first device, and buffers of a run."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.sampling import programs
from spdp_engine.sampling.devices import list_devices
from spdp_engine.sampling.sampler import Sampler


def evaluate(header: str, expression: str, size: int, **values: Any) -> NDArray[np.float32]:
    """The value of an expression for x = 0 .. size - 1 after a header of `kernels/`: float32 [size].

    Args:
        header: the file's name.
        expression: in OpenCL C, of x and of names in `values`.
        size: how many.
        values: arrays of float32 [size], of which each work-item sees its own element.
    """
    queue = cl.CommandQueue(programs.context_of(list_devices()[0]))
    flags = cl.mem_flags
    arrays = [
        cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(array, np.float32))
        for array in values.values()
    ]
    result = np.empty(size, np.float32)
    there = cl.Buffer(queue.context, flags.WRITE_ONLY, result.nbytes)
    cl.Kernel(_program(header, expression, tuple(values)), "evaluate")(queue, (size,), None, there, *arrays)
    cl.enqueue_copy(queue, result, there)
    return result


@cache
def _program(header: str, expression: str, names: tuple[str, ...]) -> cl.Program:
    arguments = "".join(f", __global const float *restrict {name}_of" for name in names)
    own = "".join(f"const float {name} = {name}_of[x];\n" for name in names)
    source = (
        f"{programs._expand(header, set())}\n__kernel void evaluate(__global float *restrict result{arguments})\n"
        f"{{ const uint x = get_global_id(0);\n{own}result[x] = {expression}; }}\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return cl.Program(programs.context_of(list_devices()[0]), source).build(list(programs.OPTIONS))


def read(sampler: Sampler, buffer: cl.Buffer, kind: type[np.generic], *shape: int) -> NDArray[Any]:
    """The beginning of a buffer of a run, as an array."""
    array = np.empty(shape, kind)
    cl.enqueue_copy(sampler._queue, array, buffer)
    return array


def write(sampler: Sampler, buffer: cl.Buffer, array: NDArray[Any]) -> None:
    """Copies an array to the beginning of a buffer of a run."""
    cl.enqueue_copy(sampler._queue, buffer, np.ascontiguousarray(array))
