import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from lrwr.app.retrieval import EDGE_MIN_CHUNKS, open_local_vector_index
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.adapters.vectors.edge import (
    EDGE_ENGINE_VERSION,
    EdgeShard,
    EdgeVectorIndex,
    ShardCorruption,
    open_edge_index,
)
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, SearchScope
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange
from tests.fakes.libraries import Library, sqlite_library
from tests.fakes.processes import workers
from tests.fakes.records import (
    DIMENSIONS,
    ONE,
    SPACE,
    TWO,
    a_vector,
    some_chunks,
)
from tests.fakes.suite import examples, sampled

TEXTS = tuple(f"The frog {n} sat." for n in range(40))
Harm = Callable[[Path], object]


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with sqlite_library(tmp_path) as opened:
        await opened.keep_texts(ONE, TEXTS)
        yield opened


@asynccontextmanager
async def edge(
    library: Library, folder: Path, *, space: str = SPACE
) -> AsyncIterator[EdgeVectorIndex]:
    index = await open_edge_index(
        folder / "index",
        library.feed,
        pipeline=Pipeline.NAIVE,
        space=space,
        dimensions=DIMENSIONS,
    )
    assert index is not None
    try:
        yield index
    finally:
        await index.aclose()


def shard_of(folder: Path) -> Path:
    return folder / "index" / f"a-{SPACE}"


def files_of(folder: Path, pattern: str) -> list[Path]:
    found = sorted(path for path in shard_of(folder).rglob(pattern) if path.is_file())
    assert found
    return found


async def found(index: VectorIndex) -> set[ChunkId]:
    near = await index.nearest(a_vector("q"), scope=SearchScope(), limit=999)
    return {scored.chunk for scored in near}


def expected(*texts: str) -> set[ChunkId]:
    return {chunk.id for chunk in some_chunks(texts or TEXTS)}


def is_mapped(folder: Path) -> bool:
    return str(folder) in Path("/proc/self/maps").read_text("utf-8")


def remove_all(folder: Path) -> None:
    shutil.rmtree(shard_of(folder))


def empty(pattern: str) -> Harm:
    def harm(folder: Path) -> None:
        for path in files_of(folder, pattern):
            path.write_bytes(b"")

    return harm


def cut(pattern: str) -> Harm:
    def harm(folder: Path) -> None:
        for path in files_of(folder, pattern):
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])

    return harm


def overwrite(pattern: str) -> Harm:
    def harm(folder: Path) -> None:
        for path in files_of(folder, pattern):
            path.write_bytes(b"\xa7" * path.stat().st_size)

    return harm


def remove(pattern: str) -> Harm:
    def harm(folder: Path) -> None:
        for path in files_of(folder, pattern):
            path.unlink()

    return harm


@pytest.mark.parametrize(
    "harm",
    sampled(
        [
            pytest.param(remove_all, id="all of it removed"),
            pytest.param(remove("segment.json"), id="segment removed"),
            pytest.param(remove("chunk_*.mmap"), id="vectors removed"),
            pytest.param(remove("status.dat"), id="status removed"),
            pytest.param(empty("edge_config.json"), id="settings emptied"),
            pytest.param(empty("status.dat"), id="panic on opening"),
            pytest.param(empty("page_*.dat"), id="payloads emptied"),
            pytest.param(cut("chunk_*.mmap"), id="vectors cut short"),
            pytest.param(cut("tracker.dat"), id="tracker cut short"),
            pytest.param(overwrite("chunk_*.mmap"), id="vectors overwritten"),
            pytest.param(overwrite("segment.json"), id="segment overwritten"),
            pytest.param(overwrite("flags_*.dat"), id="flags overwritten"),
        ]
    ),
)
@pytest.mark.exhaustive
async def test_a_damaged_shard_is_made_again_from_the_records(
    library: Library, tmp_path: Path, harm: Harm
) -> None:
    async with edge(library, tmp_path) as index:
        await index.catch_up()
    harm(tmp_path)
    await library.keep_texts(TWO, ["Something new."])
    async with edge(library, tmp_path) as index:
        await index.catch_up()
        new = {chunk.id for chunk in some_chunks(["Something new."], document=TWO)}
        assert await found(index) == expected() | new
        assert not index.uses_fallback


async def test_a_shard_with_changes_that_were_not_saved_is_made_again(
    library: Library, tmp_path: Path
) -> None:
    unsaved = shard_of(tmp_path) / "unsaved"
    async with edge(library, tmp_path) as index:
        await index.catch_up()
        assert not unsaved.exists()
    unsaved.touch()
    with pytest.raises(ShardCorruption, match="before it had saved"):
        EdgeShard.load(shard_of(tmp_path), DIMENSIONS)
    async with edge(library, tmp_path) as index:
        await index.catch_up()
        assert await found(index) == expected()
        assert not unsaved.exists()
        assert not index.uses_fallback


@pytest.mark.skipif(os.name == "nt", reason="no modes of files")
async def test_a_shard_belongs_to_its_owner_alone(
    library: Library, tmp_path: Path
) -> None:
    async with edge(library, tmp_path) as index:
        await index.catch_up()
        assert shard_of(tmp_path).stat().st_mode & 0o777 == 0o700
    everything = [tmp_path / "index", *(tmp_path / "index").rglob("*")]
    assert len(everything) > 3
    assert not [path for path in everything if path.stat().st_mode & 0o077]


async def test_a_shard_of_another_library_is_made_again(
    library: Library, tmp_path: Path
) -> None:
    async with sqlite_library(tmp_path / "other") as other:
        await other.keep_texts(TWO, ["Somebody else's."])
        async with edge(other, tmp_path) as index:
            await index.catch_up()
    async with edge(library, tmp_path) as index:
        assert await index.catch_up() == len(TEXTS)
        assert await found(index) == expected()


async def test_a_shard_of_another_make_is_made_again(
    library: Library, tmp_path: Path
) -> None:
    EdgeShard.create(shard_of(tmp_path), DIMENSIONS + 1, "any").close()
    with pytest.raises(ShardCorruption, match="another version"):
        EdgeShard.load(shard_of(tmp_path), DIMENSIONS)
    async with edge(library, tmp_path) as index:
        await index.catch_up()
        assert await found(index) == expected()
        assert not index.uses_fallback


def test_the_engine_is_the_one_that_shards_are_marked_with() -> None:
    assert version("qdrant-edge-py") == EDGE_ENGINE_VERSION


async def test_a_shard_that_cannot_be_made_again_is_given_up(
    library: Library, tmp_path: Path
) -> None:
    async with edge(library, tmp_path) as index:
        shard_of(tmp_path).write_text("in the way")
        await index.catch_up()
        assert index.uses_fallback
        assert await found(index) == expected()
        await library.keep_texts(ONE, TEXTS[:3])
        await index.catch_up()
        assert await found(index) == expected(*TEXTS[:3])


async def test_an_index_asked_before_it_followed_answers_all_the_same(
    library: Library, tmp_path: Path
) -> None:
    async with edge(library, tmp_path) as index:
        assert await found(index) == expected()


async def test_the_records_failure_is_not_taken_for_the_shards(
    library: Library, tmp_path: Path
) -> None:
    class BrokenFeed(SqliteChangeFeed):
        def __init__(self) -> None: ...

        async def epoch(self) -> str:
            raise KeyError("the records")

        async def changes(
            self, pipeline: Pipeline, space: str, *, after: int, limit: int
        ) -> list[ChunkChange]:
            raise KeyError("the records")

    index = await open_edge_index(
        tmp_path / "index",
        BrokenFeed(),
        pipeline=Pipeline.NAIVE,
        space=SPACE,
        dimensions=DIMENSIONS,
    )
    assert index is not None
    with pytest.raises(KeyError, match="the records"):
        await index.catch_up()
    assert not index.uses_fallback
    await index.aclose()


async def test_a_second_process_gets_none_until_the_first_is_done(
    library: Library, tmp_path: Path
) -> None:
    about = {"pipeline": Pipeline.NAIVE, "space": SPACE, "dimensions": DIMENSIONS}

    async def open_it() -> EdgeVectorIndex | None:
        return await open_edge_index(tmp_path / "index", library.feed, **about)  # type: ignore[arg-type]

    with workers("hold", tmp_path) as (holder,):
        assert holder.hear() == str(len(TEXTS))
        assert await open_it() is None
        holder.go()
        assert holder.rest() == []
        index = await open_it()
    assert index is not None
    assert await index.catch_up() == 0
    assert await found(index) == expected()
    assert await open_it() is None
    await index.aclose()


async def test_a_killed_holder_leaves_the_shard_to_others(
    library: Library, tmp_path: Path
) -> None:
    with workers("hold", tmp_path) as (holder,):
        assert holder.hear() == str(len(TEXTS))
        holder.kill()
        async with edge(library, tmp_path) as index:
            await index.catch_up()
            assert await found(index) == expected()


async def test_a_shard_killed_at_any_moment_goes_on_from_where_it_was(
    library: Library, tmp_path: Path
) -> None:
    for turns in (5, 2, 11)[: examples(3)]:
        with workers("follow", tmp_path) as (follower,):
            assert all(follower.hear() for _ in range(turns))
        scan = NumpyVectorIndex(
            library.feed, pipeline=Pipeline.NAIVE, space=SPACE, dimensions=DIMENSIONS
        )
        await scan.catch_up()
        async with edge(library, tmp_path) as index:
            await index.catch_up()
            assert not index.uses_fallback
            assert await found(index) == await found(scan)


async def test_spaces_do_not_mix_whatever_their_names(
    library: Library, tmp_path: Path
) -> None:
    for space in ("a/b", "a_b", "..", "ä" * 300):
        async with edge(library, tmp_path, space=space) as index:
            assert await index.catch_up() == len(TEXTS)
            assert await found(index) == set()
    names = [path.name for path in (tmp_path / "index").iterdir() if path.is_dir()]
    assert len(set(names)) == 4
    assert all(name.startswith("a-") for name in names)


async def test_a_small_library_is_scanned_and_a_large_one_gets_a_shard(
    library: Library, tmp_path: Path
) -> None:
    async def chosen(chunks: int) -> VectorIndex:
        return await open_local_vector_index(
            tmp_path / "index",
            library.feed,
            pipeline=Pipeline.NAIVE,
            space=SPACE,
            dimensions=DIMENSIONS,
            chunks=chunks,
        )

    small, large = await chosen(EDGE_MIN_CHUNKS - 1), await chosen(EDGE_MIN_CHUNKS)
    second = await chosen(EDGE_MIN_CHUNKS)
    kinds = [type(index) for index in (small, large, second)]
    assert kinds == [NumpyVectorIndex, EdgeVectorIndex, NumpyVectorIndex]
    for index in (small, large, second):
        assert await index.catch_up() == len(TEXTS)
        assert await found(index) == expected()
        await index.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("stays_open", [True, False])
async def test_an_index_that_does_not_stay_open_maps_no_file_after_a_search(
    library: Library, tmp_path: Path, stays_open: bool
) -> None:
    index = await open_local_vector_index(
        tmp_path / "index",
        library.feed,
        pipeline=Pipeline.NAIVE,
        space=SPACE,
        dimensions=DIMENSIONS,
        chunks=EDGE_MIN_CHUNKS,
        stays_open=stays_open,
    )
    async with aclosing(index):
        for added in ((), ("A newt sat.",), ()):
            if added:
                await library.keep_texts(TWO, added)
            await index.catch_up()
            assert await found(index) == await found(index)
            assert is_mapped(shard_of(tmp_path)) is stays_open
        assert len(await found(index)) == len(TEXTS) + 1


async def test_an_index_folder_that_cannot_be_made_leaves_the_scan(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "index").write_text("in the way")
    index = await open_local_vector_index(
        tmp_path / "index",
        library.feed,
        pipeline=Pipeline.NAIVE,
        space=SPACE,
        dimensions=DIMENSIONS,
        chunks=EDGE_MIN_CHUNKS,
    )
    assert isinstance(index, NumpyVectorIndex)
