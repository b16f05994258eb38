"""The slash commands of `lrwr chat --plain` that show the story and the library.

Handlers get the text after the command's name as `arguments`, which may be empty. They
raise `LrwrError`, whose message the chat prints.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from lrwr.app.history import describe_new_findings, is_day, parse_since
from lrwr.app.presenters import story
from lrwr.app.presenters.citations import describe_passage_chapter, format_place
from lrwr.app.presenters.contradictions import render_contradictions
from lrwr.app.presenters.diff import render_manuscript_diff
from lrwr.app.presenters.drafts import render_board_status
from lrwr.app.presenters.post_drafts import describe_post
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.cli.chat.state import PlainChatState, require_no_arguments
from lrwr.cli.commands.bible import (
    CHARACTERS,
    TIMELINE,
    WORLD,
    print_not_evaluated,
    print_nothing_known,
)
from lrwr.cli.commands.config import list_setting_rows
from lrwr.cli.commands.name_review import print_proposal
from lrwr.cli.commands.status import collect_status, print_status
from lrwr.cli.runtime.options import split_chapter, split_hearer
from lrwr.cli.runtime.services import create_progress_listener
from lrwr.core.bible.service import (
    filter_quotes,
    filter_timeline,
    find_profile_by_name,
    find_world_element,
    list_present_characters,
)
from lrwr.core.bible.values import Bible, CharacterProfile, GapState
from lrwr.core.model.chunks import Passage
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.tui.queries.drafts import load_draft_board, load_post_list
from lrwr.tui.queries.library import (
    compare_manuscript,
    ingest_folder,
    parse_diff_request,
)
from lrwr.tui.queries.reader import load_reader_contents, load_reader_text
from lrwr.tui.queries.search import (
    SearchChoice,
    list_documents,
    load_findings,
    search_passages,
)
from lrwr.tui.queries.story import load_name_proposals, load_story

SEARCH_RESULTS = 8
"""Number of passages that /search shows."""


async def handle_gaps(chat: PlainChatState, arguments: str) -> None:
    """List open questions, or those about the character named `arguments`.

    Raises:
        NotFound: There is no such character.
    """
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    character = find_profile_by_name(arguments, bible).name if arguments else ""
    gaps = [
        gap
        for gap in bible.gaps
        if gap.state is GapState.OPEN and (not character or gap.about == character)
    ]
    for gap in gaps:
        chat.output.show(story.render_gap(gap))
    if not gaps:
        print_nothing_in_story(chat, bible, "No open questions found")
    print_not_evaluated(
        chat.output,
        bible,
        "Open questions without a marker (TODO, TK, ???) in your text",
    )


async def handle_people(chat: PlainChatState, arguments: str) -> None:
    """Show the character named `arguments`; if it is empty, list all characters, if it is
    a chapter such as "ch7", those who are in it.

    Raises:
        NotFound: There is no such character.
    """
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    name, chapter = split_chapter(arguments)
    characters: Sequence[CharacterProfile] = bible.characters
    if chapter is not None:
        characters = list_present_characters(bible, chapter)
    if name:
        profile = find_profile_by_name(name, bible)
        chat.output.show(story.render_character(profile, bible))
    elif characters:
        chat.output.show(story.list_characters(characters, bible))
    else:
        print_nothing_in_story(chat, bible, CHARACTERS.empty)


async def handle_world(chat: PlainChatState, arguments: str) -> None:
    """Show the world element named `arguments`; if it is empty, list all.

    World elements are settings, objects, groups, rules and the like.

    Raises:
        NotFound: There is no such element.
    """
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    if arguments:
        element = find_world_element(arguments, bible)
        chat.output.show(story.render_element(element))
    elif bible.world:
        chat.output.show(story.list_world(bible.world))
    else:
        print_nothing_in_story(chat, bible, WORLD.empty)


async def handle_timeline(chat: PlainChatState, arguments: str) -> None:
    """List events in story order up to the horizon.

    If `arguments` is not empty, list only those with the character of that name, which
    may end with a chapter ("Nell ch4").

    Raises:
        NotFound: There is no such character.
    """
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    moments = filter_timeline(bible, *split_chapter(arguments))
    chat.output.show(story.render_timeline(moments))
    if not moments:
        print_nothing_in_story(chat, bible, TIMELINE.empty)


async def handle_relations(chat: PlainChatState, arguments: str) -> None:
    """List relationships, or those of the character named `arguments`.

    Raises:
        NotFound: There is no such character.
    """
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    relations = bible.relations
    if arguments:
        name = find_profile_by_name(arguments, bible).name
        relations = tuple(r for r in relations if name in (r.source, r.target))
    chat.output.show(story.render_relations(relations))
    if not relations:
        print_nothing_in_story(chat, bible, "No relationships found")


async def handle_quotes(chat: PlainChatState, arguments: str) -> None:
    """List quoted dialogue, or what the character named `arguments` says, which may end
    with a hearer and a chapter ("Nell to Hob ch4").

    Raises:
        NotFound: There is no such character.
    """
    bible = await load_story(chat.workspace, chat.sitting.as_of)
    name, chapter = split_chapter(arguments)
    speaker, hearer = split_hearer(name)
    quotes = filter_quotes(bible, speaker, chapter, hearer)
    chat.output.show(story.render_quotes(quotes))
    if not quotes:
        print_nothing_in_story(chat, bible, "No dialogue found")


async def handle_recap(chat: PlainChatState, arguments: str) -> None:
    """Print what happens in each scene, up to the point `arguments` if it is not empty.

    Raises:
        NotFound: There is no such point.
    """
    bible = await load_story(chat.workspace, arguments or chat.sitting.as_of)
    chat.output.show(story.render_recap(bible.scenes))
    if not bible.scenes:
        print_nothing_in_story(chat, bible, "No scenes found")


async def handle_check(chat: PlainChatState, arguments: str) -> None:
    """List contradictions that are not intended; with a day as `arguments`, only those
    first reported since then, with the path of a file, or a part of it, those in it.
    """
    now = datetime.now().astimezone()
    since = parse_since(arguments, now) if is_day(arguments) else None
    findings = await load_findings(chat.workspace, chat.sitting.as_of, since=since)
    notes = describe_new_findings(findings.reported, now)
    shown = findings.contradictions
    if arguments and since is None:
        shown = tuple(
            c for c in shown if any(arguments in d for d in list_documents([c]))
        )
    chat.output.show(render_contradictions(shown, notes))
    if not findings.contradictions:
        chat.output.answer(findings.nothing)
    elif not shown:
        chat.output.answer(f"No contradictions found in “{arguments}”.")


async def handle_diff(chat: PlainChatState, arguments: str) -> None:
    """List what changed since the last ingest, or since the state `arguments`.

    Raises:
        NotFound: There is no such revision.
        LrwrError: git failed.
    """
    compared = await compare_manuscript(chat.workspace, parse_diff_request(arguments))
    chat.output.show(render_manuscript_diff(compared))


async def handle_posts(chat: PlainChatState, arguments: str) -> None:
    """List the drafts of texts about the story.

    Raises:
        NotFound: Nothing was ingested here.
    """
    require_no_arguments("posts", arguments)
    posts = await load_post_list(chat.workspace, chat.output.warn)
    for post in posts:
        chat.output.answer(StyledText(post.name, "strong"), f"  {describe_post(post)}")
    if not posts:
        chat.output.answer("No drafts yet. `lrwr post new` makes one.")


async def handle_draft(chat: PlainChatState, arguments: str) -> None:
    """Show where each scene of the board stands.

    Raises:
        NotFound: There is no board.
    """
    require_no_arguments("draft", arguments)
    board = await load_draft_board(chat.workspace)
    chat.output.show(render_board_status(board.statuses))


async def handle_review(chat: PlainChatState, arguments: str) -> None:
    """List names that may be one character, or two.

    Raises:
        SettingsProblem: `arguments` is not empty.
    """
    require_no_arguments("review", arguments)
    proposals = await load_name_proposals(chat.workspace)
    for proposal in proposals:
        print_proposal(proposal, chat.output)
    chat.output.info(
        "To decide: `lrwr characters review`."
        if proposals
        else "There are no names to review."
    )


async def handle_search(chat: PlainChatState, arguments: str) -> None:
    """List the passages that match the words `arguments`, which may name chapters, as in
    "storm ch5-ch8".

    Raises:
        SettingsProblem: `arguments` is empty.
    """
    if not arguments:
        raise SettingsProblem("No words to search", hint="Type them after /search.")
    choice = SearchChoice(as_of=chat.sitting.as_of)
    result = await search_passages(chat.workspace, arguments, choice, full=True)
    for number, passage in enumerate(result.passages[:SEARCH_RESULTS], start=1):
        chat.output.show(_render_passage(number, passage))
    if not result.passages:
        chat.output.answer(f"No passage found for “{arguments}”.")


def _render_passage(number: int, passage: Passage) -> Iterator[StyledLine]:
    chunk = passage.chunk
    place = StyledText(
        sanitize_line(format_place(chunk.document, chunk.lines)), "place"
    )
    yield styled_line(f"{number:2}  ", place, f"  {describe_passage_chapter(passage)}")
    yield styled_line(shorten_excerpt(chunk.text), indent=4)


async def handle_read(chat: PlainChatState, arguments: str) -> None:
    """Print the chapter, scene or document `arguments`; the first chapter if empty.

    Raises:
        NotFound: There is no such chapter or document.
    """
    contents = await load_reader_contents(chat.workspace, arguments)
    part = contents.parts[contents.find_part(contents.position)]
    text = await load_reader_text(chat.workspace, part.document)
    start = max(part.span.start, contents.position.offset)
    chat.output.answer(StyledText(sanitize_line(part.name), "strong"))
    chat.output.answer(text.text[start : part.span.end].strip())


async def handle_library(chat: PlainChatState, arguments: str) -> None:
    """Print what the library holds and what has changed, like `lrwr status`.

    Raises:
        SettingsProblem: `arguments` is not empty.
    """
    require_no_arguments("library", arguments)
    facts = await collect_status(chat.workspace.settings, chat.output.info)
    print_status(facts, chat.output)


async def handle_ingest(chat: PlainChatState, arguments: str) -> None:
    """Read new and changed files, or the folder `arguments`; Ctrl-C stops it.

    Raises:
        NotFound: There is no such folder.
    """
    with chat.output.progress("Reading", None) as advance:
        emit = create_progress_listener(advance, chat.output)
        lines = await ingest_folder(chat.workspace, arguments, emit)
    for line in lines:
        chat.output.answer(sanitize_line(line))


async def handle_settings(chat: PlainChatState, arguments: str) -> None:
    """List the settings whose names contain `arguments`; all if it is empty.

    Raises:
        NotFound: No setting matches.
    """
    rows = list_setting_rows(chat.workspace.settings, arguments)
    if not rows:
        raise NotFound(f"No setting matches “{arguments}”", hint="/settings lists all.")
    chat.output.table(["Setting", "Value", "From"], rows)


def print_nothing_in_story(chat: PlainChatState, bible: Bible, statement: str) -> None:
    """Print that the story bible has nothing of a kind, and what would find it."""
    remedy = story.explain_model_setup(bible, chat.workspace.settings)
    print_nothing_known(chat.output, statement, chat.sitting.as_of or None, remedy)
