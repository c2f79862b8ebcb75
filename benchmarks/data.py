"""The corpora that are measured on. None is part of the project; a generated one stands in where none is needed."""

from __future__ import annotations

import csv
import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.report import counted
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
            f"{self.name}: {size['tokens']:,} tokens, {size['documents']:,} documents in {counted(self.arrays.n_groups, 'group')}, "
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


def read_bag_of_words(folder: Path) -> NamedCorpus:
    """Reads a corpus in the format of the UCI repository's "Bag of Words" data set, as one group.

    The folder holds `docword.NAME.txt` and `vocab.NAME.txt`, either of them packed with gzip or not. The first has D, W and the
    number of its entries on three lines, then an entry a line: document, word (both from 1) and how often. The second has a word
    a line. A document's tokens come in the order of its entries, those of an entry one after another.

    Raises:
        InputError: a file is missing, or the two do not fit together.
    """
    docword, vocab = _only_file(folder, "docword"), _only_file(folder, "vocab")
    try:
        sizes = pd.read_csv(docword, header=None, nrows=3)[0].astype(np.int64)
        entries = pd.read_csv(
            docword, sep=" ", header=None, skiprows=3, names=["document", "word", "count"], dtype=np.int32
        )
        words = pd.read_csv(
            vocab, sep="\t", header=None, names=["word"], dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE
        )["word"]
    except ValueError as error:  # pandas' own errors of reading are ValueErrors too
        raise InputError(f"The files of “{folder}” are not in UCI's bag-of-words format: {error}.") from error
    documents, n_words, length = sizes.tolist()
    if len(words) != n_words or len(entries) != length:
        raise InputError(
            f"“{docword.name}” announces {n_words:,} words and {length:,} entries, but there are {len(words):,} words in "
            f"“{vocab.name}” and {len(entries):,} entries."
        )
    if entries.min().min() < 1 or (entries[["document", "word"]].max() > [documents, n_words]).any():
        raise InputError(
            f"“{docword.name}” has entries that are not a document of 1 to {documents:,}, a word of 1 to {n_words:,}, and a "
            "count of 1 or more."
        )
    entries = entries.sort_values("document", kind="stable")
    token_word, token_document = (np.repeat(entries[name] - 1, entries["count"]) for name in ("word", "document"))
    corpus = corpus_from_arrays(
        token_word, token_document, np.zeros(documents, np.int32), words.tolist(), [folder.name]
    )
    return NamedCorpus(folder.name, corpus)


def _only_file(folder: Path, kind: str) -> Path:
    """The file that is called `KIND.NAME.txt` or `KIND.NAME.txt.gz`."""
    found = sorted([*folder.glob(f"{kind}.*.txt"), *folder.glob(f"{kind}.*.txt.gz")])
    if len(found) != 1:
        raise InputError(
            f"The folder “{folder}” must hold one file {kind}.NAME.txt, packed with gzip (.gz) or not; it holds {len(found)}."
        )
    return found[0]


def find_bag_of_words(given: str | None, name: str) -> Path | None:
    """The folder given, or that of `name` in the folder that `PARALLAX_DATA` names; None where none is given and none is there.

    Raises:
        InputError: the folder given does not exist.
    """
    if given:
        if not Path(given).is_dir():
            raise InputError(
                f"There is no folder “{given}”. Give one that holds a corpus in UCI's bag-of-words format."
            )
        return Path(given)
    folder = Path(os.environ.get(VARIABLE, "")) / name
    return folder if os.environ.get(VARIABLE) and folder.is_dir() else None


def bars(side: int = 5) -> NDArray[np.float64]:
    """Topics whose words are the pixels of a square grid, each even over one row or one column: float64 [2 side, side^2].

    After Griffiths and Steyvers, "Finding scientific topics", PNAS 2004.
    """
    row, column = np.divmod(np.arange(side**2), side)
    lines = np.arange(side)[:, None]
    return np.concatenate([lines == row, lines == column]) / side


def bars_corpus(topics: NDArray[np.float64], documents: int, length: int, alpha: float, seed: int = 7) -> NamedCorpus:
    """Documents of `length` words drawn from LDA with the given topics [K, V] and Dirichlet(`alpha`) shares of topics."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(topics), alpha), documents)
    counts = rng.multinomial(length, shares @ topics)
    token_document = np.repeat(np.arange(documents), length)
    token_word = np.concatenate([np.repeat(np.arange(topics.shape[1]), row) for row in counts])
    names = [f"pixel {word}" for word in range(topics.shape[1])]
    return NamedCorpus("bars", corpus_from_arrays(token_word, token_document, np.zeros(documents, np.int32), names))


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
