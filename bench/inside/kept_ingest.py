"""`lrwr ingest` that stores its vectors, or reuses those of an earlier run.

Arguments: `keep` or `lend`, the folder of the vectors, and a file for the counts.
"""

import json
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.cli.main import run
from lrwr.core.adapters.embed.local import LocalEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def main() -> None:
    way, folder, report = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    import numpy as np

    vectors: dict[str, NDArray[np.float32]] = {}
    counted = {"texts": 0, "cpu": 0.0}
    embed = LocalEmbedder._embed

    def keep(self: LocalEmbedder, texts: Sequence[str]) -> "NDArray[np.float32]":
        found = embed(self, texts)
        vectors.update(zip(map(_name, texts), found, strict=True))
        counted["texts"] += len(texts)
        return found

    def lend(self: LocalEmbedder, texts: Sequence[str]) -> "NDArray[np.float32]":
        del self
        counted["texts"] += len(texts)
        return np.array([vectors[_name(text)] for text in texts])

    began = time.process_time()
    if way == "lend":
        names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
        rows = np.load(folder / "vectors.npy")
        vectors.update(zip(names, rows, strict=True))
    chosen = lend if way == "lend" else keep
    LocalEmbedder._embed = chosen  # type: ignore[method-assign]
    counted["cpu"] = time.process_time() - began
    sys.argv = ["lrwr", "ingest", "--json"]
    try:
        run()
    finally:  # the command line ends with an exit
        if way == "keep":
            folder.mkdir(exist_ok=True)
            np.save(folder / "vectors.npy", np.array(list(vectors.values())))
            (folder / "names.json").write_text(json.dumps(list(vectors)), "utf-8")
        report.write_text(json.dumps(counted), encoding="utf-8")


def _name(text: str) -> str:
    return sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    main()
