"""`lrwr search`: passages that match, with locations and confidence."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.presenters.citations import (
    describe_confidence,
    describe_missing_confidence,
    describe_passage_chapter,
    format_line_range,
    highlight_words,
    known_facts_as_json,
    passage_as_json,
    render_known_facts,
)
from lrwr.app.presenters.text import StyledText, format_horizon
from lrwr.cli.runtime.options import AsOfOption, JsonOption, declare_limit, parse_choice
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import open_search_services, run_async, start_session
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.facts import ContentType, NarrativeFunction
from lrwr.core.model.text import Span, extract_content_words
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.freshness import drop_deleted_passages
from lrwr.core.retrieval.retrievers import WordWeights, select_excerpt
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.core.retrieval.story_search import SearchFilters
from lrwr.core.settings.model import Settings

EPILOG = (
    'Examples: lrwr search "marsh lantern" · lrwr search belt --as-of ch3 ·'
    " lrwr search tide --type worldbuilding --full · lrwr search oil --present Nell ·"
    " lrwr search --batch q.jsonl -k 20"
)

EXCERPT = 420
"""Maximum number of characters shown of a passage: about five lines of 80 columns."""


SearchWordsArgument = Annotated[
    str | None,
    typer.Argument(metavar="WORDS", help="The words or the question to search for."),
]
SearchPipelineNameOption = Annotated[
    str | None,
    typer.Option(
        "--pipeline", metavar="a|b", help="Search the passages of this pipeline."
    ),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Search only documents of this type: character, scene, setting or"
        " worldbuilding. Repeatable.",
    ),
]
DenseOption = Annotated[bool, typer.Option("--dense", help="Search by meaning only.")]
LexicalOption = Annotated[bool, typer.Option("--lexical", help="Search by words only.")]
RerankOption = Annotated[bool, typer.Option(help="Rerank the top results.")]
SearchCharacterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--character",
        metavar="NAME",
        help="Search only where NAME is present or mentioned. Repeatable.",
    ),
]
PresentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--present",
        metavar="NAME",
        help="Search only scenes where NAME is present. Repeatable.",
    ),
]
ContentTypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--content-type",
        metavar="KIND",
        help="Search only passages of this kind: dialogue, action_reaction, description or"
        " internal_monologue.",
    ),
]
FunctionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        metavar="KIND",
        help="Search only passages with this function: worldbuilding, character_reveal,"
        " plot_event, backstory or thematic.",
    ),
]
NamesOption = Annotated[
    bool, typer.Option(help="Boost passages with the characters named in the question.")
]
NotesOption = Annotated[
    bool, typer.Option("--notes", help="Search the author's comments too.")
]
FullOption = Annotated[bool, typer.Option("--full", help="Show full passages.")]
BatchOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl",
        help='Search for each line of a JSON Lines file: {"id", "question", "as_of"'
        " (optional)}. Prints one line of JSON for each.",
    ),
]


_FUNCTION_NOTE = " `--function` finds only what a language model has analysed."

app = typer.Typer()


@app.command("search", epilog=EPILOG)
def search_command(
    context: typer.Context,
    words: SearchWordsArgument = None,
    limit: Annotated[
        int | None, declare_limit("passages (8 if not set)", most=100)
    ] = None,
    pipeline: SearchPipelineNameOption = None,
    types: TypesOption = None,
    as_of: AsOfOption = None,
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
    batch: BatchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find passages by their words and by their meaning."""
    flags = {"search.limit": limit, "pipeline": pipeline}
    settings, output = start_session(context, flags)
    request = _request(
        _validate_words(words, batch),
        settings,
        types=types or [],
        filters=_filters(character, present, content_type, function),
        ways=_select_retrievers(dense=dense, lexical=lexical),
    )
    request = replace(request, names=names, rerank=rerank, notes=notes)
    if batch is not None:
        run_async(_batch(settings, output, request, batch, as_of))
    else:
        run_async(_search(settings, output, request, as_of, as_json=as_json, full=full))


def _validate_words(words: str | None, batch: Path | None) -> str:
    """Return the stripped words; empty with a batch of questions."""
    words = (words or "").strip()
    if bool(words) != (batch is not None):
        return words
    raise SettingsProblem(
        "Search words and `--batch` cannot be combined" if words else "No search words",
        hint='Try `lrwr search "marsh lantern"`.',
    )


def _select_retrievers(*, dense: bool, lexical: bool) -> tuple[bool, bool]:
    """Return whether to search by words and whether to search by meaning."""
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
    if filters and settings.pipeline is Pipeline.NAIVE:
        raise SettingsProblem(
            "Pipeline a has no characters and no kinds of passages to filter by",
            hint="Use `--pipeline b`, or leave out `--character`, `--present`,"
            " `--content-type` and `--function`.",
        )
    return SearchRequest(
        question=words,
        pipeline=settings.pipeline,
        limit=settings.search.limit,
        lexical=lexical,
        dense=dense,
        types=frozenset(parse_choice(DocumentType, name, "--type") for name in types),
        filters=filters,
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
    as_of: str | None,
    *,
    as_json: bool,
    full: bool,
) -> None:
    async with open_search_services(settings, output, as_json=as_json) as services:
        finder = services.finder()
        order = await finder.story_order()
        search_result = await _find(finder, request, order, as_of)
        result, texts = await drop_deleted_passages(services.passages, search_result)
        if as_json:
            output.json(
                {
                    "question": request.question,
                    "as_of": as_of,
                    "passages": [
                        passage_as_json(passage) for passage in result.passages
                    ],
                    "confidence": result.confidence,
                    "low_confidence": result.low_confidence,
                    "unknown_words": list(result.unknown),
                    "facts": known_facts_as_json(result.facts, texts),
                    "remarks": list(result.remarks),
                }
            )
            return
        with output.paged():
            _show(output, request, result, texts, as_of=as_of, full=full)


async def _find(
    finder: PassageFinder,
    request: SearchRequest,
    order: StoryOrder,
    as_of: str | None,
) -> SearchResult:
    if as_of is not None:
        request = replace(request, horizon=parse_horizon(as_of, order))
    return await finder.find(request, order)


def _show(
    output: Output,
    request: SearchRequest,
    result: SearchResult,
    texts: Mapping[DocumentId, DocumentText],
    *,
    as_of: str | None,
    full: bool,
) -> None:
    words = extract_content_words(request.question)
    weights = WordWeights.of(words, {}, 1)
    for remark in result.remarks:
        output.notice_warning(remark)
    if result.unknown:
        unknown = ", ".join(f"“{word}”" for word in result.unknown)
        until = "" if as_of is None else f" up to {format_horizon(as_of)}"
        output.answer(f"Not found in the text{until}: {unknown}.")
    if not result.passages:
        needs_model = "" if not request.filters.functions else _FUNCTION_NOTE
        output.answer(f"No passages found.{needs_model}")
    for number, passage in enumerate(result.passages, start=1):
        chunk = passage.chunk
        start, end = 0, len(chunk.text)
        if not full:
            start, end = select_excerpt(
                chunk.text, weights, find_sentence_spans, limit=EXCERPT
            )
        excerpt_span = Span(chunk.span.start + start, chunk.span.start + end)
        place = format_line_range(
            chunk.document, texts[chunk.document].lines.lines_of(excerpt_span)
        )
        comment = "  author's comment" if chunk.kind == "note" else ""
        output.answer(
            f"{number:>2}  ",
            StyledText(place, "place"),
            StyledText(f"  {describe_passage_chapter(passage)}{comment}", "faint"),
        )
        output.answer(*highlight_words(chunk.text[start:end], words), indent=4)
        output.answer()
    output.show(render_known_facts(result.facts, texts))
    # The confidence was measured with questions; it says little about a single word.
    if result.passages and len(request.question.split()) > 1:
        output.answer(StyledText(_describe_confidence(request, result), "faint"))


def _describe_confidence(request: SearchRequest, result: SearchResult) -> str:
    if result.confidence is None:
        return describe_missing_confidence(request)
    return describe_confidence(result.confidence, low=result.low_confidence)


async def _batch(
    settings: Settings,
    output: Output,
    request: SearchRequest,
    batch: Path,
    as_of: str | None,
) -> None:
    lines = list(_questions(batch))
    async with open_search_services(settings, output, as_json=True) as services:
        finder = services.finder()
        order = await finder.story_order()
        with output.progress("Searching", len(lines)) as advance:
            for line in lines:
                line_request = replace(request, question=str(line["question"]))
                result = await _find(finder, line_request, order, _as_of(line) or as_of)
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


def _as_of(line: Mapping[str, object]) -> str | None:
    if line.get("as_of") is not None:
        return str(line["as_of"])
    if line.get("asof_chapter") is not None:
        return f"ch{line['asof_chapter']}"
    return None


def _questions(batch: Path) -> Iterator[Mapping[str, object]]:
    try:
        text = batch.read_text(encoding="utf-8")
    except OSError as error:
        raise NotFound(
            f"{batch} cannot be read: {error.strerror}", hint="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsProblem(
            f"{batch} is not UTF-8 text", hint="Save the file as UTF-8."
        ) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = parse_json(line)
            if not isinstance(entry, dict) or not {"id", "question"} <= entry.keys():
                raise ValueError('"id" and "question" are required')
        except ValueError as error:
            raise SettingsProblem(
                f"{batch}:{number}: {error}",
                hint='Write each line as JSON: {"id": "1", "question": "Who is Ash?"}.',
            ) from error
        yield entry
