"""A run that goes on with other words: the topics keep their numbers, since each token that stays keeps its topic.

job, associations = continue_with(job, sample, [WordChange("said")], associations, 200, queue)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spdp_engine.corpus.changes import WordChange, change_words
from spdp_engine.errors import SettingsError
from spdp_engine.jobs import Job, Queue
from spdp_engine.results import Associations
from spdp_engine.topics.changes import carried_topics
from spdp_engine.types import Sample


def continue_with(
    job: Job,
    sample: Sample,
    changes: Sequence[WordChange],
    associations: Associations | None,
    iterations: int,
    queue: Queue,
) -> tuple[Job, Associations | None]:
    """Starts a run on the changed corpus of one that rests, with the same settings, where that one left off.

    Args:
        job: the run so far; it is left as it is.
        sample: of it.
        changes: of the words of its corpus.
        associations: what it took of a file of associations, which is matched with the new words.
        iterations: to be done.
        queue: in which the new run waits for its turn.

    Returns:
        The new run, and its associations.

    Raises:
        InputError, SettingsError: too little would be left, the associations do not go with the new words, or the run has not come
            to rest yet.
    """
    topics = job.topics()
    if topics is None:
        raise SettingsError("The run has no topics to go on from yet; let it run a little, and pause or stop it.")
    corpus, kept = change_words(job.corpus, changes)
    if associations:
        associations = Associations.of(associations.table, corpus)
    settings = replace(job.settings, associations=associations.matrices if associations else None)
    settings.check_makes_sense_for(corpus)
    start = carried_topics(job.corpus, sample, topics, kept)
    return Job(corpus, settings, iterations, queue, start=start), associations
