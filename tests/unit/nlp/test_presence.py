"""Who is in a scene in the flesh, and who is only named in it."""

import pytest

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.presence import find_present_characters
from lrwr.core.nlp.dialogue.speakers import attribute_quotations
from lrwr.core.nlp.names.mentions import find_mentions

NAMES = ("Nell", "Hob", "Corin")


def _character(name: str) -> Character:
    sure = Certainty.VERIFIED
    alias = Alias(name, 9, sure)
    return Character(name, (alias,), Gender.UNKNOWN, Certainty.PROBABLE, sure)


CAST = Cast(tuple(map(_character, NAMES)))


def present(*scenes: str, narrator: str = "") -> list[frozenset[str]]:
    text, parts = "", []
    for scene in scenes:
        parts.append((Span(len(text), len(text) + len(scene)),))
        text += scene
    spans = [part for scene in parts for part in scene]
    mentions = find_mentions(text, spans, CAST)
    quotations = attribute_quotations(text, tuple(parts), CAST, mentions)
    return find_present_characters(text, parts, mentions, quotations, narrator=narrator)


@pytest.mark.parametrize(
    "text",
    [
        "Nell climbed the tower. She sat down.\n",
        "“It is late,” said Nell.\n",
        "The door opened, and Hob led Nell to the fire.\n",
        "Nell and Hob walked to the mill.\n",
        "“Hob sleeps late, and so did his father,” said Nell.\n",
        "At the door Nell was greeted with a shout. Hob sat near Nell.\n",
        "Hob took Nell's hand. He felt Nell's tears.\n",
    ],
)
def test_who_acts_or_speaks_is_present(text: str) -> None:
    assert "Nell" in present(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "Hob sat down. He thought of Nell.\n",
        "Hob sat down. “Nell is in Thole,” said Hob.\n",
        "Hob remembered how Nell laughed.\n",
        "Hob opened Nell's letter.\n",
        "Hob asked about the crew, especially Nell: he yawned.\n",
        "Hob unrolled a chart, drawn one winter at the mill by Nell.\n",
        "As to Nell, Hob knew little. What related to Nell bored him.\n",
        "Hob had a letter. He read: “My dear Nell, I am well. Yours truly, Corin.”\n",
        "Hob waited. Neither Nell nor Corin was there.\n",
        "Hob wondered. If Nell recovered, it would all be well again.\n",
        "Hob sat. Nell away and Mags away, he had the house. He looked for Nell.\n",
        "Hob sat by the grave of Nell. It was quiet. Hob saw Nell's stone.\n",
        "Hob sat. Two years had passed since Nell's death. Nell kept his house then.\n",
        "Hob sat down. He made an enquiry after Nell, and wrote a letter to Nell.\n",
        "Hob sat down. He looked for Nell. Nell came not, and he thought of Nell.\n",
        "Hob read it:\n\n> Nell opened the door.\n> Then Nell laughed.\n\nHob sat.\n",
    ],
)
def test_who_is_only_thought_or_spoken_of_is_absent(text: str) -> None:
    (names,) = present(text)
    assert "Hob" in names
    assert "Nell" not in names


def test_each_scene_is_judged_alone() -> None:
    first, second = present("Nell lit the lamp.\n", "Hob spoke of Nell. Hob left.\n")
    assert first == {"Nell"}
    assert second == {"Hob"}


def test_a_narrator_is_present_where_the_narration_says_i() -> None:
    first, second = present(
        "I rowed, and I did not look round.\n",
        "“I know,” said Hob.\n",
        narrator="Corin",
    )
    assert "Corin" in first
    assert "Corin" not in second
