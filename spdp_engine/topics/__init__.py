"""What an analyst reads: topics with their shares and words, and the passages that show them."""

from spdp_engine.topics.passages import Passage, PassageReader
from spdp_engine.topics.reading import OWN_WORD_Z, Topics, Word, read_topics

__all__ = ["OWN_WORD_Z", "Passage", "PassageReader", "Topics", "Word", "read_topics"]
