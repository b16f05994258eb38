"""Embed every text of a library, and nothing else.

Arguments: the database, and how many texts suffice to estimate the rest.
"""

import asyncio
import json
import os
import sqlite3
import sys
import time
from contextlib import closing

from lrwr.core.adapters.embed.local import MAX_THREADS, LocalEmbedder

BATCH = 16


def main() -> None:
    with closing(sqlite3.connect(sys.argv[1])) as connection:
        rows = connection.execute("select distinct text from chunk where space <> ''")
        texts = sorted((text for (text,) in rows), key=len)
    step = max(1, len(texts) // int(sys.argv[2]))
    some = texts[step // 2 :: step]  # of every length alike, for they are sorted
    threads = min(os.cpu_count() or 1, MAX_THREADS)
    began, wall = time.process_time(), time.monotonic()
    asyncio.run(_embed(LocalEmbedder(None, threads=threads), some))
    share = len(some) / len(texts)
    cost = {
        "texts": len(texts),
        "embedded": len(some),
        "cpu": (time.process_time() - began) / share,
        "wall": (time.monotonic() - wall) / share,
    }
    print(json.dumps(cost))


async def _embed(embedder: LocalEmbedder, texts: list[str]) -> None:
    # Two batches at once, so that no thread waits for the end of a batch.
    batches = iter([texts[n : n + BATCH] for n in range(0, len(texts), BATCH)])

    async def work() -> None:
        for batch in batches:
            await embedder.embed(batch)

    await asyncio.gather(work(), work())


if __name__ == "__main__":
    main()
