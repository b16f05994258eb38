"""`lrwr search`: passages that match, with locations and confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.presenters.citations import (
    describe_missing_words,
    describe_passage_chapter,
    describe_passage_remark,
    describe_search_total,
    format_line_range,
    highlight_words,
    passage_as_json,
    render_known_facts,
    search_result_as_json,
)
from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import (
    AsOfOption,
    BookOption,
    JsonOption,
    WholeBookOption,
    parse_choice,
)
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.question_file import read_as_of, read_question_lines
from lrwr.cli.runtime.search_options import (
    BatchOption,
    ChaptersOption,
    ContentTypesOption,
    ContextOption,
    DenseOption,
    ExactOption,
    FullOption,
    FunctionsOption,
    LexicalOption,
    NamesOption,
    NotesOption,
    PresentOption,
    RerankOption,
    SearchCharacterOption,
    SearchPipelineNameOption,
    SearchWordsArgument,
    SortOption,
    TypesOption,
)
from lrwr.cli.runtime.services import (
    open_search_services,
    select_text,
    warn_of_outdated_files,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.facts import ContentType, NarrativeFunction
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lookup import is_character_name
from lrwr.core.ports.stores import DocumentText, PassageStore
from lrwr.core.ports.story_stores import StoryStore
from lrwr.core.retrieval.excerpts import select_search_excerpts
from lrwr.core.retrieval.freshness import find_existing_passages
from lrwr.core.retrieval.query_words import (
    extract_search_words,
    find_possible_names,
    has_search_words,
)
from lrwr.core.retrieval.search_model import PassageSort, SearchRequest, SearchResult
from lrwr.core.retrieval.story import StoryOrder, parse_chapter_range, parse_horizon
from lrwr.core.retrieval.story_matches import ContextLines, find_context_lines
from lrwr.core.retrieval.story_search import SearchFilters
from lrwr.core.settings.model import Settings

EPILOG = (
    'Examples: lrwr search "marsh lantern" · lrwr search belt --as-of ch3 ·'
    " lrwr search tide --type worldbuilding --full · lrwr search tide --chapters ch5-ch8 · lrwr search oil --present Nell ·"
    " lrwr search --present Nell --present OchraMags ·"
    ' lrwr search "as it were" --exact --context 1 ·'
    " lrwr search lantern --sort story · lrwr search --batch q.jsonl -k 20"
)

LISTED = 100
"""Passages or scenes that are listed if the number is not set."""


_FUNCTION_NOTE = " `--function` finds only what a language model has analysed."

LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        "-k",
        min=1,
        max=100,
        metavar="N",
        help="Show at most N passages (8 if not set).",
    ),
]

app = typer.Typer()


@app.command("search", epilog=EPILOG)
def search_command(
    context: typer.Context,
    words: SearchWordsArgument = None,
    limit: LimitOption = None,
    pipeline: SearchPipelineNameOption = None,
    types: TypesOption = None,
    as_of: AsOfOption = None,
    chapters: ChaptersOption = None,
    character: SearchCharacterOption = None,
    present: PresentOption = None,
    content_type: ContentTypesOption = None,
    function: FunctionsOption = None,
    dense: DenseOption = False,
    lexical: LexicalOption = False,
    names: NamesOption = True,
    rerank: RerankOption = True,
    notes: NotesOption = False,
    full: FullOption = False,
    exact: ExactOption = False,
    sort: SortOption = None,
    context_lines: ContextOption = None,
    batch: BatchOption = None,
    book: BookOption = None,
    whole: WholeBookOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find passages by their words and by their meaning."""
    settings, output = start_session(
        context, {"search.limit": limit, "pipeline": pipeline}
    )
    settings, as_of = select_text(settings, output, book, as_of, whole=whole)
    filters = _filters(character, present, content_type, function)
    words = _validate_words(words, batch, filters, exact=exact)
    ways = _select_retrievers(dense=dense, lexical=lexical, exact=exact)
    request = _request(words, settings, types=types or [], filters=filters, ways=ways)
    if limit is None and batch is None and (exact or not request.question):
        request = replace(request, limit=LISTED)
    request = replace(request, names=names, rerank=rerank, notes=notes, exact=exact)
    request = replace(request, sort=_parse_sort(sort))
    display = _Display(as_json, full, context_lines, book is not None)
    points = _StoryPoints(as_of, chapters, None if whole else book)
    if batch is not None:
        return run_async(_batch(settings, output, request, batch, points))
    return run_async(_search(settings, output, request, points, display))


def _parse_sort(sort: str | None) -> PassageSort | None:
    return parse_choice(PassageSort, sort, "--sort") if sort else None


@dataclass(frozen=True, slots=True)
class _StoryPoints:
    """Which chapters to search, as typed: up to `as_of`, and only `chapters`.

    None is no limit. `book` is the e-book whose position limits the search, if one does.
    """

    as_of: str | None
    chapters: str | None = None
    book: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the limits as JSON."""
        return {"as_of": self.as_of, "chapters": self.chapters}

    def limit(self, request: SearchRequest, order: StoryOrder) -> SearchRequest:
        """Return `request` for these chapters.

        Raises:
            NotFound: There is no such chapter.
        """
        if self.as_of is not None:
            request = replace(request, horizon=parse_horizon(self.as_of, order))
        if self.chapters is not None:
            chapters = parse_chapter_range(self.chapters, order)
            request = replace(request, chapters=chapters)
        return request


@dataclass(frozen=True, slots=True)
class _Display:
    """How results are printed. `context` is the number of lines around, None for none."""

    as_json: bool
    full: bool
    context: int | None
    is_book: bool


def _validate_words(
    words: str | None, batch: Path | None, filters: SearchFilters, *, exact: bool
) -> str:
    """Return the stripped words; empty with a batch of questions, or with `filters`."""
    words = (words or "").strip()
    if words and not batch and not exact and not find_possible_names(words):
        _require_search_words(words)
    if bool(words) != (batch is not None) or (
        filters and not (exact or words or batch)
    ):
        return words
    raise SettingsProblem(
        "Search words and `--batch` cannot be combined" if words else "No search words",
        hint='Try `lrwr search "marsh lantern"`.',
    )


def _require_search_words(words: str) -> None:
    if not has_search_words(words):
        raise SettingsProblem(
            f"“{words}” has no word to search for",
            hint="Add a word with a meaning of its own, or use `--exact` to find function"
            " words verbatim.",
        )


async def _require_name(request: SearchRequest, stories: StoryStore) -> None:
    """Raise unless `request` has words to search for or the name of a character, or
    needs none.
    """
    words = request.question
    if not words or request.exact or has_search_words(words):
        return
    cast = await stories.cast()
    if not any(is_character_name(name, cast) for name in find_possible_names(words)):
        _require_search_words(words)


def _select_retrievers(
    *, dense: bool, lexical: bool, exact: bool = False
) -> tuple[bool, bool]:
    """Return whether to search by words and whether to search by meaning."""
    if dense and exact:
        raise SettingsProblem(
            "`--dense` and `--exact` cannot be combined",
            hint="Leave out `--dense` to find the exact words.",
        )
    if dense and lexical:
        raise SettingsProblem(
            "`--dense` and `--lexical` cannot be combined",
            hint="Leave out both to search by words and by meaning.",
        )
    return not dense, not lexical


def _request(
    words: str,
    settings: Settings,
    *,
    types: list[str],
    filters: SearchFilters,
    ways: tuple[bool, bool],
) -> SearchRequest:
    lexical, dense = ways
    _require_story_data(filters, settings.pipeline)
    return SearchRequest(
        question=words,
        pipeline=settings.pipeline,
        limit=settings.search.limit,
        lexical=lexical,
        dense=dense,
        types=frozenset(parse_choice(DocumentType, name, "--type") for name in types),
        filters=filters,
    )


def _require_story_data(filters: SearchFilters, pipeline: Pipeline) -> None:
    if filters and pipeline is Pipeline.NAIVE:
        raise SettingsProblem(
            "Pipeline a has no characters and no kinds of passages to filter by",
            hint="Run `lrwr ingest --pipeline b` and use `--pipeline b`, or leave out"
            " `--character`, `--present`, `--content-type` and `--function`.",
        )


def _filters(
    characters: list[str] | None,
    present: list[str] | None,
    content_types: list[str] | None,
    functions: list[str] | None,
) -> SearchFilters:
    return SearchFilters(
        characters=frozenset(characters or ()),
        present=frozenset(present or ()),
        content_types=frozenset(
            parse_choice(ContentType, kind, "--content-type")
            for kind in content_types or ()
        ),
        functions=frozenset(
            parse_choice(NarrativeFunction, kind, "--function")
            for kind in functions or ()
        ),
    )


async def _search(
    settings: Settings,
    output: Output,
    request: SearchRequest,
    points: _StoryPoints,
    display: _Display,
) -> None:
    async with open_search_services(
        settings, output, as_json=display.as_json
    ) as services:
        request = replace(request, pipeline=services.settings.pipeline)
        _require_story_data(request.filters, request.pipeline)
        await _require_name(request, services.stories)
        finder = services.retrieval.finder(may_ask=True)
        order = await finder.story_order()
        result, texts = await find_existing_passages(
            lambda wider: finder.find(points.limit(wider, order), order),
            request,
            services.passages,
        )
        result = await _add_read_matches(result, request, points, services.passages)
        changes = await warn_of_outdated_files(services, texts, output.warn)
        if display.as_json:
            result = replace(result, remarks=(*result.remarks, *changes))
            passages = [
                _passage_as_json(passage, result, order, texts, display.context)
                for passage in result.passages
            ]
            output.json(
                {"question": request.question, **points.as_json(), "passages": passages}
                | search_result_as_json(result, texts)
            )
            return
        excerpts = [[passage.chunk.span] for passage in result.passages]
        if not display.full:
            excerpts = await select_search_excerpts(
                request, result, find_sentence_spans, services.retrieval.reranker
            )
        with output.paged():
            _show_heading(output, request, result, points.as_of)
            around = display.context
            _show_passages(output, request, result, order, texts, excerpts, around)
            output.show(render_known_facts(result.facts, texts))
            if total := describe_search_total(request, result, is_book=display.is_book):
                output.answer(StyledText(total, "faint"))


async def _add_read_matches(
    result: SearchResult,
    request: SearchRequest,
    points: _StoryPoints,
    passages: PassageStore,
) -> SearchResult:
    """Say where the exact words are in what has been read of a book if no passage is."""
    if result.passages or not (request.exact and points.book):
        return result
    remarks = await import_module("lrwr.app.reading_tools").describe_unfinished_matches(
        passages, points.book, request.question
    )
    return replace(result, remarks=(*result.remarks, *remarks))


def _passage_as_json(
    passage: Passage,
    result: SearchResult,
    order: StoryOrder,
    texts: Mapping[DocumentId, DocumentText],
    context: int | None,
) -> dict[str, object]:
    """Return a passage as JSON, with its exact matches and the lines around it."""
    chunk, row = passage.chunk, passage_as_json(passage)
    if chunk.id in result.matches:
        row["matches"] = [[s.start, s.end] for s in result.matches[chunk.id]]
    if result.phrases is not None:
        row["has_phrase"] = chunk.id in result.phrases
    if context is not None:
        text = texts[chunk.document].text
        outline = order.outlines[chunk.document]
        lines = find_context_lines(outline, chunk, chunk.span, text, count=context)
        row["before"] = [text[span.start : span.end] for span in lines.before]
        row["after"] = [text[span.start : span.end] for span in lines.after]
    return row


def _show_heading(
    output: Output, request: SearchRequest, result: SearchResult, as_of: str | None
) -> None:
    for remark in result.remarks:
        output.notice_warning(remark)
    for sentence in describe_missing_words(result, as_of):
        output.answer(sentence)
    if not result.passages:
        needs_model = "" if not request.filters.functions else _FUNCTION_NOTE
        noun = "passages" if request.question else "scenes"
        output.answer(f"No {noun} found.{needs_model}")


def _show_passages(
    output: Output,
    request: SearchRequest,
    result: SearchResult,
    order: StoryOrder,
    texts: Mapping[DocumentId, DocumentText],
    excerpts: Sequence[Sequence[Span]],
    context: int | None,
) -> None:
    """Print the `excerpts` of the passages of the story, and of notes below a heading."""
    words = extract_search_words(request.question)
    in_story = bool(result.passages) and result.passages[0].chapter is not None
    for number, (passage, spans) in enumerate(
        zip(result.passages, excerpts, strict=True), start=1
    ):
        if in_story and passage.chapter is None:
            output.answer("Notes:")
            in_story = False
        remark = describe_passage_remark(passage, result)
        for span in spans:
            label = f"{number:>2}" if span is spans[0] else "  "
            _show_excerpt(
                output, passage, span, label, remark, order, texts, words, context
            )
        output.answer()


def _show_excerpt(
    output: Output,
    passage: Passage,
    excerpt: Span,
    label: str,
    remark: str,
    order: StoryOrder,
    texts: Mapping[DocumentId, DocumentText],
    words: Sequence[str],
    context: int | None,
) -> None:
    """Print where an excerpt is, with a remark, then its text, with `context` lines
    around it.
    """
    chunk, text = passage.chunk, texts[passage.chunk.document]
    lines = ContextLines((), excerpt, ())
    if context is not None:
        outline = order.outlines[chunk.document]
        lines = find_context_lines(outline, chunk, excerpt, text.text, count=context)
    place = format_line_range(chunk.document, text.lines.lines_of(lines.passage))
    output.answer(
        f"{label}  ",
        StyledText(place, "place"),
        StyledText(f"  {describe_passage_chapter(passage)}{remark}", "faint"),
    )
    for span in (*lines.before, lines.passage, *lines.after):
        shown = text.text[span.start : span.end]
        pieces = (
            highlight_words(shown, words)
            if span is lines.passage
            else [StyledText(shown, "faint")]
        )
        output.answer(*pieces, indent=4)


async def _batch(
    settings: Settings,
    output: Output,
    request: SearchRequest,
    batch: Path,
    points: _StoryPoints,
) -> None:
    lines = list(read_question_lines(batch))
    async with open_search_services(settings, output, as_json=True) as services:
        request = replace(request, pipeline=services.settings.pipeline)
        _require_story_data(request.filters, request.pipeline)
        finder = services.retrieval.finder(may_ask=True)
        order = await finder.story_order()
        with output.progress("Searching", len(lines)) as advance:
            for line in lines:
                line_request = replace(request, question=str(line["question"]))
                until = replace(points, as_of=read_as_of(line) or points.as_of)
                line_request = until.limit(line_request, order)
                result = await finder.find(line_request, order)
                ranked = [passage_as_json(passage) for passage in result.passages]
                output.json_line(
                    {
                        "id": line["id"],
                        "ranked": ranked,
                        "confidence": result.confidence,
                        "low_confidence": result.low_confidence,
                        "remarks": list(result.remarks),
                    }
                )
                advance(1)
