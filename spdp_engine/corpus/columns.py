"""Being written."""
from spdp_engine.corpus.types import Collection, Columns


def guess_columns(collection: Collection) -> Columns:
    """Guess."""
    raise NotImplementedError
