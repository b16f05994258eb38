"""A brief: within its tokens, and nothing from after its horizon."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.projection import StoryKnowledge, project_bible
from lrwr.core.drafting.board import (
    Board,
    SceneCard,
    ScenePlace,
    StoryPlaces,
    spell_horizon,
)
from lrwr.core.drafting.brief import (
    Brief,
    build_brief,
    count_brief_tokens,
)
from lrwr.core.drafting.brief_items import BriefMaterial, BriefSection
from lrwr.core.drafting.folder import DraftFile
from lrwr.core.drafting.story_passages import find_latest_days
from lrwr.core.model.documents import BEFORE_THE_STORY, DocumentId, Horizon
from lrwr.core.model.facts import (
    DIRECTED_DETAIL,
    Certainty,
    CharacterField,
    FactAbout,
)
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.story import build_story_order
from tests.fakes.short_story import LAMP, LEDGER, ROAD
from tests.fakes.stories import Book, Stories

FILES = {"1.md": LAMP, "2.md": LEDGER, "3.md": ROAD}


def places(files: Mapping[str, str] = FILES) -> StoryPlaces:
    book = Book(files)
    return StoryPlaces(build_story_order(book.outline_list(), ()), book.all_texts())


def brief(card: SceneCard, horizon: Horizon, tokens: int, **plans: DraftFile) -> Brief:
    book = Book(FILES)
    order = build_story_order(book.outline_list(), ())
    knowledge = StoryKnowledge(order, book.all_texts())
    material = BriefMaterial(
        card=card,
        horizon=horizon,
        bible=project_bible(knowledge, horizon),
        view=HorizonView(order, book.all_texts(), horizon),
        **plans,  # type: ignore[arg-type]
    )
    return build_brief(material, tokens)


def card(name: str, file: str = "", first: int = 0, last: int = 0) -> SceneCard:
    at = ScenePlace(file, first, last) if file else None
    return SceneCard(id=name, title=name, at=at)


@pytest.mark.parametrize(
    ("cards", "horizons"),
    [
        ([card("a", "1.md", 1, 13)], ["the start"]),
        ([card("a", "1.md", 17, 19)], ["ch1:s1"]),
        ([card("a", "1.md", 1, 13), card("new")], ["the start", "ch1:s1"]),
        ([card("new"), card("b", "2.md")], ["ch1:s2", "ch1:s2"]),
        ([card("new")], ["ch3:s1"]),
        ([card("a", "1.md"), card("n", "new.md"), card("b", "2.md", 3, 3)],
         ["the start", "ch1:s2", "ch1:s2"]),
        ([card("a", "3.md", 900, 950)], ["ch2:s1"]),
    ],
)  # fmt: skip
def test_the_horizon_of_a_scene_is_the_end_of_the_one_before(
    cards: list[SceneCard], horizons: list[str]
) -> None:
    board, known = Board(tuple(cards)), places()
    assert [
        spell_horizon(known.find_horizon(board, n)) for n in range(len(cards))
    ] == horizons


def test_what_opens_a_chapter_ends_before_it() -> None:
    parts = f"By way of preface.\n\n# One\n\n{LEDGER}\n\n# Two\n\n{ROAD}"
    files = {"1.md": LAMP, "2.md": parts}
    known = places(files)
    second = known.scenes[2]
    assert second.document == DocumentId("2.md")
    board = Board((card("a", "2.md", 1, 1), card("new")))
    assert spell_horizon(known.find_horizon(board, 1)) == "ch2:s0"


def test_nothing_is_known_before_the_first_word() -> None:
    result = brief(
        SceneCard(id="a", title="A", pov="Nell Tallow"), BEFORE_THE_STORY, 500
    )
    assert all(item.evidence is None for item in result.items)
    assert "not in the story up to here" in result.items[-1].text


def test_the_end_of_the_scene_before_is_cut_at_its_start() -> None:
    result = brief(SceneCard(id="a", title="A"), Horizon(1, 1), 60)
    (end,) = (i for i in result.items if i.section is BriefSection.BEFORE)
    assert end.text.startswith("… ")
    assert end.text.endswith("Nell’s eyes were grey.”")


WORD = st.text("abcdefg ’“", max_size=300)


@given(
    st.builds(
        SceneCard,
        id=st.sampled_from(["a", "b" * 60]),
        title=WORD,
        pov=st.sampled_from(["", "Nell Tallow", "Nobody"]),
        people=st.lists(WORD, max_size=4).map(tuple),
        place=WORD,
        summary=WORD,
        beats=st.lists(WORD, max_size=4).map(tuple),
    ),
    st.sampled_from(
        [BEFORE_THE_STORY, Horizon(1, 1), Horizon(1), Horizon(2), Horizon(3)]
    ),
    st.integers(100, 3_000),
    st.builds(DraftFile, path=st.just("drafts/intent.md"), text=WORD),
)
def test_a_brief_never_exceeds_its_tokens_or_its_horizon(
    drawn: SceneCard, horizon: Horizon, tokens: int, intent: DraftFile
) -> None:
    result = brief(drawn, horizon, tokens, intent=intent)
    assert count_brief_tokens(result) <= tokens
    for evidence in (item.evidence for item in result.items if item.evidence):
        assert evidence.chapter is not None
        assert (evidence.chapter, evidence.scene or 0) <= (
            horizon.chapter,
            horizon.scene or 99,
        )


def brief_of(stories: Stories, *people: str) -> list[str]:
    card, horizon = SceneCard(id="a", title="A", people=people), Horizon(2)
    knowledge = stories.knowledge()
    view = HorizonView(knowledge.order, knowledge.texts, horizon)
    bible = project_bible(knowledge, horizon)
    made = build_brief(BriefMaterial(card, horizon, bible, view), 2_000)
    return [item.text for item in made.items]


@pytest.fixture
def stories() -> Stories:
    """Two people who speak in the second chapter, and are there."""
    stories = Stories(Book(FILES))
    for person, alias in (("Mrs. Gannet", "Gannet"), ("Nell Tallow", "Nell")):
        stories.name(person, alias)
        words = f"said {alias}" if alias == "Nell" else "said Mrs. Gannet"
        stories.appears("2.md", words, person, AppearanceRole.PRESENT, 1)
    stories.says("2.md", "You are late,", "Mrs. Gannet")
    return stories


def test_people_who_share_their_last_scene_have_it_once(stories: Stories) -> None:
    rows = brief_of(stories, "Mrs. Gannet", "Nell", "Nell Tallow")
    (last,) = [row for row in rows if "last there" in row]
    assert last.startswith(
        "Mrs. Gannet and Nell Tallow were last there in chapter 2, scene 1"
    )


def test_the_last_scene_of_somebody_is_quoted_where_it_names_them(
    stories: Stories,
) -> None:
    rows = brief_of(stories, "Nell")
    (last,) = [row for row in rows if "last there" in row]
    assert "Nell" in last.partition("scene 1: ")[2]


def test_of_what_somebody_says_longer_lines_come_instead_of_short_ones(
    stories: Stories,
) -> None:
    stories.says("2.md", "The clock in the hall", "Mrs. Gannet")
    rows = brief_of(stories, "Mrs. Gannet")
    says = [row for row in rows if row.startswith("Mrs. Gannet says")]
    assert says == ["Mrs. Gannet says: “The clock in the hall”"]


def guess_speaker(stories: Stories, words: str, speaker: str) -> None:
    stories.says("2.md", words, speaker)
    row = stories.said.pop()
    quotation = replace(row.quotation, certainty=Certainty.PROBABLE)
    stories.said.append(replace(row, quotation=quotation))


def test_a_line_that_is_only_probably_theirs_is_left_out_beside_others(
    stories: Stories,
) -> None:
    guess_speaker(stories, "The tide was,", "Mrs. Gannet")
    rows = brief_of(stories, "Mrs. Gannet")
    assert "Mrs. Gannet says: “You are late,”" in rows
    assert not [row for row in rows if "tide" in row and "says" in row]


def test_a_line_of_somebody_without_others_is_probably_theirs(
    stories: Stories,
) -> None:
    guess_speaker(stories, "The tide was,", "Nell Tallow")
    assert "Nell Tallow probably says: “The tide was,”" in brief_of(stories, "Nell")


def test_an_uncertain_fact_is_marked(stories: Stories) -> None:
    for path, words, value, certainty in (
        ("1.md", "Nell’s eyes were grey.", "grey", Certainty.VERIFIED),
        ("2.md", "Dust lay on it.", "blue", Certainty.PROBABLE),
    ):
        stories.fact(
            path,
            words,
            FactAbout.CHARACTER,
            CharacterField.ATTRIBUTE,
            value,
            "Nell Tallow",
            certainty=certainty,
            details=(("attribute", "eyes"),),
        )
    rows = brief_of(stories, "Nell")
    disagreement = "Nell Tallow, eyes: grey; the text disagrees: blue (2.md:"
    assert any(row.startswith(disagreement) for row in rows)
    assert any(row.startswith("Nell Tallow, eyes: blue (probably);") for row in rows)


@pytest.mark.parametrize(
    ("words", "certainty", "shown"),
    [
        ("Aunt Mags", Certainty.PROBABLE, False),
        ("Aunt Mags", Certainty.VERIFIED, True),
        ("Mags is her aunt.", Certainty.PROBABLE, True),
    ],
)
def test_a_mere_form_of_address_is_no_kinship(
    words: str, certainty: Certainty, shown: bool
) -> None:
    told = Stories(Book({"1.md": f"# One\n\nNell saw Mags. {words}\n"}))
    told.name("Nell")
    told.name("Mags")
    told.fact(
        "1.md",
        words,
        FactAbout.CHARACTER,
        CharacterField.RELATIONSHIP,
        "",
        "Nell",
        certainty=certainty,
        details=(("target", "Mags"), ("kind", "aunt"), DIRECTED_DETAIL),
    )
    assert any("aunt: Mags" in row for row in brief_of(told, "Nell")) is shown


def test_the_last_mention_of_a_thing_and_the_day_of_the_story_are_entries() -> None:
    files = {
        "1.md": "# One\n\nOn Day 4 Nell chalked a stroke on the slate.\n",
        "2.md": "# Two\n\nOn Day 6 Mags wiped the slate. It took her an hour.\n",
        "3.md": "# Three\n\nNell slept.\n",
    }
    told = Stories(Book(files))
    planned = SceneCard(id="a", title="A", summary="Nell reads the slate.")
    material = BriefMaterial(
        card=planned,
        horizon=Horizon(3),
        bible=project_bible(told.knowledge(), Horizon(3)),
        view=HorizonView(told.knowledge().order, told.knowledge().texts, Horizon(3)),
    )
    rows = [item.text for item in build_brief(material, 900).items]
    last = "On Day 6 Mags wiped the slate. It took her an hour."
    assert f"last mention: “{last}”" in rows
    assert "The story has come to Day 6: “On Day 6 Mags wiped the slate.”" in rows


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("Mags rubbed out the figures by the door and chalked *1201*.", 1201),
        ("Mags rubbed out the figures and chalked *900*.", 1200),
        ("Tomorrow she would have chalked *1201*.", 1200),
        ("She paid *1201* for it.", 1200),
    ],
)
def test_a_number_written_after_a_day_continues_the_days(
    sentence: str, day: int
) -> None:
    first = DocumentId("1.md"), "On Day 1200 Nell wiped the slate."
    latest = find_latest_days(dict([first, (DocumentId("2.md"), sentence)]))
    assert latest["Day"][0] == day
    assert find_latest_days(dict([first]))["Day"][0] == 1200


def test_a_passage_within_another_entry_is_not_repeated() -> None:
    files = {
        "1.md": "# One\n\nNell chalked a stroke on the slate. She went home.\n",
        "2.md": "# Two\n\nMags wiped the slate. It took her an hour.\n",
    }
    told = Stories(Book(files))
    material = BriefMaterial(
        card=SceneCard(id="a", title="A", summary="Nell reads the slate."),
        horizon=Horizon(2),
        bible=project_bible(told.knowledge(), Horizon(2)),
        view=HorizonView(told.knowledge().order, told.knowledge().texts, Horizon(2)),
    )
    brief = build_brief(material, 900)
    shown = [item.text for item in brief.items if "Mags wiped the slate" in item.text]
    (end,) = shown
    assert "It took her an hour." in end
    assert brief.left_out == 0
