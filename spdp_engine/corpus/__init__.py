"""From files to numbers: bytes -> `Collection` -> `Documents` -> `Corpus`.

    collection = read_collection(["liberal.csv", "conservative.csv"])
    documents = make_documents(collection, guess_columns(collection))
    corpus = build_corpus(documents, CorpusSettings(language="en"))

Associations between words, for models that take them, come from a file of their own:

    matrices, notes = match_associations(read_associations("links.csv"), corpus)

Words that are scored and never trained on come from a second file of the same documents:

    scored = match_scored(read_collection(["held.csv"]), "id", collection, corpus)

Where words are looked for when topics are judged: in the corpus itself, or in texts that are brought for it:

    reference = read_reference("wikipedia.jsonl.gz", corpus)

Each step returns a frozen value that carries the notes of all steps before it; each raises `InputError` with a
sentence for the person at the screen when it cannot go on.
"""

from spdp_engine.corpus.associations import AssociationTable, match_associations, read_associations
from spdp_engine.corpus.build import build_corpus
from spdp_engine.corpus.columns import guess_columns
from spdp_engine.corpus.documents import make_documents
from spdp_engine.corpus.generated import corpus_from_arrays
from spdp_engine.corpus.read import read_collection
from spdp_engine.corpus.reference import Reference, own_texts, read_reference
from spdp_engine.corpus.scored import Scored, match_scored
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
    "AssociationTable",
    "Collection",
    "Columns",
    "Corpus",
    "CorpusSettings",
    "Documents",
    "InputFile",
    "Note",
    "Progress",
    "Reference",
    "RowOrigins",
    "Scored",
    "Source",
    "Tokeniser",
    "build_corpus",
    "corpus_from_arrays",
    "guess_columns",
    "make_documents",
    "match_associations",
    "match_scored",
    "own_texts",
    "read_associations",
    "read_collection",
    "read_reference",
]
