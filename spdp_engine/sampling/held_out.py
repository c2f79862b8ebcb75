"""Which tokens are held out, so that the fit can be measured on words the sampler has not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.types import TokenArrays


def choose_held_out(corpus: TokenArrays, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Document completion: half the tokens of some documents are held out, the other half is trained on with all the rest.

    A document here is what has topic shares of its own, which the half that is trained on must tell. A passage has: it shares with
    other passages of its document no more than with any of its group. So passages are chosen one by one.

    Args:
        corpus: the tokens.
        fraction: share of the documents, 0 <= fraction < 1; where it is above 0, at least one document is taken.
        seed: the same seed holds out the same tokens.

    Returns:
        bool [N], True where a token is held out. A document of one token is never chosen.

    Raises:
        SettingsError: the fraction is out of range.
    """
    if not 0 <= fraction < 1:
        raise SettingsError(f"The held-out share of documents must be at least 0 and below 1; it is {fraction:g}.")
    lengths = np.bincount(corpus.token_document, minlength=len(corpus.document_group))
    candidates = np.flatnonzero(lengths >= 2)
    count = min(len(candidates), max(1, round(fraction * len(lengths)))) if fraction > 0 else 0
    held_out = np.zeros(len(corpus.token_word), bool)
    if not count:
        return held_out
    rng = np.random.default_rng([seed, 0x4E1D])
    chosen = np.zeros(len(lengths), bool)
    chosen[rng.choice(candidates, count, replace=False)] = True
    # Within each chosen document, tokens in random order: the first half of that order is held out.
    tokens = np.flatnonzero(chosen[corpus.token_document])
    documents = corpus.token_document[tokens]
    shuffled = np.lexsort((rng.random(len(tokens)), documents))
    rank = np.arange(len(tokens)) - np.searchsorted(documents, documents)
    held_out[tokens[shuffled[rank < lengths[documents] // 2]]] = True
    return held_out
