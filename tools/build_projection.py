"""Build the projection of the token states that are stored with passages.

It has the 64 directions in which the token states of English novels vary most: the
first eigenvectors of their second moments. Passages are taken at equal distances from
the text files in a folder.

Run it only when the embedding model changes: python -m tools.build_projection FOLDER
"""

import sys
from pathlib import Path

import numpy as np

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.embed.token_states import PROJECTION_FILE, STATE_DIMENSIONS

ASSETS = Path("lrwr/core/adapters/embed/assets")
PASSAGES, CHARACTERS = 600, 900


def main(folder: Path) -> None:
    """Write the projection for the text files in `folder`."""
    texts = [
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".txt", ".md"}
    ]
    whole = "\n\n".join(texts)
    step = max(CHARACTERS, len(whole) // PASSAGES)
    passages = [whole[at : at + CHARACTERS] for at in range(0, len(whole), step)]
    embedder = LocalEmbedder(None, threads=1)
    model = embedder.loaded()
    moments = np.zeros((embedder.dimensions, embedder.dimensions))
    for tokens in model.tokens(passages):
        states = model.unit_states(tokens).astype("f8")
        moments += states.T @ states
    embedder.close()
    _, vectors = np.linalg.eigh(moments)
    first = vectors[:, ::-1][:, :STATE_DIMENSIONS]
    # An eigenvector's sign is arbitrary: its largest number is made positive.
    signs = np.sign(first[np.abs(first).argmax(axis=0), range(STATE_DIMENSIONS)])
    (ASSETS / PROJECTION_FILE).write_bytes((first * signs).astype("<f2").tobytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
