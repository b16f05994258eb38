"""`lrwr search` where the story is known: who is in a passage, and of what kind it is."""

from collections.abc import Collection
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal

FILES = {
    "1.md": (
        "# One\n\n“Is it late, or is it early?” said Nell Tallow.\n\n“It struck six, so"
        " it is late,” said Corin Vale. “Late enough for the lamp,” said Nell.\n"
    ),
    "2.md": (
        "# Two\n\n“Nell Tallow is never here when it is late,” said Corin Vale. “She"
        " sleeps late, and so did her father,” said Mrs. Gannet.\n"
    ),
    "3.md": (
        "# Three\n\nThe late barges lay black below the narrow bridge, and there were"
        " two stone walls, a wooden door and a tall chimney. The roof was grey. Beyond"
        " it stood old trees, and the river was brown and wide under a pale sky.\n"
    ),
}


def write(book: Path) -> None:
    book.mkdir()
    for name, text in FILES.items():
        (book / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    place = tmp_path_factory.mktemp("people")
    write(place / "book")
    terminal = Terminal(place / "book", home=place / "home", LRWR_EMBEDDING_MODEL="off")
    assert terminal.run("ingest", ".").code == 0
    return terminal


def found(book: Terminal, *words: str) -> set[str]:
    ran = book.run("search", "late", "--json", *words)
    assert ran.code == 0
    return {passage["file"] for passage in ran.json["passages"]}


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ([], {"1.md", "2.md", "3.md"}),
        (["--character", "Nell"], {"1.md", "2.md"}),
        (["--present", "Nell Tallow"], {"1.md"}),
        (["--present", "Corin"], {"1.md", "2.md"}),
        (["--present", "Corin", "--present", "Mrs. Gannet"], {"2.md"}),
        (["--character", "Nell", "--as-of", "ch1"], {"1.md"}),
        (["--content-type", "dialogue"], {"1.md", "2.md"}),
        (["--content-type", "description", "--present", "Nell"], set()),
        (["--content-type", "description"], {"3.md"}),
        (["--no-names"], {"1.md", "2.md", "3.md"}),
    ],
)
def test_a_search_keeps_to_whom_and_what_it_was_told(
    book: Terminal, words: list[str], files: Collection[str]
) -> None:
    assert found(book, *words) == files


@pytest.mark.parametrize("option", ["--character", "--present"])
def test_who_comes_later_is_refused_like_somebody_made_up(
    book: Terminal, option: str
) -> None:
    later, made_up = (
        book.run("search", "late", option, name, "--as-of", "ch1")
        for name in ("Mrs. Gannet", "Toller")
    )
    assert later.code == made_up.code == 3
    assert later.err == made_up.err.replace("Toller", "Mrs. Gannet")


@pytest.mark.parametrize("option", ["--character", "--present"])
def test_a_name_that_nobody_bears_is_refused_with_a_way_on(
    book: Terminal, option: str
) -> None:
    ran = book.run("search", "late", option, "Zebedee")
    assert (ran.code, ran.out) == (ExitCode.NOT_FOUND, "")
    assert ran.err.startswith("lrwr: No character is called Zebedee\n")
    assert "hint: List the characters with `lrwr characters`." in ran.err


def test_a_kind_that_there_is_not_gets_the_nearest(book: Terminal) -> None:
    ran = book.run("search", "late", "--content-type", "dialog")
    assert ran.code == ExitCode.SETTINGS
    assert "Did you mean dialogue?" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["--character", "Nell"],
        ["--present", "Nell"],
        ["--content-type", "dialogue"],
        ["--function", "plot_event"],
    ],
)
def test_where_the_story_is_not_known_nobody_is_looked_for(
    book: Terminal, words: list[str]
) -> None:
    ran = book.run("search", "late", "--pipeline", "a", *words)
    assert (ran.code, ran.out) == (ExitCode.SETTINGS, "")
    assert "--pipeline b" in ran.err


def test_a_library_that_another_pipeline_read_is_not_called_silent(
    tmp_path: Path,
) -> None:
    write(tmp_path / "book")
    terminal = Terminal(
        tmp_path / "book", home=tmp_path / "home", LRWR_EMBEDDING_MODEL="off"
    )
    assert terminal.run("ingest", ".", "--pipeline", "a").code == 0
    (tmp_path / "book" / "q.jsonl").write_text('{"id": "1", "question": "late"}\n')
    ran = terminal.run("ask", "Who is late?")
    assert (ran.code, ran.out) == (ExitCode.NOT_FOUND, "")
    assert "hint: Run `lrwr ingest --pipeline b`" in ran.err
    assert "1.md" in found(terminal)
    assert terminal.run("search", "--batch", "q.jsonl").code == 0
    assert "1.md" in found(terminal, "--pipeline", "a")
    assert "No document is ingested with pipeline b" in terminal.run("status").out
    assert terminal.run("ingest").code == 0
    assert found(terminal) == set(FILES)


def test_status_says_which_pipeline_read_and_how(book: Terminal) -> None:
    assert (
        "Analysed by rules, without a language model (pipeline b)."
        in book.run("status").out
    )
    told = book.run("status", "--json").json
    assert (told["pipeline"], told["read_by"]) == ("b", [])
    assert (
        "No document is ingested with pipeline a"
        in book.run("status", LRWR_PIPELINE="a").out
    )
