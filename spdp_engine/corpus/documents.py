"""Being written."""
from spdp_engine.corpus.types import Collection, Columns, Documents


def make_documents(collection: Collection, columns: Columns) -> Documents:
    """Make."""
    raise NotImplementedError
