from __future__ import annotations

import pickle
import unicodedata

import pytest

from spdp_engine.corpus import Tokeniser
from spdp_engine.corpus.stopwords import guess_language, languages, own_stop_words, stop_words
from spdp_engine.errors import SettingsError

EVERY = Tokeniser()
ENGLISH = Tokeniser(stop_words("en"), minimum_length=3, keep_numbers=False)
FRENCH = Tokeniser(stop_words("fr"), minimum_length=3, keep_numbers=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # German
        ("Die Straße, STRASSE!", "die strasse strasse"),
        ("Groß- und Kleinschreibung", "gross und kleinschreibung"),
        # Greek: one final sigma whatever the case
        ("ΛΌΓΟΣ λόγος", "λόγος λόγος"),
        # Russian, Ukrainian
        ("«Привет», Ёлка… п’ять п'ять", "привет ёлка п'ять п'ять"),
        # Arabic, with a stretched word and a vowel sign
        ("مـــرحبا بالعَالم،", "مرحبا بالعَالم"),
        # Hindi: vowel signs and virama belong to the word
        ("हिन्दी में लिखा।", "हिन्दी में लिखा"),
        # Thai: whole
        ("ภาษาไทย ดี", "ภาษาไทย ดี"),
        # Chinese, Japanese: pairs, single ones stay
        ("中国人民。我", "中国 国人 人民 我"),
        ("コーヒーを2杯AI", "コー ーヒ ヒー ーを 2 杯 ai"),
        # Korean has spaces
        ("한국어 문장", "한국어 문장"),
        # Turkish, ligatures, decomposed accents, full width
        ("İstanbul ﬁnance nai\u0308ve", "istanbul finance naïve"),
        # Invisible characters
        ("co\u00adoperate zero\u200bwidth \ufeffword", "cooperate zerowidth word"),
        # Hyphens and dashes and underscores split
        ("well-known—or so_called", "well known or so called"),
        # Elisions
        ("l’eau dell'acqua qu'il d'aujourd’hui L'État", "eau acqua il aujourd'hui état"),
        # Possessives and contractions
        ("Obama’s Obama's they'll o'brien don't rock'n'roll", "obama obama they o'brien don't rock'n'roll"),
        ("'quoted' ‘words’ and '90s", "quoted words and 90s"),
        # Numbers
        ("1,000.5 in 2008, covid19 4th", "1,000.5 in 2008 covid19 4th"),
        # Addresses, tags, entities
        ("see https://a.org/b?c=d&e=f. or www.x.de/ü or a.b@c.co.uk or x.com/y now", "see or or or now"),
        ("go <a href='x y'>there</a><br/>now <!-- not\nthis --> <script>var x = 1;</script>ok", "go there now ok"),
        ("caf&eacute; R&amp;D&nbsp;x caf&amp;eacute;s &#8217; 5 &lt; 6", "café r d x cafés 5 6"),
        ("a < b and c > d", "a b and c d"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_words(text, words):
    assert EVERY.words(text) == words.split()


@pytest.mark.parametrize("apostrophe", ["'", "’", "‘", "ʼ", "`", "＇"])
def test_contractions_leave_nothing_behind(apostrophe):
    text = "I'm sure they'll say we've won't don't didn't it's Obama'd who's y'all couldn't"
    assert ENGLISH.words(text.replace("'", apostrophe)) == ["obama"]
    assert ENGLISH.words("do n't did n't 've 's dont didnt couldn doesn isn") == []


def test_stop_words_meet_forms_in_all_apostrophes():
    assert FRENCH.words("Aujourd’hui, quelqu'un l'a dit : c’est l’économie") == ["économie"]
    own = Tokeniser(own_stop_words(["L’Oréal", " Climate change ", "STRAßE"]))
    assert own.words("l'oréal climate changes strasse change") == ["changes"]


def test_lengths_are_for_latin_greek_and_cyrillic_only():
    short = Tokeniser(minimum_length=3, keep_numbers=True)
    assert short.words("ab abc дa да год ωρ को 我 7") == ["abc", "год", "को", "我", "7"]


def test_numbers_are_kept_on_request():
    assert ENGLISH.words("In 2008 1,000 died; covid19; ٣٤") == ["died", "covid19"]


def test_content_words_are_worth_counting():
    assert not stop_words("en") & {"state", "bill", "work", "research", "world", "won"}
    assert {"the", "would", "don't", "don", "ve"} <= stop_words("en")


@pytest.mark.parametrize("tokeniser", [EVERY, ENGLISH, FRENCH, Tokeniser(pretokenised=True)])
def test_spans_are_the_same_words_in_the_original(tokeniser):
    text = (
        "Don’t—the <b class='x'>caf&eacute;s</b> of nai\u0308ve Co\u00adoperation, l’eau; https://x.org/y 日本国憲法 か\u3099き "
        "STRASSE Straße Obama’s 'tis ΛΌΓΟΣ R&amp;D ﬁne हिन्दी\u00a0x"
    )
    spans = tokeniser.spans(text)
    assert [word for _, _, word in spans] == tokeniser.words(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    for start, end, word in spans:
        alone = tokeniser.words(text[start:end])
        assert alone == [word], (text[start:end], word)


def test_spans_cover_what_is_written():
    text = "The nai\u0308ve caf&eacute; and l’eau of Obama’s co\u00adop, か\u3099き"
    written = {word: text[start:end] for start, end, word in EVERY.spans(text)}
    assert written["naïve"] == "nai\u0308ve"
    assert written["café"] == "caf&eacute;"
    assert written["eau"] == "eau"
    assert written["obama"] == "Obama"
    assert written["coop"] == "co\u00adop"
    assert written[unicodedata.normalize("NFC", "か\u3099き")] == "か\u3099き"


def test_pretokenised_words_are_kept_as_they_are():
    text = "The  don't </b> caf&eacute; 12\tSTRASSE ."
    tokeniser = Tokeniser(pretokenised=True)
    assert tokeniser.words(text) == text.split()
    assert [text[start:end] for start, end, _ in tokeniser.spans(text)] == text.split()


def test_equal_and_picklable_whatever_was_tokenised():
    used = Tokeniser(stop_words("en"), 3, False)
    used.words("some text")
    again = pickle.loads(pickle.dumps(used))
    assert again == used == Tokeniser(stop_words("en"), 3, False)
    assert again.words("some text") == used.words("some text")


def test_languages():
    assert {"en", "de", "fr", "es", "pt", "it", "nl", "ru"} <= set(languages())
    assert all(len(stop_words(language)) > 100 for language in ["en", "de", "fr", "es", "pt", "it", "nl", "ru"])
    assert stop_words("none") == frozenset()
    with pytest.raises(SettingsError, match="'xx'"):
        stop_words("xx")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "All human beings are born free and equal in dignity and rights. They are endowed with reason."),
        ("de", "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt."),
        ("fr", "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison."),
        ("es", "Todos los seres humanos nacen libres e iguales en dignidad y derechos y deben comportarse."),
        (
            "pt",
            "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Devem agir uns para com os outros.",
        ),
        ("it", "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione."),
        ("nl", "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand."),
        ("ru", "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом."),
        ("none", "garden number garden number"),
        ("none", "quark flounder dolphin basalt marble"),
        ("none", ""),
    ],
)
def test_language_is_guessed(language, text):
    assert guess_language([text]) == language
