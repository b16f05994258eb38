"""A cast that is inferred again as documents change is the one of a fresh inference."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.model.text import Span
from lrwr.core.nlp.names.evidence import NameEvidence, gather_name_evidence
from lrwr.core.nlp.names.inference import (
    CastInference,
    NotePerson,
    infer_cast,
)
from lrwr.core.nlp.names.overrides import NameOverrides

SENTENCES = [
    "“Is it late, Corin?” said Nell Tallow.",
    "“Four,” said Corin Vale. He was tall.",
    "Mrs. Gannet sighed. “Three cans of oil,” said Mrs. Gannet.",
    "“Will you?” asked Will. They met Will by the ash.",
    "“Left,” said Ash. Old Ash waited for Will and Nell.",
    "I know, and I took the oars. I rowed, and I did not look round.",
    "It rained. The lamp burned low, and nobody came.",
    "They will wait, and will row. An ash stood by the marsh.",
    "Ash fell. Marsh and sky were one. Vale after vale lay in the rain.",
    "Nell, called Wren, and Corin rowed to the Half House.",
    "NELL TALLOW rowed. NELL sang, and WILL sighed. Dear Nell, said he.",
    "Yesterday Nell came. “Will,” said she, “is late.” Will Vale was late.",
    "Mr. and Mrs. Gannet married. Miss Tallow and Mr. Gannet quarrelled.",
    "“Nell, come here.”\n\n“I come,” said Wren. “Wren!” cried Corin Vale.",
    "She saw Ash. He saw Ash Vale. Her name was Nell; she was Mrs. Vale.",
]
texts = st.lists(st.sampled_from(SENTENCES), max_size=8).map(" ".join)
edits = st.tuples(
    st.sampled_from(["a", "b", "c", "d"]), st.one_of(st.none(), texts, texts, texts)
)
DECISIONS = [
    NameOverrides(),
    NameOverrides(merged={"Nell": ("Mrs. Gannet",), "Will": ("Ash",)}),
    NameOverrides(ignored=("Will",)),
]


def evidence_of(text: str) -> NameEvidence:
    return gather_name_evidence(text, [Span(0, len(text))])


@settings(max_examples=60, deadline=None)
@given(
    edits=st.lists(
        st.tuples(edits, st.sampled_from(DECISIONS), st.booleans(), st.booleans()),
        max_size=12,
    ),
)
def test_any_sequence_of_edits_ends_in_the_cast_of_a_fresh_inference(
    edits: list[tuple[tuple[str, str | None], NameOverrides, bool, bool]],
) -> None:
    inference = CastInference()
    documents = dict.fromkeys("abc", evidence_of(" ".join(SENTENCES)))
    for (document, text), decided, noted, restarts in edits:
        if text is None:
            documents.pop(document, None)
        else:
            documents[document] = evidence_of(text)
        people = [NotePerson("Wren", ())] if noted else []
        cast = inference.infer(documents, noted=people, decided=decided)
        fresh = infer_cast(list(documents.values()), noted=people, decided=decided)
        assert cast == fresh
        if restarts:
            inference = CastInference()
            inference.recall(documents, cast, noted=people, decided=decided)


@settings(max_examples=60, deadline=None)
@given(
    first=texts,
    texts_of_edits=st.lists(st.tuples(st.sampled_from("abc"), texts), max_size=8),
)
def test_edits_after_a_restart_end_in_the_cast_of_a_fresh_inference(
    first: str, texts_of_edits: list[tuple[str, str]]
) -> None:
    rain = evidence_of(f"It rained. {' '.join(SENTENCES)}")
    documents = {"a": evidence_of(" ".join(SENTENCES)), "b": evidence_of(first)}
    documents["c"] = evidence_of("It rained.")
    cast = infer_cast(list(documents.values()))
    inference = CastInference()
    inference.recall(documents, cast, decided=NameOverrides())
    documents["a"] = rain
    assert inference.infer(documents, decided=NameOverrides()) == cast
    for document, text in texts_of_edits:
        documents[document] = evidence_of(text)
        inferred = inference.infer(documents, decided=NameOverrides())
        assert inferred == infer_cast(list(documents.values()))


@settings(max_examples=60, deadline=None)
@given(
    before=st.tuples(texts, texts, texts),
    after=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4),
)
def test_documents_that_change_together_end_in_the_cast_of_a_fresh_inference(
    before: tuple[str, ...], after: list[tuple[str, ...]]
) -> None:
    inference = CastInference()
    documents = {str(row): evidence_of(text) for row, text in enumerate(before)}
    inference.infer(documents, decided=NameOverrides())
    for texts_of_round in after:
        documents = {str(r): evidence_of(text) for r, text in enumerate(texts_of_round)}
        cast = inference.infer(documents, decided=NameOverrides())
        assert cast == infer_cast(list(documents.values()))


def test_text_without_names_leaves_the_cast_as_it_is() -> None:
    story = " ".join(SENTENCES)
    inference = CastInference()
    before = inference.infer({"a": evidence_of(story)}, decided=NameOverrides())
    longer = evidence_of(f"It rained. {story} Nobody came.")
    after = inference.infer({"a": longer}, decided=NameOverrides())
    assert after is before
    named = evidence_of(f"{story} “Is it late?” said Orla. They met Orla.")
    assert inference.infer({"a": named}, decided=NameOverrides()) != before


def test_people_named_as_often_are_in_the_order_of_the_text_after_it_is_cut() -> None:
    rain, corin = "It rained. " * 40, "“Four,” said Corin Vale. “Yes,” said Corin Vale."
    ash = "“Left,” said Ash Gannet. “Stay,” said Ash Gannet."
    inference = CastInference()
    inference.infer({"a": evidence_of(rain + corin)}, decided=NameOverrides())
    cast = inference.infer(
        {"a": evidence_of(f"{corin} {ash}")}, decided=NameOverrides()
    )
    assert [person.name for person in cast.characters] == ["Corin Vale", "Ash Gannet"]
