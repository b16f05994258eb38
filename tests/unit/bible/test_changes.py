from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.changes import (
    StoryChange,
    StoryChangeKind,
    StoryState,
    align_casts,
    diff_story_states,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.timeline import FactChange, FactTopic, find_fact_changes
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterProfile,
    Gap,
    GapState,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    WorldElement,
)
from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty, FactAbout
from lrwr.core.model.text import LineIndex, LineRange, Span
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.story import StoryOrder

SURE, UNSAID = Certainty.VERIFIED, Certainty.NOT_EVALUATED
DOCUMENTS = [DocumentId("1.md"), DocumentId("2.md")]
PEOPLE = ["Nell Tallow", "Corin Vale", "Mrs. Gannet"]
VALUES = ["grey", "brown", "green"]

documents = st.frozensets(st.sampled_from(DOCUMENTS), min_size=1)
sayings = st.dictionaries(st.sampled_from(VALUES), documents, min_size=1)
topics = st.tuples(
    st.sampled_from([FactAbout.CHARACTER, FactAbout.WORLD, FactAbout.GAP]),
    st.sampled_from(PEOPLE),
    st.sampled_from(["eyes", "hair"]),
)
said = st.dictionaries(topics, sayings)


def words(document: str, text: str, at: int = 0) -> TextEvidence:
    place = (Span(at, at + len(text)),)
    lines = LineRange(at + 1, at + 1)
    return TextEvidence(
        DocumentId(document), place, text, lines, 1, "", 1, RULES_KEEPER, SURE
    )


def a_character(*names: str) -> Character:
    aliases = tuple(Alias(name, 1, SURE) for name in names)
    return Character(names[0], aliases, Gender.UNKNOWN, UNSAID, SURE)


@st.composite
def stories(draw: st.DrawFn) -> StoryState:
    people = draw(st.lists(st.sampled_from(PEOPLE), unique=True))
    claimed = st.dictionaries(st.sampled_from(["eyes", "hair"]), sayings)
    profiles = tuple(
        CharacterProfile(
            name, (), Gender.UNKNOWN, UNSAID, SURE, attributes=claims(draw(claimed))
        )
        for name in people
    )
    things = tuple(
        WorldElement(name, (), claims({"": draw(sayings)}), (), SURE)
        for name in draw(st.lists(st.sampled_from(["Mag", "Gull Post"]), unique=True))
    )
    told = tuple(
        TimelineMoment(TimelineMomentKind.EVENT, text, (), words("1.md", text))
        for text in draw(st.lists(st.sampled_from(VALUES)))
    )
    open_ = draw(st.dictionaries(st.sampled_from(VALUES), st.sampled_from(GapState)))
    gaps = tuple(
        Gap(name, UndefinedAttribute("", name), "", name, state)
        for name, state in open_.items()
    )
    cast = Cast(tuple(map(a_character, people)))
    known = StoryKnowledge(StoryOrder({}, (), {}), {}, cast)
    return StoryState(
        known, Bible(characters=profiles, world=things, timeline=told, gaps=gaps)
    )


def claims(
    labels: dict[str, dict[str, frozenset[DocumentId]]],
) -> tuple[BibleClaim, ...]:
    return tuple(
        BibleClaim(value, tuple(words(d, value) for d in sorted(where)), SURE, label)
        for label, values in labels.items()
        for value, where in values.items()
    )


def turned(change: StoryChange) -> StoryChange:
    shift = change.shift
    back = replace(shift, before=shift.after, after=shift.before)
    return replace(change, shift=back, was=change.now, now=change.was, later=())


@given(stories())
def test_a_story_does_not_differ_from_itself(story: StoryState) -> None:
    assert diff_story_states(story, story, {}) == ()


@given(stories(), stories())
def test_what_one_way_gains_the_other_way_loses(
    one: StoryState, other: StoryState
) -> None:
    there, back = diff_story_states(one, other, {}), diff_story_states(other, one, {})
    assert {turned(change) for change in there} == {
        replace(change, later=()) for change in back
    }


@given(said)
def test_what_is_said_again_has_not_shifted(
    one: dict[FactTopic, dict[str, frozenset[DocumentId]]],
) -> None:
    assert list(find_fact_changes(one, one)) == []


@given(said, said)
def test_every_value_that_came_or_went_is_told(
    one: dict[FactTopic, dict[str, frozenset[DocumentId]]],
    other: dict[FactTopic, dict[str, frozenset[DocumentId]]],
) -> None:
    found = list(find_fact_changes(one, other))
    for topic in one.keys() | other.keys():
        old, new = set(one.get(topic, ())), set(other.get(topic, ()))
        mine = [s for s in found if (s.about, s.subject, s.what) == topic]
        assert old - new <= {s.before for s in mine} <= old | {""}
        assert new - old <= {s.after for s in mine} <= new | {""}
        if topic[0] is FactAbout.GAP:
            assert not any(s.before and s.after for s in mine)


EYES = (FactAbout.CHARACTER, "Nell", "eyes")
ONE, TWO = (frozenset({one}) for one in DOCUMENTS)


def test_a_value_that_another_document_still_says_was_replaced_in_this_one() -> None:
    both = ONE | TWO
    (shift,) = find_fact_changes(
        {EYES: {"grey": both}}, {EYES: {"grey": TWO, "brown": ONE}}
    )
    assert shift == FactChange(*EYES, before="grey", after="brown")
    (back,) = find_fact_changes(
        {EYES: {"grey": TWO, "brown": ONE}}, {EYES: {"grey": both}}
    )
    assert back == FactChange(*EYES, before="brown", after="grey")


def test_values_that_trade_places_have_not_changed() -> None:
    before, after = {"grey": ONE, "brown": TWO}, {"grey": TWO, "brown": ONE}
    assert list(find_fact_changes({EYES: before}, {EYES: after})) == []


def test_a_person_who_gets_a_longer_name_is_the_same() -> None:
    old = Cast((a_character("Corin"), a_character("Mags")))
    new = Cast((a_character("Corin Vale", "Corin"), a_character("Pip")))
    mine, theirs = align_casts(old, new)
    assert mine == {"Corin": "Corin Vale", "Mags": "Mags"}
    assert theirs == {"Corin Vale": "Corin Vale", "Pip": "Pip"}


def test_names_and_facts_of_text_that_did_not_change_are_no_change() -> None:
    first, second = DOCUMENTS
    pages = {first: "Camilla had grey eyes.", second: "Pip had red hair."}

    def state(documents: list[DocumentId], *names: str) -> StoryState:
        texts = {d: DocumentText(pages[d], LineIndex.of(pages[d])) for d in documents}
        cast = Cast(tuple(map(a_character, names)))
        profiles = tuple(
            CharacterProfile(
                name,
                (),
                Gender.UNKNOWN,
                UNSAID,
                SURE,
                first_seen=words(place, name),
                attributes=claims({"eyes": {"grey": frozenset({place})}}),
            )
            for name, place in (("Camilla", first), ("Pip", second))
            if name in names
        )
        order = StoryOrder({}, (), {})
        known = StoryKnowledge(order, texts, cast)
        return StoryState(known, Bible(characters=profiles))

    both, fewer = state(DOCUMENTS, "Pip"), state([first], "Camilla")
    lost = diff_story_states(both, fewer, {})
    assert [(c.shift.before, c.shift.after) for c in lost] == [
        ("Pip", ""),
        ("grey", ""),
    ]
    gained = diff_story_states(fewer, both, {})
    assert [c.shift.after for c in gained] == ["Pip", "grey"]


def test_a_name_that_two_people_bear_makes_nobody_the_same() -> None:
    old = Cast((a_character("Gannet"),))
    new = Cast((a_character("Mrs. Gannet", "Gannet"), a_character("Pip", "Gannet")))
    assert align_casts(old, new)[0] == {"Gannet": "Gannet"}


def test_a_key_sentence_that_still_stands_is_not_lost() -> None:
    knowledge = StoryKnowledge(StoryOrder({}, (), {}), {})
    line = TimelineMoment(
        TimelineMomentKind.SCENE, "It rained.", (), words("1.md", "It rained.")
    )
    before = StoryState(knowledge, Bible(timeline=(line,)))
    (lost,) = diff_story_states(before, StoryState(knowledge, Bible()), {})
    assert (lost.kind, lost.shift.before) == (StoryChangeKind.MOMENT, "It rained.")
