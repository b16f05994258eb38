"""`lrwr ask`: answer one question from the manuscript."""

import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.egress import create_price_lookup
from lrwr.app.presenters.answers import NO_MODEL, describe_answering_model
from lrwr.app.presenters.text import (
    LONGEST,
    StyledText,
    format_dollars,
    format_horizon,
    sanitize_line,
)
from lrwr.app.presenters.threads import find_thread, shorten_thread_ids
from lrwr.cli.chat.live_answer import LiveAnswer, turn_done_as_json
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import (
    AskCharacterOption,
    AskThreadNameOption,
    AsOfOption,
    BookOption,
    JsonOption,
    ModeNameOption,
    WholeBookOption,
    parse_optional_choice,
)
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    ANSWER_SERVICES,
    announce_first_use,
    prompt_for_consent,
    require_passages,
    select_text,
    warn_of_outdated_files,
)
from lrwr.core.bible.gaps import parse_canon_command
from lrwr.core.chat.graph import PromptPreview
from lrwr.core.chat.history import estimate_history_tokens
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import TurnDone
from lrwr.core.retrieval.query_words import has_search_words
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.app.companion import ReadingCompanion

MAX_MEANINGLESS_WORDS = 2
"""Words up to which a question needs a word with a meaning of its own."""

EPILOG = (
    'Examples: lrwr ask "Who keeps the ledger?" ·'
    ' lrwr ask "What does Nell know?" --as-of ch4:s2 ·'
    ' lrwr ask "What do you know about the fog?" --character Mags --mode in_character ·'
    ' lrwr ask "And then?" --thread 1 · lrwr ask "…" --show-prompt ·'
    " echo 'Who is Mags?' | lrwr ask --stdin --json"
)

QuestionArgument = Annotated[
    str | None, typer.Argument(metavar="QUESTION", help="The question.")
]
WitnessedOption = Annotated[
    bool | None,
    typer.Option(
        "--witnessed/--not-witnessed",
        help="Use only what the --character witnessed or was told.",
    ),
]
StdinOption = Annotated[
    bool, typer.Option("--stdin", help="Read the question from standard input.")
]
ShowPromptOption = Annotated[
    bool,
    typer.Option(
        "--show-prompt",
        help="Show what would be sent to a language model, and send nothing.",
    ),
]


PassageOption = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="A passage that the question is about."),
]


OpenCompanion = Callable[[Workspace], Awaitable["ReadingCompanion"]]
"""Opens the companion of a book in the workspace of its library."""

app = typer.Typer()


@app.command("ask", epilog=EPILOG)
def ask_command(
    context: typer.Context,
    question: QuestionArgument = None,
    character: AskCharacterOption = None,
    mode: ModeNameOption = None,
    as_of: AsOfOption = None,
    witnessed: WitnessedOption = None,
    thread: AskThreadNameOption = None,
    stdin: StdinOption = False,
    show_prompt: ShowPromptOption = False,
    book: BookOption = None,
    passage: PassageOption = None,
    whole: WholeBookOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from your text, with citations.

    Question and answer are saved in a thread (a saved conversation). Without a language
    model, lrwr quotes matching sentences instead of writing an answer.
    """
    settings, output = start_session(context)
    settings, as_of = select_text(settings, output, book, as_of, whole=whole)
    accompany = None
    if book is not None:
        # Only here: the shelf of books imports everything that ingests a document.
        companion = import_module("lrwr.app.companion")
        accompany = partial(
            companion.open_reading_companion,
            name=book,
            whole=whole,
            passage=passage or "",
        )
    request = TurnRequest(
        text=_add_passage(_text(question, stdin=stdin), passage),
        character=character,
        mode=parse_optional_choice(AnswerMode, mode, "--mode"),
        as_of=as_of,
        witnessed=witnessed,
    )
    if show_prompt:
        run_async(_show_prompt(settings, output, request, thread, accompany, as_json))
    else:
        run_async(_ask(settings, output, request, thread, accompany, book, as_json))


def _text(question: str | None, *, stdin: bool) -> str:
    if stdin and question is not None:
        raise SettingsProblem(
            "A question and `--stdin` cannot be combined",
            hint="Leave out one of them.",
        )
    text = sys.stdin.read() if stdin else question or ""
    if not text.strip():
        raise SettingsProblem(
            "No question", hint='Try `lrwr ask "Who keeps the ledger?"`.'
        )
    if len(text) > LONGEST:
        raise SettingsProblem(
            f"The question has {len(text):,} characters; the limit is {LONGEST:,}",
            hint="Shorten the question. To ask about a long text, save it as a file in the"
            " manuscript and run `lrwr ingest`.",
        )
    return text.strip()


def _add_passage(question: str, passage: str | None) -> str:
    words = " ".join((passage or "").split())
    if not words:
        return question
    text = f"{question} “{words}”"
    if len(text) > LONGEST:
        raise SettingsProblem(
            f"Question and passage have {len(text):,} characters; the limit is {LONGEST:,}",
            hint="Shorten the passage.",
        )
    return text


def _require_meaning(text: str) -> None:
    """Raise for a word or two that say nothing, such as "the" or "?"."""
    if len(text.split()) <= MAX_MEANINGLESS_WORDS and not has_search_words(text):
        raise SettingsProblem(
            f"“{text}” does not say what you want to know",
            hint='Ask a whole question, such as `lrwr ask "Who keeps the ledger?"`, or'
            " add `--thread` to continue a thread.",
        )


async def _ask(
    settings: Settings,
    output: Output,
    request: TurnRequest,
    thread: str | None,
    accompany: OpenCompanion | None,
    book: str | None,
    as_json: bool,
) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        request = await _resolve_thread(workspace, request, thread, output)
        if thread is None and request.mode is not AnswerMode.IN_CHARACTER:
            _require_meaning(request.text)
        prompt_for_consent(workspace, output, *ANSWER_SERVICES, as_json=as_json)
        companion = await accompany(workspace) if accompany else None
        workspace.retrieval.vector_index.stays_open = False
        sessions = workspace.sessions(companion=companion)
        announce_first_use(workspace, output, *ANSWER_SERVICES)
        has_steps = companion is not None and bool(sessions.model)
        live = LiveAnswer(output, quiet=as_json, has_steps=has_steps)
        note = sessions.model and describe_answering_model(settings, sessions.model)
        # What is sent to OpenAI is said before; an own server may turn out to be off.
        is_sent = settings.model.use == "openai"
        turn_done = await live.watch(sessions.ask(request), note if is_sent else "")
        if not as_json:
            live.end(turn_done.turn)
            await _show_advice(workspace, output, request, turn_done, book)
        # Only now: the text of the answer may not end with a line break.
        if turn_done.turn.output.model and not is_sent:
            output.info(note)
        documents = {c.document for c in turn_done.turn.output.citations}
        changes = await warn_of_outdated_files(workspace, documents, output.warn)
        if as_json:
            output.json(turn_done_as_json(turn_done, changes))


async def _show_advice(
    workspace: Workspace,
    output: Output,
    request: TurnRequest,
    turn_done: TurnDone,
    book: str | None,
) -> None:
    """Say that answers are quotations and how to continue the thread, below the first
    answer of the library only.
    """
    ids = shorten_thread_ids(await workspace.threads.threads())
    if request.thread is not None or len(ids) > 1:
        return
    is_canon = parse_canon_command(request.text) is not None
    if workspace.settings.model.use == "off" and not is_canon:
        output.answer(StyledText(NO_MODEL, "faint"))
    if id_ := ids.get(turn_done.thread):
        option = f"--book {shlex.quote(book)} " if book else ""
        hint = f"To continue this thread: `lrwr ask {option}--thread {id_} …`."
        output.info(StyledText(hint, "faint"))


async def _resolve_thread(
    workspace: Workspace, request: TurnRequest, thread: str | None, output: Output
) -> TurnRequest:
    """Return the request with the id of its thread, and name the horizon of that."""
    await require_passages(workspace)
    if thread is None:
        return request
    found_thread = find_thread(thread, await workspace.threads.threads())
    if request.as_of is None and (as_of := found_thread.state.as_of):
        point = sanitize_line(format_horizon(as_of))
        output.info(f"Up to {point}, as before in this thread (`--as-of`).")
    return replace(request, thread=found_thread.id)


async def _show_prompt(
    settings: Settings,
    output: Output,
    request: TurnRequest,
    thread: str | None,
    accompany: OpenCompanion | None,
    as_json: bool,
) -> None:
    async with open_workspace(settings, say=output.info) as workspace:
        request = await _resolve_thread(workspace, request, thread, output)
        companion = await accompany(workspace) if accompany else None
        sessions = workspace.sessions(may_ask=False, companion=companion)
        prompts = await sessions.prompt(request)
    if as_json:
        output.json([_sending_as_json(prompt) for prompt in prompts])
        return
    if not prompts:
        output.answer("No language model is configured: nothing would be sent.")
        output.info(
            StyledText("hint: ", "strong"),
            "To see the prompt, set `use` and `name` under `[model]` in `lrwr.toml`;"
            " `--show-prompt` contacts no server.",
        )
    for prompt in prompts:
        output.answer(StyledText(f"For {prompt.purpose}:", "strong"))
        for message in prompt.messages:
            output.answer(StyledText(f"{message.role}:", "strong"))
            output.answer(message.text)
            output.answer()
    if prompts:
        output.info(_describe_cost(prompts, sessions.model, settings))


def _describe_cost(
    prompts: Sequence[PromptPreview], model: str, settings: Settings
) -> str:
    """Return a sentence about tokens and price of a question, without the replies."""
    tokens = sum(estimate_history_tokens(prompt.text) for prompt in prompts)
    usage = Usage(len(prompts), tokens)
    price = format_dollars(create_price_lookup(settings)(usage, model))
    return (
        f"About {tokens:,} tokens would be sent ({price}), more if it looks things up."
    )


def _sending_as_json(sending: PromptPreview) -> dict[str, object]:
    messages = [
        {"role": message.role, "text": message.text} for message in sending.messages
    ]
    return {"purpose": sending.purpose, "messages": messages}
