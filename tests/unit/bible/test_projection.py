from dataclasses import replace

import pytest

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterProfile,
    TimelineMomentKind,
    format_relation,
)
from lrwr.core.canon.model import Canon, CanonNames, ManuscriptLocation
from lrwr.core.model.cast import Cast, Gender
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import (
    DIRECTED_DETAIL,
    PRESENT_FIELD,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
    LifeEventKind,
    WorldField,
)
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import AppearanceRole, DocumentFact
from tests.fakes.stories import Book, Stories
from tests.unit.bible.marsh import MODEL, NOTE, ONE, TWO, marsh


def bible(horizon: Horizon | None = None, canon: Canon | None = None) -> Bible:
    return project_bible(marsh().knowledge(canon), horizon)


def profile(name: str, of: Bible) -> CharacterProfile:
    return next(one for one in of.characters if one.name == name)


def values(claims: tuple[BibleClaim, ...]) -> list[tuple[str, str]]:
    return [(claim.label, claim.value) for claim in claims]


def test_everyone_is_there_with_all_forms_and_the_first_place() -> None:
    found = bible()
    assert [(c.name, c.mentions) for c in found.characters] == [
        ("Nell Tallow", 6),
        ("OchraMags", 4),
        ("Corin Vale", 2),
    ]
    nell = profile("Nell Tallow", found)
    assert [form.name for form in nell.aliases] == ["Wren", "Nell Tallow"]
    assert nell.gender is Gender.FEMALE
    assert nell.first_seen is not None
    assert (nell.first_seen.document, nell.first_seen.lines.first) == (ONE, 3)


def test_at_a_horizon_people_go_by_the_names_seen_so_far() -> None:
    found = bible(Horizon(1))
    assert [(c.name, c.mentions) for c in found.characters] == [
        ("Wren", 3),
        ("Mags", 2),
    ]
    assert [form.name for form in found.characters[0].aliases] == ["Wren"]
    assert found.characters[0].gender is Gender.UNKNOWN
    assert [c.name for c in bible(Horizon(1, 1)).characters] == ["Wren"]
    assert bible(Horizon(0)).characters == ()


def test_mentions_are_counted_up_to_the_horizon_inside_a_file() -> None:
    assert profile("Corin Vale", bible(Horizon(2))).mentions == 1
    assert profile("Corin Vale", bible(Horizon(3))).mentions == 2


def test_a_value_that_changes_is_there_in_both_shapes_in_story_order() -> None:
    eyes = profile("Nell Tallow", bible()).attributes
    assert values(eyes) == [("age", "twelve"), ("eyes", "grey"), ("eyes", "brown")]
    assert eyes[0].certainty is Certainty.CONFIRMED
    assert values(profile("Wren", bible(Horizon(1))).attributes) == [("eyes", "grey")]


def test_notes_are_the_writers_and_hidden_under_a_horizon() -> None:
    age = profile("Nell Tallow", bible()).attributes[0]
    assert (age.writers, age.evidence[0].document, age.evidence[0].chapter) == (
        True,
        NOTE,
        None,
    )
    told = profile("Nell Tallow", bible(Horizon(3)))
    assert "age" not in [claim.label for claim in told.attributes]


def test_the_same_trait_of_several_places_is_one_with_several_words() -> None:
    stories = marsh()
    stories.fact(
        TWO, "came in", FactAbout.CHARACTER, CharacterField.TRAIT, "the proud", "Wren",
        keeper=WRITER_KEEPER, certainty=Certainty.CONFIRMED,
    )  # fmt: skip
    (trait,) = profile(
        "Nell Tallow", project_bible(stories.knowledge())
    ).personality_traits
    assert trait.value == "the proud"
    assert trait.certainty is Certainty.CONFIRMED
    assert [one.text for one in trait.evidence] == ["came in", "Wren was proud"]
    assert [one.chapter for one in trait.evidence] == [2, 2]


def test_what_is_not_proud_is_not_merged_with_what_is() -> None:
    stories = marsh()
    stories.fact(
        TWO,
        "The fog came",
        FactAbout.CHARACTER,
        CharacterField.TRAIT,
        "not proud",
        "Wren",
    )
    traits = profile(
        "Nell Tallow", project_bible(stories.knowledge())
    ).personality_traits
    assert [trait.value for trait in traits] == ["Proud", "not proud"]


def test_relations_go_both_ways_to_people_in_sight_only() -> None:
    (aunt,) = bible().relations
    assert (aunt.source, aunt.target, aunt.kind, aunt.valence) == (
        "Nell Tallow",
        "OchraMags",
        "aunt",
        "complex",
    )
    assert profile("Nell Tallow", bible()).relationships == (aunt,)
    assert bible(Horizon(1)).relations == ()


@pytest.mark.parametrize(
    ("details", "shown"),
    [
        ((("kind", "clerk"),), []),
        ((("kind", "clerk"), DIRECTED_DETAIL), [("Nell Tallow", "clerk")]),
        ((), [("Nell Tallow", "")]),
    ],
)
def test_a_relation_that_a_model_may_have_reversed_is_no_fact_until_it_is_read_again(
    details: tuple[tuple[str, str], ...], shown: list[tuple[str, str]]
) -> None:
    stories = marsh()
    stories.fact(
        TWO, "Wren was proud", FactAbout.CHARACTER, CharacterField.RELATIONSHIP, "",
        "Mags", keeper=MODEL, details=(("target", "Wren"), *details),
    )  # fmt: skip
    known = project_bible(stories.knowledge())
    relations = profile("OchraMags", known).relationships
    assert [(r.target, r.kind) for r in relations] == shown
    assert ("clerk" in str(known)) is ("clerk" in str(shown))


def test_a_relation_in_many_words_is_shown_as_a_phrase() -> None:
    (aunt,) = bible().relations
    assert format_relation(aunt) == ("Nell Tallow’s aunt", "OchraMags (complex)")
    phrase = replace(aunt, kind="wants the lease of", valence="")
    assert format_relation(phrase) == ("OchraMags, Nell Tallow", "wants the lease of")


def test_everyone_who_is_told_something_hears_it() -> None:
    stories = marsh()
    stories.fact(
        TWO, "Corin Vale drowned", FactAbout.TOLD, "told", "that he drowned", "Mags",
        details=(("hearer", "Wren"), ("hearer", "Corin Vale")),
    )  # fmt: skip
    known = project_bible(stories.knowledge())
    assert known.told[-1].hearers == ("Nell Tallow", "Corin Vale")
    told = [m for m in known.timeline if m.kind is TimelineMomentKind.TOLD]
    assert told[-1].characters == ("OchraMags", "Nell Tallow", "Corin Vale")


def test_whom_a_model_found_in_a_scene_replaces_whom_rules_saw_named() -> None:
    stories = marsh()
    assert bible().scenes[1].present == ("Nell Tallow", "OchraMags")
    stories.fact(
        ONE, "Six strokes", FactAbout.SCENE, PRESENT_FIELD, "Mags", keeper=MODEL
    )
    scenes = project_bible(stories.knowledge()).scenes
    assert scenes[1].present == ("OchraMags",)
    others = [scene for n, scene in enumerate(scenes) if n != 1]
    assert others == [scene for n, scene in enumerate(bible().scenes) if n != 1]


def test_events_of_a_model_replace_those_of_rules_in_the_scenes_that_it_read() -> None:
    stories = marsh()
    event = FactAbout.EVENT
    stories.fact(TWO, "Nell Tallow came in", event, "event", "Nell came in.")
    stories.fact(ONE, "Mags kept the ledger", event, "event", "Mags writes.")
    stories.fact(ONE, "climbed nineteen rungs", event, "event", "Wren climbed.")
    stories.fact(TWO, "The fog came", event, "event", "The fog came.")

    def events() -> list[str]:
        return [e.description for e in project_bible(stories.knowledge()).events]

    unread = ["Wren climbed.", "Mags writes.", "The fog came."]
    assert sorted(events()) == sorted([*unread, "Corin drowns."])
    stories.fact(
        ONE, "Wren climbed nineteen rungs", FactAbout.SCENE, "recap", "She climbs.",
        keeper=MODEL,
    )  # fmt: skip
    assert sorted(events()) == sorted([*unread[1:], "Corin drowns."])


def test_who_judged_no_valence_agrees_with_who_did() -> None:
    stories = marsh()
    stories.fact(
        TWO, "my aunt", FactAbout.CHARACTER, CharacterField.RELATIONSHIP, "", "Wren",
        details=(("target", "Mags"), ("kind", "Aunt")),
    )  # fmt: skip
    (aunt,) = project_bible(stories.knowledge()).relations
    assert (aunt.valence, len(aunt.evidence)) == ("complex", 2)


def test_things_of_the_world_gather_under_one_name() -> None:
    (house,) = bible().world
    assert house.name == "the Ledger House"
    assert [claim.value for claim in house.element_types] == ["setting"]
    assert [claim.value for claim in house.connected_characters] == ["Corin Vale"]
    (early,) = bible(Horizon(2)).world
    assert early.connected_characters == ()


def test_a_person_who_was_read_as_a_place_is_no_thing_of_the_world() -> None:
    stories, world = marsh(), FactAbout.WORLD
    kind, told = WorldField.ELEMENT_TYPE, WorldField.DESCRIPTION
    stories.fact(TWO, "Nell Tallow came", world, kind, "setting", "Nell Tallow")
    stories.fact(TWO, "came in", world, told, "a girl", "the Nell Tallow")
    stories.fact(TWO, "Wren was", world, kind, "setting", "Wren", keeper=MODEL)
    (house,) = project_bible(stories.knowledge()).world
    assert house.name == "the Ledger House"
    stories.fact(TWO, "Wren was proud", world, kind, "artifact", "Wren")
    stories.fact(TWO, "Wren", world, kind, "setting", "Mags", keeper=WRITER_KEEPER)
    _, wren, mags = project_bible(stories.knowledge()).world
    assert [claim.value for claim in wren.element_types] == ["artifact"]
    assert [claim.value for claim in mags.element_types] == ["setting"]


def test_events_know_whom_they_concern() -> None:
    (event,) = bible().events
    assert event.characters_involved == ("Corin Vale",)
    assert event.emotional_weight == {"Nell Tallow": "afraid"}
    assert event.story_grid_tag == "crisis"
    assert (event.evidence.text, event.evidence.chapter) == ("Corin Vale drowned", 2)


@pytest.mark.parametrize(
    ("kind", "involved", "is_listed"),
    [
        (LifeEventKind.ENGAGED, (), False),
        (LifeEventKind.MARRIED, (), True),
        (LifeEventKind.MARRIED, ("Corin Vale",), True),
        (LifeEventKind.DIED, (), True),
    ],
)
def test_an_event_without_anybody_known_is_listed_only_if_it_is_grave(
    kind: LifeEventKind, involved: tuple[str, ...], is_listed: bool
) -> None:
    stories = Stories(
        Book({"chapters/01.md": "# One\n\nCorin Vale came. It was done."})
    )
    stories.name("Corin Vale", gender=Gender.MALE)
    stories.fact(
        "chapters/01.md", "It was done.", FactAbout.EVENT, "event", "It was done.",
        details=(("kind", kind), *(("involved", name) for name in involved)),
    )  # fmt: skip
    assert bool(project_bible(stories.knowledge()).events) is is_listed


def test_the_timeline_has_scenes_and_under_them_their_events() -> None:
    told = [(m.kind, m.text, m.characters) for m in bible().timeline]
    assert told == [
        (TimelineMomentKind.SCENE, "Wren climbed nineteen rungs.", ("Nell Tallow",)),
        (TimelineMomentKind.TOLD, "that it is six", ("OchraMags", "Nell Tallow")),
        (TimelineMomentKind.EVENT, "Corin drowns.", ("Corin Vale",)),
    ]


def test_scenes_tell_whose_eyes_who_is_there_and_what_happens() -> None:
    first, second, third, _ = bible().scenes
    assert [claim.value for claim in first.points_of_view] == ["Nell Tallow"]
    assert [s.text for s in first.key_sentences] == ["Wren climbed nineteen rungs."]
    assert second.present == ("Nell Tallow", "OchraMags")
    assert [claim.value for claim in third.recap] == ["They meet."]
    assert third.present == ()
    assert [(s.chapter, s.scene) for s in bible(Horizon(1)).scenes] == [(1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("place", "seen_by"),
    [
        (ManuscriptLocation(DocumentId(TWO)), ["", "", "Mags", "Mags"]),
        (ManuscriptLocation(DocumentId(TWO), "Fog"), ["", "", "", "Mags"]),
        (ManuscriptLocation(DocumentId(TWO), "ch1"), ["", "", "Mags", ""]),
        (ManuscriptLocation(DocumentId(ONE), "", 2), ["", "Mags", "", ""]),
    ],
)
def test_a_decided_point_of_view_comes_first(
    place: ManuscriptLocation, seen_by: list[str]
) -> None:
    found = bible(canon=Canon(points_of_view={place: "Mags"}))
    views = [[c.value for c in s.points_of_view if c.decided] for s in found.scenes]
    named = {"": [], "Mags": ["OchraMags"]}
    assert views == [named[name] for name in seen_by]


def test_quotes_are_verbatim_and_their_speakers_go_by_names_seen() -> None:
    said = [(q.speaker, q.evidence.text, q.evidence.chapter) for q in bible().quotes]
    assert said == [
        ("Nell Tallow", "Is it late?", 1),
        ("OchraMags", "Six strokes,", 1),
        ("Nell Tallow", "You are my aunt,", 2),
    ]
    early = bible(Horizon(1)).quotes
    assert [(q.speaker, q.addressee) for q in early] == [("Wren", ""), ("Mags", "Wren")]


def test_a_speaker_who_is_not_in_sight_yet_is_nobody() -> None:
    stories = marsh()
    stories.says(ONE, "late", "Corin Vale")
    late = project_bible(stories.knowledge(), Horizon(1)).quotes[1]
    assert (late.speaker, late.evidence.certainty) == ("", Certainty.NOT_EVALUATED)


@pytest.mark.parametrize("span", [Span(0, 10_000), Span(5, 5), Span(-3, 4)])
def test_a_fact_whose_words_are_not_there_is_not_shown(span: Span) -> None:
    stories = marsh()
    (known, *_) = stories.known
    fact = replace(known.fact, value="lost", spans=(span,))
    stories.known = [
        DocumentFact(DocumentId(ONE), fact),
        DocumentFact(DocumentId("gone.md"), replace(known.fact, value="lost")),
    ]
    assert profile("Nell Tallow", project_bible(stories.knowledge())).attributes == ()


def test_a_confirmed_name_is_confirmed() -> None:
    for names in (
        CanonNames(confirmed=("Mags",)),
        CanonNames(merged={"OchraMags": ("Mags",)}),
        CanonNames(renamed={"Mags": "OchraMags"}),
        CanonNames(split=(("Mags", "Maggie"),)),
    ):
        found = bible(canon=Canon(names=names))
        assert profile("OchraMags", found).certainty is Certainty.CONFIRMED
        assert profile("Nell Tallow", found).certainty is Certainty.VERIFIED


def test_a_shared_form_is_nobodys_fact() -> None:
    stories = marsh()
    stories.people = Cast(
        stories.people.characters, {"the woman": ("Nell Tallow", "OchraMags")}
    )
    stories.fact(
        ONE,
        "a proud woman",
        FactAbout.CHARACTER,
        CharacterField.TRAIT,
        "tall",
        "The woman",
    )
    found = project_bible(stories.knowledge())
    assert "tall" not in str(found.characters)


def test_a_character_is_called_by_any_name_seen() -> None:
    assert find_profile_by_name("wren", bible()).name == "Nell Tallow"
    assert find_profile_by_name("tallow", bible()).name == "Nell Tallow"
    with pytest.raises(NotFound, match="up to this point of the story") as caught:
        find_profile_by_name("Nell Tallow", bible(Horizon(1)))
    assert caught.value.hint == "Run `lrwr characters` to list all characters."


def test_nothing_is_known_of_a_book_that_was_not_read_closely() -> None:
    empty = project_bible(Stories(Book({ONE: "# One\n\nThe marsh.\n"})).knowledge())
    assert empty.characters == ()
    assert empty.readers == ()
    assert bible().readers == (MODEL,)
    assert bible(Horizon(0)).readers == (MODEL,)


def test_a_name_before_the_horizon_is_seen_in_any_form() -> None:
    known = marsh().knowledge()
    view = HorizonView(known.order, known.texts, Horizon(1))
    names = ("the Ledger", "Mags's", "Strokes", "Corin Vale", "Nell Tallow")
    assert view.list_unseen_names(names) == ("Corin Vale", "Nell Tallow")


@pytest.mark.parametrize(
    ("role", "present"),
    [
        (AppearanceRole.PRESENT, ("Corin Vale",)),
        (AppearanceRole.MENTIONED, ()),
        (AppearanceRole.SPEAKS, ()),
    ],
)
def test_those_whom_the_rules_saw_in_the_flesh_are_present(
    role: AppearanceRole, present: tuple[str, ...]
) -> None:
    stories = Stories(Book({"chapters/01.md": "# One\n\nCorin Vale slept."}))
    stories.name("Corin Vale", gender=Gender.MALE)
    stories.appears("chapters/01.md", "Corin Vale slept.", "Corin Vale", role, 1)
    (scene,) = project_bible(stories.knowledge()).scenes
    assert scene.present == present


@pytest.mark.parametrize(
    ("role", "count", "present"),
    [
        (AppearanceRole.MENTIONED, 2, ()),
        (AppearanceRole.SPEAKS, 1, ()),
        (AppearanceRole.SPEAKS, 2, ("Corin Vale",)),
    ],
)
def test_the_dead_are_present_only_if_they_speak_more_than_once(
    role: AppearanceRole, count: int, present: tuple[str, ...]
) -> None:
    text = "# One\n\nCorin Vale died.\n\n# Two\n\nCorin Vale lay in the church."
    stories = Stories(Book({"chapters/01.md": text}))
    stories.name("Corin Vale", gender=Gender.MALE)
    stories.fact(
        "chapters/01.md", "Corin Vale died.", FactAbout.EVENT, "event", "", "he died",
        details=(("kind", "dies"), ("involved", "Corin Vale")),
    )  # fmt: skip
    for part in (AppearanceRole.PRESENT, role):
        words = "Corin Vale lay in the church."
        stories.appears("chapters/01.md", words, "Corin Vale", part, count)
    *_, last = project_bible(stories.knowledge()).scenes
    assert last.present == present


@pytest.mark.parametrize(
    ("role", "is_dead"),
    [(AppearanceRole.SPEAKS, False), (AppearanceRole.MENTIONED, True)],
)
def test_the_late_namesake_of_somebody_who_acts_is_another(
    role: AppearanceRole, is_dead: bool
) -> None:
    text = "# One\n\nThe late Mr. Vale built it.\n\n# Two\n\nMr. Vale sat down."
    stories = Stories(Book({"chapters/01.md": text}))
    stories.name("Mr. Vale", gender=Gender.MALE)
    stories.fact(
        "chapters/01.md", "The late Mr. Vale", FactAbout.CHARACTER, "attribute", "dead",
        "Mr. Vale", certainty=Certainty.PROBABLE, details=(("attribute", "life"),),
    )  # fmt: skip
    stories.appears("chapters/01.md", "Mr. Vale sat down.", "Mr. Vale", role, 1)
    (profile,) = project_bible(stories.knowledge()).characters
    assert bool(profile.attributes) == is_dead


@pytest.mark.parametrize(
    ("words", "present"),
    [("Dead before the book begins.", ()), ("Dead tired.", ("Corin Vale",))],
)
def test_who_died_before_the_story_by_the_notes_is_never_present(
    words: str, present: tuple[str, ...]
) -> None:
    text = "# One\n\nCorin Vale lay in the church."
    stories = Stories(Book({"chapters/01.md": text}))
    stories.name("Corin Vale", gender=Gender.MALE)
    stories.fact(
        "chapters/01.md", "Corin Vale", FactAbout.CHARACTER, CharacterField.ATTRIBUTE,
        words, "Corin Vale", keeper=WRITER_KEEPER, certainty=Certainty.CONFIRMED,
        details=(("attribute", "description"),),
    )  # fmt: skip
    for role in (AppearanceRole.PRESENT, AppearanceRole.SPEAKS):
        place = "Corin Vale lay in the church."
        stories.appears("chapters/01.md", place, "Corin Vale", role, 1)
    (scene,) = project_bible(stories.knowledge()).scenes
    assert scene.present == present


def test_a_title_page_is_no_scene() -> None:
    pages = {
        "00.md": "# The Lamp\n\nThe Lamp\n\nby\n\nA. Writer\n\n(1818)",
        "01.md": "# One\n\nIt rained.",
    }
    stories = Stories(Book(pages))
    assert [s.document for s in project_bible(stories.knowledge()).scenes] == ["01.md"]
