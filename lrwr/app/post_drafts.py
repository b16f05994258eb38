"""Drafts texts about the story: builds what the steps need, and stores the result."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import PurePosixPath

from lrwr.app.container import Workspace
from lrwr.app.egress import create_chat_model, create_price_lookup
from lrwr.app.judge_parts import create_judge_parts
from lrwr.app.post_files import CachedWebSearch, PostEvidence, PostFiles, StoredPost
from lrwr.app.posts import create_draft_checker, load_checked_story
from lrwr.core.adapters.source.layout import HeadingKind, parse_heading
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.chat.history import MeteredChatModel, QuestionBudget
from lrwr.core.evidence.candidates import (
    CandidateFinder,
    StoryMaterial,
    resolve_notes,
    strip_book_words,
)
from lrwr.core.evidence.drafts import (
    render_draft,
    render_outline,
    renumber_facts,
)
from lrwr.core.evidence.judge import ClaimJudge
from lrwr.core.evidence.kinds import KIND_RULES, PostKind
from lrwr.core.evidence.pack import EvidencePack, build_pack_by_rules
from lrwr.core.evidence.prompts import (
    WritingRequest,
    build_gap_messages,
    build_pack_messages,
    build_writing_messages,
)
from lrwr.core.evidence.results import CheckedStory
from lrwr.core.evidence.sources import (
    EvidenceSource,
    SourceModels,
    choose_for_kind,
)
from lrwr.core.evidence.steps import (
    SHOWN_FOR_GAPS,
    PostDependencies,
    PostResult,
    run_post_steps,
)
from lrwr.core.evidence.web_queries import BookWords, build_queries
from lrwr.core.model.chunks import ChunkKind, Passage
from lrwr.core.model.documents import Chapter, DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.language_model import (
    Usage,
    estimate_tokens,
    flatten_reply_text,
)
from lrwr.core.ports.models import ChatMessage
from lrwr.core.retrieval.query_words import has_search_words
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_passage,
    build_search_scope,
    is_within_scope,
)
from lrwr.core.settings.chat_models import ModelRole
from lrwr.pipeline.analysis import ModelBudget

MAX_TITLE_PAGE = 800
MAX_BARE_PAGE = 150
"""Characters of a title page at most: a longer text before chapter 1 is a prologue. One
without a heading such as "Front matter" is shorter, and before a numbered chapter."""

MAX_TITLE_CHARS = 120

_WORDS_PER_SENTENCE = 18
_TOKENS_PER_WORD = 2
_GAP_TOKENS = 300
_FACT_TOKENS = 60
_VERDICT_TOKENS = 60
_CHECK_TOKENS = 700
"""Estimated lengths of drafts, replies and the instructions of a check, in tokens; a
word of a draft is counted with its share of the JSON around it.
"""

CLAIMS_PER_CALL = 15
"""Sentences of a draft that the checker judges in one call."""


@dataclass(frozen=True, slots=True)
class PostOrder:
    """What the author asks for: the text to write, and what it may use.

    `as_of` is the horizon as typed, empty for the whole story; `notes` are names of
    notes. `uses_web` allows web searches, `uses_model` False makes an outline. `stored`
    is the pack of an earlier draft.
    """

    writing: WritingRequest
    as_of: str = ""
    notes: tuple[str, ...] = ()
    uses_web: bool = False
    uses_model: bool = True
    stored: EvidencePack | None = None


@dataclass(frozen=True, slots=True)
class PostDrafting:
    """The drafts that were made and stored, and what the language models used.

    `model` is the writer's name, empty for an outline; `cost` is in US dollars, None if
    unknown.
    """

    posts: tuple[StoredPost, ...]
    result: PostResult
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class PostPlan:
    """What drafting would use, without a request to any service.

    `queries` is what a web search for the brief would send; a model may ask for others.
    `doubts` are sentences about words of the brief that the text lacks.
    `prompts` are those of the first steps, with their purpose.
    """

    sources: tuple[EvidenceSource, ...]
    queries: tuple[str, ...]
    pack: EvidencePack
    prompts: tuple[tuple[str, Sequence[ChatMessage]], ...]
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PostEstimate:
    """What the calls of one draft take if nothing is written again or revised.

    `model` is the writer's name; `cost` is in US dollars, None if unknown.
    """

    model: str
    usage: Usage
    cost: float | None


@dataclass(frozen=True, slots=True)
class _Models:
    """The language models of one draft; both None without one."""

    writer: MeteredChatModel | None = None
    checker: MeteredChatModel | None = None

    def take_usage(self) -> Usage:
        """Return the usage of both since the last call."""
        models = (model for model in (self.writer, self.checker) if model)
        return sum((model.take_usage() for model in models), Usage())


async def draft_post(
    workspace: Workspace,
    order: PostOrder,
    name: str,
    *,
    force: bool = False,
    emit: Callable[[str], None] = lambda _: None,
) -> PostDrafting:
    """Draft a text and store each variant in the folder of drafts.

    `emit` receives a sentence about each step, and each web query before it is sent.

    Raises:
        NotFound: Nothing was ingested, or there is no evidence: nothing is written.
        ServiceUnavailable: The language model did not answer usably.
        SettingsProblem: A draft of this name exists, without `force`.
        StoreProblem: The library cannot be read, or a file not written.
    """
    models = _create_models(workspace, order)
    dependencies, order = await _build_dependencies(workspace, order, models, emit)
    files = PostFiles(workspace.library)
    names = _list_names(name, order)
    if not force:
        for draft_name in names:
            _refuse_existing(files, draft_name)
    doubts = await _list_doubts(workspace, order, dependencies.story)
    for doubt in doubts:
        emit(doubt)
    run = run_post_steps if models.writer is None else _load_graph_runner()
    result = await run(order.writing, dependencies, order.stored)
    model = models.writer.name if models.writer else ""
    evidence = PostEvidence(
        order.writing.brief,
        order.writing.kind,
        result.pack,
        order.as_of,
        order.notes,
        order.writing.platform or "",
        workspace.now(),
        model,
        remarks=(*doubts, *result.remarks),
    )
    cost = _sum_costs(workspace, models)
    versions = _render(order, result, evidence)
    posts = tuple(
        files.save(draft_name, text, version, force=force)
        for draft_name, (text, version) in zip(names, versions, strict=False)
    )
    return PostDrafting(posts, result, model, models.take_usage(), cost)


def _load_graph_runner() -> Callable[..., Awaitable[PostResult]]:
    """Return what runs the steps as a graph; importing LangGraph takes half a second."""
    module = import_module("lrwr.core.evidence.graph")
    runner: Callable[..., Awaitable[PostResult]] = module.run_post_graph
    return runner


def _refuse_existing(files: PostFiles, name: str) -> None:
    if files.exists(name):
        raise SettingsProblem(
            f"There is a draft {name} already",
            hint="Choose another `--name`, or use `--force`: earlier versions are"
            " preserved.",
        )


def _list_names(name: str, order: PostOrder) -> list[str]:
    count = order.writing.variants if order.uses_model else 1
    return [name, *(f"{name}-{number}" for number in range(2, count + 1))]


def _render(
    order: PostOrder, result: PostResult, evidence: PostEvidence
) -> list[tuple[str, PostEvidence]]:
    """Return the Markdown of each draft, with its evidence in the order of the text."""
    writing = order.writing
    if not result.posts:
        limits = _describe_limits(order)
        outline = render_outline(writing.brief, writing.kind, result.pack, limits)
        return [(outline, evidence)]
    versions = []
    for post in result.posts:
        draft, pack = renumber_facts(post.draft, result.pack)
        version = replace(evidence, pack=pack, revisions=post.revisions)
        versions.append((render_draft(draft, pack, writing.kind), version))
    return versions


def _describe_limits(order: PostOrder) -> list[str]:
    if order.as_of:
        return [f"Nothing after {order.as_of} is used."]
    return []


def _create_models(workspace: Workspace, order: PostOrder) -> _Models:
    """Return the writer and the checker, with one budget; none for an outline.

    Raises:
        SettingsProblem: The configured language model has no key or no name.
    """
    settings = workspace.settings
    if not order.uses_model or settings.model.use == "off":
        return _Models()
    access = workspace.egress.model_access(may_ask=True, is_interactive=True)
    price = create_price_lookup(settings)
    budget = QuestionBudget(price, settings.model.budget)
    writer = create_chat_model(settings, ModelRole.WRITER, access)
    checker = create_chat_model(settings, ModelRole.CHECKER, access)
    assert writer is not None, "a language model is configured"
    assert checker is not None, "a language model is configured"
    return _Models(MeteredChatModel(writer, budget), MeteredChatModel(checker, budget))


def _sum_costs(workspace: Workspace, models: _Models) -> float | None:
    price = create_price_lookup(workspace.settings)
    total = 0.0
    for model in (models.writer, models.checker):
        if model is None or not model.usage.calls:
            continue
        cost = price(model.usage, model.name)
        if cost is None:
            return None
        total += cost
    return total


async def _build_dependencies(
    workspace: Workspace,
    order: PostOrder,
    models: _Models,
    emit: Callable[[str], None],
) -> tuple[PostDependencies, PostOrder]:
    """Return what the steps need, and the order with facts about the manuscript."""
    story = await load_checked_story(workspace, order.as_of)
    bible = await workspace.bible().read(story.horizon)
    notes = resolve_notes(order.notes, story.order)
    moment_documents = {moment.evidence.document for moment in bible.timeline}
    material = StoryMaterial(
        story.order,
        story.pipeline,
        story.horizon,
        bible.timeline,
        await workspace.passages.texts(moment_documents | {*notes}),
        notes,
        await _load_passages(workspace, story, moment_documents),
    )
    rules = KIND_RULES[order.writing.kind]
    candidates = CandidateFinder(workspace.finder(), material, rules)
    web = workspace.egress.web_search() if order.uses_web else None
    dependencies = PostDependencies(
        candidates.find,
        workspace.passages,
        story,
        await workspace.bible().names(),
        create_draft_checker(workspace),
        find_sentence_spans,
        _open_source_models(workspace),
        models.writer,
        _create_judge(workspace, models),
        CachedWebSearch(web, workspace.library, workspace.now) if web else None,
        emit,
    )
    length = _count_words(story) if order.writing.kind is PostKind.QUERY_LETTER else 0
    title = find_book_title(story.order)
    writing = replace(order.writing, title=title, length=length)
    return dependencies, replace(order, writing=writing)


async def _load_passages(
    workspace: Workspace, story: CheckedStory, documents: Collection[DocumentId]
) -> dict[DocumentId, list[Passage]]:
    """Return the passages of `documents` up to the horizon, without author's comments."""
    scope = build_search_scope(
        story.order, types=(), horizon=story.horizon, kinds=[ChunkKind.PROSE]
    )
    return {
        document: [
            build_passage(chunk, story.order, 0.0)
            for chunk in await workspace.passages.chunks_of(document, story.pipeline)
            if chunk.kind is ChunkKind.PROSE
            and is_within_scope(document, chunk.span, scope)
        ]
        for document in sorted(documents)
    }


def _count_words(story: CheckedStory) -> int:
    """Return the words of the manuscript, in thousands if it has any."""
    outlines = story.order.outlines.values()
    words = sum(o.words for o in outlines if o.type is DocumentType.SCENE)
    return round(words, -3) or words


def find_book_title(order: StoryOrder) -> str:
    """Return the title of the book: the heading of a title page before the first chapter,
    or of a file with the whole story; empty if there is none.
    """
    if not order.story:
        return ""
    outline = order.outlines[order.story[0]]
    first = outline.chapters[0] if outline.chapters else None
    is_page = first is not None and _is_title_page(first, order)
    title = ""
    if first is not None and is_page:
        title = first.title or outline.title
    elif len(order.story) == 1 and len(outline.chapters) > 1:
        title = outline.title
    is_file_name = title == PurePosixPath(outline.id).stem
    is_chapter = not is_page and title in [c.title for c in outline.chapters]
    if is_file_name or is_chapter or parse_heading(title).kind is not HeadingKind.OTHER:
        return ""
    return flatten_reply_text(title)[:MAX_TITLE_CHARS]


def _is_title_page(first: Chapter, order: StoryOrder) -> bool:
    """Return whether the first chapter of a story is a title page."""
    if first.opening:
        return len(first.span) <= MAX_TITLE_PAGE
    others = [c for d in order.story[1:2] for c in order.outlines[d].chapters]
    is_numbered = bool(others) and others[0].number is not None
    return first.number is None and is_numbered and len(first.span) <= MAX_BARE_PAGE


def _open_source_models(workspace: Workspace) -> SourceModels:
    """Return the models that compare texts on this machine."""
    reranker = workspace.retrieval.local_reranker
    if reranker is None:
        return SourceModels()
    return SourceModels(workspace.embedders.local, reranker)


def _create_judge(workspace: Workspace, models: _Models) -> ClaimJudge | None:
    if models.checker is None:
        return None
    no_limit = ModelBudget(lambda _: 0.0)  # the budget of both models is in the checker
    return ClaimJudge(
        models.checker, workspace.stores.analysis, no_limit, CLAIMS_PER_CALL
    )


async def plan_post(workspace: Workspace, order: PostOrder) -> PostPlan:
    """Return what `draft_post` would use, without a request to any service.

    Raises:
        NotFound: Nothing was ingested, or the horizon or a note does not exist.
        StoreProblem: The library cannot be read.
    """
    offline = replace(order, uses_web=False)
    dependencies, order = await _build_dependencies(
        workspace, offline, _Models(), lambda _: None
    )
    writing, models = order.writing, dependencies.models
    candidates = await dependencies.find([writing.brief])
    rules = KIND_RULES[writing.kind]
    sources = await choose_for_kind(writing.brief, rules, candidates, (), models)
    pack = order.stored or build_pack_by_rules(
        writing.brief,
        sources,
        find_sentence_spans,
        covers_story=rules.covers_story,
        spoken=dependencies.story.quotations,
    )
    texts = await workspace.passages.texts(dependencies.story.order.outlines)
    book = BookWords(text.text for text in texts.values())
    prompts = (
        ("finding gaps", build_gap_messages(writing, candidates[:SHOWN_FOR_GAPS])),
        ("collecting facts", build_pack_messages(writing, sources)),
        ("writing, with facts chosen by rules", build_writing_messages(writing, pack)),
    )
    topics = () if rules.covers_story else (writing.brief,)
    return PostPlan(
        tuple(sources),
        build_queries(topics, dependencies.names, book),
        pack,
        prompts if order.stored is None else prompts[2:],
        await _list_doubts(workspace, order, dependencies.story),
    )


def estimate_post(
    workspace: Workspace, order: PostOrder, plan: PostPlan
) -> PostEstimate | None:
    """Return an estimate of what drafting takes, without a request; None for an outline.

    Raises:
        SettingsProblem: The configured language model has no key or no name.
    """
    roles = (ModelRole.WRITER, ModelRole.CHECKER)
    parts = [create_judge_parts(workspace, role, may_ask=False) for role in roles]
    writer, checker = (part.chat.name if part else "" for part in parts)
    if not (order.uses_model and writer):
        return None
    rules = KIND_RULES[order.writing.kind]
    words = sum(rules.words) // 2 * order.writing.variants
    sentences = -(-words // _WORDS_PER_SENTENCE)
    texts = [message.text for _, messages in plan.prompts for message in messages]
    replies = words * _TOKENS_PER_WORD
    if order.stored is None:
        replies += _GAP_TOKENS + rules.facts * _FACT_TOKENS
    writing = Usage(len(plan.prompts), sum(map(estimate_tokens, texts)), replies)
    calls = -(-sentences // CLAIMS_PER_CALL)
    sources = sum(estimate_tokens(source.text) for source in plan.sources)
    checking = Usage(
        calls,
        calls * (sources + _CHECK_TOKENS) + words * _TOKENS_PER_WORD,
        sentences * _VERDICT_TOKENS,
    )
    price = create_price_lookup(workspace.settings)
    costs = (price(writing, writer), price(checking, checker))
    cost = None if None in costs else sum(filter(None, costs))
    return PostEstimate(writer, writing + checking, cost)


async def _list_doubts(
    workspace: Workspace, order: PostOrder, story: CheckedStory
) -> tuple[str, ...]:
    """Return a sentence about words of the brief that the text does not have, if any:
    then its sources may be about something else. Words about the book as a book, such as
    "my novel of 80,000 words", do not count.
    """
    brief = strip_book_words(order.writing.brief)
    if order.stored is not None or not has_search_words(brief):
        return ()
    request = SearchRequest(brief, story.pipeline, 1, horizon=story.horizon)
    result = await workspace.finder().find(replace(request, rerank=False), story.order)
    if not result.unknown:
        return ()
    words = ", ".join(f"“{word}”" for word in result.unknown)
    return (f"Your text does not have {words}: the sources may not be about that.",)
