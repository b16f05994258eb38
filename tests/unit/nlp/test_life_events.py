import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import NARRATOR_DETAIL, CueParty, Fact, LifeEventKind
from lrwr.core.nlp.facts.life_events import find_life_event_facts
from lrwr.core.nlp.text.prose import annotate_prose


def events(text: str, known: tuple[str, ...] = ()) -> list[Fact]:
    prose = annotate_prose(text, find_sentence_spans, known)
    return list(find_life_event_facts(prose))


def kinds(text: str) -> list[str]:
    return [fact.detail("kind") for fact in events(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Nell died in the night.", LifeEventKind.DIED),
        ("At noon Mrs. Gannet arrived.", LifeEventKind.ARRIVED),
        ("Then Corin Vale was killed at the gate.", LifeEventKind.DIED),
        ("Nell and Hob were married in June.", LifeEventKind.MARRIED),
        ("Nell Vale married Hob Gannet.", LifeEventKind.MARRIED),
        ("Nell was born in Thole.", LifeEventKind.BORN),
        ("Hob met Corin on the bridge.", LifeEventKind.MET),
        ("Nell left the village at dawn.", LifeEventKind.LEFT),
        ("Corin proposed to Nell.", LifeEventKind.PROPOSED),
        ("Nell refused him.", LifeEventKind.REFUSED),
        ("Nell was engaged to Corin.", LifeEventKind.ENGAGED),
        ("Corin was wounded in the arm.", LifeEventKind.WOUNDED),
        ("Hob inherited the mill.", LifeEventKind.INHERITED),
        ("Nell received a letter.", LifeEventKind.LETTER),
        ("Nell learned the truth.", LifeEventKind.LEARNED),
        ("Hob moved to Ness.", LifeEventKind.MOVED),
        ("Corin struck Hob.", LifeEventKind.FOUGHT),
        ("Hob confessed everything.", LifeEventKind.CONFESSED),
        ("Corin was arrested.", LifeEventKind.ARRESTED),
        ("Nell fell down the stairs.", LifeEventKind.ACCIDENT),
        ("Nell eloped with Corin.", LifeEventKind.ELOPED),
        ("Their engagement was broken off.", LifeEventKind.PARTED),
        ("Nell broke off the engagement.", LifeEventKind.PARTED),
        ("Hob was dragged into the boat.", LifeEventKind.TAKEN),
        ("Hob stole the lantern.", LifeEventKind.ROBBED),
        ("Mrs. Gannet signed the deed.", LifeEventKind.SIGNED),
        ("Mrs. Gannet adopted Hob.", LifeEventKind.ADOPTED),
        ("Corin fell in love with Nell.", LifeEventKind.LOVED),
        ("A night in the ditch had brought on a long fever.", LifeEventKind.WOUNDED),
        ("Nell caught the measles.", LifeEventKind.WOUNDED),
        ("It was a small, windy wedding.", LifeEventKind.MARRIED),
        ("The ceremony had taken place in the net loft.", LifeEventKind.MARRIED),
        ("Since the death of Hob Gannet the mill stood empty.", LifeEventKind.DIED),
        ("Nell had left her husband: the whole lane knew.", LifeEventKind.ELOPED),
        ("Nell and Hob returned home in March.", LifeEventKind.ARRIVED),
        ("Nell set out early for the fair.", LifeEventKind.LEFT),
        ("“I arrest you,” said Hob.", LifeEventKind.ARRESTED),
        ("In March came the death of Mr. Vale.", LifeEventKind.DIED),
        ("The old Mrs. Gannet was no more.", LifeEventKind.DIED),
        ("Nell bore a son.", LifeEventKind.BORN),
        ("Nell became the wife of Hob.", LifeEventKind.MARRIED),
        ("Nell's elopement with Corin vexed him.", LifeEventKind.ELOPED),
        ("Corin had fallen ill of a fever.", LifeEventKind.WOUNDED),
        ("Hob went abroad.", LifeEventKind.LEFT),
        ("“I forced the safe myself,” said Hob.", LifeEventKind.CONFESSED),
        ("“The mill's robbed!” cried Hob.", LifeEventKind.ROBBED),
        ("“You are my son,” said Hob.", LifeEventKind.LEARNED),
    ],
)
def test_each_kind_of_life_event_is_found_verbatim(text: str, kind: str) -> None:
    (event,) = events(text)
    assert (event.value, event.detail("kind")) == (text, kind)


@pytest.mark.parametrize(
    "text",
    [
        "Nell drank.",
        "Hob followed his advice.",
        "Nell read the sign.",
        "Nell met his eyes.",
        "The fire died down.",
        "The ladder fell.",
        "Nell arrived at the conclusion.",
        "He was dead tired.",
        "Nell quarrelled with her own seat.",
        "“For the rest of the week we are engaged.”",
        "Hob said that Nell came back to Corin.",
        "Nell returned to Corin.",
        "Nell left the house and reached home.",
        "“I am engaged; I expect some friends.”",
        "Nell walked to the door. No summons, however, arrived.",
        "“I confess it vexes me,” said Nell.",
        "Hob, born in 1760, married in 1784.",
        "Then Nell fainted.",
        "Nell met Hob on the stairs.",
        "Nell met Hob within a few yards of the house.",
        "Nell made a proposal to Hob about the gate of the mill.",
        "Nell confessed that she had surprised them.",
        "At last Nell arrived in Tallow Street, near the mill.",
        "The contrast between Nell's coat and Hob's, struck her.",
        "Corin, who had married a daughter to Hob, sat down.",
        "“When her third husband died, her hair turned grey,” said Nell.",
        "“I am going away myself,” said Nell.",
        "Hob was received by Nell with kindness.",
        "Nell stood still, and Hob arrived.",
        "Nell cursed the hour that Hob was born.",
        "Hob showed her the house in which Nell was born.",
        "“I was born a fool,” said Nell.",
        "Nell left her at home.",
        "Nell left her house about noon.",
        "Hob was frightened and ran away.",
        "Hob spoke of the child who had died.",
        "Nell presented her hand to Hob.",
        "Hob dragged Nell into the room.",
        "Hob carried Nell home.",
        "Hob shot Nell's rabbit, and the hare was shot.",
        "“They have shot that fox,” said Nell.",
        "Corin had met Hob that day.",
        "Nell lay still while Hob was ill.",
        "It was a work for which Hob was ill fitted.",
    ],
)
def test_everyday_actions_are_no_life_events(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Hob arrested her by shouting from the gate.",
        "Hob arrested Nell with a look.",
        "The picture was odd; it was Hob who arrested Nell's attention.",
        "Nell arrested his eye.",
        "Nell was deeply wounded.",
        "“I am deeply wounded,” said Nell.",
        "Hob wounded her to the quick.",
        "Hob had wounded Nell's pride.",
        "Nell was wounded by his coldness.",
        "Corin was wounded in his vanity.",
        "Nell fell dead sick.",
        "The road turned, and Hob was dead in earnest.",
        "Nell left Hob Tallow to mend his own boat.",
        "Nell left Hob and Corin to settle it.",
        "Nell left Hob and Corin Vale to settle it.",
        "Hob inherited the untidiness of the office.",
        "Nell inherited her mother's bad memory.",
        "Hob inherited his uncle's exactness as regards money.",
        "So far as Corin was concerned, Nell was dead.",
        "Nell died to the world of Thole.",
        "Nell is no more than a guest.",
        "There came the Vales and the Tallows and the Gannets and the Pells and the Otts "
        "and Corin, who killed himself.",
        "“Nell has been dead for hundreds of years,” said Hob.",
    ],
)
def test_figures_of_speech_are_no_life_events(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Corin was deeply wounded in the shoulder.", LifeEventKind.WOUNDED),
        (
            "The officers came, and Hob arrested Corin at the mill.",
            LifeEventKind.ARRESTED,
        ),
        ("Hob fell dead on the floor.", LifeEventKind.DIED),
        ("Hob inherited his uncle's old house.", LifeEventKind.INHERITED),
        ("Nell inherited Thole.", LifeEventKind.INHERITED),
        ("Nell left England at dawn.", LifeEventKind.LEFT),
    ],
)
def test_the_literal_sense_stays_a_life_event(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Nell never died.",
        "Nell would have married Hob.",
        "If Nell died, nobody saw it.",
        "She dreamt that Nell died.",
        "Was it true that Nell died?",
        "Perhaps Nell left the house.",
        "Nell seemed to have arrived.",
        "Nell had intended to marry Hob.",
        "“I am not going to marry Hob,” said Nell.",
        "“When he is married, we shall see,” said Nell.",
        "Nell wanted to leave the house.",
        "“If Nell died, I should be sorry,” said Hob.",
        "“If you touch this, everything is over between us,” said Hob.",
        "The neighbours gave out that Hob had been robbed.",
        "“You cannot hate me as long as I love you,” said Hob.",
        "“I would love you,” said Hob.",
        "“Do I love you!” said Hob.",
    ],
)
def test_denied_doubted_and_dreamt_events_are_skipped(text: str) -> None:
    assert kinds(text) == []


def test_an_event_that_somebody_reports_is_marked_as_told() -> None:
    (event,) = events("“Corin Vale is dead,” said Nell.")
    assert event.detail("told")
    (event,) = events("Corin Vale died.")
    assert not event.detail("told")


def test_a_pronoun_in_speech_is_not_resolved() -> None:
    assert kinds("Nell saw Corin. “He is dead,” said Nell.") == []


@pytest.mark.parametrize(
    "text",
    [
        "By the evening Nell had arrived.",
        "Nell was born ten years before.",
        "When a child, Nell left the village.",
    ],
)
def test_an_event_before_the_scene_is_marked(text: str) -> None:
    (event,) = events(text)
    assert event.detail("earlier")


def test_people_are_named_and_pronouns_resolved_by_gender() -> None:
    (event,) = events("Mrs. Gannet waited. Mr. Vale came in. He proposed to her.")
    assert list(event.all_details("involved")) == ["Mr. Vale", "Mrs. Gannet"]


def test_a_proposal_in_speech_involves_those_who_talk() -> None:
    (event,) = events("Nell turned to Corin. “Will you marry me?” said Corin.")
    assert event.detail("kind") == LifeEventKind.PROPOSED
    assert list(event.all_details("involved")) == [
        CueParty.SPEAKER,
        CueParty.ADDRESSEE,
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Nell left Thole and " + "A" * 80 + ".", LifeEventKind.LEFT),
        ("Nell arrived at Thole with " + "Vales " * 40 + ".", LifeEventKind.ARRIVED),
    ],
)
def test_many_capitals_do_not_stop_the_search_for_events(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


def test_an_engagement_in_speech_is_that_of_the_speaker_and_of_who_is_named() -> None:
    (event,) = events("Nell turned to Hob. “I am engaged to Corin,” said Nell.")
    assert list(event.all_details("involved")) == [CueParty.SPEAKER, "Corin"]


def test_a_second_verb_belongs_to_the_nearest_subject() -> None:
    (event,) = events("Corin turned, and Nell stood up, and left the village.")
    assert list(event.all_details("involved")) == ["Nell"]
    assert kinds("“I came, Hob, because you courted her and married her.”") == []


def test_nobody_is_guessed_who_is_arrested() -> None:
    (event,) = events("Nell turned to Hob. “They have arrested him,” said Nell.")
    assert list(event.all_details("involved")) == []


def test_a_noun_of_an_event_involves_whom_it_names() -> None:
    (event,) = events("Then came the death of Mr. Vale.")
    assert list(event.all_details("involved")) == ["Mr. Vale"]
    (event,) = events("Nell's elopement with Corin vexed him.")
    assert list(event.all_details("involved")) == ["Nell", "Corin"]
    assert kinds("Nell feared the death of Mr. Vale.") == []


def test_a_subject_in_parentheses_is_none_of_the_event() -> None:
    (event,) = events("Hob Vale had, I found, been arrested.")
    assert NARRATOR_DETAIL not in event.details


def test_who_kills_is_not_the_one_who_dies() -> None:
    (event,) = events("Hob murdered his wife.")
    assert list(event.all_details("involved")) == []
    (event,) = events("Hob murdered Corin.")
    assert list(event.all_details("involved")) == ["Hob", "Corin"]
    (event,) = events("Hob killed himself.")
    assert list(event.all_details("involved")) == ["Hob"]


def test_who_is_arrested_is_the_one_to_whom_it_is_said() -> None:
    (event,) = events("“I arrest you, Corin,” said Nell.")
    assert list(event.all_details("involved")) == [CueParty.ADDRESSEE]


def test_leaving_a_person_is_not_leaving_a_place() -> None:
    text = "Corin left Hob. Corin left Thole."
    assert [e.value for e in events(text, ("Corin", "Hob"))] == ["Corin left Thole."]


def test_a_wedding_of_the_speaker_is_told_of_the_speaker() -> None:
    (event,) = events("“I married Hob,” said Nell.")
    assert list(event.all_details("involved")) == [CueParty.SPEAKER, "Hob"]
    assert kinds("“I struck him down,” said Nell.") == []


def test_an_event_of_the_narrator_says_so() -> None:
    (event,) = events("I received a letter.")
    assert NARRATOR_DETAIL in event.details


def test_a_subject_far_before_its_verb_is_none() -> None:
    text = "Nell said that she was fixed, " + "and the mud lay still, " * 9
    assert kinds(text + "and had expired.") == []


def test_a_long_sentence_gives_the_part_that_tells_it() -> None:
    text = "It was a grey day, " + "and the mud lay still, " * 9 + "as ever; Nell died."
    assert [fact.value for fact in events(text)] == ["Nell died."]


def test_where_people_are_known_only_they_take_part() -> None:
    found = events("At noon Thole died. At noon Nell died.", ("Nell Tallow",))
    assert [fact.value for fact in found] == ["At noon Nell died."]


def test_the_subject_of_the_verb_takes_part_and_not_everybody_near_it() -> None:
    (event,) = events("Nell saw Corin with Hob; and Hob died.")
    assert list(event.all_details("involved")) == ["Hob"]


def test_a_second_verb_has_the_subject_of_the_first() -> None:
    (event,) = events("Nell rose; took the club; and struck Hob.")
    assert list(event.all_details("involved")) == ["Nell", "Hob"]


def test_the_object_of_a_preposition_is_no_subject() -> None:
    assert kinds("The letter of Nell arrived at the house.") == []


def test_an_owner_takes_no_part() -> None:
    (event,) = events("Corin was engaged to Nell's sister.")
    assert list(event.all_details("involved")) == ["Corin"]


def test_a_pronoun_with_two_candidates_names_nobody() -> None:
    assert kinds("Mr. Vale spoke of Mr. Gannet. She left the house.") == []
    (event,) = events("Mr. Vale met Mr. Gannet, and he was arrested.")
    assert event.detail("kind") == LifeEventKind.MET


def test_a_short_line_of_dialogue_is_quoted_with_the_sentence_before_it() -> None:
    text = "Corin took her hand, and said: “Marry me, Nell.”"
    assert [fact.value for fact in events(text)] == [text]


def test_a_couple_takes_part_in_a_wedding_that_names_it_last() -> None:
    (event,) = events(
        "At last there were married Corin Vale, to Nell, daughter of Hob Tallow."
    )
    assert event.detail("kind") == LifeEventKind.MARRIED
    assert list(event.all_details("involved")) == ["Corin Vale", "Nell"]


def test_a_culprit_is_not_guessed_from_the_narration_before() -> None:
    text = (
        "Nell looked at the fire for a long time.\n\nMags looked at the old clock.\n\n"
        "“Well, now you shall know. I forced the safe myself over night, and left it.”"
    )
    (event,) = events(text, ("Nell", "Mags"))
    assert list(event.all_details("involved")) == [CueParty.SPEAKER]


def test_the_life_of_the_dead_is_earlier_than_the_scene() -> None:
    text = "The late Mr. Vale married Anna Marl in June. Mr. Vale inherited the mill.\n\nNell married Hob."
    assert [event.detail("earlier") for event in events(text)] == ["yes", "yes", ""]
    (birth,) = events("It was over when Nell was born.")
    assert birth.detail("earlier") == "yes"


def test_a_pronoun_after_the_owner_of_something_means_the_owner() -> None:
    text = "Corin sat down. It had been TallowJack's. He had been dead a year."
    (event,) = events(text, ("Corin", "TallowJack"))
    assert list(event.all_details("involved")) == ["TallowJack"]
    assert events(text, ("Corin",)) == []


def test_who_speaks_afterwards_is_not_the_one_whom_a_pronoun_tells_to_be_dead() -> None:
    text = "Corin sat down. He was dead. {} The boat sank."
    for tag in ("“Come,” said Corin.", "Corin said, “Come.”"):
        assert events(text.format(tag), ("Corin",)) == []
    assert events(text.format("“Corin!” said Nell."), ("Corin", "Nell"))


def test_whoever_loses_a_relative_is_not_the_dead() -> None:
    (fact,) = events("In June Nell lost her father.")
    assert fact.detail("kind") == LifeEventKind.DIED
    assert not list(fact.all_details("involved"))


@pytest.mark.parametrize(
    "text",
    [
        "When Nell was married she moved.",
        "“No,” she returned, “I will not.”",
        "Hob was seized with a cough.",
        "Nell came since the death of Hob's father.",
        "It was said that she was married.",
    ],
)
def test_a_time_clause_a_tag_and_a_cough_are_no_events(text: str) -> None:
    assert kinds(text) == []
