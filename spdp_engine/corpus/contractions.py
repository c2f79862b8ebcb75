"""Words with an apostrophe: what of them is the word, and what is grammar.

English possessives and contractions end in a piece that is no word (Obama's, they'll); French, Italian and Catalan
words begin with one (l'eau, dell'acqua). Whole forms such as don't or aujourd'hui are for the stop list to know.
"""

from __future__ import annotations

# n't is not here: what it leaves (don, isn, couldn) would be no word, so the whole form stands or is stopped.
ENDINGS = frozenset(["s", "ll", "ve", "re", "d", "m"])

_FRENCH = "l d j m t s n c y qu jusqu lorsqu puisqu quoiqu"
_ITALIAN = (
    "un com dov cos anch senz tutt dell all dall nell sull coll pell quest quell bell sant gl degl agl dagl negl sugl"
)
ELISIONS = frozenset(f"{_FRENCH} {_ITALIAN}".split())


def ends_in_grammar(form: str) -> bool:
    """Whether the piece after the last apostrophe of a folded form is an English ending."""
    return form.rpartition("'")[2] in ENDINGS


def begins_in_grammar(form: str) -> bool:
    """Whether the piece before the first apostrophe of a folded form is an elided article, pronoun or preposition."""
    return form.partition("'")[0] in ELISIONS
