"""The files of a run, in a folder or in a zip: each table of `tables.TABLES` as CSV, and manifest.json.

CSV holds names, titles and words exactly as they are, since programs read it and join by them. A spreadsheet takes a cell that
begins with = + - or @ for a formula, whoever wrote it and even in quotes; for spreadsheets there is the workbook, in which text is
text.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from spdp_engine.errors import InputError
from spdp_engine.results.result import Result, manifest
from spdp_engine.results.tables import TABLES


def files(result: Result) -> Mapping[str, bytes]:
    """The files by name."""
    content = {f"{table.name}.csv": _csv(table.make(result)) for table in TABLES if table.in_csv}
    text = json.dumps(manifest(result), ensure_ascii=False, indent=2, default=str, allow_nan=False)
    return {**content, "manifest.json": text.encode("utf-8")}


def write_folder(result: Result, folder: Path) -> tuple[str, ...]:
    """Writes the files into a folder, which is made if need be, and returns their names.

    Raises:
        InputError: the folder cannot be written.
    """
    content = files(result)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in content.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise InputError(
            f"The results could not be written to “{folder}”: {error.strerror}. Choose another folder."
        ) from error
    return tuple(content)


def zip_bytes(result: Result) -> bytes:
    """The files as a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files(result).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _csv(table: pd.DataFrame) -> bytes:
    """UTF-8 with a byte order mark: spreadsheets otherwise guess the encoding, and guess wrong."""
    return table.to_csv(index=False, float_format="%.8g", lineterminator="\n").encode("utf-8-sig")
