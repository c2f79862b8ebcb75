from __future__ import annotations

import re

import pytest

from spdp_engine.corpus.passages import cut


def without_space(text: str) -> str:
    return re.sub(r"\s", "", text)


def sentences(number: int, words: int = 10) -> str:
    return " ".join("word " * (words - 1) + f"end{i}." for i in range(number))


def test_short_documents_stay_whole():
    text = sentences(40)
    assert cut(text, 300) == [text]


@pytest.mark.parametrize("text", [sentences(100), sentences(101).replace(". ", ".\n\n"), "word " * 1000, "漢字" * 900])
def test_passages_are_about_even_and_lose_nothing(text):
    passages = cut(text, 300)
    assert without_space("".join(passages)) == without_space(text)
    assert all(passage == passage.strip() for passage in passages)
    lengths = [len(passage) for passage in passages]
    assert len(passages) == 3
    assert max(lengths) < 1.3 * min(lengths)


def test_cuts_are_at_the_ends_of_sentences():
    assert all(passage.endswith(".") for passage in cut(sentences(100), 300))
    assert all(passage.endswith("。") for passage in cut("漢字漢字漢字漢字漢字。" * 200, 300))


def test_the_end_of_a_paragraph_is_preferred():
    text = sentences(27) + "\n\nNext " + sentences(33)
    assert cut(text, 300)[1].startswith("Next")
