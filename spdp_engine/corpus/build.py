"""`Documents` -> `Corpus`: passages, words, vocabulary, and what became of everything else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.counting import Tokens, count_words
from spdp_engine.corpus.naturalorder import natural_order
from spdp_engine.corpus.passages import cut
from spdp_engine.corpus.stopwords import LANGUAGE_NAMES, guess_language, joined_forms, own_stop_words, stop_words
from spdp_engine.corpus.tokeniser import Tokeniser
from spdp_engine.corpus.types import Corpus, CorpusSettings, Documents, Note, Progress
from spdp_engine.corpus.vocabulary import Vocabulary, choose_vocabulary, with_limits
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError, SettingsError

FEW_DOCUMENTS_IN_A_GROUP = 20
FEW_TOKENS_IN_A_GROUP = 500

_DEFAULT = CorpusSettings()


def build_corpus(documents: Documents, settings: CorpusSettings = _DEFAULT, progress: Progress | None = None) -> Corpus:
    """The words of `documents` as a model takes them.

    Raises `SettingsError` for a setting out of range, and `InputError` when there are fewer than two documents or fewer
    than two words to model.
    """
    _check(settings)
    tell: Progress = progress or (lambda _doing, _done: None)
    notes = list(documents.notes)

    tell("Cutting passages", 0.0)
    settings = replace(settings, passages=_wants_passages(documents, settings))
    texts, origin = _texts(documents, settings, notes)
    if len(texts) < 2:
        raise InputError(
            "There is only one document, so there is nothing to model; bring more documents, or let long ones be cut "
            "into passages."
        )

    tell("Looking at the language", 0.05)
    settings = _with_language(documents, settings, notes)
    tokeniser = make_tokeniser(settings)
    tokens = count_words(texts, tokeniser, lambda done: tell("Counting words", 0.1 + 0.8 * done / len(texts)))

    tell("Choosing the vocabulary", 0.9)
    if settings.pretokenised:
        settings = replace(settings, minimum_documents=1, maximum_share=1.0)
    else:
        settings = with_limits(settings, len(texts))
    vocabulary = choose_vocabulary(tokens, len(texts), settings, set(tokeniser.joined.values()))
    notes.extend(vocabulary.notes)
    corpus = assemble(documents, texts, origin, tokens, vocabulary, settings, tokeniser, notes)
    tell("Done", 1.0)
    return corpus


def make_tokeniser(settings: CorpusSettings) -> Tokeniser:
    """The tokeniser of `settings`, whose language must be resolved (not 'auto').

    In pretokenised text only extra stop words are left out, exactly as they are written.
    """
    joined = joined_forms(settings.joined_words, settings.pretokenised)
    if settings.pretokenised:
        return Tokeniser(frozenset(settings.extra_stop_words), pretokenised=True, joined=joined)
    return Tokeniser(
        stop_words=stop_words(settings.language) | own_stop_words(settings.extra_stop_words),
        minimum_length=settings.minimum_length,
        keep_numbers=settings.keep_numbers,
        joined=joined,
    )


def _check(settings: CorpusSettings) -> None:
    if settings.minimum_documents is not None and settings.minimum_documents < 1:
        raise SettingsError("The minimum number of documents of a word must be 1 or more.")
    if not 0 < settings.maximum_share <= 1:
        raise SettingsError(
            "The maximum share of documents of a word must be more than 0 and at most 1 (that is 100%)."
        )
    if settings.minimum_length < 1:
        raise SettingsError("The minimum length of a word must be 1 or more.")
    if settings.passage_words < 10:
        raise SettingsError("A passage must have 10 words or more.")
    if settings.language != "auto":
        stop_words(settings.language)


def _wants_passages(documents: Documents, settings: CorpusSettings) -> bool:
    if settings.passages is not None:
        return settings.passages
    return min(Counter(documents.groups).values(), default=0) < FEW_DOCUMENTS_IN_A_GROUP


def _texts(
    documents: Documents, settings: CorpusSettings, notes: list[Note]
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The texts to model and [D] the document each came from."""
    if not settings.passages:
        return documents.texts, np.arange(len(documents), dtype=np.int32)
    passages = [cut(text, settings.passage_words) for text in documents.texts]
    counts = np.array([len(parts) for parts in passages], dtype=np.int64)
    long = int((counts > 1).sum())
    if long:
        made = int(counts[counts > 1].sum())
        notes.append(
            Note(
                "passages",
                f"{counted(long, 'long document')} {was(long)} cut into {made:,} passages of about "
                f"{settings.passage_words} words.",
                made,
            )
        )
    texts = tuple(part for parts in passages for part in parts)
    return texts, np.repeat(np.arange(len(passages), dtype=np.int32), counts)


def _with_language(documents: Documents, settings: CorpusSettings, notes: list[Note]) -> CorpusSettings:
    if settings.pretokenised:
        return replace(settings, language="none")
    if settings.language != "auto":
        return settings
    language = guess_language(documents.texts)
    notes.append(
        Note(
            "language",
            f"The language was taken to be {LANGUAGE_NAMES.get(language, f'“{language}”')}; its everyday words were left out.",
        )
        if language != "none"
        else Note("language", "The language could not be told by its stop words, so no stop words were left out.")
    )
    return replace(settings, language=language)


def assemble(
    documents: Documents,
    texts: tuple[str, ...],
    origin: NDArray[np.int32],
    tokens: Tokens,
    vocabulary: Vocabulary,
    settings: CorpusSettings,
    tokeniser: Tokeniser,
    notes: list[Note],
) -> Corpus:
    """The corpus of tokens that are counted, and the notes on what there is and what was left out.

    Args:
        documents: of which the texts are.
        texts: those that were counted: the documents' or passages of them.
        origin: int32 [texts], the document each text came from.
        tokens: all words of all texts.
        vocabulary: those of them that are kept.
        settings: with 'auto' and None replaced.
        tokeniser: of the settings.
        notes: what there was to tell until now.

    Raises:
        InputError: fewer than two documents have words that are kept.
    """
    word = vocabulary.number[tokens.word]
    kept = word >= 0
    word, document = word[kept], tokens.document[kept]

    # Documents that have no word of the vocabulary are taken out, and the others move up.
    full = np.zeros(len(texts), dtype=bool)
    full[document] = True
    rows = np.flatnonzero(full)
    if len(rows) < 2:
        raise InputError(
            "Only one document has words that are left after stop words and rare words; lower the minimum number of "
            "documents, choose fewer stop words, or bring more text."
        )
    empty = len(texts) - len(rows)
    if empty:
        thing = "passage" if settings.passages else "document"
        notes.append(
            Note("empty", f"{counted(empty, thing)} had no word of the vocabulary and {was(empty)} left out.", empty)
        )
    document = (np.cumsum(full, dtype=np.int32) - 1)[document]
    origin = origin[rows]

    names = tuple(natural_order({documents.groups[index] for index in origin.tolist()}))
    number = {name: index for index, name in enumerate(names)}
    group = np.array([number[documents.groups[index]] for index in origin.tolist()], dtype=np.int32)
    lost = [name for name in dict.fromkeys(documents.groups) if name not in number]
    if lost:
        left = "it is" if len(lost) == 1 else "they are"
        text = f"No words are left in any document of {listed(lost)}, so {left} left out."
        notes.append(Note("warning", text, len(lost)))
    notes.extend(_report(word, document, group, names, vocabulary, settings))
    return Corpus(
        vocabulary=vocabulary.words,
        token_word=word,
        token_document=document,
        document_group=group,
        group_names=names,
        documents=_rows(documents, texts, rows, origin, tuple(notes)),
        origin=origin,
        settings=settings,
        notes=tuple(notes),
        tokeniser=tokeniser,
    )


def _rows(
    documents: Documents,
    texts: tuple[str, ...],
    rows: NDArray[np.int64],
    origin: NDArray[np.int32],
    notes: tuple[Note, ...],
) -> Documents:
    """`documents` in the rows that are modelled: row i has text `texts[rows[i]]` and is of document `origin[i]`."""
    of = origin.tolist()
    return replace(
        documents,
        texts=tuple(texts[row] for row in rows.tolist()),
        groups=tuple(documents.groups[index] for index in of),
        titles=tuple(documents.titles[index] for index in of),
        dates=tuple(documents.dates[index] for index in of),
        fields=documents.fields.iloc[origin].reset_index(drop=True),
        notes=notes,
    )


def _report(
    word: NDArray[np.int32],
    document: NDArray[np.int32],
    group: NDArray[np.int32],
    names: tuple[str, ...],
    vocabulary: Vocabulary,
    settings: CorpusSettings,
) -> list[Note]:
    """What there is to model, and what about it asks for caution."""
    thing = "passages" if settings.passages else "documents"
    notes = [
        Note(
            "built",
            f"{len(group):,} {thing} in {counted(len(names), 'group')}, with {counted(len(word), 'token')} of "
            f"{counted(len(vocabulary.words), 'word')}, are modelled.",
            len(group),
        )
    ]
    if settings.joined_words:
        rows = [" = ".join(row) for row in settings.joined_words]
        notes.append(Note("words", f"Read as one word, the first: {'; '.join(rows)}.", len(rows)))
    if len(names) == 1:
        notes.append(
            Note(
                "group",
                "There is one group, so there is nothing to compare; topics are found all the same. Choose a group "
                "column to compare groups.",
                1,
            )
        )
        return notes
    sizes = np.bincount(group, minlength=len(names))
    tokens = np.bincount(group[document], minlength=len(names))
    notes += _little_known(names, sizes, FEW_DOCUMENTS_IN_A_GROUP, thing)
    notes += _little_known(names, tokens, FEW_TOKENS_IN_A_GROUP, "tokens")
    return notes


def _little_known(names: tuple[str, ...], counts: NDArray[np.int64], enough: int, things: str) -> list[Note]:
    """A warning about the groups that have fewer than `enough` of these things; none where every group has enough."""
    few = [f"{names[i]} ({counts[i]:,})" for i in np.flatnonzero(counts < enough)]
    if not few:
        return []
    has, them = ("has", "it") if len(few) == 1 else ("have", "them")
    text = (
        f"{counted(len(few), 'group')} {has} fewer than {enough} {things}, so what is found about {them} is uncertain"
    )
    return [Note("warning", f"{text}: {listed(few)}.", len(few))]
