"""The corpora that are measured on. None is part of the project; a generated one stands in where none is needed."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spdp_engine.corpus import (
    CorpusSettings,
    build_corpus,
    corpus_from_arrays,
    guess_columns,
    make_documents,
    read_collection,
)
from spdp_engine.errors import InputError
from spdp_engine.types import TokenArrays

VARIABLE = "PARALLAX_DATA"
DEFAULT = "poliblog5k"


@dataclass(frozen=True, eq=False)
class NamedCorpus:
    """A corpus and what results call it."""

    name: str
    arrays: TokenArrays

    @property
    def sizes(self) -> dict[str, object]:
        """Name and sizes, as columns of a table."""
        arrays = self.arrays
        return {
            "corpus": self.name,
            "tokens": len(arrays.token_word),
            "documents": len(arrays.document_group),
            "words": arrays.n_words,
            "groups": arrays.n_groups,
        }

    def __str__(self) -> str:
        size = self.sizes
        return (
            f"{self.name}: {size['tokens']:,} tokens, {size['documents']:,} documents in {size['groups']} groups, "
            f"{size['words']:,} words"
        )


def add_corpus_arguments(parser: ArgumentParser) -> None:
    """Adds the options by which a command finds its corpus."""
    parser.add_argument(
        "--corpus", metavar="PATH",
        help=f"a file or folder of documents with their groups; default: {DEFAULT} in the folder that {VARIABLE} names",
    )  # fmt: skip
    parser.add_argument("--raw-text", action="store_true", help="the texts are prose, not words already cut and chosen")


def load_corpus(arguments: Namespace) -> NamedCorpus:
    """Reads the corpus that the options of `add_corpus_arguments` ask for.

    Raises:
        InputError: it is not there, or cannot be read.
    """
    path = find_corpus(arguments.corpus)
    collection = read_collection([path])
    documents = make_documents(collection, guess_columns(collection))
    corpus = build_corpus(documents, CorpusSettings(pretokenised=not arguments.raw_text))
    return NamedCorpus(corpus_name(path), corpus)


def find_corpus(given: str | None) -> Path:
    """The path given, or a corpus of that name (by default `DEFAULT`) in the folder that `PARALLAX_DATA` names.

    Raises:
        InputError: there is none.
    """
    if given and Path(given).exists():
        return Path(given)
    folder = os.environ.get(VARIABLE)
    if not folder:
        missing = (
            f"There is no file or folder “{given}”" if given else "This measurement needs a corpus, and none was named"
        )
        raise InputError(
            f"{missing}. Give the path of one with --corpus, or set the environment variable {VARIABLE} to a folder that "
            f"holds corpora."
        )
    path = Path(folder) / (given or DEFAULT)
    if not path.exists():
        raise InputError(
            f"There is no corpus “{given or DEFAULT}” in the folder “{folder}”, which the environment variable {VARIABLE} names. "
            "Give the path of one with --corpus."
        )
    return path


def corpus_name(path: Path) -> str:
    """What results call a corpus: the file without its endings, or the folder where the file is only called 'documents'."""
    stem = path.name.split(".")[0]
    return path.resolve().parent.name if stem == "documents" else stem


def generated_corpus(
    documents: int = 240, length: int = 60, words: int = 400, groups: int = 2, topics: int = 8
) -> NamedCorpus:
    """A small corpus drawn from the model's own story: topics with a base wording, and each group's wording around it."""
    rng = np.random.default_rng(7)
    base = rng.dirichlet(np.full(words, 0.1), topics)
    wording = np.array([[rng.dirichlet(200 * topic + 1e-3) for topic in base] for _ in range(groups)])
    document_group = np.arange(documents) % groups
    shares = rng.dirichlet(np.full(topics, 0.2), documents)
    token_document = np.repeat(np.arange(documents), length)
    token_topic = np.concatenate([rng.choice(topics, length, p=share) for share in shares])
    cumulative = wording.cumsum(axis=-1)[document_group[token_document], token_topic]
    token_word = (rng.random(len(token_topic))[:, None] > cumulative[:, :-1]).sum(axis=1)
    names = [f"w{word}" for word in range(words)]
    return NamedCorpus("generated", corpus_from_arrays(token_word, token_document, document_group, names))
