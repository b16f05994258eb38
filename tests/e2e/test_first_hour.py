"""What a newcomer does with the sample: each message names the right next step."""

from tests.fakes.terminal import Terminal


def facts_of(ran: str) -> list[str]:
    return [line.strip() for line in ran.partition("Facts:\n")[2].splitlines()]


def test_the_facts_of_a_search_use_the_name_of_a_rename(read_sample: Terminal) -> None:
    question = "What is TinToby, the clerk, like?"
    before = facts_of(read_sample.run("search", question).out)
    assert any(line.startswith("TinToby, description") for line in before)
    read_sample.run("canon", "rename", "TinToby", "Tobias Finch")
    read_sample.run("ingest")
    after = facts_of(read_sample.run("search", question).out)
    assert any(line.startswith("Tobias Finch, description") for line in after)


def test_a_rename_and_its_undoing_wait_for_an_ingest(read_sample: Terminal) -> None:
    waits = "Your last decisions about names are not applied yet. Run `lrwr ingest`."
    for command in (["rename", "TinToby", "Tobias Finch"], ["undo"]):
        assert waits not in read_sample.run("status").out
        decided = read_sample.run("canon", *command).out
        assert "Run `lrwr ingest` to apply it." in decided
        assert waits in read_sample.run("status").out
        assert read_sample.run("status", "--json").json["names_pending"] is True
        assert "process what changed" in read_sample.run().out
        read_sample.run("ingest")
    assert "The library is up to date" in read_sample.run("status").out


def test_jobs_says_that_there_are_more(read_sample: Terminal) -> None:
    assert "7 more; `--limit 27` lists them." in read_sample.run("jobs").out
    assert "more;" not in read_sample.run("jobs", "--limit", "27").out
    assert len(read_sample.run("jobs", "-k", "3", "--json").json) == 3


def test_check_says_what_it_did_not_read(read_sample: Terminal) -> None:
    assert "Not checked" not in read_sample.run("check").out
    chapter = read_sample.folder / "chapters/08-the-line.md"
    chapter.write_text(f"{chapter.read_text(encoding='utf-8')}\nMore.\n", "utf-8")
    checked = read_sample.run("check").out
    assert "Not checked: 1 document new or changed since the last ingest." in checked


def test_init_in_a_library_does_not_ask_for_a_folder(read_sample: Terminal) -> None:
    ran = read_sample.run("init")
    assert "Edit it, then run `lrwr ingest`." in ran.err
    assert "./manuscript" not in ran.err


def test_config_alone_shows_the_settings(read_sample: Terminal) -> None:
    ran = read_sample.run("config")
    assert (ran.code, ran.out) == (0, read_sample.run("config", "show").out)
    assert read_sample.run("config", "--json").json["settings"]


def test_the_list_of_chapters_has_their_headings(read_sample: Terminal) -> None:
    rows = read_sample.run("canon", "order", "--show", "--json").json
    assert [row["title"] for row in rows][:2] == [
        "Chapter One: Lighting-Up",
        "Chapter Two: The Reeve’s Offer",
    ]


def test_a_thread_shows_its_first_question_and_id_once(read_sample: Terminal) -> None:
    question = "Who keeps the ledger?"
    read_sample.run("ask", question)
    listed = read_sample.run("threads").out
    shown = read_sample.run("threads", "show", "1").out
    assert shown.count(question) == 1
    title, _, id_ = shown.splitlines()[0].rpartition("  ")
    assert title == question
    assert f"\n{id_}  {question}  " in listed
    read_sample.run("threads", "rename", "1", "The ledger")
    assert read_sample.run("threads", "show", "1").out.startswith("The ledger  ")


def test_help_shows_arguments_as_they_are_typed(read_sample: Terminal) -> None:
    shown = read_sample.run("canon", "rename", "--help").out
    assert "lrwr canon rename [OPTIONS] OLD NEW" in shown
    assert "<str>" not in shown
