"""Text -> words, and where they stand in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from spdp_engine.corpus.contractions import begins_in_grammar, ends_in_grammar
from spdp_engine.corpus.forms import (
    Raw,
    first_apostrophe,
    is_measured,
    is_number,
    last_apostrophe,
    raw_words,
    without_tags,
)

_RUN = re.compile(r"\S+")
# Enough for the forms of a long document collection; dropped whole when full, because it only saves time.
_REMEMBERED = 200_000
# Longer runs are text without spaces, which hardly comes twice.
_LONGEST_REMEMBERED = 40


@dataclass(frozen=True)
class Tokeniser:
    """Finds the words of a text that are kept, the same ones each time and everywhere.

    stop_words       folded forms (see `forms.fold`) that are left out
    minimum_length   characters that a word of Latin, Greek or Cyrillic letters must have
    keep_numbers     whether words without a letter are kept
    pretokenised     words are what white space separates, and only `stop_words` as written are left out
    joined           folded forms that are read as another, which is never such a form itself: {form: other}
    """

    stop_words: frozenset[str] = field(default=frozenset(), repr=False)
    minimum_length: int = 1
    keep_numbers: bool = True
    pretokenised: bool = False
    joined: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    _known: dict[str, tuple[tuple[int, int, str], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_known": {}}

    def words(self, text: str) -> list[str]:
        """The words of `text` in order, as they are in a vocabulary."""
        return [word for run in self.runs(text) for _, _, word in self._remembered(run)]

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, word) of the same words as `words`: `text[start:end]` is the word as it is written."""
        readable = text if self.pretokenised else without_tags(text)
        return [
            (start + run.start(), end + run.start(), word)
            for run in _RUN.finditer(readable)
            for start, end, word in self._remembered(run[0])
        ]

    def runs(self, text: str) -> list[str]:
        """What white space separates: no word reaches over two of these, so each distinct one is analysed once."""
        return (text if self.pretokenised else without_tags(text)).split()

    def analyse(self, run: str) -> tuple[tuple[int, int, str], ...]:
        """(start, end, word) of the words of one run."""
        if self.pretokenised:
            word = self.reading(run)
            return () if word is None else ((0, len(run), word),)
        kept = (self._word(raw, run) for raw in raw_words(run))
        read = ((word.start, word.end, self.reading(word.form)) for word in kept if word is not None)
        return tuple((start, end, word) for start, end, word in read if word is not None)

    def reading(self, form: str) -> str | None:
        """The word as which a form is read: itself or the one it is joined with; None where either is a stop word."""
        word = self.joined.get(form, form)
        return None if form in self.stop_words or word in self.stop_words else word

    def _remembered(self, run: str) -> tuple[tuple[int, int, str], ...]:
        known = self._known.get(run)
        if known is None:
            known = self.analyse(run)
            if len(run) <= _LONGEST_REMEMBERED:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[run] = known
        return known

    def _word(self, raw: Raw, run: str) -> Raw | None:
        """The word in `raw` without the grammar around apostrophes, or None when it is not kept."""
        start, end, form = raw.start, raw.end, raw.form
        while form not in self.stop_words:
            if "'" in form and ends_in_grammar(form):
                end = start + last_apostrophe(run[start:end])
                form = form.rpartition("'")[0]
            elif "'" in form and begins_in_grammar(form):
                start += first_apostrophe(run[start:end]) + 1
                form = form.partition("'")[2]
            elif is_number(form):
                return Raw(start, end, form) if self.keep_numbers else None
            elif len(form) < self.minimum_length and is_measured(form):
                return None
            else:
                return Raw(start, end, form)
        return None
