"""Being written."""
from spdp_engine.corpus.types import Corpus, CorpusSettings, Documents, Progress


def build_corpus(
    documents: Documents, settings: CorpusSettings = CorpusSettings(), progress: Progress | None = None
) -> Corpus:
    """Build."""
    raise NotImplementedError
