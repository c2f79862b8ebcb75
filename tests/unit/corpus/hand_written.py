"""Documents of a few words each, for tests of what becomes of them."""

from __future__ import annotations

import pandas as pd

from spdp_engine.corpus import Columns, CorpusSettings, Documents

PLAIN = CorpusSettings(language="none", minimum_documents=1, maximum_share=1.0, minimum_length=1, passages=False)


def documents(texts: list[str], groups: list[str] | None = None) -> Documents:
    n = len(texts)
    return Documents(
        texts=tuple(texts),
        groups=tuple(groups or ["All documents"] * n),
        titles=tuple(f"title {i}" for i in range(n)),
        dates=("",) * n,
        fields=pd.DataFrame({"n": [str(i) for i in range(n)]}, dtype="str"),
        columns=Columns("text", "group"),
        sources=(),
        notes=(),
    )
