"""Searches passages for the search screen, and lists contradictions with their text."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lrwr.app.continuity import find_known_contradictions, load_scope
from lrwr.app.history import log_findings
from lrwr.app.presenters.contradictions import (
    describe_no_contradictions,
    describe_no_new_contradictions,
)
from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.decision import Decision, SlipIntended
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.facts import Certainty
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.query_words import has_search_words
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.story import parse_chapter_range, parse_horizon
from lrwr.core.retrieval.story_search import SearchFilters
from lrwr.tui.queries.passages import require_ingested

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

LIMIT = 30
"""Maximum number of passages that a search shows."""


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """The filters of a search; an empty text or None is no filter.

    `character` must be mentioned or present, `as_of` is the horizon ("ch3"), `chapters`
    are those to search ("ch5-ch8").
    """

    type: DocumentType | None = None
    character: str = ""
    as_of: str = ""
    chapters: str = ""


_CHAPTER = r"(?:vol\d+\.)?(?:ch|chapters? )\d+"
_TYPED_CHAPTERS = re.compile(
    rf"(?:\b(?:in|from|between) )?"
    rf"\b({_CHAPTER}(?:\s*(?:-|–|to\b|and\b)\s*(?:{_CHAPTER}|\d+))?)(?!\w)",
    re.IGNORECASE,
)
"""Chapters among the words of a search: "ch5-ch8", "in ch7", "between ch5 and ch8"."""


def split_chapters(words: str) -> tuple[str, str]:
    """Return the words to search for, and the chapters that were typed among them.

    The chapters have the notation of `parse_chapter_range`; empty if there are none.
    """
    match = _TYPED_CHAPTERS.search(words)
    if match is None:
        return words, ""
    rest = f"{words[: match.start()]} {words[match.end() :]}"
    chapters = re.sub(r"\s*(?:-|–|\bto\b|\band\b)\s*", "-", match[1].casefold())
    return " ".join(rest.split()), re.sub(r"chapters? ", "ch", chapters)


async def search_passages(
    workspace: "Workspace", words: str, choice: SearchChoice, *, full: bool
) -> SearchResult:
    """Return the passages for `words`, best first, at most `LIMIT` of the story.

    `words` may name the chapters to search, see `split_chapters`; they take precedence
    over those of `choice`.
    Without `full` only words are compared, which is fast enough for each key; with it,
    the search is that of `lrwr search`.

    Raises:
        NotFound: No manuscript was ingested, or the horizon or a chapter does not exist.
    """
    require_ingested(workspace)
    words, typed_chapters = split_chapters(words)
    chapters = typed_chapters or choice.chapters
    finder = workspace.finder()
    order = await finder.story_order()
    is_agentic = workspace.settings.pipeline is Pipeline.AGENTIC
    characters = {choice.character} - {""} if is_agentic else ()
    request = SearchRequest(
        question=words,
        pipeline=workspace.settings.pipeline,
        limit=LIMIT,
        types=frozenset({choice.type} if choice.type else ()),
        horizon=parse_horizon(choice.as_of, order) if choice.as_of else None,
        chapters=parse_chapter_range(chapters, order) if chapters else None,
        filters=SearchFilters(characters=frozenset(characters)),
    )
    if not full:
        request = replace(request, dense=False, rerank=False)
    if not has_search_words(words):
        request = replace(request, exact=True)
    return await finder.find(request, order)


def passage_evidence(passage: Passage) -> TextEvidence:
    """Return a passage as a quotation with its location."""
    chunk = passage.chunk
    return TextEvidence(
        document=chunk.document,
        spans=(chunk.span,),
        text=chunk.text,
        lines=chunk.lines,
        chapter=passage.chapter,
        chapter_title=passage.chapter_title,
        scene=passage.scene,
        keeper="",
        certainty=Certainty.NOT_EVALUATED,
    )


@dataclass(frozen=True, slots=True)
class FindingsWithTexts:
    """Contradictions, and the texts of all documents that they quote.

    `reported` has the time when each was first reported, in seconds since 1970, by id.
    Without contradictions, `nothing` says how many facts were compared.
    """

    contradictions: tuple[Contradiction, ...]
    texts: Mapping[DocumentId, DocumentText]
    nothing: str = ""
    reported: Mapping[str, float] = field(default_factory=dict)


async def load_findings(
    workspace: "Workspace",
    as_of: str,
    *,
    with_intended: bool = False,
    since: float | None = None,
) -> FindingsWithTexts:
    """Return what `lrwr check` reports up to `as_of`, empty for the whole story.

    Intended contradictions are left out unless `with_intended`, and those first
    reported before `since`, in seconds since 1970, unless it is None.

    Raises:
        NotFound: No manuscript was ingested, or the horizon does not exist.
    """
    require_ingested(workspace)
    await workspace.require_text()
    scope = await load_scope(workspace, as_of)
    contradictions = await find_known_contradictions(workspace, scope)
    reported = log_findings(
        workspace.library,
        contradictions,
        time.time(),
        is_whole=not as_of,
        with_model=workspace.settings.model.use != "off",
    )
    visible = tuple(c for c in contradictions if with_intended or not c.intended)
    shown = tuple(c for c in visible if since is None or reported[c.id] >= since)
    texts = await workspace.passages.texts(list_documents(shown))
    nothing = ""
    if not shown:
        nothing = describe_no_contradictions(await scope.count_compared())
        if visible:
            nothing = describe_no_new_contradictions(len(visible))
    return FindingsWithTexts(shown, texts, nothing, reported)


def list_documents(contradictions: Sequence[Contradiction]) -> set[DocumentId]:
    """Return the documents that `contradictions` quote."""
    return {
        evidence.document
        for contradiction in contradictions
        for side in (contradiction.canon, contradiction.found)
        for evidence in side.evidence
    }


def mark_as_intended(contradiction: Contradiction, because: str) -> Decision:
    """Return the decision that a contradiction is intended, as `lrwr check intend`."""
    return SlipIntended(
        contradiction.about,
        contradiction.attribute,
        contradiction.canon.value,
        contradiction.found.value,
        because,
    )
