"""One split of a corpus for every tool: the words that are trained on, and those that are scored."""

from __future__ import annotations

import hashlib
import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.data import NamedCorpus, load_corpus
from spdp_engine.corpus import Corpus
from spdp_engine.sampling.held_out import choose_held_out

HELD_OUT = 0.1
"""Share of the documents of which half the tokens are scored."""

ONE_GROUP = "All documents"

CORPORA = {
    "poliblog5k": False,
    "bitterlemons": False,
    "conventions2012": True,
    "sotu_1945on_chunks": True,
    "un_general_debate_2017": True,
    "product_reviews": True,
}
"""The corpora by their folder in `PARALLAX_DATA`, and whether they are prose."""


@dataclass(frozen=True)
class Document:
    """A document, or what is scored of it."""

    id: str
    group: str
    words: tuple[str, ...] = field(repr=False)

    @property
    def text(self) -> str:
        """The words with blanks between."""
        return " ".join(self.words)


@dataclass(frozen=True, eq=False)
class Split:
    """Training documents, and the held-out words of some of them. Every held-out word is somewhere in the training words.

    Attributes:
        corpus: name of the corpus.
        training: no two of a group with the same text, since readers of files take such for one document given twice.
        held_out: documents with the ids of training ones.
        repeated: documents that were left out, because their training words are those of an earlier one of their group.
        unseen: held-out tokens that were left out, because their word is nowhere in training.
    """

    corpus: str
    training: tuple[Document, ...] = field(repr=False)
    held_out: tuple[Document, ...] = field(repr=False)
    repeated: int
    unseen: int

    @property
    def columns(self) -> dict[str, object]:
        """Name and sizes, as columns of a table; `split` changes with any word."""
        return {
            "corpus": self.corpus,
            "documents": len(self.training),
            "groups": len({document.group for document in self.training}),
            "words": len(self.vocabulary()),
            "training_tokens": sum(len(document.words) for document in self.training),
            "scored_documents": len(self.held_out),
            "scored_tokens": sum(len(document.words) for document in self.held_out),
            "repeated": self.repeated,
            "unseen": self.unseen,
            "split": self.fingerprint(),
        }

    def vocabulary(self) -> set[str]:
        """The different training words."""
        return {word for document in self.training for word in document.words}

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change with any word of either part."""
        digest = hashlib.sha256()
        for part in (self.training, self.held_out):
            for line in _lines(part):
                digest.update(line.encode())
            digest.update(b"\n")
        return digest.hexdigest()[:12]

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Writes both parts as JSON Lines with id, group and text; returns the paths of training and held-out words."""
        paths = folder / "train.jsonl", folder / "held.jsonl"
        for path, part in zip(paths, (self.training, self.held_out), strict=True):
            path.write_text("".join(_lines(part)), encoding="utf-8")
        return paths


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    for one in documents:
        yield json.dumps({"id": one.id, "group": one.group, "text": one.text}, ensure_ascii=False) + "\n"


def load(name: str) -> NamedCorpus:
    """Reads one of `CORPORA`, with passages and vocabulary as Parallax chooses them.

    Raises:
        InputError: it is not there.
    """
    return load_corpus(Namespace(corpus=name, raw_text=CORPORA[name]))


def split(named: NamedCorpus, seed: int, one_group: bool = False) -> Split:
    """Holds out half the tokens of a tenth of the documents (or passages), as Parallax itself does with this seed.

    Args:
        named: a corpus with its words and names of groups.
        seed: decides what is held out.
        one_group: whether all documents are put into one group.

    Returns:
        The words of both parts, in the order of the corpus.
    """
    corpus = cast(Corpus, named.arrays)
    held_out = choose_held_out(corpus, HELD_OUT, seed)
    groups = [ONE_GROUP if one_group else corpus.group_names[group] for group in corpus.document_group.tolist()]
    training = _documents(corpus, ~held_out, groups)
    seen: set[tuple[str, str]] = set()
    kept: list[Document] = []
    for document in training:
        key = (document.group, document.text)
        if key not in seen:
            seen.add(key)
            kept.append(document)
    ids = {document.id for document in kept}
    vocabulary = {word for document in kept for word in document.words}
    scored = [document for document in _documents(corpus, held_out, groups) if document.id in ids]
    known = [Document(one.id, one.group, tuple(word for word in one.words if word in vocabulary)) for one in scored]
    return Split(
        corpus=named.name,
        training=tuple(kept),
        held_out=tuple(document for document in known if document.words),
        repeated=len(training) - len(kept),
        unseen=sum(len(document.words) for document in scored) - sum(len(document.words) for document in known),
    )


def _documents(corpus: Corpus, which: np.ndarray, groups: Sequence[str]) -> list[Document]:
    """The documents that have tokens among `which`, bool [N], with those alone."""
    words, documents = corpus.token_word[which].tolist(), corpus.token_document[which]
    bounds = np.searchsorted(documents, np.arange(corpus.n_documents + 1)).tolist()
    return [
        Document(str(number + 1), groups[number], tuple(corpus.vocabulary[word] for word in words[start:end]))
        for number, (start, end) in enumerate(pairwise(bounds))
        if end > start
    ]
