import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from lrwr.app.presenters import story, story_json
from lrwr.app.presenters.story import explain_model_setup
from lrwr.cli.commands.bible import print_not_evaluated, print_nothing_known
from lrwr.cli.runtime.groups import NamedGroup
from lrwr.cli.runtime.options import AsOfOption, JsonOption, NameArgument
from lrwr.cli.runtime.output import Output
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Bible, WorldElement
from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import Horizon
from lrwr.core.model.facts import Certainty, CharacterField, FactAbout
from lrwr.core.settings.model import Settings
from tests.unit.bible.marsh import ONE, TWO, marsh

Show = Callable[[Output], None]


def shown(show: Show) -> str:
    out = io.StringIO()
    show(Output(env={}, stdout=out, stderr=io.StringIO()))
    return out.getvalue()


def as_json(value: object) -> object:
    return json.loads(shown(lambda output: output.json(value)))


def bible(horizon: Horizon | None = None, canon: Canon | None = None) -> Bible:
    return project_bible(marsh().knowledge(canon), horizon)


def card(name: str, of: Bible) -> str:
    return shown(
        lambda out: out.show(story.render_character(find_profile_by_name(name, of), of))
    )


def test_a_card_gives_every_claim_its_place() -> None:
    assert card("wren", bible()).splitlines() == [
        "Nell Tallow  verified",
        "  also called Wren",
        "  mentioned 6 times; gender: female (verified)",
        "  first seen: book/1.md:3  Chapter 1 “Lighting up”",
        "  acts or speaks in ch1; last in ch1:s2  book/1.md:9",
        "  age: twelve  confirmed",
        "      notes/Nell Tallow.md:6  “She is twelve.”",
        "  eyes: grey  verified",
        "      book/1.md:3  “eyes were grey”",
        "  eyes: brown  verified",
        "      book/2.md:7  “eyes had gone brown”",
        "  trait: Proud  verified",
        "      book/2.md:7  “Wren was proud”",
        "  Nell Tallow’s aunt: OchraMags (complex)  verified",
        "      book/2.md:5  “You are my aunt”",
    ]


def test_a_card_of_an_answer_says_who_decided() -> None:
    answered = bible(canon=Canon(answers={UndefinedAttribute("Mags", "age"): "sixty"}))
    assert "  age: sixty  you decided" in card("Mags", answered).splitlines()
    question = UndefinedAttribute("Mags", "Undecided: what she owes.")
    answered = bible(canon=Canon(answers={question: "nothing"}))
    line = "  Undecided: what she owes: nothing  you decided"
    assert line in card("Mags", answered).splitlines()


def test_what_only_a_model_can_tell_is_said_to_be_not_evaluated() -> None:
    stories = marsh()
    stories.known = []
    unread = project_bible(stories.knowledge())
    assert "not analysed (needs a language model)" in card("Mags", unread)
    told = shown(lambda output: print_not_evaluated(output, unread, "Traits"))
    assert told.startswith("Traits: not analysed (needs a language model)")
    assert shown(lambda output: print_not_evaluated(output, bible(), "Traits")) == ""
    profile = story_json.profile_as_json(unread.characters[0], unread)
    assert "personality_traits" in str(profile["not_evaluated"])


def test_nothing_to_show_says_what_to_do() -> None:
    def told(of: Bible, pipeline: Pipeline, as_of: str | None = None) -> str:
        remedy = explain_model_setup(of, Settings(Path("novel"), pipeline))
        return shown(
            lambda out: print_nothing_known(out, "No characters found", as_of, remedy)
        )

    never = replace(Bible(), unread=True)
    assert told(never, Pipeline.AGENTIC) == (
        "No characters found. Run `lrwr ingest` to analyse your story.\n"
    )
    assert "`lrwr ingest --pipeline b`" in told(never, Pipeline.NAIVE)
    stopped = replace(Bible(), waiting=15)
    assert told(stopped, Pipeline.AGENTIC) == (
        "No characters found. 15 documents are not ingested yet. Run `lrwr ingest` to go"
        " on.\n"
    )
    for pipeline in (Pipeline.NAIVE, Pipeline.AGENTIC):
        assert told(Bible(), pipeline) == "No characters found.\n"
    assert (
        told(Bible(), Pipeline.AGENTIC, "ch2")
        == "No characters found up to chapter 2.\n"
    )


def test_the_list_of_characters_is_what_scripts_expect() -> None:
    listed = [
        story_json.character_summary_as_json(one)
        for one in bible(Horizon(1)).characters
    ]
    assert as_json(listed) == [
        {
            "name": "Wren",
            "aliases": ["Wren"],
            "gender": "unknown",
            "certainty": "verified",
            "first_seen": {"file": ONE, "line": 3, "chapter": 1},
            "mentions": 3,
        },
        {
            "name": "Mags",
            "aliases": ["Mags"],
            "gender": "unknown",
            "certainty": "verified",
            "first_seen": {"file": ONE, "line": 9, "chapter": 1},
            "mentions": 2,
        },
    ]
    table = shown(
        lambda output: output.show(story.list_characters(bible().characters, bible()))
    )
    assert table.splitlines()[2].split() == [
        "OchraMags", "Mags", "female", "4", "book/1.md:9", "ch1:s2", "verified",
    ]  # fmt: skip


def test_quotes_are_what_scripts_expect() -> None:
    told = as_json([story_json.quote_as_json(one) for one in bible().quotes])
    assert isinstance(told, list)
    start = marsh().book.span(ONE, "Is it late?").start
    assert {key: told[0][key] for key in list(told[0])[:6]} == {
        "speaker": "Nell Tallow",
        "certainty": "verified",
        "text": "Is it late?",
        "file": ONE,
        "chars": [[start, start + 11]],
        "lines": [5, 5],
    }
    lines = shown(lambda output: output.show(story.render_quotes(bible().quotes)))
    assert lines.splitlines()[2:4] == [
        "book/1.md:12  OchraMags (verified) to Nell Tallow (verified)",
        "    “Six strokes,”",
    ]


def test_every_surface_has_a_json_form() -> None:
    whole = as_json(story_json.bible_as_json(bible(), None))
    assert isinstance(whole, dict)
    assert [len(whole[key]) for key in ("world", "events", "told", "scenes")] == [
        1,
        1,
        1,
        4,
    ]
    assert whole["events"][0]["emotional_weight"] == {"Nell Tallow": "afraid"}
    assert whole["relations"][0]["evidence"][0]["kept_by"] == "a-model"
    assert whole["gaps"][0]["defined"][0]["value"] == "grey"


def test_the_world_is_a_list_and_cards() -> None:
    (house,) = bible().world
    assert "the Ledger House  setting  Corin Vale" in shown(
        lambda output: output.show(story.list_world(bible().world))
    )
    assert shown(
        lambda output: output.show(story.render_element(house))
    ).splitlines() == [
        "the Ledger House  verified",
        "  type: setting  verified",
        "      book/2.md:3  “shut the Ledger House”",
        "  with: Corin Vale  verified",
        "      book/2.md:11  “burned in the Ledger House”",
    ]


def test_a_place_in_another_one_says_in_which() -> None:
    thole = WorldElement("Thole", (), (), (), Certainty.VERIFIED)
    street = replace(thole, name="Gull Street", part_of="Thole")
    text = shown(lambda output: output.show(story.list_world((street, thole))))
    names = [line.split("  ")[0] for line in text.splitlines()]
    assert names == ["Name", "Thole", "Gull Street (in Thole)"]


def test_the_timeline_and_the_recap_go_by_chapters() -> None:
    told = shown(lambda output: output.show(story.render_timeline(bible().timeline)))
    assert told.splitlines()[-4:-1] == [
        "Chapter 2 “The ledger house”",
        "  event  Corin drowns.  Corin Vale",
        "      book/2.md:7  “Corin Vale drowned”",
    ]
    recap = shown(lambda output: output.show(story.render_recap(bible().scenes)))
    assert recap.splitlines()[:3] == [
        "Chapter 1 “Lighting up”",
        "  book/1.md:1-5  scene 1; point of view: Nell Tallow (verified); with Nell Tallow",
        "    “Wren climbed nineteen rungs.”",
    ]
    assert "    They meet.  verified" in recap.splitlines()


def test_gaps_show_what_has_become_of_them() -> None:
    decided = Canon(answers={UndefinedAttribute("Mags", "age"): "sixty"})
    gaps = chain(*map(story.render_gap, bible(canon=decided).gaps))
    lines = shown(lambda output: output.show(gaps)).splitlines()
    assert lines[0].endswith("  Nell Tallow: eye colour  closed")
    assert lines[1:4] == [
        "      now defined in the text:",
        "  grey  verified",
        "      book/1.md:3  “eyes were grey”",
    ]
    assert "      your answer: sixty" in lines
    assert lines[-2].endswith("  OchraMags: TODO: where is her boat?  open")
    assert lines[-1] == "      book/1.md:10"


def test_text_of_the_manuscript_steers_no_terminal() -> None:
    stories = marsh()
    stories.fact(
        TWO,
        "came in",
        FactAbout.CHARACTER,
        CharacterField.TRAIT,
        "\x1b[31mred [b]x",
        "Mags",
    )
    told = card("Mags", project_bible(stories.knowledge()))
    assert "trait: red [b]x  verified" in told
    assert "\x1b" not in told


def an_app() -> typer.Typer:
    """A group as `lrwr characters` is one."""
    app = typer.Typer()
    group = typer.Typer(cls=NamedGroup, invoke_without_command=True)

    @group.callback()
    def show(
        context: typer.Context,
        name: NameArgument = None,
        as_of: AsOfOption = None,
        as_json: JsonOption = False,
    ) -> None:
        if context.invoked_subcommand is None:
            typer.echo(f"show {name} {as_of} {as_json}")

    @group.command("merge")
    def merge(names: list[str], known_as: str = "") -> None:
        typer.echo(f"merge {names} {known_as}")

    app.add_typer(group, name="characters")
    return app


@pytest.mark.parametrize(
    ("words", "done"),
    [
        ([], "show None None False"),
        (["--json"], "show None None True"),
        (["Nell"], "show ['Nell'] None False"),
        (["Nell", "Tallow", "--as-of", "ch3"], "show ['Nell', 'Tallow'] ch3 False"),
        (["--as-of", "ch3", "Nell", "--json"], "show ['Nell'] ch3 True"),
        (["Merge"], "show ['Merge'] None False"),
        (["--", "merge"], "show ['merge'] None False"),
        (["merge", "A", "B", "--known-as", "C"], "merge ['A', 'B'] C"),
    ],
)
def test_a_first_word_that_is_no_command_is_a_name(words: list[str], done: str) -> None:
    result = CliRunner().invoke(an_app(), ["characters", *words])
    assert result.output.strip() == done


def test_help_tells_of_names_options_and_commands() -> None:
    told = CliRunner().invoke(an_app(), ["characters", "--help"], env={"COLUMNS": "99"})
    for word in ("[NAME]", "--as-of", "--json", "merge"):
        assert word in told.output
    wrong = CliRunner().invoke(an_app(), ["characters", "Nell", "--nope"])
    assert wrong.exit_code == 2
