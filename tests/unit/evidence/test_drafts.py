"""Drafts: parts that fit, citations that stay with their sentences, exports."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.evidence.drafts import (
    CitationStyle,
    DraftPart,
    DraftSentence,
    PostDraft,
    convert_citations,
    count_post_words,
    fit_parts,
    list_posts,
    map_sentences,
    pack_parts,
    render_draft,
    render_outline,
)
from lrwr.core.evidence.kinds import (
    KIND_RULES,
    PostKind,
    QuestionScope,
    check_horizon_choice,
)
from lrwr.core.evidence.limits import Platform, fits
from lrwr.core.evidence.pack import EvidenceFact, EvidencePack
from lrwr.core.evidence.prompts import FlaggedSentence
from lrwr.core.evidence.revision import apply_revisions
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.model.errors import SettingsProblem

PACK = EvidencePack(
    tuple(
        EvidenceFact(
            n,
            f"Fact {n}.",
            f"words of {n}",
            EvidenceSource("t", "1.md")
            if n < 3
            else EvidenceSource("t", url=f"https://a.example/{n}", title="A page"),
        )
        for n in range(1, 5)
    )
)
PIECES = [
    "a",
    "fog",
    "marsh,",
    "日本",
    "👨‍👩‍👧‍👦",
    "https://a.example/x",
    "x" * 40,
    "é",
    "lamp.",
]
SENTENCE = st.builds(
    DraftSentence,
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=60).map(" ".join),
    st.lists(st.integers(1, 4), max_size=2, unique=True).map(tuple),
)
DRAFT = st.builds(
    PostDraft,
    st.just("Title"),
    st.lists(
        st.lists(SENTENCE, min_size=1, max_size=4).map(tuple).map(DraftPart),
        min_size=1,
        max_size=5,
    ).map(tuple),
)


@given(DRAFT, st.sampled_from(Platform))
def test_no_part_is_over_its_limit_and_no_word_is_lost(
    draft: PostDraft, platform: Platform
) -> None:
    fitted = fit_parts(draft, platform, find_sentence_spans)
    assert all(fits(part.text, platform) for part in fitted.parts)
    before = " ".join(part.text for part in draft.parts).split()
    assert " ".join(part.text for part in fitted.parts).split() == before
    assert fitted.cited == draft.cited


@given(DRAFT, st.sampled_from(Platform), st.sampled_from(CitationStyle))
def test_no_exported_post_is_over_its_limit(
    draft: PostDraft, platform: Platform, style: CitationStyle
) -> None:
    text = render_draft(draft, PACK, PostKind.THREAD)
    posts = list_posts(text, platform, style, find_sentence_spans)
    assert posts
    assert all(fits(post, platform) for post in posts)
    assert ("Sources:" in "\n".join(posts)) == (
        bool({3, 4} & {*draft.cited}) and style is not CitationStyle.REMOVE
    )
    assert "1.md" not in "\n".join(posts)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("It rose.", "It rose [1][2]."),
        ("Did it?!", "Did it [1][2]?!"),
        ("It rose", "It rose [1][2]"),
        ("“It rose.”", "“It rose.” [1][2]"),
        ("It rose…", "It rose [1][2]…"),
    ],
)
def test_marks_stand_before_the_full_stop(text: str, marked: str) -> None:
    assert DraftSentence(text, (1, 2)).marked == marked
    assert DraftSentence(text).marked == text


def test_sources_are_those_that_are_cited_and_last() -> None:
    parts = (DraftPart((DraftSentence("It rose.", (2,)), DraftSentence("Why?"))),)
    text = render_draft(PostDraft("Fog", parts), PACK, PostKind.NEWSLETTER)
    assert text == (
        "# Fog\n\nIt rose [2]. Why?\n\n## Sources\n\n- [2] 1.md:1 (note): “words of 2”\n"
    )
    assert convert_citations(text, CitationStyle.REMOVE) == "# Fog\n\nIt rose. Why?\n"
    end = convert_citations(text, CitationStyle.END)
    assert end == (
        "# Fog\n\nIt rose. Why?\n\n## Sources\n\n- 1.md:1 (note): “words of 2”\n"
    )
    assert count_post_words(text) == 3
    assert convert_citations(text, CitationStyle.KEEP) == text


def test_a_part_without_sentences_goes() -> None:
    first, second = DraftSentence("One."), DraftSentence("Two.")
    draft = PostDraft("", (DraftPart((first,)), DraftPart((second,))))
    assert map_sentences(draft, {first: None}).parts == (DraftPart((second,)),)
    swapped = map_sentences(draft, {first: DraftSentence("Eins.")})
    assert [s.text for s in swapped.sentences] == ["Eins.", "Two."]


@pytest.mark.parametrize("kind", PostKind)
def test_a_kind_for_readers_needs_a_choice(kind: PostKind) -> None:
    check_horizon_choice(kind, "ch3", whole=False)
    check_horizon_choice(kind, "", whole=True)
    with pytest.raises(SettingsProblem):
        check_horizon_choice(kind, "ch3", whole=True)
    rules = KIND_RULES[kind]
    assert rules.words[0] < rules.words[1]
    assert rules.questions
    if rules.needs_horizon:
        with pytest.raises(SettingsProblem, match=re.escape(rules.name)):
            check_horizon_choice(kind, "", whole=False)
    else:
        check_horizon_choice(kind, "", whole=False)


def test_a_thread_with_too_many_parts_is_packed_at_ends_of_sentences() -> None:
    sentences = [DraftSentence(f"Sentence {n} is here. " + "x" * 80) for n in range(6)]
    draft = PostDraft("", tuple(DraftPart((s,)) for s in sentences))
    packed = pack_parts(draft, Platform.X)
    assert packed.sentences == draft.sentences
    assert [len(part.sentences) for part in packed.parts] == [2, 2, 2]


@pytest.mark.parametrize(
    ("texts", "remaining"),
    [
        (("The lamp is old.", "It hangs from a hook.", "Nell climbs."), (2,)),
        (("Nell has a lamp.", "She climbs.", "This takes an hour."), ()),
        (("The lamp is old.", "It was Nell who lit it."), (1,)),
        (("The lamp is old.", "Nell lit it."), (1,)),
    ],
)
def test_no_sentence_refers_to_one_that_was_left_out(
    texts: tuple[str, ...], remaining: tuple[int, ...]
) -> None:
    sentences = tuple(DraftSentence(text, (1,)) for text in texts)
    flagged = [FlaggedSentence(sentences[0], "wrong")]
    draft = PostDraft("", (DraftPart(sentences),))
    final, revisions = apply_revisions(draft, flagged, [DraftSentence("")], {})
    assert final.sentences == tuple(sentences[at] for at in remaining)
    assert len(revisions) == len(sentences) - len(remaining)
    assert all("was left out" in revision.reason for revision in revisions[1:])


def test_a_pronoun_may_refer_to_a_sentence_before_the_one_left_out() -> None:
    texts = ("Nell fills the lamp.", "Nell drinks tea.", "She climbs.", "She sings.")
    _, tea, climbs, _ = sentences = [DraftSentence(t, (1,)) for t in texts]
    draft = PostDraft("", (DraftPart(tuple(sentences)),))
    for left_out in (tea, climbs):
        flagged = [FlaggedSentence(left_out, "wrong")]
        final, _ = apply_revisions(draft, flagged, [DraftSentence("")], {})
        assert final.sentences == tuple(s for s in sentences if s != left_out)


def list_answers(kind: PostKind, *facts: EvidenceFact) -> dict[str, str]:
    """Return the text below each question of an outline."""
    outline = render_outline("A brief", kind, EvidencePack(facts))
    parts = outline.partition("## Sources")[0].split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def build_fact(number: int, sentence: str, chapter: int | None = 1) -> EvidenceFact:
    source = EvidenceSource(sentence, "1.md", chapter=chapter)
    return EvidenceFact(number, sentence, sentence, source)


def test_an_outline_puts_sentences_only_below_questions_that_they_fit() -> None:
    answers = list_answers(
        PostKind.BLURB,
        build_fact(1, "Nell came over the marsh."),
        build_fact(2, "She wanted to see the lantern."),
        build_fact(3, "Hob refused to open the door."),
    )
    assert "Nell came" in answers["Who is it about, and where?"]
    assert "She wanted" in answers["What does this person want?"]
    assert "Hob refused" in answers["What stands in the way?"]
    assert "Nothing found in your text.\n\n…" in answers["What is at stake?"]
    assert "".join(answers.values()).count("\n- ") == 3


def test_an_outline_leaves_to_the_author_what_only_she_can_say() -> None:
    facts = [build_fact(n, f"The lamp number {n} is lit.") for n in range(1, 5)]
    answers = list_answers(
        PostKind.NEWSLETTER, *facts, build_fact(5, "Lamps burned whale oil.", None)
    )
    assert "Only you can say.\n\n…" in answers["What should readers do next?"]
    assert "whale oil" in answers["What is behind it?"]
    assert "lamp" not in answers["What is behind it?"]


def test_each_kind_has_a_question_that_any_sentence_may_answer() -> None:
    for rules in KIND_RULES.values():
        questions = [q for q in rules.questions if q.answer is QuestionScope.STORY]
        assert any(not question.cues for question in questions)


def test_an_outline_shows_the_text_not_what_a_model_made_of_it() -> None:
    source = EvidenceSource("Nell lit the lantern at dusk.", "1.md", chapter=1)
    fact = EvidenceFact(1, "A lamp is lit.", "Nell lit the lantern", source)
    answers = list_answers(PostKind.NEWSLETTER, fact)
    assert "“Nell lit the lantern”" in "".join(answers.values())
    assert "A lamp is lit." not in "".join(answers.values())
