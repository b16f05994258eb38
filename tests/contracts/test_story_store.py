from dataclasses import replace

from lrwr.core.model.cast import (
    Alias,
    AttributionCue,
    Cast,
    Character,
    Gender,
    Mention,
    Quotation,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, Knowledge, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty, CueParty, Fact, FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.model.turns import NarrativeState
from lrwr.core.ports.story_stores import (
    AppearanceRole,
    AttributionResult,
    AttributionSnapshot,
    DocumentEvidence,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
)
from tests.fakes.conversations import THREAD, a_turn
from tests.fakes.libraries import Library
from tests.fakes.records import ONE, SPACE, TWO, some_chunks, some_knowledge

TEXTS = ["Nell counts.", "“Ten,” said Nell."]

NELL = Character(
    name="Nell",
    aliases=(
        Alias("Nell", 2, Certainty.VERIFIED, "speaks"),
        Alias("Wren", 1, Certainty.CONFIRMED),
    ),
    gender=Gender.FEMALE,
    gender_certainty=Certainty.PROBABLE,
    certainty=Certainty.VERIFIED,
    because="speaks",
    narrator=True,
)

TRAIT = Fact(
    about=FactAbout.CHARACTER,
    subject="Nell",
    field="attribute",
    value="grey",
    spans=(Span(0, 4), Span(5, 11)),
    keeper=RULES_KEEPER,
    certainty=Certainty.VERIFIED,
    details=(("attribute", "eyes"), ("said", "yes"), ("said", "twice")),
)

SAID = Quotation(
    spans=(Span(14, 17),),
    speaker="Nell",
    certainty=Certainty.VERIFIED,
    cue=AttributionCue.NAMED,
    addressee="Hob",
    addressee_certainty=Certainty.PROBABLE,
    mentions=("Hob",),
)


def learned(document: DocumentId = ONE, texts: list[str] | None = None) -> Knowledge:
    chunks = some_chunks(texts or TEXTS, document=document, pipeline=Pipeline.AGENTIC)
    whole = some_knowledge(chunks, pipeline=Pipeline.AGENTIC)
    return replace(
        whole,
        facts=(TRAIT,),
        seams={"a": 0.25, "b": 1.5},
        evidence='{"Nell": 2}',
        noted='{"pov": "Nell"}',
    )


def woven(knowledge: Knowledge, *, content: str = "content-r1") -> AttributionResult:
    first, second = (chunk.id for chunk in knowledge.chunks[:2])
    return AttributionResult(
        document=knowledge.document.id,
        content=content,
        revision="woven-1",
        quotations=(SAID,),
        mentions=(Mention("Nell", Span(0, 4)), Mention("Nell", Span(25, 29))),
        appearances={
            first: {("Nell", AppearanceRole.PRESENT): 1},
            second: {
                ("Nell", AppearanceRole.SPEAKS): 2,
                ("Hob", AppearanceRole.HEARS): 1,
            },
        },
        names={second: "Nell Wren Hob"},
    )


async def test_before_anything_is_read_there_is_nobody(library: Library) -> None:
    assert await library.story.cast() == Cast()
    assert await library.story.facts() == []
    assert await library.casts.name_evidence() == []


async def test_the_cast_comes_back_as_it_was_kept(library: Library) -> None:
    cast = Cast((NELL,), {"Miss Tallow": ("Nell", "Annis")})
    assert await library.casts.load_cast() is None
    await library.casts.save_cast(Cast())
    await library.casts.save_cast(cast)
    assert await library.story.cast() == cast
    assert await library.casts.load_cast() == cast


async def test_facts_are_those_of_the_last_reading(library: Library) -> None:
    await library.keep(learned())
    await library.keep(replace(learned(), facts=(replace(TRAIT, value="green"),)))
    await library.keep(replace(learned(TWO), facts=()))
    assert await library.story.facts() == [
        DocumentFact(ONE, replace(TRAIT, value="green"))
    ]
    assert await library.story.facts([FactAbout.WORLD]) == []
    assert len(await library.story.facts([FactAbout.WORLD, FactAbout.CHARACTER])) == 1


async def test_pipeline_a_leaves_what_b_knows_alone(library: Library) -> None:
    await library.keep(learned())
    await library.keep_texts(ONE, TEXTS)
    await library.remove(ONE, Pipeline.NAIVE)
    assert len(await library.story.facts()) == 1
    assert len(await library.casts.attribution_inputs([ONE])) == 1


async def test_what_was_read_of_a_document_is_given_to_attribution(
    library: Library,
) -> None:
    knowledge = learned()
    await library.keep(knowledge)
    (given,) = await library.casts.attribution_inputs([ONE, TWO])
    assert (given.document, given.content) == (ONE, "content-r1")
    assert given.text == knowledge.document.text
    (evidence,) = await library.casts.name_evidence()
    assert evidence == DocumentEvidence(ONE, '{"Nell": 2}', '{"pov": "Nell"}', "")
    assert await library.casts.attribution_inputs([TWO]) == []


async def test_a_snapshot_changes_with_all_that_is_read_and_woven(
    library: Library,
) -> None:
    seen = [await library.casts.attribution_snapshot()]
    knowledge = learned()

    async def look() -> AttributionSnapshot:
        now = await library.casts.attribution_snapshot()
        assert now not in seen
        assert await library.casts.attribution_snapshot() == now
        seen.append(now)
        return now

    await library.keep(knowledge)
    assert (await look()).documents[ONE].attributed == ""
    assert await library.casts.save_attribution(woven(knowledge))
    assert (await look()).documents[ONE].attributed == "woven-1"
    await library.casts.save_cast(Cast((NELL,)))
    await look()
    await library.keep_texts(TWO, ["Nell rows."])
    assert (await look()).documents.keys() == {ONE, TWO}
    await library.keep(learned(texts=["Nell counts.", "“Eleven,” said Nell."]))
    await look()
    await library.remove(ONE, Pipeline.AGENTIC)
    await look()


async def test_the_state_of_an_attribution_comes_back_until_the_library_differs(
    library: Library,
) -> None:
    await library.keep(learned())
    before = await library.casts.attribution_snapshot()
    assert before.state == ""
    assert await library.casts.save_state("all", {ONE: "signs"}, before)
    assert (await library.casts.attribution_snapshot()).state == "all"
    assert [one.narration for one in await library.casts.name_evidence()] == ["signs"]
    assert not await library.casts.save_state("late", {ONE: ""}, before)
    now = await library.casts.attribution_snapshot()
    assert now.state == "all"
    assert await library.casts.save_state("next", {ONE: ""}, now)
    assert [one.narration for one in await library.casts.name_evidence()] == [""]


async def test_signs_of_a_narrator_go_with_the_reading_they_belong_to(
    library: Library,
) -> None:
    await library.keep(learned())
    now = await library.casts.attribution_snapshot()
    assert await library.casts.save_state("all", {ONE: "signs"}, now)
    await library.keep(learned(texts=["Corin rows."]))
    assert [one.narration for one in await library.casts.name_evidence()] == [""]


async def test_what_is_woven_is_found_by_who_speaks_and_where(
    library: Library,
) -> None:
    knowledge = learned()
    await library.keep(knowledge)
    assert await library.casts.save_attribution(woven(knowledge))
    assert await library.story.quotations() == [DocumentQuotation(ONE, SAID)]
    for _ in range(2):
        here = await library.story.quotations(documents=[ONE, TWO])
        assert here == [DocumentQuotation(ONE, SAID)]
    assert await library.story.quotations(documents=[TWO]) == []
    assert await library.story.first_seen() == [
        FirstMention("Nell", "Nell", ONE, Span(0, 4), 2)
    ]
    second = knowledge.chunks[1]
    (hears, speaks) = (
        one for one in await library.story.appearances() if one.span == second.span
    )
    assert (hears.character, hears.role, hears.count) == (
        "Hob",
        AppearanceRole.HEARS,
        1,
    )
    assert (speaks.character, speaks.role, speaks.count) == (
        "Nell",
        AppearanceRole.SPEAKS,
        2,
    )
    assert (speaks.document, speaks.span) == (ONE, second.span)
    named = await library.story.appearances(["Nell"])
    assert [one.role for one in named] == [
        AppearanceRole.PRESENT,
        AppearanceRole.SPEAKS,
    ]


async def test_what_a_document_states_is_read_again_when_it_is_stored_again(
    library: Library,
) -> None:
    await library.keep_texts(TWO, ["Hob rows."])
    knowledge = learned()
    await library.keep(knowledge)
    first = await library.stated.documents()
    assert list(first) == sorted([ONE, TWO])
    await library.casts.save_attribution(woven(knowledge))
    stated = await library.stated.documents()
    assert stated[TWO] is first[TWO]
    assert stated[ONE].facts == tuple(
        await library.story.facts({FactAbout.CHARACTER}),
    )
    assert stated[ONE].first_seen == tuple(await library.story.first_seen())
    for document, each in stated.items():
        assert each.text == await library.passages.text(document)
    outlines = [each.outline for each in stated.values()]
    assert outlines == await library.passages.outlines()
    assert (await library.stated.documents())[ONE] is stated[ONE]
    await library.keep(replace(knowledge, facts=()))
    assert (await library.stated.documents())[ONE].facts == ()
    await library.remove(TWO)
    assert list(await library.stated.documents()) == [ONE]


async def test_cues_and_events_name_who_speaks(library: Library) -> None:
    speaker, addressee, _ = CueParty
    cue = replace(
        TRAIT,
        about=FactAbout.RELATION_CUE,
        subject=speaker,
        spans=(Span(14, 17),),
        certainty=Certainty.PROBABLE,
        details=(("target", "Mags"), ("kind", "aunt"), ("sign", "named")),
    )
    heard = replace(cue, subject="Nell", details=(("target", addressee),))
    about = (("involved", speaker), ("involved", addressee))
    event = replace(cue, about=FactAbout.EVENT, subject="", value="", details=about)
    knowledge = replace(learned(), facts=(cue, heard, event))
    await library.keep(knowledge)
    before = [one.fact.subject for one in await library.story.facts()]
    assert before == [speaker, "Nell", ""]
    await library.casts.save_attribution(woven(knowledge))
    first, second, third = (one.fact for one in await library.story.facts())
    assert (first.subject, first.certainty) == ("Nell", Certainty.VERIFIED)
    assert first.detail("party") == speaker
    assert second.detail("target") == "Hob"
    assert list(third.all_details("involved")) == ["Nell", "Hob"]
    assert third.certainty is event.certainty
    assert await library.story.search_facts(["grey", "aunt"], limit=5) == []


async def test_weaving_again_leaves_nothing_of_before(library: Library) -> None:
    knowledge = learned()
    await library.keep(knowledge)
    await library.casts.save_attribution(woven(knowledge))
    bare = replace(
        woven(knowledge), quotations=(), mentions=(), appearances={}, names={}
    )
    assert await library.casts.save_attribution(bare)
    assert await library.story.quotations() == []
    assert await library.story.appearances() == []
    assert await library.story.first_seen() == []


async def test_what_was_woven_of_an_older_text_is_not_kept(library: Library) -> None:
    knowledge = learned()
    await library.keep(knowledge, "r2")
    assert not await library.casts.save_attribution(
        woven(knowledge, content="content-r1")
    )
    assert await library.story.quotations() == []


async def test_a_forgotten_document_takes_all_of_it_along(library: Library) -> None:
    knowledge = learned()
    await library.keep(knowledge)
    await library.keep_texts(ONE, TEXTS)
    await library.casts.save_attribution(woven(knowledge))
    await library.remove(ONE, Pipeline.AGENTIC)
    assert await library.casts.name_evidence() == []
    assert await library.story.facts() == []
    assert await library.story.quotations() == []
    assert await library.story.first_seen() == []
    assert await library.story.appearances() == []
    assert await library.analysis.seams(ONE, SPACE) == {}


async def test_places_are_the_storys_own_chunks_in_order(library: Library) -> None:
    knowledge = learned()
    await library.keep(knowledge)
    await library.keep_texts(ONE, ["Another pipeline's"])
    places = await library.casts.chunk_spans(ONE)
    assert [(one.chunk, one.span) for one in places] == [
        (chunk.id, chunk.span) for chunk in knowledge.chunks
    ]


async def test_seams_are_kept_for_each_space(library: Library) -> None:
    await library.keep(learned())
    assert await library.analysis.seams(ONE, SPACE) == {"a": 0.25, "b": 1.5}
    assert await library.analysis.seams(ONE, "another") == {}
    await library.keep(replace(learned(), seams={"c": 0.5}))
    assert await library.analysis.seams(ONE, SPACE) == {"c": 0.5}


async def test_replies_are_kept_by_key(library: Library) -> None:
    usage = Usage(calls=1, prompt_tokens=10, completion_tokens=3)
    await library.analysis.save_replies({"k1": "[1]", "k2": "[]"}, usage)
    await library.analysis.save_replies({"k1": "[2]"}, usage)
    assert await library.analysis.replies(["k1", "k3"]) == {"k1": "[2]"}


async def test_who_is_in_a_passage_is_among_its_words_but_not_at_a_moment(
    library: Library,
) -> None:
    knowledge = learned()
    await library.keep(knowledge)
    await library.casts.save_attribution(woven(knowledge))
    second = knowledge.chunks[1]

    async def found(scope: SearchScope) -> list[ChunkId]:
        scored = await library.words.search_words(
            ["Wren"], pipeline=Pipeline.AGENTIC, scope=scope, limit=9
        )
        return [one.chunk for one in scored]

    assert await found(SearchScope()) == [second.id]
    assert await found(SearchScope(frozenset({second.document}))) == []
    counts, _ = await library.words.document_frequencies(
        ["Wren"], pipeline=Pipeline.AGENTIC
    )
    assert counts == {"Wren": 0}


async def test_facts_are_found_by_their_words(library: Library) -> None:
    mule = replace(TRAIT, subject="the mule", value="grey and nameless")
    passage = replace(TRAIT, about=FactAbout.PASSAGE, subject="", value="grey")
    await library.keep(replace(learned(), facts=(TRAIT, mule, passage)))
    found = await library.story.search_facts(["mules"], limit=5)
    assert [one.fact for one in found] == [mule]
    assert len(await library.story.search_facts(["grey"], limit=5)) == 2
    assert await library.story.search_facts([], limit=5) == []
    await library.keep(replace(learned(), facts=()))
    assert await library.story.search_facts(["grey"], limit=5) == []


async def test_facts_are_found_by_what_they_tell_of_their_subject(
    library: Library,
) -> None:
    lamp = replace(
        TRAIT,
        about=FactAbout.WORLD,
        subject="the lamp",
        field="element_type",
        value="artifact",
        details=(),
    )
    sister = replace(
        TRAIT,
        field="relationship",
        value="",
        details=(("target", "Mags"), ("kind", "sister")),
    )
    event = replace(
        TRAIT, about=FactAbout.EVENT, subject="", field="event", value="Rain."
    )
    facts = (TRAIT, lamp, sister, replace(event, details=()))
    await library.keep(replace(learned(), facts=facts))

    async def found(*words: str) -> list[Fact]:
        return [one.fact for one in await library.story.search_facts(words, limit=5)]

    assert await found("eye") == [TRAIT]
    assert await found("element", "type") == [lamp]
    assert await found("sister") == [sister]
    assert await found("event") == []
    assert (await found("nell", "eyes"))[0] == TRAIT
    await library.keep(replace(learned(), facts=(lamp,)))
    assert await found("eyes", "sister") == []


async def test_a_label_of_a_models_outranks_one_of_the_rules(library: Library) -> None:
    knowledge = learned()
    first = knowledge.chunks[0]
    by_rules = Fact(
        about=FactAbout.PASSAGE,
        subject="",
        field="content_type",
        value="dialogue",
        spans=(first.span,),
        keeper=RULES_KEEPER,
        certainty=Certainty.PROBABLE,
    )
    by_model = replace(by_rules, value="description", keeper="a-model")
    await library.keep(replace(knowledge, facts=(by_model, by_rules)))
    expected = {first.id: {"content_type": "description"}}
    assert await library.story.labels() == expected
    assert await library.story.labels([first.id]) == expected
    assert await library.story.labels([knowledge.chunks[1].id]) == {}


async def test_what_changes_the_story_raises_the_content_version(
    library: Library,
) -> None:
    knowledge = learned()
    versions = [await library.parts.content_version()]

    async def note() -> None:
        versions.append(await library.parts.content_version())

    await library.keep(knowledge)
    await note()
    await library.casts.save_cast(Cast((NELL,)))
    await note()
    await library.casts.save_attribution(woven(knowledge))
    await note()
    await library.remove(ONE, Pipeline.AGENTIC)
    await note()
    assert versions == sorted(set(versions))


async def test_questions_and_the_index_leave_the_content_version_alone(
    library: Library,
) -> None:
    await library.keep(learned())
    before = await library.parts.content_version()
    await library.threads.save_turn(THREAD, "Nell", a_turn("0" * 32), NarrativeState())
    await library.parts.save_index("key", "[]")
    assert await library.parts.content_version() == before


async def test_the_index_is_that_of_the_last_key(library: Library) -> None:
    assert await library.parts.load_index("one") == ""
    await library.parts.save_index("one", '["Nell"]')
    assert await library.parts.load_index("one") == '["Nell"]'
    await library.parts.save_index("two", "[]")
    assert await library.parts.load_index("one") == ""
    assert await library.parts.load_index("two") == "[]"


async def test_parts_are_those_of_the_characters_and_documents(
    library: Library,
) -> None:
    for document in (ONE, TWO):
        knowledge = learned(document)
        await library.keep(knowledge)
        await library.casts.save_attribution(woven(knowledge))
    quotations = await library.story.quotations()
    appearances = await library.story.appearances()
    parts = library.parts
    assert len(quotations) == 2
    assert await parts.quotations_of(["Nell"], []) == quotations
    assert await parts.quotations_of(["Hob"], []) == []
    assert await parts.quotations_of(["Hob"], [TWO]) == quotations[1:]
    assert await parts.quotations_of(["Nell"], [TWO]) == quotations
    assert await parts.appearances_of(["Nell", "Hob"], []) == appearances
    assert await parts.appearances_of([], [TWO]) == [
        one for one in appearances if one.document == TWO
    ]
    assert await parts.appearances_of(["Hob"], [ONE]) == [
        one for one in appearances if one.document == ONE or one.character == "Hob"
    ]
