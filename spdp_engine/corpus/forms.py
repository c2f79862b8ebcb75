"""What a word is: where words stand in a run of characters, and the form under which each is counted.

Nothing here knows about settings; `Tokeniser` decides which of these words are kept.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import regex

# Written without spaces between words, so their runs become pairs of characters. The two prolonged sound marks belong
# to no script of their own.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}ーｰ]"
_APOSTROPHE = r"['’‘‛ʼ＇`´′]"
_LETTER = rf"[[\p{{L}}\p{{Nd}}]--[{_UNSPACED}ʼ]]"
# A word goes on over combining marks and over invisible characters: soft hyphens, zero-width joiners, direction marks.
_REST = rf"[[\p{{L}}\p{{M}}\p{{Nd}}\p{{Cf}}]--[{_UNSPACED}ʼ]]*"

_TOKEN = regex.compile(
    rf"""(?V1)
      (?P<number> \p{{Nd}}+ (?: [.,]\p{{Nd}}+ )+ (?! {_LETTER} ) )
    | (?P<word>   {_LETTER}{_REST} (?: {_APOSTROPHE}{_LETTER}{_REST} )* )
    | (?P<pairs>  (?: {_UNSPACED}[\p{{M}}\p{{Cf}}]* )+ )
    """,
    regex.VERBOSE,
)
_UNIT = regex.compile(rf"(?V1){_UNSPACED}[\p{{M}}\p{{Cf}}]*")

# An address ends at white space, at quotation marks and brackets, and where a script without spaces goes on.
_IN_ADDRESS = r"[^\s<>\"“”„«»｡。、，（）\p{Han}\p{Hiragana}\p{Katakana}]"
_ADDRESS = regex.compile(
    rf"""(?V1)
      (?: https? | ftp ) : // {_IN_ADDRESS}+
    | \b www \. {_IN_ADDRESS}+
    | [\p{{L}}\p{{Nd}}._%+-]+ @ [\p{{L}}\p{{Nd}}-]+ (?: \. [\p{{L}}\p{{Nd}}-]+ )+
    | \b (?: [a-z0-9-]+ \. )+ [a-z]{{2,}} / {_IN_ADDRESS}*
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_MAY_HOLD_ADDRESS = re.compile(r"[@/]|www\.", re.IGNORECASE)

_TAG = re.compile(
    r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|</?[a-z][^<>]{0,2000}>|<![a-z][^<>]{0,2000}>", re.IGNORECASE | re.DOTALL
)
_ENTITY = re.compile(r"&(?:amp;)*(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

# Never part of a word, nor of an address or entity that begins or ends with it.
_AROUND = '.,:!?"()[]*“”„«»—–…'

# Invisible characters, and the stroke that only stretches Arabic words.
_INVISIBLE = regex.compile(r"[\p{Cf}ـ]")
_ANY_APOSTROPHE = re.compile(_APOSTROPHE)
_HAS_LETTER = regex.compile(r"\p{L}")
_MEASURED = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}]")


@dataclass(frozen=True, slots=True)
class Raw:
    """A piece of text that is a word: characters `start` to `end`, and its folded form."""

    start: int
    end: int
    form: str


def fold(raw: str) -> str:
    """The form under which a word is counted: NFC, without case, invisible characters or kinds of apostrophe."""
    if raw.isascii():
        return raw.lower().replace("`", "'")
    form = _ANY_APOSTROPHE.sub("'", _INVISIBLE.sub("", unicodedata.normalize("NFC", raw)))
    form = unicodedata.normalize("NFC", form.casefold())
    # Case folding writes Turkish capital I as i and a dot above, and every Greek sigma as the one inside words.
    form = form.replace("i̇", "i")
    return form[:-1] + "ς" if form.endswith("σ") else form


def without_tags(text: str) -> str:
    """`text` with HTML tags, comments, scripts and styles made blank; every other character keeps its place."""
    return _TAG.sub(lambda tag: " " * len(tag[0]), text) if "<" in text else text


def raw_words(run: str) -> Iterator[Raw]:
    """The words of a run of characters without white space, in order, with places in `run` as it is written.

    Web and e-mail addresses are no words. Runs of Han, Hiragana and Katakana give overlapping pairs of characters, as
    Lucene's CJK analyser does; a single such character gives itself.
    """
    core = run.strip(_AROUND)
    if core.isascii() and core.isalnum():  # Nine runs of ten in English, at a tenth of the cost.
        start = run.index(core)
        yield Raw(start, start + len(core), core.lower())
        return
    if "&" in run and _ENTITY.search(run):
        yield from _through_entities(run)
        return
    readable = run
    if _MAY_HOLD_ADDRESS.search(run):
        readable = _ADDRESS.sub(lambda address: " " * len(address[0]), run)
    for token in _TOKEN.finditer(readable):
        start = token.start()
        if token.lastgroup == "pairs":
            yield from _pairs(token[0], start)
        else:
            yield Raw(start, token.end(), fold(token[0]))


def _pairs(run: str, offset: int) -> Iterator[Raw]:
    units = [(unit.start() + offset, unit.end() + offset, unit[0]) for unit in _UNIT.finditer(run)]
    if len(units) == 1:
        start, end, raw = units[0]
        yield Raw(start, end, fold(raw))
    for (start, _, left), (_, end, right) in pairwise(units):
        yield Raw(start, end, fold(left + right))


def _through_entities(run: str) -> Iterator[Raw]:
    """Words of a run with entities such as `&eacute;`: found in the decoded run, placed in the written one."""
    decoded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    place = 0
    for entity in _ENTITY.finditer(run):
        for at in range(place, entity.start()):
            decoded.append(run[at])
            starts.append(at)
            ends.append(at + 1)
        # Twice, because exports often escape what was escaped: &amp;eacute;
        text = html.unescape(html.unescape(entity[0]))
        for character in " " if text == entity[0] else text.replace("&", " "):
            decoded.append(character)
            starts.append(entity.start())
            ends.append(entity.end())
        place = entity.end()
    for at in range(place, len(run)):
        decoded.append(run[at])
        starts.append(at)
        ends.append(at + 1)
    # What was decoded holds no entity any more, because its ampersands became blanks.
    plain = "".join(decoded)
    for word in raw_words(plain.replace("&", " ")):
        yield Raw(starts[word.start], ends[word.end - 1], word.form)


def is_number(form: str) -> bool:
    """Whether there is no letter in it."""
    return not form.isalpha() and _HAS_LETTER.search(form) is None


def is_measured(form: str) -> bool:
    """Whether it holds Latin, Greek or Cyrillic letters, of which one or two say little; other scripts say more."""
    return form.isascii() or _MEASURED.search(form) is not None


def last_apostrophe(raw: str) -> int:
    """Where the last apostrophe of whatever kind stands in `raw`."""
    return max(found.start() for found in _ANY_APOSTROPHE.finditer(raw))


def first_apostrophe(raw: str) -> int:
    """Where the first apostrophe of whatever kind stands in `raw`."""
    found = _ANY_APOSTROPHE.search(raw)
    return found.start() if found else -1
