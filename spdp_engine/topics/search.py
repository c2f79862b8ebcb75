"""Full text search: words and phrases in titles and texts, whatever their case and accents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import regex
from numpy.typing import NDArray

from spdp_engine.corpus import Documents
from spdp_engine.topics.excerpt import Pieces, begin_before, end_after, in_pieces
from spdp_engine.topics.folding import fold, folded_lengths

TITLE_WEIGHT = 3.0
"""A word in the title counts as often."""

SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""k1 and b of BM25."""

EXCERPTS = 3
"""At most so many places of a document are quoted, where one does not show all terms."""

MOST_PLACES = 200
"""So many places of each term are looked at for quoting."""

_PART = re.compile(r'"([^"]*)"?|(\S+)')
_AROUND = " \t\n.,;:!?()[]{}<>…'-"
_HYPHENS = re.compile(r"(?<=[^\s-])-+(?=[^\s-])")
_BESIDE = r"(?:\s+|-\s*)"
_WORD = r"[\p{L}\p{M}\p{N}_]"
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_STARTS_A_WORD = regex.compile(rf"(?V1)[{_WORD}--{_UNSPACED}]")
_ENDS_IN_A_WORD = regex.compile(rf"(?V1)[{_WORD}--{_UNSPACED}]\p{{M}}*$")
_REMEMBERED = 8


@dataclass(frozen=True)
class Term:
    """A word or a phrase that is looked for.

    Attributes:
        text: as people see it; in quotation marks where it is a phrase.
        words: of which it is made, beside one another in texts, with a space or a hyphen between.
        pattern: what finds it in folded text.
        needle: the longest word of it, which is in every text that holds it.
        single: it was written as one word, if with hyphens, and without a star.
    """

    text: str
    words: tuple[str, ...] = field(repr=False)
    pattern: regex.Pattern[str] = field(repr=False, compare=False)
    needle: str = field(repr=False)
    single: bool = field(repr=False)

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways of writing that are looked for, as people see them: with a hyphen and with a space, of more than one word."""
        if len(self.words) == 1:
            return (self.text,)
        star = "*" * self.text.endswith("*")
        ways = f'"{" ".join(self.words)}{star}"', "-".join(self.words) + star
        return ways if self.text.startswith('"') else ways[::-1]


@dataclass(frozen=True)
class Query:
    """What is looked for: documents that hold all terms."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """Documents that hold every term.

    Attributes:
        documents: int64 [n], rising.
        relevance: float64 [n], BM25: the more often, the rarer the terms and the shorter the text, the higher.
    """

    documents: NDArray[np.int64]
    relevance: NDArray[np.float64]


@dataclass(frozen=True)
class Excerpt:
    """A place of a text.

    Attributes:
        pieces: in order, with True where a term stands.
        begins: it begins where the text begins.
        ends: it ends where the text ends.
    """

    pieces: Pieces
    begins: bool
    ends: bool


def read_query(text: str) -> Query:
    """Words, "phrases in quotation marks" of any kind, and beginnings of words (strik*); punctuation around them is left out.

    Words with a hyphen between them are a phrase, and a phrase is found with hyphens, too: middle-income is "middle income".
    """
    terms: dict[str, Term] = {}
    for part in _PART.finditer(fold(text)):
        words = (part[1] or part[2] or "").strip(_AROUND).split()
        open_end = bool(words) and part[1] is None and words[-1].endswith("*")
        words = [word for word in (word.rstrip("*") for word in words) if word]
        if words:
            term = _term(words, open_end)
            terms.setdefault(term.pattern.pattern, term)
    return Query(tuple(terms.values()))


def _term(words: list[str], open_end: bool) -> Term:
    joined = " ".join(words)
    parts = tuple(part for word in words for part in _HYPHENS.split(word))
    pattern = _BESIDE.join(map(regex.escape, parts))
    if _STARTS_A_WORD.match(joined):
        pattern = f"(?<!{_WORD}){pattern}"
    if open_end:
        pattern += f"{_WORD}*"
    elif _ENDS_IN_A_WORD.search(joined):
        pattern += f"(?!{_WORD})"
    text = f'"{joined}"' if len(words) > 1 else joined + "*" * open_end
    return Term(text, parts, regex.compile(pattern), max(parts, key=len), len(words) == 1 and not open_end)


class TextIndex:
    """Titles and texts as they are compared. Looking through them all takes less than keeping lists of words would."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._texts = [fold(text) for text in documents.texts]
        self._titles = [fold(title) for title in documents.titles]
        self._lengths = np.array([len(text) for text in self._texts], np.float64)
        self._found: dict[Query, Found] = {}

    def find(self, query: Query) -> Found:
        """Documents whose title and text together hold all terms of a query; all documents where it has none.

        Source of the relevance: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
        """
        found = self._found.get(query)
        if found is None:
            if len(self._found) >= _REMEMBERED:
                self._found.pop(next(iter(self._found)))
            found = self._found[query] = self._look(query)
        return found

    def _look(self, query: Query) -> Found:
        every = range(len(self._texts))
        holding = np.array(
            [[term.needle in self._texts[d] or term.needle in self._titles[d] for d in every] for term in query.terms],
            bool,
        ).reshape(len(query.terms), len(every))
        documents = np.flatnonzero(holding.all(axis=0))
        uses = np.array([[self._uses(term, int(d)) for d in documents] for term in query.terms], np.float64)
        uses = uses.reshape(len(query.terms), len(documents))
        rarity = np.log1p((len(every) - holding.sum(axis=1) + 0.5) / (holding.sum(axis=1) + 0.5))
        length = self._lengths[documents] / max(1.0, float(self._lengths.mean()))
        relevance = rarity @ (uses / (uses + SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)))
        there = (uses > 0).all(axis=0)
        return Found(documents[there], relevance[there])

    def _uses(self, term: Term, document: int) -> float:
        text, title = self._texts[document], self._titles[document]
        uses = float(len(term.pattern.findall(text))) if term.needle in text else 0.0
        return uses + TITLE_WEIGHT * len(term.pattern.findall(title)) if term.needle in title else uses

    def title(self, document: int, query: Query) -> Pieces:
        """A document's title with the terms of a query marked."""
        title = self._documents.titles[document]
        return in_pieces(title, 0, len(title), [place[:2] for place in term_places(title, query)])

    def excerpts(self, document: int, query: Query, characters: int = 240) -> tuple[Excerpt, ...]:
        """Places of the text that show the terms, about so many characters of each; its beginning where it holds none."""
        text = self._documents.texts[document]
        places = term_places(text, query)
        windows = _windows(places, characters)
        cut = [_around(text, first, last, characters) for first, last in windows] or [
            (0, end_after(text, 0, characters))
        ]
        marked = [place[:2] for place in places]
        return tuple(
            Excerpt(in_pieces(text, begin, end, marked), not text[:begin].strip(), not text[end:].strip())
            for begin, end in _apart(cut)
        )


def term_places(text: str, query: Query) -> list[tuple[int, int, int]]:
    """(start, end, number of the term) of the terms of a query in a text as it is written, in reading order."""
    lengths = folded_lengths(text)
    origin, folded = np.repeat(np.arange(len(text)), lengths), fold(text)
    places = []
    for number, term in enumerate(query.terms):
        for hit in term.pattern.finditer(folded):
            end = int(origin[hit.end() - 1]) + 1
            while end < len(text) and lengths[end] == 0:  # accents after the last letter
                end += 1
            places.append((int(origin[hit.start()]), end, number))
    return sorted(places)


def _windows(places: list[tuple[int, int, int]], characters: int) -> list[tuple[int, int]]:
    """(first, last) of stretches in which, taken together, as many terms as can be stand, each the one with most of the rest."""
    missing = {number for *_, number in places}
    few = [place for term in missing for place in [one for one in places if one[2] == term][:MOST_PLACES]]
    windows: list[tuple[int, int]] = []
    while missing and len(windows) < EXCERPTS:
        best: tuple[int, int, int, set[int]] | None = None
        for start, end, number in few:
            if number in missing:
                near = [place for place in few if start <= place[0] and place[1] <= max(end, start + characters)]
                held = missing & {number for *_, number in near}
                if best is None or len(held) > best[0]:
                    best = len(held), start, max(place[1] for place in near), held
        if best is None:
            break
        windows.append(best[1:3])
        missing -= best[3]
    return windows


def _around(text: str, first: int, last: int, characters: int) -> tuple[int, int]:
    """Where an excerpt begins and ends that has the text from `first` to `last` in its middle."""
    side = max(40, (characters - (last - first)) // 2)
    return begin_before(text, first, side), end_after(text, last, side)


def _apart(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The windows in reading order, those that meet made one."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(windows):
        if joined and begin <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined
