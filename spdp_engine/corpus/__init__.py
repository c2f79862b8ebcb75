"""From files to numbers: bytes -> `Collection` -> `Documents` -> `Corpus`.

    collection = read_collection(["liberal.csv", "conservative.csv"])
    documents = make_documents(collection, guess_columns(collection))
    corpus = build_corpus(documents, CorpusSettings(language="en"))

Each step returns a frozen value that carries the notes of all steps before it; each raises `InputError` with a
sentence for the person at the screen when it cannot go on.
"""

from spdp_engine.corpus.build import build_corpus
from spdp_engine.corpus.columns import guess_columns
from spdp_engine.corpus.documents import make_documents
from spdp_engine.corpus.generated import corpus_from_arrays
from spdp_engine.corpus.read import read_collection
from spdp_engine.corpus.stopwords import LANGUAGE_NAMES
from spdp_engine.corpus.tokeniser import Tokeniser
from spdp_engine.corpus.types import (
    Collection,
    Columns,
    Corpus,
    CorpusSettings,
    Documents,
    InputFile,
    Note,
    Progress,
    RowOrigins,
    Source,
)

__all__ = [
    "LANGUAGE_NAMES",
    "Collection",
    "Columns",
    "Corpus",
    "CorpusSettings",
    "Documents",
    "InputFile",
    "Note",
    "Progress",
    "RowOrigins",
    "Source",
    "Tokeniser",
    "build_corpus",
    "corpus_from_arrays",
    "guess_columns",
    "make_documents",
    "read_collection",
]
