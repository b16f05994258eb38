"""The steps that draft a text about the story, and what they read and write."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypedDict

from lrwr.core.batch_judge import request_reply
from lrwr.core.bible.values import Bible
from lrwr.core.evidence.checker import DraftChecker
from lrwr.core.evidence.drafts import (
    DraftSentence,
    PostDraft,
    add_citations,
    describe_length,
    fit_parts,
    pack_parts,
    uses_all_facts,
)
from lrwr.core.evidence.judge import ClaimJudge
from lrwr.core.evidence.kinds import (
    KIND_RULES,
    TITLE_GAP,
    GapKind,
    PostAudience,
    PostGap,
)
from lrwr.core.evidence.pack import (
    EvidencePack,
    anchor_facts,
    build_pack,
    build_pack_by_rules,
    list_pack_documents,
)
from lrwr.core.evidence.prompts import (
    FlaggedSentence,
    GapAnalysis,
    WritingRequest,
    build_gap_messages,
    build_gap_shape,
    build_longer_messages,
    build_pack_messages,
    build_pack_shape,
    build_revision_messages,
    build_revision_shape,
    build_writing_messages,
    build_writing_shape,
    parse_drafts,
    parse_facts,
    parse_gaps,
    parse_revisions,
)
from lrwr.core.evidence.results import CheckedStory
from lrwr.core.evidence.revision import (
    DraftCheck,
    SentenceCheckParts,
    SentenceRevision,
    apply_revisions,
    check_by_rules,
    check_draft_sentences,
    judge_sentences,
)
from lrwr.core.evidence.sources import (
    EvidenceSource,
    SourceModels,
    choose_for_kind,
)
from lrwr.core.evidence.web_queries import (
    BookWords,
    build_queries,
    list_topics,
    search_pages,
)
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.ports.models import ChatMessage, ChatModel
from lrwr.core.ports.sources import WebSearch
from lrwr.core.ports.stores import PassageStore

MAX_CANDIDATES = 50
"""Passages of the author from which the sources are chosen."""

_BACKGROUND = "how this is, or was, outside your book"
SHOWN_FOR_GAPS = 10
"""Passages that the model sees when it looks for gaps."""

FindSources: TypeAlias = Callable[[Sequence[str]], Awaitable[list[EvidenceSource]]]
"""Returns the author's passages for several searches, best first, up to the horizon."""


@dataclass(frozen=True, slots=True)
class PostDependencies:
    """What the steps use. `writer` None makes an outline; `web` None searches no web.

    `find` finds passages, `names` are those of the whole story, which no query may
    have. `emit` receives a sentence about each step.
    """

    find: FindSources
    passages: PassageStore
    story: CheckedStory
    names: Bible
    checker: DraftChecker
    split: SentenceSplitter
    models: SourceModels = field(default_factory=SourceModels)
    writer: ChatModel | None = None
    judge: ClaimJudge | None = None
    web: WebSearch | None = None
    emit: Callable[[str], None] = lambda _: None


class PostState(TypedDict, total=False):
    """The state that the steps read and write; each key is written by one step, but
    `remarks`, which later steps extend.

    `revised` replaces the first sentences that `check` flagged, those that rules flag.
    """

    request: WritingRequest
    stored: EvidencePack
    own: tuple[EvidenceSource, ...]
    gaps: tuple[PostGap, ...]
    queries: tuple[str, ...]
    pages: tuple[EvidenceSource, ...]
    sources: tuple[EvidenceSource, ...]
    pack: EvidencePack
    drafts: tuple[PostDraft, ...]
    check: DraftCheck
    revised: tuple[DraftSentence, ...]
    output: "PostResult"
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedPost:
    """A draft after its check and revision."""

    draft: PostDraft
    revisions: tuple[SentenceRevision, ...] = ()


@dataclass(frozen=True, slots=True)
class PostResult:
    """What drafting gave: the pack, and a draft for each variant, none for an outline.

    `remarks` are sentences about what limits it. `check` is that of the revised
    sentences and of all others.
    """

    pack: EvidencePack
    posts: tuple[CheckedPost, ...] = ()
    check: DraftCheck = field(default_factory=DraftCheck)
    remarks: tuple[str, ...] = ()


PostStep: TypeAlias = Callable[[PostState, PostDependencies], Awaitable[PostState]]
"""One step: gets the state so far, returns the keys that it sets."""


async def run_post_steps(
    request: WritingRequest,
    dependencies: PostDependencies,
    stored: EvidencePack | None = None,
) -> PostResult:
    """Collect the evidence for an outline: run the steps one after the other, because
    importing LangGraph takes longer than they do without a language model.

    `stored` is the pack of an earlier draft, which is used instead of new evidence.

    Raises:
        NotFound: There is no evidence for the brief: nothing may be written.
        StoreProblem: The library cannot be read.
    """
    state = build_post_state(request, stored)
    for _, step in list_post_steps():
        state |= await step(state, dependencies)
    return state["output"]


def build_post_state(
    request: WritingRequest, stored: EvidencePack | None = None
) -> PostState:
    """Return the state before the first step."""
    state: PostState = {"request": request, "remarks": ()}
    if stored is not None:
        state["stored"] = stored
    return state


def list_post_steps() -> tuple[tuple[str, PostStep], ...]:
    """Return the steps with their names, in the order in which they run."""
    return (
        ("gather", _gather),
        ("find gaps", _find_gaps),
        ("search web", _search_web),
        ("merge", _merge),
        ("collect facts", _collect_facts),
        ("write", _write),
        ("check draft", _check),
        ("revise", _revise),
    )


async def _gather(state: PostState, dependencies: PostDependencies) -> PostState:
    """Search the author's passages for the brief and the questions of the kind."""
    if "stored" in state:
        return {"own": ()}
    request = state["request"]
    dependencies.emit("Searching your text")
    sources = await dependencies.find([request.brief])
    if not sources:
        raise NotFound(
            "There is nothing about this in your text or notes, so nothing was written",
            hint="Use other words, a later `--as-of`, or `--with` a note.",
        )
    return {"own": tuple(sources[:MAX_CANDIDATES])}


async def _find_gaps(state: PostState, dependencies: PostDependencies) -> PostState:
    """Find what the passages lack; without a model, what the kind always needs."""
    request, writer = state["request"], dependencies.writer
    own = state["own"]
    if "stored" in state:
        return {"gaps": state["stored"].gaps}
    rules = KIND_RULES[request.kind]
    is_untitled = rules.audience is PostAudience.TRADE and not request.title
    untitled = (TITLE_GAP,) if is_untitled else ()
    usual = (*untitled, *rules.gaps)
    if writer is None:
        topic = PostGap(GapKind.BACKGROUND, _BACKGROUND, request.brief)
        return {"gaps": usual if rules.covers_story else (*usual, topic)}
    dependencies.emit("Looking for what is missing")
    try:
        analysis: GapAnalysis = await request_reply(
            writer,
            build_gap_messages(request, own[:SHOWN_FOR_GAPS]),
            build_gap_shape(),
            parse_gaps,
        )
    except ServiceUnavailable as failure:
        if not failure.retryable:
            raise
        remark = f"What is missing was not analysed: {failure}."
        return {"gaps": usual, "remarks": (*state["remarks"], remark)}
    if analysis.searches:
        own = tuple(await dependencies.find([request.brief, *analysis.searches]))
    gaps = (*untitled, *analysis.gaps) if analysis.gaps else usual
    return {"gaps": gaps, "own": own[:MAX_CANDIDATES]}


async def _search_web(state: PostState, dependencies: PostDependencies) -> PostState:
    """Search the web for the gaps that pages may fill, if the author allowed it."""
    if dependencies.web is None or "stored" in state:
        return {"queries": (), "pages": ()}
    texts = await dependencies.passages.texts(dependencies.story.order.outlines)
    book = await asyncio.to_thread(BookWords, [text.text for text in texts.values()])
    topics = list_topics(state["gaps"])
    queries = build_queries(topics, dependencies.names, book)
    results = await search_pages(queries, dependencies.web, dependencies.emit)
    remarks = (*state["remarks"], *results.remarks)
    if topics and not queries:
        remarks += ("No web search: every topic had names or words of your book.",)
    return {"queries": queries, "pages": results.pages, "remarks": remarks}


async def _merge(state: PostState, dependencies: PostDependencies) -> PostState:
    """Choose the sources: own passages first, pages for gaps, no duplicates."""
    if "stored" in state:
        return {"sources": ()}
    request = state["request"]
    sources = await choose_for_kind(
        request.brief,
        KIND_RULES[request.kind],
        state["own"],
        state["pages"],
        dependencies.models,
    )
    return {"sources": tuple(sources)}


async def _collect_facts(state: PostState, dependencies: PostDependencies) -> PostState:
    """Make the evidence pack; quotations that are not in their source are dropped."""
    request, writer = state["request"], dependencies.writer
    if "stored" in state:
        pack = state["stored"]
    elif writer is None:
        pack = build_pack_by_rules(
            request.brief,
            state["sources"],
            dependencies.split,
            covers_story=KIND_RULES[request.kind].covers_story,
            spoken=dependencies.story.quotations,
        )
    else:
        dependencies.emit("Collecting facts")
        sources = state["sources"]
        proposals = await request_reply(
            writer,
            build_pack_messages(request, sources),
            build_pack_shape(),
            lambda reply: parse_facts(reply, len(sources)),
        )
        pack = build_pack(proposals, sources, KIND_RULES[request.kind].facts)
    if not pack.facts:
        raise NotFound(
            "No fact with a quotation from your text or a page was found, so nothing"
            " was written",
            hint="Use a more precise brief, or a later `--as-of`.",
        )
    texts = await dependencies.passages.texts(list_pack_documents(pack))
    facts = tuple(anchored.fact for anchored in anchor_facts(pack.facts, texts))
    pack = replace(
        pack, facts=facts, gaps=state["gaps"], queries=state.get("queries", ())
    )
    return {"pack": pack}


async def _write(state: PostState, dependencies: PostDependencies) -> PostState:
    """Let the model write the variants."""
    request, pack, writer = state["request"], state["pack"], dependencies.writer
    if writer is None:
        return {"drafts": ()}
    dependencies.emit("Writing")
    messages = build_writing_messages(request, pack)

    async def write(prompt: Sequence[ChatMessage]) -> list[PostDraft]:
        return await request_reply(
            writer,
            prompt,
            build_writing_shape(),
            lambda reply: parse_drafts(reply, pack),
        )

    drafts = await write(messages)
    low, _ = KIND_RULES[request.kind].words
    shortest = min(draft.words for draft in drafts)
    if shortest < low and not uses_all_facts(drafts, pack):
        dependencies.emit(f"Writing again: {shortest:,} words, {low:,} are needed")
        longer = await write(build_longer_messages(messages, drafts, low))
        drafts = max(drafts, longer, key=lambda d: min(draft.words for draft in d))
    return {"drafts": tuple(drafts[: request.variants])}


async def _check(state: PostState, dependencies: PostDependencies) -> PostState:
    """Check every sentence of the drafts. While the checker judges what rules accept,
    the writer revises what they flag.
    """
    if not state["drafts"]:
        return {"check": DraftCheck(), "revised": ()}
    dependencies.emit("Checking")
    sentences = [s for draft in state["drafts"] for s in draft.sentences]
    parts, remarks = _build_check_parts(state, dependencies), list(state["remarks"])
    by_rules = await check_by_rules(sentences, state["pack"], parts)
    async with asyncio.TaskGroup() as group:
        judging = group.create_task(judge_sentences(by_rules, state["pack"], parts))
        revising = group.create_task(
            _request_revisions(state, dependencies, by_rules.flagged, remarks)
        )
    return {
        "check": judging.result(),
        "revised": tuple(revising.result()),
        "remarks": tuple(remarks),
    }


def _build_check_parts(
    state: PostState, dependencies: PostDependencies
) -> SentenceCheckParts:
    request = state["request"]
    return SentenceCheckParts(
        dependencies.checker,
        dependencies.story,
        dependencies.split,
        f"{request.brief}\n{request.about_book}",
        dependencies.judge,
        request.platform,
    )


async def _revise(state: PostState, dependencies: PostDependencies) -> PostState:
    """Let the model revise what the checker flagged, too, check all revised sentences,
    and assemble.
    """
    request = state["request"]
    check, pack, remarks = state["check"], state["pack"], list(state["remarks"])
    if check.stopped:
        remarks.append(f"Not everything was checked. {check.stopped}")
    if not state["drafts"]:
        return {"output": PostResult(pack, remarks=tuple(remarks))}
    flagged = check.flagged[len(state["revised"]) :]
    more = await _request_revisions(state, dependencies, flagged, remarks)
    revised = [*state["revised"], *more]
    parts = _build_check_parts(state, dependencies)
    again = await check_draft_sentences(revised, pack, parts)
    posts, pack = await _apply_revisions(state, dependencies, revised, again)
    posts = [post for post in posts if post.draft.sentences]
    if not posts:
        raise NotFound(
            "No sentence of the draft rests on the evidence, so nothing was written",
            hint="Use a more precise brief, or `--outline`.",
        )
    for post in posts:
        remarks += describe_length(post.draft, pack, request.kind, request.parts)
    total = replace(check + again, flagged=again.flagged, stopped=check.stopped)
    return {"output": PostResult(pack, tuple(posts), total, tuple(remarks))}


async def _apply_revisions(
    state: PostState,
    dependencies: PostDependencies,
    revised: Sequence[DraftSentence],
    again: DraftCheck,
) -> tuple[list[CheckedPost], EvidencePack]:
    """Return the drafts with the sentences `revised` that passed their check `again`, and
    the pack with what supported sentences rest on.
    """
    request, check = state["request"], state["check"]
    still_flagged = {flag.sentence: flag.reason for flag in again.flagged}
    applied = [
        apply_revisions(draft, check.flagged, revised, still_flagged)
        for draft in state["drafts"]
    ]
    drafts, pack = await add_citations(
        [draft for draft, _ in applied],
        {**check.citations, **again.citations},
        state["pack"],
        dependencies.passages,
    )
    if request.platform is not None:
        drafts = [_fit(draft, request, dependencies.split) for draft in drafts]
    changes = (revisions for _, revisions in applied)
    return list(map(CheckedPost, drafts, changes)), pack


def _fit(
    draft: PostDraft, request: WritingRequest, split: SentenceSplitter
) -> PostDraft:
    """Return a thread whose parts fit into posts, with no more parts than asked for if
    its sentences allow it.
    """
    assert request.platform is not None, "only posts have a limit"
    fitted = fit_parts(draft, request.platform, split)
    if 0 < request.limit_of_parts < len(fitted.parts):
        fitted = pack_parts(fitted, request.platform)
    return fitted


async def _request_revisions(
    state: PostState,
    dependencies: PostDependencies,
    flagged: Sequence[FlaggedSentence],
    remarks: list[str],
) -> list[DraftSentence]:
    """Return a sentence for each flagged one; empty ones if the model fails."""
    none = [DraftSentence("")] * len(flagged)
    if not flagged or dependencies.writer is None:
        return none
    dependencies.emit(f"Revising {len(flagged)} of the sentences")
    pack = state["pack"]
    try:
        return await request_reply(
            dependencies.writer,
            build_revision_messages(state["request"], pack, flagged, state["drafts"]),
            build_revision_shape(),
            lambda reply: parse_revisions(reply, len(flagged), pack),
        )
    except ServiceUnavailable as error:
        remarks.append(
            f"Flagged sentences were left out, not revised. {error.full_text}"
        )
        return none
