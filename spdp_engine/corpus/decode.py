"""Bytes -> characters: which encoding a file is in, and whether it is text at all."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

from spdp_engine.errors import InputError

_MARKS = (  # The mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    (b"PK\x03\x04", "a zip archive, an Excel (.xlsx) or a Word (.docx) file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel (.xls) or Word (.doc) file, or one with a password"),
    (b"%PDF", "a PDF file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"{\\rtf", "a Rich Text (.rtf) file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)
# What spreadsheets and text editors of the last decades wrote; more candidates only bring more wrong guesses.
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "iso8859_5", "iso8859_2",
    "cp932", "euc_jp", "gb18030", "big5", "euc_kr", "mac_roman", "cp866",
]  # fmt: skip
_NAMES = {
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1252": "Windows-1252 (Western European)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp932": "Shift JIS (Japanese)",
    "big5": "Big5 (Chinese)",
    "euc_jp": "EUC-JP (Japanese)",
    "euc_kr": "EUC-KR (Korean)",
    "gb18030": "GB 18030 (Chinese)",
    "iso8859_2": "ISO 8859-2 (Central European)",
    "iso8859_5": "ISO 8859-5 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
}
# With fewer bytes that are not ASCII a guess is no more than chance, and Western European is the commonest.
_TOO_FEW_TO_GUESS = 12
_SAMPLE = 1 << 16
_CHUNK = 1 << 22
_HIGH = re.compile(rb"[\x80-\xff]")
_LEAD = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Encoding:
    """`codec` for Python; `guess` in words where the file does not say what it is; `damaged` places do not fit it."""

    codec: str
    guess: str = ""
    damaged: int = 0


def find_encoding(data: bytes, name: str) -> Encoding:
    """The encoding of a text file: by its mark, else UTF-8 where it fits, else a guess.

    Raises `InputError` when the file is empty or is no text.
    """
    refuse_if_no_text(data, name)
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, damaged=_damage(data, codec))
    damaged = _damage(data, "utf-8")
    if damaged == 0:
        return Encoding("utf-8")
    # A file that is UTF-8 but for a few broken places would be unreadable as anything else.
    if damaged * 10 < sum(1 for _ in _LEAD.finditer(data)):
        return Encoding("utf-8", damaged=damaged)
    codec = _guess(data)
    return Encoding(codec, guess=_NAMES.get(codec, codec))


def decode(data: bytes, name: str) -> tuple[str, Encoding]:
    """The characters of a text file and its encoding; damaged places become U+FFFD."""
    encoding = find_encoding(data, name)
    return data.decode(encoding.codec, errors="replace"), encoding


def whole(text: str) -> str:
    """`text` with U+FFFD for each half of a character that UTF-16 writes in two.

    JSON and the names of files can hold such a half, and no encoding can write it down again.
    """
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def refuse_if_no_text(data: bytes, name: str) -> None:
    """Raise `InputError` for an empty file, for kinds that are known by their first bytes, and for NUL bytes."""
    if not data.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise InputError(f"{name} is empty; choose a file that holds documents.")
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise InputError(f"{name} is not a text file but {kind}; save it as CSV or plain text and bring that.")
    marked = any(data.startswith(mark) for mark, _ in _MARKS)
    if not marked and b"\0" in data[:_SAMPLE]:
        raise InputError(
            f"{name} is not a text file, because it holds NUL bytes; save it as CSV or plain text (UTF-8)."
        )


def _damage(data: bytes, codec: str) -> int:
    """How many places do not fit an encoding; found piece by piece, so that a large file is not copied whole."""
    try:
        decoder = codecs.getincrementaldecoder(codec)("strict")
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
    except UnicodeDecodeError:
        replaced, written = (data.decode(codec, errors=how).count("\ufffd") for how in ("replace", "ignore"))
        return max(1, replaced - written)
    return 0


def _guess(data: bytes) -> str:
    first = _HIGH.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    sample = data[start : start + _SAMPLE]
    if start + _SAMPLE < len(data):  # Whole lines, because half a character would rule out its encoding.
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    if len(_HIGH.findall(sample)) < _TOO_FEW_TO_GUESS:
        return "cp1252"
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    if best is None:
        return "cp1252"
    # Several code pages may give the same characters; then the commonest of them is meant.
    same = sample.decode("cp1252", errors="replace") == sample.decode(best.encoding, errors="replace")
    return "cp1252" if same else best.encoding
