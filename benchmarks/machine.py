"""What a figure was measured on: without it a figure says nothing."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from spdp_engine.sampling.devices import choose_device
from spdp_engine.sampling.programs import KERNELS

ENGINE = KERNELS.parent / "spdp_engine"


@dataclass(frozen=True)
class Machine:
    """The machine, the software and the hour of a run.

    Attributes:
        date: day of the run, in UTC.
        processor: model name of the processor.
        cores: cores this process may use.
        load: processes that wanted a core in the minute before the run; much above 0, and other work disturbed it.
        device: the OpenCL device.
        compute_units: how many the device has.
        driver: the OpenCL platform and its version.
        software: operating system and versions.
        engine: a fingerprint of kernels and sampler sources; figures of different engines do not mix.
    """

    date: str
    processor: str
    cores: int
    load: str
    device: str
    compute_units: int
    driver: str
    software: str
    engine: str

    def columns(self) -> dict[str, object]:
        """As columns of a table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """As a Markdown list."""
        return [
            f"- Date: {self.date}",
            f"- Processor: {self.processor}, {self.cores} cores (load before the run: {self.load})",
            f"- OpenCL device: {self.device}, {self.compute_units} compute units; {self.driver}",
            f"- Software: {self.software}; engine sources {self.engine}",
        ]


def describe_machine(device: str | None = None) -> Machine:
    """Describes this machine with the OpenCL device of that name, or the engine's choice."""
    chosen = choose_device(device)
    return Machine(
        date=datetime.now(UTC).date().isoformat(),
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        load=f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        device=chosen.name,
        compute_units=chosen.compute_units,
        driver=" ".join(f"{chosen.platform}, {chosen.handle.platform.version}".split()),
        software=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {version('numpy')}, pyopencl {version('pyopencl')}",
        engine=_fingerprint(),
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def _fingerprint() -> str:
    """Twelve hexadecimal digits that change with any source which decides what is sampled, or how fast."""
    files = [*KERNELS.glob("*.cl*"), *(ENGINE / "sampling").rglob("*.py"), *(ENGINE / "models").glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
