"""Classes of kinship, and the statements of a story about counted things."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.continuity.statements import (
    Statement,
    StatementSource,
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
)
from lrwr.core.continuity.values import find_counts, parse_value_number
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER, Certainty
from lrwr.core.model.text import Span, stem_lightly
from lrwr.core.nlp.text.prose import find_quoted_spans

_PARENTS = frozenset({"father", "mother"})
UNIQUE_KINSHIP_CLASSES = _PARENTS
"""Relations of which everybody has exactly one."""
_CLASSES = MappingProxyType(
    {
        "father": "parent", "mother": "parent", "parent": "parent",
        "son": "child", "daughter": "child", "child": "child",
        "brother": "sibling", "sister": "sibling", "twin": "sibling",
        "husband": "spouse", "wife": "spouse", "spouse": "spouse",
        "uncle": "elder", "aunt": "elder", "nephew": "younger", "niece": "younger",
        "grandmother": "grandparent", "grandfather": "grandparent",
        "grandpa": "grandparent", "grandma": "grandparent",
        "grandson": "grandchild", "granddaughter": "grandchild",
        "grandchild": "grandchild", "cousin": "cousin",
    }
)  # fmt: skip
_INVERSE_CLASSES = MappingProxyType(
    {
        "parent": "child", "child": "parent", "sibling": "sibling",
        "spouse": "spouse", "elder": "younger", "younger": "elder",
        "grandparent": "grandchild", "grandchild": "grandparent", "cousin": "cousin",
    }
)  # fmt: skip
_COMPATIBLE_CLASSES = (
    frozenset({"cousin", "spouse"}),
    frozenset({"cousin", "elder"}),
    frozenset({"cousin", "younger"}),
)


def classify_kinship(kind: str) -> str:
    """Return the class of a kinship noun: "mother" gives "parent".

    Empty for other nouns.
    """
    return _CLASSES.get(kind, "")


def invert_kinship(kind: str) -> str:
    """Return the class of the reverse kinship: "mother" gives "child".

    Empty for other nouns.
    """
    return _INVERSE_CLASSES.get(classify_kinship(kind), "")


def excludes_kinship(kinship: str, other: str) -> bool:
    """Return whether one person cannot have both kinships to another, such as "parent"
    and "sibling".

    Both are classes as `classify_kinship` returns them; false if one is empty.
    """
    return (
        bool(kinship and other and kinship != other)
        and {kinship, other} not in _COMPATIBLE_CLASSES
    )


QUANTITY_ATTRIBUTE = "number"


def find_quantity_statements(horizon_view: HorizonView) -> list[Statement]:
    """Return the statements about how many fixed parts a thing has, in story order,
    notes first.

    In "the tower has forty steps" `about` is "tower". Dialogue and sentences about a
    change are left out.
    """
    statements = [
        statement
        for document in horizon_view.texts
        for statement in _document_statements(document, horizon_view)
    ]
    return sorted(statements, key=lambda statement: statement.rank)


def _document_statements(
    document: DocumentId, horizon_view: HorizonView
) -> Iterator[Statement]:
    text = horizon_view.texts[document].text
    hits = find_counts(text)
    if not hits or not horizon_view.is_document_visible(document):
        return
    is_story = horizon_view.is_story(document)
    quoted = list(find_quoted_spans(text)) if is_story else []
    for hit in hits:
        span = Span(*hit.span())
        if any(q.start < span.end and span.start < q.end for q in quoted):
            continue
        if not is_asserted_in_context(text, span) or mentions_change(text, span):
            continue
        yield _build_statement(document, hit, horizon_view)


def _build_statement(
    document: DocumentId, match: re.Match[str], horizon_view: HorizonView
) -> Statement:
    is_story, span = horizon_view.is_story(document), Span(*match.span())
    enclosing_sentence = find_enclosing_sentence(
        horizon_view.texts[document].text, span
    )
    noun, place = stem_lightly(match["noun"]), match["place"]
    return Statement(
        about=f"{place.partition(' of ')[0].casefold()}",
        attribute=f"{QUANTITY_ATTRIBUTE} of {noun}s",
        value=match["number"],
        source=StatementSource.TEXT if is_story else StatementSource.NOTE,
        certain=parse_value_number(match["number"]) is not None,
        rank=horizon_view.sort_key(document, span.start),
        evidence=horizon_view.evidence(
            document,
            (enclosing_sentence,),
            RULES_KEEPER if is_story else WRITER_KEEPER,
            Certainty.VERIFIED if is_story else Certainty.CONFIRMED,
        ),
        span=span,
    )
