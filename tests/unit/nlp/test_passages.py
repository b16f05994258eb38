import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Certainty, ContentType, Fact
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.life_events import find_life_event_facts
from lrwr.core.nlp.text.prose import annotate_prose, ends_in_speech
from lrwr.core.nlp.text.scenes import (
    classify_passage,
    infer_point_of_view,
    select_key_sentences,
)

TALK = "“Nine cans, and the mule has no name,” Hob said. “It never came to one.” "
ROOM = (
    "The kitchen was square and narrow, with brick walls and a stone floor. Two wooden "
    "chairs stood below the windows, and a table of pale wood was in the corner. "
    "Beyond the door lay the garden, with three old trees and a thin grey hill. "
)
FIGHT = (
    "Nell grabbed the rope and pulled. The hook swung, struck the rail and broke. She "
    "fell, climbed up, and threw the line over. Hob caught it and dragged her out. He "
    "slipped, seized the post, and then the lamp burst and the mule bolted. "
)
MIND = (
    "Nell wondered what he meant. She knew the bell, and she remembered the night it "
    "had not rung. Could he have heard it? Perhaps nobody had. She thought of the tin, "
    "and she believed that it was empty. Surely it was empty. What if it was not? "
)
PAST = (
    "Twenty years before, Nell had lived in the mill. Her father had been a miller, "
    "and he had never left it. They had been poor, and had eaten nothing but eels. "
)


def said_of(text: str) -> dict[str, str]:
    prose = annotate_prose(text, find_sentence_spans)
    return {str(fact.field): fact.value for fact in classify_passage(prose)}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TALK, ContentType.DIALOGUE),
        (ROOM, ContentType.DESCRIPTION),
        (FIGHT, ContentType.ACTION_REACTION),
        (MIND, ContentType.INTERNAL_MONOLOGUE),
    ],
)
def test_a_passage_that_is_clearly_one_thing_is_called_that(
    text: str, kind: ContentType
) -> None:
    assert said_of(text) == {"content_type": kind}


@pytest.mark.parametrize(
    "text", ["", "“", "She went home.", "He went out, and the evening was long. " * 9]
)
def test_a_passage_that_is_nothing_clearly_is_left_out(text: str) -> None:
    assert said_of(text) == {}


def test_a_speech_that_began_before_the_passage_is_speech() -> None:
    text = "and that is all I know of it, my dear.” Hob nodded. “Ask the mule.”"
    assert said_of(text) == {"content_type": ContentType.DIALOGUE}


@pytest.mark.parametrize(
    ("before", "speaking"),
    [
        ("Fog. “I know", True),
        ("Fog. “I know.” ", False),
        ('He said, "I know. ', True),
        ("“I know\n\n", False),
        ("", False),
    ],
)
def test_a_speech_that_goes_on_is_known_by_its_opening_mark(
    before: str, speaking: bool
) -> None:
    assert ends_in_speech(before) is speaking


def test_a_passage_that_begins_within_a_speech_is_nobodys_thoughts() -> None:
    prose = annotate_prose(MIND, find_sentence_spans)
    assert classify_passage(prose, in_speech=True) == []


def test_what_a_passage_does_for_the_story_is_not_evaluated() -> None:
    assert "narrative_function" not in said_of(PAST)


def viewed(text: str) -> Fact | None:
    prose = annotate_prose(text, find_sentence_spans)
    return infer_point_of_view(prose, Span(0, len(text)))


def test_a_scene_is_seen_by_whoever_feels_and_thinks_in_it() -> None:
    fact = viewed(MIND)
    assert fact
    assert (fact.value, fact.detail("person")) == ("Nell", "third")
    assert fact.certainty is Certainty.PROBABLE
    assert MIND[fact.spans[0].start : fact.spans[0].end] == "Nell wondered"


def test_a_scene_told_by_i_is_the_narrators() -> None:
    fact = viewed("I rang the bell. I saw my hand on the rope, and I let it go.")
    assert fact
    assert (fact.value, fact.certainty) == ("", Certainty.VERIFIED)


def test_i_in_somebodys_words_is_not_the_narrator() -> None:
    assert viewed("“I rang it. I did, I did, and I saw my own hand,” said Hob.") is None


def test_two_minds_in_a_scene_make_no_point_of_view() -> None:
    assert viewed("Nell felt cold. Hob thought of tea. Nell knew. Hob knew.") is None


def test_key_sentences_are_the_narrators_own_in_order_three_at_most() -> None:
    text = (ROOM + FIGHT + TALK + MIND + PAST) * 2
    fact = select_key_sentences(
        annotate_prose(text, find_sentence_spans), Span(0, len(text))
    )
    assert fact
    assert fact.value == ""
    assert len(fact.spans) == 3
    assert list(fact.spans) == sorted(fact.spans)
    assert all(text[s.start : s.end].endswith(".") for s in fact.spans)
    assert not any("“" in text[s.start : s.end] for s in fact.spans)


def test_a_scene_of_nothing_but_talk_has_no_key_sentence() -> None:
    text = "“Nine,” said Hob. “Ten.”"
    assert (
        select_key_sentences(
            annotate_prose(text, find_sentence_spans), Span(0, len(text))
        )
        is None
    )


def test_a_turning_point_is_a_key_sentence_even_in_dialogue() -> None:
    text = "# One\n\n" + "Nell climbed the tower and lit the lamp. " * 9
    text += "“Corin is dead,” said Hob. " + "Nell sat down by the window again. " * 9
    prose = annotate_prose(text, find_sentence_spans, ("Nell", "Hob", "Corin"))
    events = list(find_life_event_facts(prose))
    fact = select_key_sentences(prose, Span(5, len(text)), events)
    assert fact is not None
    assert "“Corin is dead,” said Hob." in [text[s.start : s.end] for s in fact.spans]


@pytest.mark.parametrize(
    "text",
    ["Nell turned, and she said softly:", "A house is never well kept by a lady."],
)
def test_what_says_nothing_of_what_somebody_did_is_no_key_sentence(text: str) -> None:
    prose = annotate_prose(text, find_sentence_spans)
    assert select_key_sentences(prose, Span(0, len(text))) is None
