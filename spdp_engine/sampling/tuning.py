"""Choices that depend on the device, made by measuring a few candidates on it once, and remembered.

The shape of work-groups (how many work-items weigh one token's topics, how many tokens a group has) decides how well a device
is used, and no property that drivers tell of says which is best. So a schedule's candidates each sweep over a small made-up
corpus, and the fastest is remembered for this device, driver, kernel sources, method and number of topics: in memory, and in a
file in the user's folder of caches. (The thesis proposed it as future work: 16.1.)
"""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import platformdirs
import pyopencl as cl

from spdp_engine.errors import DeviceError
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.methods import Method, method_named, methods_of, model_named
from spdp_engine.sampling.programs import context_of, fingerprint
from spdp_engine.sampling.state import padded_topics
from spdp_engine.types import Tokens

log = logging.getLogger(__name__)

TOKENS, DOCUMENTS, WORDS = 20_000, 200, 1_000
"""Size of the corpus that candidates are measured on."""

SWEEPS = 3
"""Sweeps of each candidate; the fastest counts."""

_choosing = threading.RLock()
_remembered: dict[str, str] = {}


def best_shape(method: Method, device: Device, topics: int) -> Mapping[str, int]:
    """The fastest of a method's shapes on this device; {} where it has none to choose from."""
    shapes = method.runner.shapes_for(device, topics)
    if len(shapes) < 2:
        return shapes[0] if shapes else {}
    names = [" ".join(f"{name}={value}" for name, value in shape.items()) for shape in shapes]
    chosen = _fastest(
        f"shape of {method.model} {method.schedule}", device, topics, names,
        lambda name: _seconds(method, device, topics, shapes[names.index(name)]),
    )  # fmt: skip
    return shapes[names.index(chosen)]


def default_schedule(model: str, device: Device, topics: int, repeats: bool | None = None) -> str:
    """The schedule of a run that names none: on a CPU the model's first, elsewhere the fastest of those that may be a default.

    Args:
        model: its name.
        device: where it will run.
        topics: K.
        repeats: whether documents are to repeat words, which not every schedule can have; None: where the model's first has them.
    """
    wanted = methods_of(model)[0].repeats if repeats is None else repeats
    methods = [method for method in methods_of(model) if method.default and (method.runner.takes_repeats or not wanted)]
    if device.kind == "CPU" or len(methods) == 1:
        return methods[0].schedule
    return _fastest(
        f"schedule of {model}", device, topics, [method.schedule for method in methods],
        lambda name: _seconds(
            method_named(model, name), device, topics, best_shape(method_named(model, name), device, topics)
        ),
    )  # fmt: skip


def _fastest(
    question: str, device: Device, topics: int, candidates: Sequence[str], measure: Callable[[str], float]
) -> str:
    """The candidate with the least `measure`, from memory where it was measured before. A candidate that fails is out.

    Raises:
        DeviceError: all of them fail.
    """
    key = f"{question}, {padded_topics(topics)} topics, {device.name}, {device.driver}, {fingerprint()}"
    with _choosing:
        known = _remembered.get(key) or _read().get(key)
        if known in candidates:
            return str(known)
        seconds = {name: measure(name) for name in candidates}
        best = min(candidates, key=seconds.__getitem__)
        if math.isinf(seconds[best]):
            raise DeviceError(
                f"The device “{device.name}” could not run the sampler in any of the ways there are to (the log says why). "
                "Choose another schedule or another device."
            )
        log.info("%s: %s; measured %s", key, best, seconds)
        _remembered[key] = best
        _write(key, best)
        return best


def _seconds(method: Method, device: Device, topics: int, shape: Mapping[str, int]) -> float:
    """Time of a sweep; infinite where the device cannot do it."""
    try:
        queue = cl.CommandQueue(context_of(device))
        corpus = _made_up()
        workers = method.runner.workers(None, device)
        state = method.state(device, queue, corpus, topics, model_named(method.model).priors(), workers)
        schedule = method.runner(state, corpus, 1, None, shape)
        schedule.first()
        schedule.sweep(1)
        queue.finish()
        times = []
        for sweep in range(SWEEPS):
            begin = time.perf_counter()
            schedule.sweep(2 + sweep)
            queue.finish()
            times.append(time.perf_counter() - begin)
        return min(times)
    except Exception:
        log.info("%s with %s does not run on %s", method.schedule, shape, device.name, exc_info=True)
        return float("inf")


@cache
def _made_up() -> Tokens:
    """A corpus of common and rare words in two groups."""
    rng = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, WORDS + 1)
    word = rng.choice(WORDS, TOKENS, p=frequency / frequency.sum()).astype(np.int32)
    document = np.sort(rng.integers(0, DOCUMENTS, TOKENS)).astype(np.int32)
    return Tokens(word, document, (np.arange(DOCUMENTS) % 2).astype(np.int32), WORDS, 2)


def memory_file() -> Path:
    """Where choices are remembered from one process to the next."""
    return Path(platformdirs.user_cache_dir("parallax")) / "tuning.json"


def _read() -> dict[str, str]:
    """What is remembered; nothing where the file is not there or cannot be read."""
    try:
        found = json.loads(memory_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(key: str, choice: str) -> None:
    """Adds a choice to the file, and lets go of those of other kernel sources. One that cannot be written is measured again."""
    path = memory_file()
    kept = {known: one for known, one in _read().items() if known.endswith(fingerprint())}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
            json.dump({**kept, key: choice}, file, indent=1)
        os.replace(file.name, path)  # noqa: PTH105
    except OSError:
        log.info("a choice could not be remembered in %s", path, exc_info=True)
