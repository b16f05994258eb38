"""Forgetting a library: all that lrwr keeps of it goes, and nothing of the writer's."""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from qdrant_client import models

from lrwr.app.maintenance.local_data import delete_local_data, scan_local_data
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.library import Library
from tests.fakes.qdrant_server import KEY, Asked, Json, QdrantServer
from tests.fakes.terminal import Ran, Terminal, check_refusal
from tests.fakes.watch_process import Watches
from tests.fakes.web_server import Hang, Refuse

PAGES = {
    "1.md": "# One\n\nNell Tallow oiled the hinge of the sluice before the tide came.\n",
    "2.md": "# Two\n\nCorin Vale counted the herons on the weir and found eleven.\n",
}
QUESTION = "Who counted the herons?"


@dataclass
class Listing(QdrantServer):
    """A server that lists its collections, too."""

    def __enter__(self) -> "Listing":
        super().__enter__()
        return self

    @property
    def collections(self) -> list[str]:
        return sorted(one.name for one in self.engine.get_collections().collections)

    def answer(self, asked: Asked) -> Json:
        if asked.path != "/collections":
            return super().answer(asked)
        return {"collections": [{"name": name} for name in self.collections]}


@pytest.fixture(scope="module")
def serving() -> Iterator[Listing]:
    with Listing(key=KEY) as opened:
        yield opened


class Desk:
    """A book that was read and asked about, with its vectors on a server."""

    def __init__(self, place: Path, server: Listing) -> None:
        self.place, self.server = place, server
        self.book = place / "book"
        self.book.mkdir()
        for name, text in PAGES.items():
            (self.book / name).write_text(text, encoding="utf-8")
        (self.book / "lrwr.toml").write_text("[search]\nlimit = 5\n")
        self.state = self.book / ".lrwr"
        self.terminal = self.at(self.book)
        for words in (
            ("ingest", "."),
            ("ask", QUESTION),
            ("canon", "type", "1.md", "scene"),
            ("privacy", "deny", "cohere"),
        ):
            assert self.terminal.run(*words).code == 0
        self.writers = self.tree()

    def at(self, folder: Path) -> Terminal:
        return Terminal(
            folder,
            home=self.place / "home",
            XDG_STATE_HOME=str(self.place / "home/state"),
            LRWR_VECTORS_KEEPER="qdrant",
            LRWR_VECTORS_URL=self.server.url,
            QDRANT_API_KEY=KEY,
        )

    def run(self, *words: str, given: str = "", **env: str) -> Ran:
        ran = self.terminal.run("forget", *words, given=given, **env)
        assert KEY not in ran.out + ran.err
        return ran

    def tree(self) -> dict[str, bytes]:
        """What is the writer's own."""
        return {
            str(path.relative_to(self.book)): path.read_bytes()
            for path in self.book.rglob("*")
            if path.is_file() and not path.is_relative_to(self.state)
        }

    def kept(self) -> list[str]:
        """What lrwr keeps on this machine."""
        states = (self.state, self.place / "home/state")
        return sorted(p.name for s in states for p in s.rglob("*") if p.is_file())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, serving: Listing) -> Desk:
    """Made once; `desk` puts it back as it was."""
    desk = Desk(tmp_path_factory.mktemp("desk"), serving)
    shutil.copytree(desk.book, desk.place / "before/book")
    shutil.copytree(desk.place / "home", desk.place / "before/home")
    return desk


@pytest.fixture(scope="module")
def collection(made: Desk) -> "tuple[str, list[models.PointStruct]]":
    """What a search of its put on the server: a name, and the points."""
    (name,) = made.server.collections
    points, _ = made.server.engine.scroll(name, with_vectors=True, limit=100)
    return name, [models.PointStruct(**_of(point)) for point in points]


def _of(point: models.Record) -> dict[str, Json]:
    return {"id": point.id, "vector": point.vector or {}, "payload": point.payload}


@pytest.fixture
def server(
    serving: Listing, collection: tuple[str, list[models.PointStruct]]
) -> Listing:
    name, points = collection
    for other in set(serving.collections) - {name}:
        serving.engine.delete_collection(other)
    if not serving.collections:
        vector = models.VectorParams(size=384, distance=models.Distance.DOT)
        serving.engine.create_collection(name, vectors_config={"text": vector})
        serving.engine.upsert(name, points)
    serving.asked.clear()
    serving.always(None)
    return serving


@pytest.fixture
def desk(made: Desk, server: Listing) -> Desk:
    assert server is made.server
    for name in ("book", "home"):
        shutil.rmtree(made.place / name)
        shutil.copytree(made.place / "before" / name, made.place / name)
    for name in ("copy", "theirs", "mine", "outside"):
        shutil.rmtree(made.place / name, ignore_errors=True)
    return made


def told(ran: Ran) -> str:
    return " ".join(f"{ran.out} {ran.err}".split())


def test_all_of_a_library_goes_and_nothing_of_the_writer_s(
    desk: Desk, server: Listing
) -> None:
    server.engine.create_collection("theirs", vectors_config={})
    server.engine.create_collection("lrwr-b-another", vectors_config={})
    (mine,) = set(server.collections) - {"theirs", "lrwr-b-another"}
    shutil.copytree(desk.state / "index", desk.state / "evaluations")
    assert any(name.startswith("cohere") or "cohere" in name for name in desk.kept())
    ran = desk.run("--yes")
    assert ran.code == ExitCode.OK
    assert "2 documents, 2 passages, 1 thread, 1 answer" in ran.out
    assert "To keep them, run `lrwr backup`" in ran.out
    assert "1 collection at Qdrant at 127.0.0.1" in told(ran)
    assert desk.kept() == []
    assert not desk.state.exists()
    assert mine not in server.collections
    assert server.collections == ["lrwr-b-another", "theirs"]
    assert desk.tree() == desk.writers
    assert "lrwr.canon.toml" in desk.writers
    check_refusal(desk.run("--yes"), ExitCode.NOT_FOUND, "There is no library in")
    assert desk.terminal.run("ingest", ".").code == 0


def test_a_dry_run_shows_sizes_changes_nothing_and_asks_no_server(
    desk: Desk, server: Listing
) -> None:
    kept, asked = desk.kept(), len(server.asked)
    ran = desk.run("--dry-run", "--json")
    assert ran.code == 0
    assert (ran.json["dry_run"], ran.json["conversations"]) == (True, 1)
    assert ran.json["size"] == sum(one["size"] for one in ran.json["here"]) > 100_000
    assert ran.json["elsewhere"] == ["Qdrant at 127.0.0.1: the vectors of this library"]
    shown = desk.run("--dry-run").out
    assert "Qdrant at 127.0.0.1" in shown
    assert "(0 bytes)" not in shown
    assert (desk.kept(), len(server.asked)) == (kept, asked)


@pytest.mark.parametrize("said", ["", "yes\n", "Book\n"])
def test_whoever_does_not_type_the_folder_s_name_keeps_everything(
    desk: Desk, server: Listing, said: str
) -> None:
    kept, there = desk.kept(), server.collections
    ran = desk.run(given=said)
    assert ran.code == ExitCode.SETTINGS
    assert "Nothing was deleted" in ran.err
    assert (desk.kept(), server.collections) == (kept, there)


def test_the_folder_s_name_confirms(desk: Desk) -> None:
    ran = desk.run("--json", given="book\n")
    assert ran.code == 0
    assert (ran.json["all_gone"], ran.json["left"]) == (True, [])
    assert desk.kept() == []


def test_what_a_server_that_is_away_keeps_is_told_and_goes_with_the_next_run(
    desk: Desk, server: Listing
) -> None:
    there = server.collections
    server.always(Refuse(503))
    ran = desk.run("--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "Not deleted: Qdrant: " in told(ran)
    assert there[0] in ran.out
    assert "Run `lrwr forget` again." in told(ran)
    assert "Not everything was deleted" in ran.out
    assert "library.db" not in desk.kept()
    left = (desk.state / "forgetting.json").read_text(encoding="utf-8")
    assert there[0] in left
    assert not [word for word in ("Nell", "Corin", "1.md", KEY) if word in left]
    assert server.collections == there
    server.always(None)
    again = desk.run("--yes")
    assert again.code == 0
    assert (server.collections, desk.kept()) == ([], [])


def test_what_was_left_is_not_lost_by_reading_the_book_again(
    desk: Desk, server: Listing
) -> None:
    (before,) = server.collections
    server.always(Refuse(503))
    assert desk.run("--yes").code == ExitCode.PARTIAL
    server.always(None)
    assert desk.terminal.run("ingest", ".").code == 0
    assert desk.terminal.run("search", QUESTION).code == 0
    assert len(server.collections) == 2
    assert before in server.collections
    assert desk.run("--yes").code == 0
    assert (server.collections, desk.kept()) == ([], [])


def test_a_server_that_is_set_no_more_is_named(desk: Desk) -> None:
    ran = desk.run("--yes", LRWR_VECTORS_KEEPER="embedded")
    assert ran.code == ExitCode.PARTIAL
    assert "no Qdrant server is configured any more" in told(ran)
    assert "delete them in Qdrant's dashboard" in told(ran)
    assert desk.run("--yes").code == 0
    assert desk.kept() == []


def test_a_key_that_may_not_list_collections_is_enough(
    desk: Desk, server: Listing
) -> None:
    server.will(Refuse(403))
    assert desk.run("--yes").code == 0
    assert server.collections == []


def test_killed_while_a_server_is_asked_nothing_is_lost_and_the_next_run_ends_it(
    desk: Desk, server: Listing
) -> None:
    kept, asked = desk.kept(), len(server.asked)
    server.will(Hang())
    process = desk.terminal.start("forget", "--yes")
    while len(server.asked) == asked:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert [name for name in desk.kept() if not name.endswith((".lock", "shm", "wal"))]
    assert set(kept) - set(desk.kept()) <= {"library.db-shm", "library.db-wal"}
    assert desk.run("--yes").code == 0
    assert (server.collections, desk.kept()) == ([], [])


@pytest.mark.parametrize("parts", [1, 3, 9])
def test_killed_after_any_part_the_rest_goes_with_the_next_run(
    desk: Desk, server: Listing, parts: int
) -> None:
    library = Library(desk.book, desk.state)
    kept = scan_local_data(library)
    for _ in zip(range(parts), delete_local_data(kept), strict=False):
        pass
    assert len(scan_local_data(library).parts) == max(0, len(kept.parts) - parts)
    assert desk.run("--yes").code == 0
    assert desk.kept() == []
    if parts < len(kept.parts):  # the records knew of the server
        assert server.collections == []


def test_a_library_in_use_is_left_alone_here_and_there(
    desk: Desk, server: Listing
) -> None:
    with closing(sqlite3.connect(desk.state / "library.db")) as other:
        other.execute("PRAGMA journal_mode = WAL").fetchone()
        other.execute("select count(*) from document").fetchone()
        kept, asked = desk.kept(), len(server.asked)
        ran = desk.run("--yes")
        assert ran.code == ExitCode.STORE
        assert "Stop `lrwr watch`, `lrwr chat`" in told(ran)
        assert (len(server.asked), desk.kept()) == (asked, kept)


def test_the_collection_of_a_copy_is_not_taken_from_it(
    desk: Desk, server: Listing
) -> None:
    copy = desk.place / "copy"
    shutil.copytree(desk.book, copy)
    there = desk.at(copy)
    found = there.run("search", QUESTION, "--json")
    (mine, theirs) = server.collections
    assert found.code == 0
    ran = desk.run("--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "a copy of this library in another folder may use them" in told(ran)
    (left,) = server.collections
    assert left in (mine, theirs)
    assert left in ran.out
    asked = len(server.asked)
    assert there.run("search", QUESTION, "--json").out == found.out
    assert not [one for one in server.asked[asked:] if one.method == "PUT"]


def test_here_alone_leaves_the_server_and_says_so(desk: Desk, server: Listing) -> None:
    there, asked = server.collections, len(server.asked)
    ran = desk.run("--here", "--yes")
    assert ran.code == ExitCode.PARTIAL
    assert there[0] in ran.out
    assert "lrwr cannot find them any more" in told(ran)
    assert (server.collections, len(server.asked)) == (there, asked)
    assert desk.kept() == []


def test_what_is_not_lrwr_s_in_its_folder_stays(desk: Desk) -> None:
    mine = desk.state / "my-notes.md"
    mine.write_text("mine", encoding="utf-8")
    ran = desk.run("--yes")
    assert ran.code == ExitCode.PARTIAL
    assert "my-notes.md" in ran.out
    assert desk.kept() == [".gitignore", "my-notes.md"]


def test_a_damaged_library_goes_too(desk: Desk, server: Listing) -> None:
    database = desk.state / "library.db"
    database.write_bytes(b"no database at all" * 99)
    assert desk.run("--yes").code == 0
    assert desk.kept() == []
    assert server.collections == []


def test_a_folder_from_elsewhere_cannot_have_another_one_emptied(desk: Desk) -> None:
    theirs = desk.place / "theirs"
    theirs.mkdir()
    (theirs / "lrwr.toml").write_text(f"state_dir = {json.dumps(str(desk.place))}\n")
    terminal = desk.at(theirs)
    for state in ("../mine", "../book/.lrwr", "../book"):
        shutil.rmtree(desk.place / "mine", ignore_errors=True)
        shutil.copytree(desk.state, desk.place / "mine")
        (theirs / "lrwr.toml").write_text(f'state_dir = "{state}"\n')
        ran = terminal.run("forget", "--yes")
        assert ran.code in (ExitCode.SETTINGS, ExitCode.NOT_FOUND), ran
    assert (desk.place / "mine/library.db").exists()
    assert (desk.state / "library.db").exists()
    assert desk.tree() == desk.writers


def test_a_link_in_the_folder_is_not_followed(desk: Desk) -> None:
    outside = desk.place / "outside"
    outside.mkdir()
    (outside / "diary.md").write_text("mine", encoding="utf-8")
    (desk.state / "evaluations").symlink_to(outside)
    check_refusal(desk.run("--yes"), ExitCode.STORE, "is a link")
    assert (outside / "diary.md").exists()
    assert (desk.state / "library.db").exists()


def test_what_was_sent_and_cannot_be_called_back_is_told(desk: Desk) -> None:
    row = "insert into sent values (null, 1, ?, ?, 'traces', '', 9, 9, 0, 0, 0, ?)"
    with closing(sqlite3.connect(desk.state / "library.db")) as library, library:
        for service in ("langsmith", "modal", "supabase"):
            library.execute(row, (service, f"{service}.example", "answered"))
        library.execute(row, ("tavily", "api.tavily.com", "not reached"))
    ran = desk.run("--dry-run")
    assert "LangSmith at langsmith.example received 1 request. Traces" in ran.out
    assert "datasets and experiments stay there" in ran.out
    assert "Delete traces, or the project, in LangSmith" in ran.out
    assert "Modal at modal.example received 1 request. Modal stores" in ran.out
    assert "Supabase at supabase.example received 1 request. lrwr cannot" in ran.out
    assert "Tavily" not in ran.out


def test_a_library_that_is_watched_is_left_alone(desk: Desk) -> None:
    with Watches(desk.terminal) as watches:
        watches.start().until("watching")
        assert desk.run("--yes").code == ExitCode.STORE
    assert desk.run("--yes").code == 0
