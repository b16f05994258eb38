"""`lrwr ask`: one question, answered from the manuscript."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.chat.companion import Quote, QuotedAnswer
    from lrwr.core.retrieval.search import SearchRequest
    from lrwr.core.settings.values import Settings


EPILOG = (
    'Examples: lrwr ask "Who keeps the ledger?" ·'
    ' lrwr ask "What does Nell know?" --as-of ch4:s2 · lrwr ask "…" --json'
)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.")],
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="As the story stands at ch12, ch12:s2, vol3.ch6 or a file; nothing"
            " later is used.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer from the manuscript: the sentences that say most, each with its place.

    No language model is used: lrwr quotes, and does not reason.
    """
    from lrwr.cli.begin import begin
    from lrwr.cli.running import run_async
    from lrwr.core.model.errors import SettingsProblem
    from lrwr.core.retrieval.search import SearchRequest

    settings, output = begin(context)
    if not question.strip():
        raise SettingsProblem(
            "Nothing to ask", hint='Try: lrwr ask "Who keeps the ledger?"'
        )
    request = SearchRequest(
        question=question, pipeline=settings.pipeline, limit=settings.search.limit
    )
    run_async(_ask(settings, output, request, as_of, as_json=as_json))


async def _ask(
    settings: "Settings",
    output: "Output",
    request: "SearchRequest",
    as_of: str | None,
    *,
    as_json: bool,
) -> None:
    from dataclasses import replace

    from lrwr.cli.unread import require_passages
    from lrwr.core.retrieval.story import parse_horizon
    from lrwr.wiring import open_services

    async with open_services(settings, say=output.story) as services:
        await require_passages(services)
        if as_of is not None:
            order = await services.finder().story_order()
            request = replace(request, horizon=parse_horizon(as_of, order))
        answer = await services.companion().answer(request)
    for remark in answer.remarks:
        output.warn(remark)
    if as_json:
        output.json(_plain(request, as_of, answer))
    else:
        _show(request, as_of, answer, output)


def _show(
    request: "SearchRequest",
    as_of: str | None,
    answer: "QuotedAnswer",
    output: "Output",
) -> None:
    from lrwr.cli.passages import chapter_of, pieces_of, place_of
    from lrwr.cli.stream import Styled
    from lrwr.core.model.words import content_words

    output.story("No language model: lrwr quotes your text and does not reason.")
    if answer.unknown:
        never = "Your text never says" if as_of is None else f"Not said up to {as_of}"
        output.answer(f"{never}: {', '.join(answer.unknown)}.")
    if answer.silent:
        so_far = "" if as_of is None else " so far"
        nearest = " What comes nearest:" if answer.quotes else ""
        output.answer(
            Styled(f"Your text is silent on this{so_far}.{nearest}", "strong")
        )
    words = content_words(request.question)
    for quote in answer.quotes:
        output.answer()
        place = place_of(quote.passage.chunk.document, quote.lines)
        output.answer(
            Styled(place, "place"), Styled(f"  {chapter_of(quote.passage)}", "faint")
        )
        output.answer(*pieces_of(_one_line(quote), words), indent=4)


def _one_line(quote: "Quote") -> str:
    return " ".join(quote.text.split())


def _plain(
    request: "SearchRequest", as_of: str | None, answer: "QuotedAnswer"
) -> dict[str, object]:
    from lrwr.cli.passages import as_json

    return {
        "question": request.question,
        "as_of": as_of,
        "model": None,
        "silent": answer.silent,
        "confidence": "not evaluated",
        "unknown_words": list(answer.unknown),
        "quotes": [
            {
                "text": quote.text,
                "file": quote.passage.chunk.document,
                "lines": [quote.lines.first, quote.lines.last],
                "chars": [quote.span.start, quote.span.end],
                "passage": as_json(quote.passage),
            }
            for quote in answer.quotes
        ],
        "remarks": list(answer.remarks),
    }
