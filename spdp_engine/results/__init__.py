"""What a run leaves behind, to take away: tables, a workbook, a manifest.

result = Result(corpus, settings, sample, records, training_tokens)
write_folder(result, Path("results"))       # CSV files and manifest.json
data = zip_bytes(result)                    # the same as a zip
data = workbook_bytes(result)               # every table as a sheet of results.xlsx
"""

from spdp_engine.results.files import files, write_folder, zip_bytes
from spdp_engine.results.result import (
    Associations,
    Result,
    averaged_in,
    averaging_began,
    manifest,
    version,
)
from spdp_engine.results.tables import (
    COLUMNS,
    TABLES,
    WORDS_IN_FILE,
    Table,
    differences_table,
    documents_table,
    overview_table,
    own_words_table,
    prevalence_table,
    quality_table,
    read_table,
    settings_table,
    topics_table,
)
from spdp_engine.results.workbook import workbook_bytes

__all__ = [
    "COLUMNS", "TABLES", "WORDS_IN_FILE", "Associations", "Result", "Table", "averaged_in", "averaging_began",
    "differences_table", "documents_table", "files", "manifest", "overview_table", "own_words_table", "prevalence_table",
    "quality_table", "read_table", "settings_table", "topics_table", "version", "workbook_bytes", "write_folder", "zip_bytes",
]  # fmt: skip
