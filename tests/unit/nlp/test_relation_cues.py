import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import (
    ALONE_DETAIL,
    FAR_DETAIL,
    Certainty,
    CueParty,
    Fact,
    FactAbout,
    RelationCue,
)
from lrwr.core.nlp.facts.relation_cues import find_relation_cues
from lrwr.core.nlp.text.prose import annotate_prose

SPEAKER, ADDRESSEE, NARRATOR = CueParty
KNOWN = ("Nell", "Mags", "Ada", "Hob Gannet", "Corin Vale", "Mr. Vale", "Mrs. Vale")


def cues(text: str) -> list[Fact]:
    return list(find_relation_cues(annotate_prose(text, find_sentence_spans, KNOWN)))


def rows(text: str) -> list[tuple[str, str, str, str]]:
    return [
        (
            f.subject or "|".join(f.all_details("possible")),
            f.detail("kind"),
            f.detail("target"),
            f.detail("sign"),
        )
        for f in cues(text)
    ]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("“Yes, mamma,” said Nell.", (SPEAKER, "mother", ADDRESSEE, "address")),
        ("“My dear aunt, sit down.”", (SPEAKER, "aunt", ADDRESSEE, "address")),
        ("“I saw Aunt Mags to-day.”", (SPEAKER, "aunt", "Mags", "title")),
        ("“I met my cousin Mags.”", (SPEAKER, "cousin", "Mags", "named")),
        ("“Where is your sister Ada?”", (ADDRESSEE, "sister", "Ada", "named")),
        ("“I told my father so.”", (SPEAKER, "father", "", "unnamed")),
        ("It was my friend Nell who rang.", (NARRATOR, "friend", "Nell", "named")),
        ("Mags went out with her mother.", ("Mags", "mother", "", "unnamed")),
        ("Corin Vale's mother was out.", ("Corin Vale", "mother", "", "owner")),
        ("“Come in,” said her aunt.", (ADDRESSEE, "aunt", SPEAKER, "tag")),
        ("“I am engaged to Corin Vale.”", (SPEAKER, "engaged", "Corin Vale", "union")),
        ("Then Mags was married to Hob Gannet.", ("Mags", "spouse", "Hob Gannet", "union")),
        ("“I married Corin Vale.”", (SPEAKER, "spouse", "Corin Vale", "union")),
        ("Mags sat down. In June she married Hob Gannet.",
         ("Mags", "spouse", "Hob Gannet", "union")),
        ("“Mags is my dearest friend.”", (SPEAKER, "friend", "Mags", "stated")),
        ("“Mags was one of my best friends.”", (SPEAKER, "friend", "Mags", "stated")),
        ("“Mags is an old friend of mine.”", (SPEAKER, "friend", "Mags", "stated")),
        ("“I wrote to my nephew, Corin Vale.”", (SPEAKER, "nephew", "Corin Vale", "named")),
        ("It was Hob Gannet, the duchess's brother.",
         ("the duchess", "brother", "Hob Gannet", "stated")),
        ("Before June, Mags and Hob Gannet were married in haste.",
         ("Mags", "spouse", "Hob Gannet", "union")),
        ("Mags became the wife of Hob Gannet.", ("Hob Gannet", "wife", "Mags", "union")),
        ("Hob Gannet has got a pretty young wife.", ("Hob Gannet", "wife", "", "stated")),
        ("Mrs. Vale, his guardian's wife, sat down.",
         ("Mrs. Vale", "husband", "", "stated")),
        ("Hob Gannet was deeply in love with Nell.",
         ("Hob Gannet", "love interest", "Nell", "stated")),
        ("“Corin Vale left. He had formed a great friendship with Hob Gannet.”",
         ("Corin Vale", "friend", "Hob Gannet", "stated")),
        ("“Mags left. She is the only daughter of Mr. Vale.”",
         ("Mags", "parent", "Mr. Vale", "stated")),
    ],
)  # fmt: skip
def test_a_sign_of_a_relation_is_a_cue(
    text: str, row: tuple[str, str, str, str]
) -> None:
    assert rows(text) == [row]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("“You are my aunt,” said Nell.", (SPEAKER, "aunt", ADDRESSEE, "address")),
        ("“I am your aunt,” said Mags.", (ADDRESSEE, "aunt", SPEAKER, "address")),
        ("“Mags left. She is Hob Gannet's cousin.”",
         ("Mags", "cousin", "Hob Gannet", "stated")),
        ("“Mags smiled. Her mother was a Vale, Ada Vale.”",
         ("Mags", "mother", "Ada Vale", "stated")),
    ],
)  # fmt: skip
def test_a_statement_is_a_cue_beside_weaker_ones(
    text: str, row: tuple[str, str, str, str]
) -> None:
    assert row in rows(text)


def test_whoever_speaks_to_an_aunt_is_her_kin() -> None:
    assert rows("“Come in,” said Nell to her aunt.")[-1] == (
        SPEAKER,
        "aunt",
        ADDRESSEE,
        "tag",
    )


def test_each_name_of_a_list_is_one_cue() -> None:
    assert rows("Hob Gannet's sisters, Mags and Ada, came in.") == [
        ("Hob Gannet", "sister", "Mags", "list"),
        ("Hob Gannet", "sister", "Ada", "list"),
    ]
    assert rows("It was Ada, the eldest of Hob Gannet's daughters, Ada.")[-1] == (
        "Hob Gannet",
        "daughter",
        "Ada",
        "list",
    )


def test_a_pronoun_has_all_whom_it_may_mean() -> None:
    (cue,) = cues("Nell saw Mags with her mother.")
    assert (cue.subject, cue.detail("pronoun")) == ("", "her")
    assert list(cue.all_details("possible")) == ["Nell", "Mags"]


def test_the_names_of_kin_are_not_whom_the_same_pronoun_means_again() -> None:
    text = "Corin Vale came. His aunt, Mrs. Vale, slept; but his friend Mags sang."
    (cue,) = [cue for cue in cues(text) if cue.detail("target") == "Mags"]
    assert list(cue.all_details("possible")) == ["Corin Vale"]


def test_a_cue_says_if_its_paragraph_names_only_one() -> None:
    text = "Corin Vale was rich. It rained. His cousin Mags sang."
    (cue,) = cues(text)
    assert ALONE_DETAIL in cue.details
    (cue,) = cues(f"Hob Gannet slept. {text}")
    assert ALONE_DETAIL not in cue.details


def test_a_pronoun_may_mean_a_name_some_sentences_before() -> None:
    text = "Corin Vale was rich. He was kind, too. It rained. His cousin Mags sang."
    (cue,) = cues(text)
    assert list(cue.all_details("possible")) == ["Corin Vale"]
    (far,) = cues(text.replace("It rained. ", "It rained.\n\n"))
    assert FAR_DETAIL in far.details and ALONE_DETAIL not in far.details
    assert not cues(text.replace("It rained. ", "\n\nIt rained.\n\n"))


@pytest.mark.parametrize(
    "text",
    [
        "If Mags were married to Hob Gannet, she would laugh.",
        "“Is Mags engaged to Hob Gannet?” he asked.",
        "A mother went by.",
        "The fog came over the marsh.",
        "“Mother Vale was there.”",
    ],
)
def test_doubts_questions_and_strangers_are_no_cue(text: str) -> None:
    assert rows(text) == []


def test_a_cue_is_no_statement_and_has_its_words() -> None:
    text = "“I met my cousin Mags.”"
    (cue,) = cues(text)
    assert (cue.about, cue.certainty) == (FactAbout.RELATION_CUE, Certainty.PROBABLE)
    assert text[cue.spans[0].start : cue.spans[0].end] == "my cousin Mags"
    assert cue.detail("sign") == RelationCue.NAMED


def test_a_pronoun_skips_names_of_the_other_gender() -> None:
    assert rows("Nell came in. Mr. Vale sat with her cousin Ada.") == [
        ("Nell", "cousin", "Ada", "named")
    ]


def test_he_is_my_cousin_is_about_the_only_man_who_was_named() -> None:
    text = "“Corin Vale came with {}. He is my cousin,” said Ada."
    named = (SPEAKER, "cousin", "Corin Vale", "named")
    assert named in rows(text.format("Nell"))
    assert named not in rows(text.format("Hob Gannet"))
    doubt = "“Corin Vale came with Nell. Perhaps he is my cousin,” said Ada."
    assert named not in rows(doubt)


def test_a_place_between_a_woman_and_her_pronoun_owns_nothing() -> None:
    (cue,) = cues("Mags was at home. She had seen New Thole. Her mother was out.")
    assert list(cue.all_details("possible")) == ["Mags"]


def test_her_own_sister_is_the_kin_of_nobody_before() -> None:
    assert rows("Mags was at home. She saw her own sister, Ada, at the gate.") == []


@pytest.mark.parametrize(
    "text",
    [
        "“You are not my aunt,” said Nell.",
        "Mags had got it into her head that Corin Vale was in love with Nell.",
        "“Is he in love with Nell?”",
    ],
)
def test_what_is_denied_or_supposed_is_no_cue_of_love_or_kinship(text: str) -> None:
    assert not [row for row in rows(text) if row[3] in ("address", "stated")]


def test_a_pronoun_in_speech_may_mean_a_name_of_the_replies_before() -> None:
    text = "“I met Corin Vale.”\n\n“Oh?”\n\n“He is an old friend of Nell's.”"
    (cue,) = cues(text)
    assert list(cue.all_details("possible")) == ["Corin Vale"]
    assert FAR_DETAIL in cue.details


def test_a_pronoun_means_neither_who_is_spoken_to_nor_whose_grandson_he_is() -> None:
    text = (
        "“I saw Corin Vale, Hob Gannet. He is Mr. Vale's grandson. His mother was Ada.”"
    )
    (cue,) = (c for c in cues(text) if c.detail("target") == "Ada")
    assert list(cue.all_details("possible")) == ["Corin Vale"]


def test_an_adverb_before_a_title_is_no_part_of_the_name() -> None:
    assert rows("Luckily Mrs. Vale's mother was out.") == [
        ("Mrs. Vale", "mother", "", "owner")
    ]
