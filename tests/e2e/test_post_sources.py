"""Which passages `lrwr post new` chooses from the sample, without a language model."""

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_post_new import NEWSLETTER, draft
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
