"""Load the embedding model and embed one text: a lower bound for a first search."""

import asyncio
import os

from lrwr.core.adapters.embed.local import MAX_THREADS, LocalEmbedder


def main() -> None:
    threads = min(os.cpu_count() or 1, MAX_THREADS)
    asyncio.run(LocalEmbedder(None, threads=threads).embed(["Who painted it?"]))


if __name__ == "__main__":
    main()
