"""Schedules: who samples which token when. None knows of a model; see `sampling.methods` for which go together."""

from spdp_engine.sampling.schedules.augmentation import DataAugmentation
from spdp_engine.sampling.schedules.base import Schedule
from spdp_engine.sampling.schedules.blocked import BlockedBackward, BlockedNested
from spdp_engine.sampling.schedules.blocks import Blocks
from spdp_engine.sampling.schedules.sequential import Sequential
from spdp_engine.sampling.schedules.token_parallel import TokenParallel
from spdp_engine.sampling.schedules.topic_parallel import TopicParallel

__all__ = [
    "BlockedBackward",
    "BlockedNested",
    "Blocks",
    "DataAugmentation",
    "Schedule",
    "Sequential",
    "TokenParallel",
    "TopicParallel",
]
