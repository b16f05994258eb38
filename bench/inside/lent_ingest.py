"""`lrwr ingest` with existing vectors: its cost without the embedding model.

Arguments: the database with the vectors and token states, and a file for the time that loading them
took, which is subtracted.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.cli.main import run
from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.model.chunks import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def main() -> None:
    database, report = sys.argv[1:]
    import numpy as np

    began = time.process_time()  # lrwr pays for NumPy too: not taken off
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("select text_hash, vector from embedding")
        vectors = {name: np.frombuffer(v, np.float32) for name, v in rows}
        states = dict(connection.execute("select text_hash, states from token_state"))

    def lend(
        self: LocalEmbedder, chunks: Sequence[Chunk]
    ) -> "tuple[NDArray[np.float32], list[bytes]]":
        del self
        names = [chunk.text_hash for chunk in chunks]
        found = np.array([vectors[name] for name in names])
        return found, [states.get(name, b"") for name in names]

    LocalEmbedder._embed_with_states = lend  # type: ignore[method-assign]
    Path(report).write_text(json.dumps({"cpu": time.process_time() - began}))
    sys.argv = ["lrwr", "ingest", "--json"]
    run()


if __name__ == "__main__":
    main()
