"""Full text search: what is found, what is not, in which order, and where it is marked."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest
from planted import documents

from spdp_engine.topics.folding import fold, folded_lengths
from spdp_engine.topics.search import Excerpt, TextIndex, read_query, term_places


def index_of(*texts: str, titles: tuple[str, ...] | None = None) -> TextIndex:
    return TextIndex(documents(texts, titles=titles))


def found(index: TextIndex, query: str) -> list[int]:
    return index.find(read_query(query)).documents.tolist()


def shown(excerpts: tuple[Excerpt, ...]) -> list[str]:
    return ["".join(f"[{text}]" if mark else text for text, mark in one.pieces) for one in excerpts]


FINDS = [
    ("strike", "A STRIKE began.", True),
    ("strike", "strikes", False),
    ("strik*", "the strikers", True),
    ("strik*", "a restriking idea", False),
    ("port", "important", False),
    ("port", "the port.", True),
    ("port", "port-side", True),
    ("port", "the port’s cranes", True),
    ("port", "port_side", False),
    ("cafe", "CAFÉ", True),
    ("café", "cafe", True),
    ("cafe\u0301", "café", True),
    ("Straße", "STRASSE", True),
    ("İstanbul", "istanbul", True),
    ("istanbul", "İSTANBUL", True),
    ("oikos", "οἶκος", False),
    ("οικος", "ΟἾΚΟΣ", True),
    ("елка", "ёлка", True),
    ("don't", "DON’T", True),
    ("naivete", "naïve\u00adté", True),
    ("fin", "ﬁn", True),
    ("東京", "私は東京に住む", True),
    ("ميناء", "الميناء", False),
    ("مدرسة", "مُدَرِّسَة", True),
    ("क", "कि", False),
    ("harbour strike", "the strike at the harbour", True),
    ("harbour strike", "the strike", False),
    ('"harbour strike"', "a harbour\n   strike", True),
    ("“harbour strike”", "a harbour strike", True),
    ("«harbour strike»", "a harbour strike", True),
    ('"harbour strike"', "strike harbour", False),
    ('"harbour strike"', "a harbour-strike", True),
    ("middle-income", "middle-income voters", True),
    ("middle-income", "Middle\u2011Income voters", True),
    ("middle-income", "middle income voters", True),
    ("middle-income", "middle-\nincome voters", True),
    ('"middle-income"', "middle income voters", True),
    ('"middle income"', "middle-income voters", True),
    ("middle-income", "income in the middle", False),
    ("middle-income", "middle, income", False),
    ("middle-income", "middle-incomes", False),
    ("middle-inc*", "middle incomes", True),
    ("middle-income", "amiddle-income", False),
    ("-income-", "an income", True),
    ('voters "of middle-income"', "voters of middle income", True),
    ('"harbour strike"', "a harbour, strike", False),
    ('"arbour strike"', "harbour strike", False),
    ('harbour "strike', "a strike in the harbour", True),
    ("harbour, strike!", "a strike in the harbour", True),
    ("c++ (now)", "c++ now", True),
    (".*", "anything", True),
    ("a.c", "abc", False),
    ("3,000", "3,000 ships", True),
    ("<script>", "<script>alert(1)</script>", True),
]


@pytest.mark.parametrize("query, text, expected", FINDS)
def test_what_is_found(query: str, text: str, expected: bool) -> None:
    assert (found(index_of(text, ""), query)[:1] == [0]) is expected


def test_a_term_tells_how_it_may_be_written() -> None:
    assert [term.ways for term in read_query('ship middle-income "harbour strike" middle-inc*').terms] == [
        ("ship",),
        ("middle-income", '"middle income"'),
        ('"harbour strike"', "harbour-strike"),
        ("middle-inc*", '"middle inc*"'),
    ]
    assert len(read_query('middle-income "middle income"').terms) == 1, "one thing, written in two ways"


def test_a_query_without_words_finds_everything_and_one_that_is_nowhere_nothing() -> None:
    index = index_of("one", "two")
    for empty in ("", "   ", "...", '""', "*", "— —"):
        assert found(index, empty) == [0, 1], empty
    nothing = index.find(read_query("three"))
    assert nothing.documents.tolist() == [] and nothing.relevance.tolist() == []


def test_titles_are_searched_and_count_for_more() -> None:
    index = index_of("a ship", "a ship", "harbour", titles=("Harbour", "", "Ships"))
    assert found(index, "harbour ship") == [0]
    relevance = dict(zip(*(part.tolist() for part in _both(index, "ship")), strict=True))
    assert set(relevance) == {0, 1}
    assert "".join(text for text, mark in index.title(0, read_query("harbour")) if mark) == "Harbour"
    titled = index_of("ship sea", "sea", titles=("", "Ship"))
    _, scores = _both(titled, "ship")
    assert scores[1] > scores[0]


def _both(index: TextIndex, query: str) -> tuple[np.ndarray, np.ndarray]:
    result = index.find(read_query(query))
    return result.documents, result.relevance


def test_relevance_grows_with_uses_and_rarity_and_falls_with_length() -> None:
    index = index_of("ship sea sea sea", "ship ship sea sea", "ship sea sea sea" + " more" * 50, "rare sea", "sea")
    documents, relevance = _both(index, "ship")
    assert documents.tolist() == [0, 1, 2]
    assert relevance[1] > relevance[0] > relevance[2]
    both = index_of("rare", "common", "common", "common", "rare common")
    assert _both(both, "rare")[1][0] > _both(both, "common")[1][0]
    assert _both(index, "ship sea")[1] == pytest.approx(_both(index, "sea ship")[1]), "whatever their order"


def test_it_finds_what_looking_at_every_word_finds() -> None:
    """Companion: the same by splitting, on a thousand documents. Dropping the look at the edges of words would fail it."""
    draw = random.Random(4)
    words = ["port", "ports", "important", "PORT", "pörts", "sea", "sea-port", "seaport"]
    texts = [" ".join(draw.choices(words, k=3)) for _ in range(1000)]
    index = index_of(*texts)
    for query in ("port", "sea", "ports", "sea port"):
        wanted = set(query.split())
        expected = [i for i, text in enumerate(texts) if wanted <= set(re.findall(r"\w+", fold(text)))]
        assert found(index, query) == expected and 0 < len(expected) < 1000
    assert found(index, "port") != [i for i, text in enumerate(texts) if "port" in fold(text)]


def test_places_are_those_of_the_text_as_it_is_written() -> None:
    text = "Cafe\u0301s, CAFÉ; straße, ﬁn — na\u00adïve"
    places = term_places(text, read_query("café strasse fin naive"))
    assert [text[start:end] for start, end, _ in places] == ["CAFÉ", "straße", "ﬁn", "na\u00adïve"]
    assert [number for *_, number in places] == [0, 1, 2, 3]
    (accent,) = term_places("x cafe\u0301 y", read_query("cafe"))
    assert "x cafe\u0301 y"[accent[0] : accent[1]] == "cafe\u0301"


def test_folding_is_character_by_character() -> None:
    draw = random.Random(5)
    for _ in range(200):
        text = "".join(
            chr(draw.choice([*range(32, 0x250), *range(0x370, 0x700), *range(0xFB00, 0xFB20), 0x1F600, 0xAC00]))
            for _ in range(30)
        )
        at = draw.randrange(30)
        assert fold(text) == fold(text[:at]) + fold(text[at:])
        assert folded_lengths(text).sum() == len(fold(text))
        assert fold(fold(text)) == fold(text)


def test_excerpts_show_all_terms_with_few_words_around() -> None:
    filler = " ".join(f"filler{number}" for number in range(200))
    index = index_of(f"{filler} the harbour strike {filler} and a picket {filler}")
    query = read_query("picket harbour strike")
    excerpts = index.excerpts(0, query)
    told = shown(excerpts)
    assert len(told) == 2 and "the [harbour] [strike] filler" in told[0] and "a [picket] filler" in told[1]
    assert all(len(one) < 300 and one.startswith("filler") for one in told)
    assert not any(one.begins or one.ends for one in excerpts)


def test_an_excerpt_without_hits_is_the_beginning() -> None:
    index = index_of("one two three " * 50, titles=("Harbour",))
    (excerpt,) = index.excerpts(0, read_query("harbour"))
    assert excerpt.begins and not excerpt.ends and shown((excerpt,))[0].startswith("one two three")
    (short,) = index_of("one two").excerpts(0, read_query(""))
    assert short.begins and short.ends and shown((short,)) == ["one two"]


def test_a_term_that_comes_a_thousand_times_is_quoted_once() -> None:
    index = index_of("ship " * 100_000 + "quay")
    begin = time.monotonic()
    excerpts = index.excerpts(0, read_query("ship"))
    assert len(excerpts) == 1 and len(shown(excerpts)[0]) < 1000
    assert len(index.excerpts(0, read_query("quay ship"))) == 2
    assert time.monotonic() - begin < 20, "not the square of the places"


def test_hostile_patterns_are_only_text() -> None:
    text = "(a+)+$ [x] \\d{2} a|b ^start"
    for word in text.split():
        assert found(index_of(text, "nothing"), f'"{word}"') in ([0], [0, 1])
    assert found(index_of(r"\d", "5"), r"\d") == [0]
