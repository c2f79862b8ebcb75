"""The walls of the house: who may import whom. Read from the source, so that an import inside a function counts too."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from sample_data import SAMPLES

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "spdp_engine"
OUTER = {"app", "pages", "benchmarks", "sample_data", "tests"}

ROOMS = {
    "models": {"models", "errors", "types"},
    "measures": {"measures", "errors", "types"},
    "sampling": {"sampling", "models", "measures", "errors", "types"},
    "corpus": {"corpus", "models", "errors", "types"},
    "topics": {"topics", "measures", "corpus", "errors", "types"},
    "types": set(),
    "errors": set(),
}
"""What each room of the engine may import of the engine; the others (jobs, results, ...) stand above these."""


def imported(source: str, package: str = "") -> Iterator[str]:
    """Full names of all that a source imports; `from a import b` gives both a and a.b, since b may be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def sources(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in (folder.rglob("*.py") if folder.is_dir() else [folder]))


def imports_of(path: Path) -> set[str]:
    return set(imported(path.read_text(encoding="utf-8"), ".".join(path.relative_to(ROOT).parent.parts)))


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports_of(path)}


def room_of(path: Path) -> str:
    return path.relative_to(ENGINE).parts[0].removesuffix(".py")


def rooms_used(path: Path) -> set[str]:
    """Rooms of the engine that a file imports from."""
    there = {room_of(one) for one in sources(ENGINE)}
    names = (name.split(".") for name in imports_of(path))
    return {name[1] for name in names if name[0] == "spdp_engine" and len(name) > 1} & there


def who_imports(package: str) -> set[str]:
    """Places of the repository, by their first folder or file (of the engine: its room), that import the package."""
    places = set()
    for path in sources(ENGINE, *(ROOT / name for name in ("app.py", "pages", "benchmarks", "sample_data"))):
        if package in tops(path):
            relative = path.relative_to(ROOT)
            places.add("/".join(relative.parts[:2]) if relative.parts[0] == "spdp_engine" else relative.parts[0])
    return places


def test_the_reader_of_imports_sees_every_kind() -> None:
    source = (
        "import a.b\nfrom c import d\nfrom . import e\nfrom ..f import g\n"
        "def late():\n    import h\n    from c.i import j as k\n"
    )
    assert set(imported(source, "top.room")) == {
        "a.b", "c", "c.d", "top.room", "top.room.e", "top.f", "top.f.g", "h", "c.i", "c.i.j",
    }  # fmt: skip


def test_the_screen_is_seen_from_the_pages_alone() -> None:
    assert who_imports("streamlit") <= {"app.py", "pages"}


def test_the_device_is_touched_by_sampling_alone() -> None:
    assert who_imports("pyopencl") <= {"spdp_engine/sampling", "benchmarks"}


@pytest.mark.parametrize("path", sources(ENGINE), ids=lambda path: str(path.relative_to(ENGINE)))
def test_the_engine_knows_nothing_of_what_is_built_on_it(path: Path) -> None:
    assert not tops(path) & OUTER


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    for path in sources(ENGINE):
        if room_of(path) == room:
            above = rooms_used(path) - ROOMS[room]
            assert not above, f"{path.relative_to(ROOT)} imports {', '.join(sorted(above))}"


def test_no_circle_among_the_rooms() -> None:
    graph: dict[str, set[str]] = {}
    for path in sources(ENGINE):
        if path.name != "__main__.py":
            graph.setdefault(room_of(path), set()).update(rooms_used(path) - {room_of(path)})
    order = list(TopologicalSorter(graph).static_order())  # CycleError where there is one
    assert order.index("types") < order.index("sampling") < order.index("jobs")


def test_pages_never_touch_a_state() -> None:
    """Pages see samples that jobs publish. A sampler or its state in a page would be used by two threads."""
    forbidden = {
        "Sampler",
        "State",
        "SpdpState",
        "SpdpHybridState",
        "LdaState",
        "SpdpSample",
        "LdaSample",
        "Counts",
        "LdaCounts",
    }
    for path in sources(ROOT / "app.py", ROOT / "pages"):
        names = {name.rsplit(".", 1)[-1] for name in imports_of(path) if name.startswith("spdp_engine")}
        assert not names & forbidden, path.name


@pytest.mark.parametrize("room", ["models", "measures", "sampling"])
def test_numbers_have_no_group_names(room: str) -> None:
    """Models, measures and samplers see groups as numbers."""
    for path in sources(ENGINE / room):
        names = {node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)}
        assert not names & {"group_names", "vocabulary", "titles", "texts"}, path.name


def test_kernels_have_no_names_of_groups() -> None:
    """A kernel knows numbers. Text in one, other than the names of files it includes, would be a name of something."""
    kernels = sorted((ROOT / "kernels").iterdir())
    assert kernels
    groups = [name for sample in SAMPLES for name in groups_of(sample.path, sample.group)]
    for path in kernels:
        source = path.read_text(encoding="utf-8")
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)
        assert not re.findall(r'"[^"]*"', re.sub(r'#\s*include\s+"[^"]*"', "", code)), path.name
        for name in (*groups, "Conservative", "Liberal", "DailyKos", "RedState"):
            assert name.casefold() not in source.casefold(), f"{path.name} speaks of {name}"


def groups_of(table: Path, column: str) -> set[str]:
    import csv

    with table.open(encoding="utf-8-sig", newline="") as file:
        return {row[column] for row in csv.DictReader(file)}


def test_importing_the_engine_brings_no_screen() -> None:
    """What the walls promise, seen from the other side: a batch job needs no streamlit."""
    import subprocess

    code = "import sys, spdp_engine.jobs, spdp_engine.results; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
