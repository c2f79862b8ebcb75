"""`Documents` -> `Corpus`: passages, words, vocabulary, and what became of everything else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.counting import Tokens, count_words
from spdp_engine.corpus.naturalorder import natural_order
from spdp_engine.corpus.originals import originals_of
from spdp_engine.corpus.passages import cut
from spdp_engine.corpus.stopwords import LANGUAGE_NAMES, guess_language, joined_forms, own_stop_words, stop_words
from spdp_engine.corpus.tokeniser import Tokeniser
from spdp_engine.corpus.types import Corpus, CorpusSettings, Documents, Note, Progress, things_of
from spdp_engine.corpus.vocabulary import Vocabulary, choose_vocabulary, with_limits
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError, SettingsError

FEW_DOCUMENTS_IN_A_GROUP = 20
FEW_TOKENS_IN_A_GROUP = 500

FEWEST_ORIGINALS = 5
"""Original documents that every group must have for passages of one to be taken together; else each passage stands for itself."""

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
    texts, row = _texts(documents, settings, notes)
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
    origin = originals_of(documents)[row]
    vocabulary = choose_vocabulary(tokens, len(texts), settings, set(tokeniser.joined.values()), things_of(origin))
    notes.extend(vocabulary.notes)
    corpus = assemble(documents, texts, row, origin, tokens, vocabulary, settings, tokeniser, notes)
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
    """The texts to model and int32 [D], the row of the documents each came from."""
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
    row: NDArray[np.int32],
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
        row: int32 [texts], the row of `documents` each text came from.
        origin: int32 [texts], the original document each is of.
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
    kept_texts = np.flatnonzero(full)
    if len(kept_texts) < 2:
        raise InputError(
            "Only one document has words that are left after stop words and rare words; lower the minimum number of "
            "documents, choose fewer stop words, or bring more text."
        )
    empty = len(texts) - len(kept_texts)
    if empty:
        thing = things_of(origin).removesuffix("s")
        notes.append(
            Note("empty", f"{counted(empty, thing)} had no word of the vocabulary and {was(empty)} left out.", empty)
        )
    document = (np.cumsum(full, dtype=np.int32) - 1)[document]
    row, origin = row[kept_texts], origin[kept_texts]

    names = tuple(natural_order({documents.groups[index] for index in row.tolist()}))
    number = {name: index for index, name in enumerate(names)}
    group = np.array([number[documents.groups[index]] for index in row.tolist()], dtype=np.int32)
    lost = [name for name in dict.fromkeys(documents.groups) if name not in number]
    if lost:
        left = "it is" if len(lost) == 1 else "they are"
        text = f"No words are left in any document of {listed(lost)}, so {left} left out."
        notes.append(Note("warning", text, len(lost)))
    corpus = Corpus(
        vocabulary=vocabulary.words,
        token_word=word,
        token_document=document,
        document_group=group,
        group_names=names,
        documents=_rows(documents, [texts[index] for index in kept_texts.tolist()], row),
        origin=origin,
        settings=settings,
        notes=(),
        tokeniser=tokeniser,
    )
    told = (*notes, *_report(corpus))
    return replace(corpus, documents=replace(corpus.documents, notes=told), notes=told)


def _rows(documents: Documents, texts: list[str], row: NDArray[np.int32]) -> Documents:
    """What is modelled of `documents`: `texts`, each of the row with its number, int32 [texts]."""
    of = row.tolist()
    return replace(
        documents,
        texts=tuple(texts),
        groups=tuple(documents.groups[index] for index in of),
        titles=tuple(documents.titles[index] for index in of),
        dates=tuple(documents.dates[index] for index in of),
        fields=documents.fields.iloc[row].reset_index(drop=True),
    )


def _report(corpus: Corpus) -> list[Note]:
    """What there is to model, and what about it asks for caution."""
    names = corpus.group_names
    notes = [
        Note(
            "built",
            f"{corpus.told} in {counted(len(names), 'group')}, with {counted(corpus.n_tokens, 'token')} of "
            f"{counted(corpus.n_words, 'word')}, are modelled.",
            corpus.n_documents,
        )
    ]
    if corpus.settings.joined_words:
        rows = [" = ".join(row) for row in corpus.settings.joined_words]
        notes.append(Note("words", f"Read as one word, the first: {'; '.join(rows)}.", len(rows)))
    if corpus.has_passages:
        apart = (
            "intervals are as if each passage were a document of its own, and narrower than documents would make them"
        )
        notes += _few(corpus.group_originals(), FEWEST_ORIGINALS, "documents", apart)
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
    tokens = np.bincount(corpus.document_group[corpus.token_document], minlength=len(names))
    uncertain = "what is found about {} is uncertain"
    notes += _few(corpus.group_sizes(), FEW_DOCUMENTS_IN_A_GROUP, corpus.things, uncertain)
    notes += _few(dict(zip(names, tokens.tolist(), strict=True)), FEW_TOKENS_IN_A_GROUP, "tokens", uncertain)
    return notes


def _few(counts: dict[str, int], enough: int, things: str, so: str) -> list[Note]:
    """A warning about the groups that have fewer than `enough` of these things; none where every group has enough.

    Args:
        counts: of each group.
        enough: see above.
        things: that are counted.
        so: what follows, with {} for the groups.
    """
    few = [f"{name} ({count:,})" for name, count in counts.items() if count < enough]
    if not few:
        return []
    has, them = ("has", "it") if len(few) == 1 else ("have", "them")
    text = f"{counted(len(few), 'group')} {has} fewer than {enough} {things}, so {so.format(them)}"
    return [Note("warning", f"{text}: {listed(few)}.", len(few))]
