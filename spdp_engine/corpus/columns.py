"""Which column is the text, the group, the title, the date, the document: a guess that a person can change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from spdp_engine.corpus.types import Collection, Columns
from spdp_engine.corpus.wording import listed
from spdp_engine.errors import InputError

MOST_GROUPS = 50

# A name counts in full where it is the whole name of the column, and half where it is a word of it (review_text).
_TEXT_NAMES = {
    8.0: "text texts fulltext body content contents abstract transcript article speech story texte texto testo tekst "
    "текст inhalt contenu contenido volltext selftext",
    4.0: "review reviews comment comments message messages post tweet statement answer response description summary "
    "document documents reviewtext passage paragraph utterance caption opinion feedback kommentar beschreibung",
}
_GROUP_NAMES = {
    3.0: "group groups party source outlet newspaper paper category label class country region side condition cohort "
    "camp faction audience traveller traveler customer gruppe partei quelle groupe parti grupo partido gruppo partito группа",
    2.0: "topic brand product publisher journal platform channel network speaker author section gender sex department "
    "organisation organization company team continent city state segment period board subreddit kategorie zeitung "
    "land pays pais paese",
    1.0: "type kind genre year decade language lang level rating stars sentiment status tag",
}
_TITLE_NAMES = {
    3.0: "title headline titel titre titulo título titolo заголовок",
    2.0: "subject heading name filename snippet",
}
# What names a document where it has no title. People before numbers and addresses, because they say more.
_NAMING_NAMES = {
    3.0: "file document doc reference citation label",
    2.0: "speaker author writer sender user username reviewer respondent participant person member candidate redner "
    "sprecher autor auteur orateur orador autore",
    1.0: "id docid key slug url link uri permalink address",
}
_DATE_NAMES = {
    3.0: "date datum fecha published pubdate publication_date date_published created_at createdat datetime timestamp "
    "дата",
    2.0: "created posted time year jahr année día",
    1.0: "day month",
}
_DOCUMENT_NAMES = (
    "document documentid doc docid thread threadid conversation conversationid discussion discussionid article articleid "
    "post postid speech speechid transcript transcriptid interview interviewid book bookid originalid dokument dokumentid"
)
"""... but for the column that says which rows are passages of one document: only where it is the whole name, without separators."""
_SEPARATORS = re.compile(r"[\s_.-]+")
_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIGIT = re.compile(r"\d")
# Numbers, times, and the long keys that programs give.
_NO_NAME = re.compile(r"[\d\W_TZ]*|[0-9a-fA-F-]{16,}")
_SAMPLE = 2_000
_LONGEST_LABEL = 60
_LONGEST_TITLE = 300
_LONGEST_NAME, _MOST_WORDS_OF_A_NAME = 120, 10
_NEARLY_EACH = 0.8
_ROWS_TO_TELL = 10


@dataclass(frozen=True)
class _Facts:
    """What a column looks like: means over a sample of rows, missing cells being empty; `distinct` over all.

    `digits` and `names` are shares of the cells that are filled: with a digit, and not all number, time or key.
    """

    characters: float
    words: float
    filled: float
    digits: float
    names: float
    distinct: int
    rows: int

    @property
    def is_numeric(self) -> bool:
        return self.digits > 0.9 and self.words < 1.5

    @property
    def names_each(self) -> bool:
        """Whether it holds something short for nearly every row, seldom the same, that can stand above a text."""
        return (
            self.filled > _NEARLY_EACH
            and self.names > 0.9
            and self.distinct >= _NEARLY_EACH * self.rows
            and self.characters <= _LONGEST_NAME
            and self.words <= _MOST_WORDS_OF_A_NAME
        )


def guess_columns(collection: Collection) -> Columns:
    """A guess at the columns from their names and contents; no column plays two parts.

    The text is a column with a telling name and long cells, else that with the longest. The group is a column with a
    telling name and few distinct values; else where files came from; else a column whose few values repeat. A column says
    which rows are passages of one document only where its name says so and its values repeat within groups. The title is a
    column with a telling name; else what tells the documents; else one that names nearly every row differently, by its own
    name if it can.
    Raises `InputError`, naming the columns there are, when none looks like text.
    """
    table = collection.table
    facts = {name: _facts(table[name]) for name in table.columns}
    own = {collection.file_column, collection.folder_column} - {None}
    given = {name: fact for name, fact in facts.items() if name not in own}
    text = _text(given)
    if text is None:
        raise InputError(
            f"None of the columns looks like text: {listed(table.columns, 12)}; choose the text column, or bring a "
            "table with a column of texts."
        )
    rest = {name: fact for name, fact in given.items() if name != text}
    group = _group(rest, facts, collection)
    rest.pop(group or "", None)
    title = _best(rest, _TITLE_NAMES, lambda fact: fact.filled > 0.3 and 2 < fact.characters <= _LONGEST_TITLE)
    rest.pop(title or "", None)
    date = _best(rest, _DATE_NAMES, lambda fact: fact.filled > 0.3 and fact.digits > 0.6 and fact.characters <= 40)
    rest.pop(date or "", None)
    document = _document(rest, table, group)
    title = title or (None if document else _naming(rest))
    return Columns(text=text, group=group, title=title, date=date, document=document)


def tells_subject(title: str | None) -> bool:
    """Whether a title column of this name may say what documents are about, not only whose they are or where they came from."""
    return title is None or _named(title, _TITLE_NAMES) > 1 or not _named(title, _NAMING_NAMES)


def _facts(column: pd.Series) -> _Facts:
    step = max(1, len(column) // _SAMPLE)
    sample = column.iloc[::step]
    cells = [cell for cell in sample.dropna().tolist() if cell.strip()]
    rows = max(1, len(sample))
    characters = sum(map(len, cells)) / rows
    return _Facts(
        characters=characters,
        words=sum(len(cell.split()) for cell in cells) / rows if characters < 10_000 else characters / 6,
        filled=len(cells) / rows,
        digits=sum(bool(_DIGIT.search(cell)) for cell in cells) / max(1, len(cells)),
        names=sum(not _NO_NAME.fullmatch(cell) for cell in cells) / max(1, len(cells)),
        # Long cells are no labels, and counting them would be slow.
        distinct=int(column.nunique()) if characters <= 4 * _LONGEST_LABEL else len(column),
        rows=len(column),
    )


def _named(name: str, names: Mapping[float, str]) -> float:
    """How telling a column's name is: 0 when it is not."""
    whole = name.casefold()
    words = set(_WORDS.findall(_CAMEL.sub(" ", name).casefold()))
    best = 0.0
    for weight, listed_names in names.items():
        telling = set(listed_names.split())
        if whole in telling:
            best = max(best, weight)
        elif words & telling:
            best = max(best, weight / 2)
    return best


def _text(facts: Mapping[str, _Facts]) -> str | None:
    scores: dict[str, float] = {}
    for name, fact in facts.items():
        named = _named(name, _TEXT_NAMES)
        if fact.is_numeric or not fact.characters:
            continue
        # Addresses are long but have no spaces; scripts without spaces are long in another way.
        looks = fact.words >= 3 or (fact.characters >= 100 and fact.digits < 0.5)
        if looks or (named >= 2 and fact.words >= 1):
            scores[name] = (
                fact.characters * max(1.0, named) * (0.2 if _named(name, _TITLE_NAMES) >= 3 and not named else 1)
            )
    return max(scores, key=lambda name: scores[name]) if scores else None


def _group(rest: Mapping[str, _Facts], facts: Mapping[str, _Facts], collection: Collection) -> str | None:
    named = _best_group(rest, 3.0)
    if named is not None:
        return named
    for column in (collection.folder_column, collection.file_column):
        if column is not None and 2 <= facts[column].distinct <= MOST_GROUPS:
            return column
    named = _best_group(rest, 0.5)
    if named is not None:
        return named
    repeated = [
        name
        for name, fact in rest.items()
        if 2 <= fact.distinct <= min(30, fact.rows / 3) and fact.filled > 0.5 and fact.characters <= _LONGEST_LABEL
    ]
    return min(repeated, key=lambda name: (rest[name].is_numeric, rest[name].distinct), default=None)


def _best_group(rest: Mapping[str, _Facts], least: float) -> str | None:
    """The column with the most telling name of at least `least`, among those whose values are few and repeat."""
    scores = {
        name: (_named(name, _GROUP_NAMES), -fact.distinct)
        for name, fact in rest.items()
        if 2 <= fact.distinct <= MOST_GROUPS
        and (fact.distinct <= fact.rows / 2 or name.casefold() == "group")
        and fact.filled > 0.3
        and fact.characters <= _LONGEST_LABEL
    }
    scores = {name: score for name, score in scores.items() if score[0] >= least}
    return max(scores, key=lambda name: scores[name]) if scores else None


def _document(rest: Mapping[str, _Facts], table: pd.DataFrame, group: str | None) -> str | None:
    """The first column that is named as one of documents and has fewer values than rows in some group, but not one to a group."""
    telling = set(_DOCUMENT_NAMES.split())
    for name, fact in rest.items():
        if _SEPARATORS.sub("", name).casefold() not in telling or fact.filled <= 0.5:
            continue
        if fact.characters > _LONGEST_LABEL:
            continue
        cells = table[[name] if group is None else [group, name]].dropna()
        documents = len(cells.drop_duplicates())
        if (1 if group is None else cells[group].nunique()) < documents < len(cells):
            return name
    return None


def _best(rest: Mapping[str, _Facts], names: Mapping[float, str], fits: Callable[[_Facts], bool]) -> str | None:
    scores = {name: _named(name, names) for name, fact in rest.items() if fits(fact)}
    telling = [name for name, score in scores.items() if score > 1]
    return max(telling, key=lambda name: scores[name], default=None)


def _naming(rest: Mapping[str, _Facts]) -> str | None:
    """The column that names documents, the one with the most telling name; among few rows none without such a name."""
    scores = {name: _named(name, _NAMING_NAMES) for name, fact in rest.items() if fact.names_each}
    able = [name for name, score in scores.items() if score or rest[name].rows >= _ROWS_TO_TELL]
    return max(able, key=lambda name: scores[name], default=None)
