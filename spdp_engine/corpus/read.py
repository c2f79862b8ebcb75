"""Being written."""
from collections.abc import Sequence
from pathlib import Path

from spdp_engine.corpus.types import Collection, InputFile, Progress


def read_collection(inputs: Sequence[str | Path | InputFile], progress: Progress | None = None) -> Collection:
    """Read."""
    raise NotImplementedError
