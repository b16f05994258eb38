"""`lrwr search` as a finder: scenes by filter, exact words, order, context, notes."""

from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal

FILES = {
    "1.md": (
        "# One\n\n“It’s late,” said Nell Tallow.\n\nThe lamp burned.\n\n"
        "%% Corin dies %%\n\n“So it is,” said Corin Vale.\n\n***\n\n"
        "Nobody spoke. The road was white.\n"
    ),
    "2.md": "# Two\n\n“It's late again,” said Nell Tallow.\n\nNell slept by the lamp.\n",
    "3.md": "# Three\n\n“Nell Tallow,” said Corin Vale, “it is the end.” It was Nell’s lost-oar.\n",
    "notes/characters/so.md": "# So\n\nA friend of Corin.\n",
    "notes/characters/nell.md": "# Nell Tallow\n\nNell Tallow is late. Nell, Nell, Nell.\n",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return read(tmp_path_factory.mktemp("finder"), "b")


def read(place: Path, pipeline: str) -> Terminal:
    for name, text in FILES.items():
        path = place / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    terminal = Terminal(place / "book", home=place / "home", LRWR_EMBEDDING_MODEL="off")
    assert terminal.run("ingest", ".", "--pipeline", pipeline).code == 0
    return terminal


def places(book: Terminal, *words: str) -> list[tuple[str, int | None]]:
    ran = book.run("search", *words, "--json")
    assert ran.code == 0, ran.err
    return [(row["file"], row["scene"]) for row in ran.json["passages"]]


def test_filters_without_words_list_scenes_in_story_order(book: Terminal) -> None:
    scenes = [("1.md", 1), ("2.md", 1), ("3.md", 1)]
    assert places(book, "--present", "Nell") == scenes
    together = ["--present", "Nell", "--present", "Corin"]
    assert places(book, *together) == [("1.md", 1), ("3.md", 1)]
    assert "2 scenes." in book.run("search", *together).out
    shown = book.run("search", *together, "--limit", "1").out
    assert "2 scenes; the first is shown (`--limit`)." in shown


def test_a_list_of_scenes_ends_at_the_horizon(book: Terminal) -> None:
    assert places(book, "--present", "Nell", "--as-of", "ch1") == [("1.md", 1)]
    assert places(book, "--character", "Corin", "--as-of", "ch2") == [("1.md", 1)]


def test_a_search_can_be_limited_to_chapters(book: Terminal) -> None:
    assert {file for file, _ in places(book, "late")} >= {"1.md", "2.md"}
    assert places(book, "late", "--chapters", "ch2") == [("2.md", 1)]
    found = {file for file, _ in places(book, "late Corin", "--chapters", "ch2-ch3")}
    assert found == {"2.md", "3.md"}
    assert places(book, "late", "--exact", "--chapters", "1") == [("1.md", 1)]
    both = ["--present", "Nell", "--chapters", "1–2"]
    assert places(book, *both) == [("1.md", 1), ("2.md", 1)]
    assert places(book, "late", "--chapters", "ch1-ch3", "--as-of", "ch1") == [
        ("1.md", 1)
    ]
    elsewhere = book.run("search", "road", "--chapters", "ch2").out
    assert "Not found within the filters: “road” (found elsewhere: 1" in elsewhere


@pytest.mark.parametrize(
    ("chapters", "problem"),
    [("ch9", "no chapter 9"), ("ch3-ch1", "Chapter 1 comes before chapter 3")],
)
def test_chapters_that_cannot_be_searched_are_named(
    book: Terminal, chapters: str, problem: str
) -> None:
    ran = book.run("search", "late", "--chapters", chapters)
    assert ran.code == ExitCode.NOT_FOUND
    assert problem in ran.err


def test_words_outside_the_filters_are_not_called_missing(book: Terminal) -> None:
    ran = book.run("search", "road", "--type", "character")
    assert (
        "Not found within the filters: “road” (found elsewhere: 1 passage)." in ran.out
    )
    assert "Not found in the text" not in ran.out
    ran = book.run("search", "road", "--present", "Nell", "--json")
    assert (ran.json["elsewhere"], ran.json["found_elsewhere"]) == (["road"], 1)
    assert ran.json["warned"] is True


def test_words_in_no_text_or_after_the_horizon_are_told_apart(book: Terminal) -> None:
    ran = book.run("search", "walrus road", "--type", "character")
    assert "Not found in the text: “walrus”." in ran.out
    ran = book.run("search", "end", "--type", "character", "--as-of", "ch2")
    assert "Not found in the text up to chapter 2: “end”." in ran.out
    assert "elsewhere" not in ran.out


def test_a_quoted_phrase_that_the_text_lacks_is_named_once(book: Terminal) -> None:
    ran = book.run("search", '"burned lamp"')
    assert ran.out.count("The phrase “burned lamp” is not in the text.") == 1
    assert "Confidence" not in ran.out
    row = book.run("search", '"burned lamp"', "--json").json
    assert row["missing_phrases"] == ["burned lamp"]
    assert (row["confidence"], row["low_confidence"], row["warned"]) == (
        None,
        True,
        True,
    )
    row = book.run("search", '"lamp burned"', "--json").json
    assert (row["missing_phrases"], row["warned"]) == ([], False)


def test_a_quoted_phrase_is_compared_as_typed(book: Terminal) -> None:
    for phrase in ("nell’s lost-oar", "Nell's  Lost oar"):
        row = book.run("search", f'"{phrase}"', "--json").json
        assert row["missing_phrases"] == []
        assert [one["has_phrase"] for one in row["passages"]][:2] == [True, False]
    ran = book.run("search", '"Nell’s lost-oars"')
    assert "The phrase “Nell’s lost-oars” is not in the text." in ran.out
    assert "without the phrase" not in ran.out


def test_passages_without_the_quoted_phrase_are_marked(book: Terminal) -> None:
    heads = [
        line
        for line in book.run("search", '"lamp burned"').out.split("\n")
        if ".md:" in line
    ]
    assert not heads[0].endswith("  without the phrase")
    assert len(heads) > 1
    assert all(head.endswith("  without the phrase") for head in heads[1:])
    row = book.run("search", "lamp", "--json").json
    assert all("has_phrase" not in passage for passage in row["passages"])


def test_a_phrase_that_only_notes_have_is_called_so(book: Terminal) -> None:
    sentence = "The phrase “Tallow is late” is only in notes."
    for filters in ([], ["--type", "character"]):
        ran = book.run("search", '"Tallow is late"', *filters)
        assert sentence in ran.out
        assert "is not in the text" not in ran.out
    row = book.run("search", '"Tallow is late"', "--json").json
    assert (row["notes_phrases"], row["warned"]) == (["Tallow is late"], True)
    ran = book.run("search", '"Nell Tallow"', "--type", "character")
    assert "only in notes" not in ran.out


def test_a_name_that_is_a_function_word_is_searched(book: Terminal) -> None:
    for words in ("Will", "May", "Where is Will?", "So"):
        assert book.run("search", words).code == 0, words
    assert book.run("search", "Up").code == ExitCode.SETTINGS


def test_passages_with_the_quoted_phrase_come_first(book: Terminal) -> None:
    for phrase in ("late again", "So it is", "by the lamp", "it is the end"):
        ran = book.run("search", f'late late Nell Tallow lamp "{phrase}"', "--json")
        texts = [row["text"] for row in ran.json["passages"] if row["scene"]]
        has = [phrase in text for text in texts]
        assert has == sorted(has, reverse=True)
        assert has[0]


@pytest.mark.parametrize("words", ["?", "the", "… — …", "Who was he?"])
def test_words_without_content_are_not_searched(book: Terminal, words: str) -> None:
    ran = book.run("search", words)
    assert ran.code == ExitCode.SETTINGS
    assert f"“{words}” has no word to search for" in ran.err
    assert ran.out == ""
    assert book.run("search", '"it is the"').code == 0


def test_exact_words_include_function_words_and_fold_quotes(book: Terminal) -> None:
    assert places(book, "it's late", "--exact", "--type", "scene") == [
        ("1.md", 1),
        ("2.md", 1),
    ]
    assert places(book, "SO it is", "--exact") == [("1.md", 1)]
    assert places(book, "it the is", "--exact") == []
    assert places(book, "ate", "--exact") == []


def test_every_exact_match_is_shown_at_its_own_line(book: Terminal) -> None:
    ran = book.run("search", "said", "--exact", "--type", "scene")
    for line in ("1.md:3", "1.md:9", "2.md:3", "3.md:3"):
        assert f"  {line}  chapter" in ran.out
    assert "3 passages, 4 matches." in ran.out or "4 passages, 4 matches." in ran.out
    row = book.run("search", "said", "--exact", "--type", "scene", "--json").json
    assert row["total_matches"] == 4
    assert book.run("search", "lamp", "--json").json["total_matches"] is None
    assert (
        book.run("search", "--present", "Nell", "--json").json["total_matches"] is None
    )
    assert sum(len(passage["matches"]) for passage in row["passages"]) == 4


def test_a_list_of_scenes_shows_text_and_no_heading(book: Terminal) -> None:
    ran = book.run("search", "--present", "Nell")
    assert "#" not in ran.out
    assert "  1.md:3" in ran.out
    assert "“It’s late,” said Nell Tallow." in ran.out


def test_exact_words_after_the_horizon_are_not_found(book: Terminal) -> None:
    assert places(book, "the end", "--exact") == [("3.md", 1)]
    assert places(book, "the end", "--exact", "--as-of", "ch2") == []
    assert places(book, "Corin dies", "--exact") == []


def test_context_shows_lines_of_the_scene_without_comments(book: Terminal) -> None:
    ran = book.run("search", "the lamp burned", "--exact", "--context", "5")
    assert "said Nell Tallow" in ran.out
    assert "said Corin Vale" in ran.out
    assert "dies" not in ran.out
    assert "road" not in ran.out
    ran = book.run("search", "road", "--context", "9", "--as-of", "ch1", "--json")
    assert all(
        "late" not in line for row in ran.json["passages"] for line in row["after"]
    )


def test_the_best_passages_can_be_sorted_by_story(book: Terminal) -> None:
    files = [
        file for file, scene in places(book, "lamp late", "--sort", "story") if scene
    ]
    assert files == sorted(files)


def test_text_comes_before_notes_that_name_the_person(book: Terminal) -> None:
    found = [file for file, _ in places(book, "Is Nell Tallow late?")]
    assert found[0] != "notes/characters/nell.md"
    assert found[-1] == "notes/characters/nell.md"
    out = book.run("search", "Is Nell Tallow late?").out
    assert out.index("Notes:") > out.index("1.md")
    only = places(book, "Nell", "--type", "character")
    assert [file for file, _ in only] == ["notes/characters/nell.md"]


def test_what_pipeline_a_alone_has_read_is_searched_with_it(tmp_path: Path) -> None:
    terminal = read(tmp_path, "a")
    ran = terminal.run("search", "lamp")
    assert ran.code == 0
    assert "1.md" in ran.out
    assert ran.err.count("Only pipeline a") == 1
    assert terminal.run("search", "--present", "Nell").code == ExitCode.SETTINGS
    assert places(terminal, "so it is", "--exact") == [("1.md", 1)]


def test_an_answer_as_json_says_whether_its_text_warns(book: Terminal) -> None:
    row = book.run("ask", "Who is the walrus?", "--json").json
    assert "walrus" in row["answer"]
    assert row["warned"] is True


def test_a_word_with_the_stem_of_another_is_not_in_the_text(empty: Terminal) -> None:
    text = "# One\n\nNell named the stars of the universe. Two universities wrote.\n"
    (empty.folder / "1.md").write_text(text, encoding="utf-8")
    (empty.folder / "2.md").write_text("# Two\n\nThe universal rain.\n")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    assert "Not found" not in empty.run("search", "university").out
    (empty.folder / "1.md").write_text(text.replace("universities", "boats"))
    assert empty.run("ingest").code == 0
    assert (
        "Not found in the text: “university”." in empty.run("search", "university").out
    )
    asked = empty.run("ask", "Which university did Nell attend?").out
    assert "“university”" in asked
