"""Which passages `lrwr post new` chooses from the sample, without a language model."""

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_post_new import NEWSLETTER, check_failure, draft
from tests.fakes.terminal import Terminal, check_refusal


def test_words_that_the_text_lacks_are_a_doubt_about_the_sources(
    read_sample: Terminal,
) -> None:
    brief = "How the zebras of the marsh are fed"
    done = draft(read_sample, *NEWSLETTER, "--dry-run", brief=brief)
    assert "Your text does not have “zebras”" in done.out
    rows = draft(read_sample, *NEWSLETTER, "--dry-run", "--json").json
    assert rows["doubts"] == []
    made = draft(read_sample, *NEWSLETTER, "--json", brief=brief)
    assert "“zebras”" in made.json["drafts"][0]["remarks"][0]


def test_a_synopsis_tells_the_last_chapter(read_sample: Terminal) -> None:
    (row,) = draft(read_sample, "--kind", "synopsis", "--json").json["drafts"]
    chapters = [fact["chapter"] for fact in row["facts"]]
    assert {1, 8, 9, 10} <= set(chapters)
    assert chapters[-1] == 10


def test_the_folder_is_marked_and_is_no_manuscript(read_sample: Terminal) -> None:
    draft(read_sample, *NEWSLETTER)
    done = read_sample.run("ingest", ".")
    assert "posts/: a folder that lrwr created" in done.out + done.err
    listed = read_sample.run("search", "What is missing", "--exact", "--json")
    assert listed.json["passages"] == []


def test_without_a_library_it_is_refused(empty: Terminal) -> None:
    check_refusal(draft(empty, *NEWSLETTER), ExitCode.NOT_FOUND)


def test_no_passage_is_a_source_twice_and_a_moment_comes_with_its_passage(
    read_sample: Terminal,
) -> None:
    for kind in ("newsletter", "essay", "blurb", "query-letter", "synopsis"):
        horizon = ("--whole",) if kind in ("newsletter", "essay", "blurb") else ()
        rows = draft(read_sample, "--kind", kind, *horizon, "--dry-run", "--json").json
        texts = [source["text"] for source in rows["sources"]]
        for text in texts:
            assert [other for other in texts if text in other] == [text]
            assert len(text.split()) > 25


def test_the_passage_that_a_search_finds_first_is_a_source_of_every_kind(
    read_sample: Terminal,
) -> None:
    brief = "Hob rings the bell of the tides"
    listed = read_sample.run("search", brief, "--json").json["passages"]
    for kind in ("query-letter", "synopsis"):
        rows = draft(read_sample, "--kind", kind, "--dry-run", "--json", brief=brief)
        texts = [source["text"] for source in rows.json["sources"]]
        assert listed[0]["text"] in texts


def test_drafts_are_not_listed_without_a_library(empty: Terminal) -> None:
    check_refusal(empty.run("post", "list"), ExitCode.NOT_FOUND)


def test_a_brief_about_nothing_in_the_book_writes_nothing(
    read_sample: Terminal,
) -> None:
    done = draft(read_sample, *NEWSLETTER, brief="Quantum chromodynamics")
    check_failure(done, ExitCode.NOT_FOUND, "nothing was written")
    assert not (read_sample.folder / "posts").exists()
    check_refusal(draft(read_sample, *NEWSLETTER, brief="the"), ExitCode.SETTINGS)
