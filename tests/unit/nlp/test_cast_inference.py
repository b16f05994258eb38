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
]
texts = st.lists(st.sampled_from(SENTENCES), max_size=8).map(" ".join)
edits = st.tuples(st.sampled_from(["a", "b", "c"]), st.one_of(st.none(), texts))
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
        st.tuples(edits, st.sampled_from(DECISIONS), st.booleans()), max_size=12
    ),
    restarts=st.booleans(),
)
def test_any_sequence_of_edits_ends_in_the_cast_of_a_fresh_inference(
    edits: list[tuple[tuple[str, str | None], NameOverrides, bool]],
    restarts: bool,
) -> None:
    inference, documents = CastInference(), {"a": evidence_of(" ".join(SENTENCES))}
    for (document, text), decided, noted in edits:
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


def test_text_without_names_leaves_the_cast_as_it_is() -> None:
    story = " ".join(SENTENCES)
    inference = CastInference()
    before = inference.infer({"a": evidence_of(story)}, decided=NameOverrides())
    longer = evidence_of(f"It rained. {story} Nobody came.")
    after = inference.infer({"a": longer}, decided=NameOverrides())
    assert after is before
    named = evidence_of(f"{story} “Is it late?” said Orla. They met Orla.")
    assert inference.infer({"a": named}, decided=NameOverrides()) != before
