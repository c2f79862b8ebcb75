"""What an analyst reads: topics with their shares and words, the passages that show them, and how good they are."""

from spdp_engine.topics.passages import Passage, PassageReader
from spdp_engine.topics.quality import TopicQuality, measure_quality
from spdp_engine.topics.reading import OWN_WORD_Z, Topics, Word, read_topics

__all__ = ["OWN_WORD_Z", "Passage", "PassageReader", "TopicQuality", "Topics", "Word", "measure_quality", "read_topics"]
