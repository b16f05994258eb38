"""What `lrwr post new` says about its cost, the book and the number of posts."""

import re

import pytest

from tests.e2e.test_post_new import NEWSLETTER, THREAD, draft
from tests.fakes.model_server import MODEL
from tests.fakes.post_writer import PostWriter, blocks
from tests.fakes.terminal import Terminal


def test_a_dry_run_says_what_the_language_model_would_cost(
    with_model: Terminal, writer: PostWriter
) -> None:
    prices = {"LRWR_MODEL_PRICES": f"{MODEL} 1 2"}
    done = draft(with_model, *NEWSLETTER, "--dry-run", **prices)
    assert f"{MODEL} would need 5 calls: about " in done.out
    assert "($0." in done.out
    plan = draft(with_model, *NEWSLETTER, "--dry-run", "--json", **prices).json
    assert writer.asked == []
    made = draft(with_model, *NEWSLETTER, "--json", **prices).json
    assert made["prompt_tokens"] / 3 < plan["prompt_tokens"] < made["prompt_tokens"] * 3
    assert plan["usd"] > 0
    outline = draft(with_model, *NEWSLETTER, "--dry-run", "--outline", "--json").json
    assert (outline["model"], outline["calls"]) == (None, 0)


def test_a_query_letter_knows_the_length_and_the_title_of_the_book(
    with_model: Terminal, writer: PostWriter
) -> None:
    heading, field = "# Salt and Oil\n\nA novel\n", "---\ntitle: Oil\n---\n\nA novel\n"
    for name, text, title in (
        ("", "", ""),
        ("00-front-matter.md", heading, "Salt and Oil"),
        ("00-title.md", field, "Oil"),
    ):
        for page in (with_model.folder / "chapters").glob("00-*.md"):
            page.unlink()
        if title:
            (with_model.folder / "chapters" / name).write_text(text, encoding="utf-8")
            assert with_model.run("ingest", ".", LRWR_MODEL_USE="off").code == 0
        writer.asked.clear()
        words = ("--kind", "query-letter", "--name", "query", "--force", "--json")
        (row,) = draft(with_model, *words, brief="My novel of 9 words: Nell").json[
            "drafts"
        ]
        assert row["brief"] == "My novel of 9 words: Nell"
        assert not any("Your text does not have" in line for line in row["remarks"])
        gaps = [gap["need"] for gap in row["gaps"]]
        assert ("the title of the book" in gaps) == (not title)
        (writing,) = (asked for asked in writer.asked if asked.shape == "Drafts")
        (about,) = blocks(writing, "brief, about the book")
        assert re.search(r"The manuscript has \d+,000 words\.", about)
        assert (f"Title of the book: {title}" in about) == bool(title)


def test_the_title_and_the_length_of_the_book_need_no_fact(
    with_model: Terminal, writer: PostWriter
) -> None:
    page = with_model.folder / "chapters" / "00-front-matter.md"
    page.write_text("# Salt and Oil\n\nA novel\n", encoding="utf-8")
    assert with_model.run("ingest", ".", LRWR_MODEL_USE="off").code == 0
    words = ("--kind", "query-letter", "--name", "query", "--force", "--json")
    draft(with_model, *words)
    (writing,) = (asked for asked in writer.asked if asked.shape == "Drafts")
    (about,) = blocks(writing, "brief, about the book")
    (length,) = re.findall(r"[\d,]+ words", about)
    pitch = "I am seeking representation for SALT AND OIL, a novel of"
    told = f"{pitch} {length}."
    untold = (f"{pitch} 999,000 words.", f"{pitch} {length} about Nell and a murder.")
    writer.sentences = tuple({"text": t, "facts": []} for t in (told, *untold))
    (row,) = draft(with_model, *words).json["drafts"]
    assert told in row["text"]
    flagged = {revision["before"] for revision in row["revisions"]}
    assert flagged == {*untold}


@pytest.mark.parametrize(
    ("words", "phrase"),
    [((), "a thread has about 6"), (("--parts", "2"), "you asked for 2")],
)
def test_more_posts_than_asked_for_are_said(
    with_model: Terminal, writer: PostWriter, words: tuple[str, ...], phrase: str
) -> None:
    end = " in the fog" + " and the dark" * 12 + "?"
    rungs = ("ladder", "dyke", "stair", "stage", "bank", "roof", "wall", "hill")
    writer.sentences = tuple(
        {"text": f"Would you climb the {rung}{end}", "facts": []} for rung in rungs
    )
    (row,) = draft(with_model, *THREAD, *words, "--json").json["drafts"]
    posts = row["text"].partition("## Sources")[0].split("\n---\n")
    (remark,) = (line for line in row["remarks"] if " posts; " in line)
    assert f"It has {len(posts)} posts; {phrase}." in remark
