"""Stop words by language: the lists that the stopwordsiso project keeps, in the forms that this package counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import stopwordsiso

from spdp_engine.corpus.forms import fold
from spdp_engine.corpus.tokeniser import Tokeniser
from spdp_engine.errors import SettingsError

LANGUAGE_NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "nl": "Dutch",
    "ru": "Russian",
}
"""The languages that people are offered by name. Stop words there are for more: see `languages`."""

_EVERY_WORD = Tokeniser()

# The lists are made for search engines. For comparing what groups say, these of their words are worth counting.
_WORTH_COUNTING = {
    "en": "act area areas bill billion case cases cause causes computer cry face faces fire free group groups hell "
    "help home ill important information interest interests invention man member members men microsoft mill million "
    "mine netscape number numbers old older oldest order orders problem problems proud research ring room rooms "
    "section serious shed shell sincere site state states system test trillion value wells won work worked working "
    "works world young younger youngest",
    "de": "gott mann mensch menschen ordnung rechte rechten",
    "fr": "gens parole valeur",
    "es": "acuerdo empleo empleos estado estados pais país trabajo valor verdad",
    "it": "citta città consiglio forza gruppo miliardi milioni mondo paese persone uomo vita",
}
# What tokenising elsewhere has left of contractions, and common ones that the list lacks.
_CONTRACTIONS = {
    "en": "ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn oughtn shan shouldn wasn weren wouldn "
    "n't nt ll ve re y'all o'clock ma'am im ive youre theyre weve youve theyve thats whats theres gonna gotta wanna",
}
# Where stop words were taken out before, as in stemmed corpora, still some 6 of 100 words are on the list of the
# language; below this the words that match are there by chance.
_SHARE_OF_A_LANGUAGE = 0.04
# A single word that comes often is no language.
_WORDS_OF_A_LANGUAGE = 3


def languages() -> tuple[str, ...]:
    """Codes of the languages that there are stop words for."""
    return tuple(sorted(stopwordsiso.langs()))


@cache
def stop_words(language: str) -> frozenset[str]:
    """The folded stop words of a language; none for 'none'.

    Raises `SettingsError` for a language without a list.
    """
    if language == "none":
        return frozenset()
    if language not in stopwordsiso.langs():
        raise SettingsError(
            f"There are no stop words for the language '{language}'; choose 'auto', 'none' or one of "
            f"{', '.join(languages())}."
        )
    listed = set(stopwordsiso.stopwords(language)) | set(_CONTRACTIONS.get(language, "").split())
    forms = {fold(word) for word in listed}
    # In scripts that are read as pairs of characters a stop word is its pairs.
    forms.update(pair for word in listed if not word.isascii() for pair in _EVERY_WORD.words(word) if len(pair) <= 2)
    # Both ways of writing a negation without its apostrophe: dont, and what splitting at the apostrophe leaves.
    forms.update(form.replace("'", "") for form in tuple(forms) if form.endswith("n't"))
    return frozenset(forms - set(_WORTH_COUNTING.get(language, "").split()))


def own_stop_words(words: Iterable[str]) -> frozenset[str]:
    """Words that somebody typed, as folded forms; of a phrase each word."""
    return frozenset(form for word in words for form in (fold(word.strip()), *_EVERY_WORD.words(word)) if form)


def joined_forms(joined: Iterable[Sequence[str]], pretokenised: bool = False) -> dict[str, str]:
    """As which form each other is read, where of each sequence of words all are read as the first.

    Words are folded, unless the text is pretokenised. A form that is read as one which is read as a third is read as the third.
    """

    def form(word: str) -> str:
        forms = _EVERY_WORD.words(word)
        return word if pretokenised else forms[0] if len(forms) == 1 else fold(word.strip())

    read_as: dict[str, str] = {}
    for first, *others in joined:
        target = form(first)
        target = read_as.get(target, target)
        for other in map(form, others):
            if other != target:
                read_as = {word: target if known == other else known for word, known in read_as.items()}
                read_as[other] = target
    return read_as


def guess_language(texts: Sequence[str]) -> str:
    """The language whose stop words are the largest part of a sample of `texts`; 'none' when no language stands out.

    A stop word of several languages is shared out among them, so that those of one language decide; that is weighed
    with the plain share of stop words, so that a long list with words of other languages in it does not win by those.
    """
    step = max(1, len(texts) // 200)
    seen = Counter(word for text in texts[::step] for word in _EVERY_WORD.words(text[:2000]))
    if not seen:
        return "none"
    owners = _owners()
    found: Counter[str] = Counter()
    shares: Counter[str] = Counter()
    weights: dict[str, float] = dict.fromkeys(languages(), 0.0)
    for word, count in seen.items():
        known = owners.get(word, ())
        for language in known:
            weights[language] += count / len(known)
            shares[language] += count
            found[language] += 1
    best = max(weights, key=lambda language: (weights[language] * shares[language], language))
    stands_out = weights[best] >= _SHARE_OF_A_LANGUAGE * seen.total() and found[best] >= _WORDS_OF_A_LANGUAGE
    return best if stands_out else "none"


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = {}
    for language in languages():
        for word in stop_words(language):
            owners.setdefault(word, []).append(language)
    return {word: tuple(known) for word, known in owners.items()}
