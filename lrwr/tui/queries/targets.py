"""Finds the location that a user names: a file and line, a point of the story, a
citation, a character, an open question or a contradiction.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lrwr.app.continuity import list_findings
from lrwr.app.presenters.contradictions import describe_contradiction
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Bible, CharacterProfile, Gap, TextEvidence
from lrwr.core.canon.model import normalize_canon_path
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import Citation, Turn
from lrwr.core.nlp.facts.clauses import TITLE_WORDS
from lrwr.core.retrieval.story import parse_horizon
from lrwr.tui.queries.passages import (
    FileLocation,
    find_story_point,
    locate_citation,
    locate_document_line,
)
from lrwr.tui.queries.reader import (
    find_line_start,
    find_next_match,
    load_name_pattern,
    load_reader_contents,
)

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

_NUMBER = re.compile(r"\[?(\d{1,4})\]?")
_FILE = re.compile(
    r"(?P<file>.+?\.(?:md|markdown|txt|docx|epub))(?::(?P<line>\d+)(?:-\d+)?)?"
)
_POINT = re.compile(r"(?:ch|chapter|vol)\W*\d.*", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_TITLES = frozenset(TITLE_WORDS.split())
_FUNCTION_WORDS = frozenset({"the", "a", "an", "of", "s"})
_MAX_OFFERED = 4

IdentifiedT = TypeVar("IdentifiedT", Gap, Contradiction)


async def locate_target(workspace: "Workspace", text: str) -> FileLocation:
    """Return the file and line of what `text` names.

    That is, in this order: a file with or without a line, as citations are printed; a
    chapter or scene such as `ch4:s2`; a citation of the last answer of the newest
    thread, by its number; a character, where the text first names it; an open question
    or a contradiction, by its id or some of its words; a fact about a character, such
    as "Nell eyes". Of a contradiction, it is the passage that contradicts.

    Raises:
        NotFound: Nothing, or more than one thing, is named so; or the file is gone.
    """
    words = text.strip()
    if number := _NUMBER.fullmatch(words):
        turn = await load_newest_turn(workspace)
        return await locate_citation(workspace, find_citation(turn, number[1]))
    if match := _FILE.fullmatch(words):
        return await _locate_file(workspace, match["file"], int(match["line"] or 1))
    if _POINT.fullmatch(words):
        return await _locate_point(workspace, words)
    evidence = await _find_evidence(workspace, words)
    return await locate_document_line(
        workspace, evidence.document, evidence.lines.first
    )


async def locate_next_mention(
    workspace: "Workspace", name: str, after: str
) -> FileLocation:
    """Return the file and line of the next mention of a character after a location.

    `after` is a file and line, as citations are printed, or a chapter or scene. Mentions
    in that line do not count, notes neither.

    Raises:
        NotFound: There is no such character or location, or no later mention.
    """
    await workspace.require_text()
    profile = find_profile_by_name(name, await workspace.bible().names())
    match = _FILE.fullmatch(after.strip())
    line = int(match["line"] or 0) if match else 0
    start = (
        f"{await _resolve_file(workspace, match['file'])}:{line}" if match else after
    )
    contents = await load_reader_contents(workspace, start)
    parts = [part for part in contents.parts if part.chapter is not None]
    here, at = contents.find_part(contents.position), contents.position.offset
    if match:
        text = await workspace.passages.text(contents.position.document)
        at = find_line_start(text, line + 1)
        at = len(text.text) if at <= contents.position.offset and line else at
    pattern = await load_name_pattern(workspace, profile.name)
    if pattern is not None and here < len(parts):
        mention = await find_next_match(
            workspace, parts, pattern, (here, at - 1), forward=True
        )
        if mention is not None and (mention[0], mention[1].start) >= (here, at):
            document = parts[mention[0]].document
            text = await workspace.passages.text(document)
            at_line = text.lines.line_of(mention[1].start)
            return await locate_document_line(workspace, document, at_line)
    raise NotFound(
        f"{profile.name} is not mentioned after {after}",
        hint=f"Run `lrwr open {shlex.quote(profile.name)}` for the first mention.",
    )


async def load_newest_turn(workspace: "Workspace") -> Turn | None:
    """Return the last turn of the thread that was used last; None without threads."""
    for thread in (await workspace.threads.threads())[:1]:
        for turn in await workspace.threads.turns(thread.id, last=1):
            return turn
    return None


def find_citation(turn: Turn | None, number: str) -> Citation:
    """Return the citation of `turn` with `number`, which may be empty.

    `turn` is None if no question was asked yet.

    Raises:
        NotFound: There is no such citation; the hint lists the numbers.
    """
    citations = turn.output.citations if turn else ()
    for citation in citations:
        if str(citation.number) == number:
            return citation
    numbers = ", ".join(str(citation.number) for citation in citations)
    nothing = "It cites no passage." if turn else "Ask a question first."
    raise NotFound(
        f"The last answer has no citation {number}"
        if number
        else "The number is missing",
        hint=f"Choose from: {numbers}." if citations else nothing,
    )


async def _locate_file(workspace: "Workspace", name: str, line: int) -> FileLocation:
    document = await _resolve_file(workspace, name)
    return await locate_document_line(workspace, document, line)


async def _resolve_file(workspace: "Workspace", name: str) -> DocumentId:
    outlines = await workspace.passages.outlines()
    spelled = {normalize_canon_path(outline.id): outline.id for outline in outlines}
    document = resolve_document(
        name,
        document_ids=list(spelled),
        root=workspace.library.root,
        working_directory=Path.cwd(),
    )
    return spelled.get(document, document)


async def _locate_point(workspace: "Workspace", words: str) -> FileLocation:
    order = await workspace.finder().story_order()
    document, offset = find_story_point(parse_horizon(words, order), order)
    line = (await workspace.passages.text(document)).lines.line_of(offset)
    return await locate_document_line(workspace, document, line)


async def _find_evidence(workspace: "Workspace", words: str) -> TextEvidence:
    await workspace.require_text()
    bible = await workspace.bible().read()
    try:
        profile = find_profile_by_name(words, bible)
    except NotFound as error:
        named = _find_character_in(words, bible.characters)
        if named is None:
            characters = bible.characters
            return await _find_finding(workspace, words, bible, characters, error)
        profile = named
    topic = _list_topic_words(words) - _list_name_words(profile)
    if not topic:
        return _locate_character(profile, bible)
    return await _find_finding(
        workspace,
        words,
        bible,
        (profile,),
        NotFound(
            f"Nothing is recorded about {profile.name} with “{' '.join(sorted(topic))}”",
            hint=f"Run `lrwr characters {shlex.quote(profile.name)}` to list what is.",
        ),
    )


async def _find_finding(
    workspace: "Workspace",
    words: str,
    bible: Bible,
    characters: Sequence[CharacterProfile],
    problem: NotFound,
) -> TextEvidence:
    """Return the passage of an open question, a contradiction or a fact about one of
    `characters`.

    Raises:
        NotFound: There is none; with the hint of `problem`, which says that no
            character is named so, or what is not recorded about one.
    """
    if gap := _find_named(words, bible.gaps, _describe_gap):
        return _locate_gap(gap)
    findings = await list_findings(workspace)
    if finding := _find_named(words, findings, describe_contradiction):
        return _locate_contradiction(finding)
    if passage := _find_fact(words, characters):
        return passage
    search = words.replace('"', "")
    raise NotFound(
        f"{problem}, and no open question, contradiction or fact has these words",
        hint=f'{problem.hint} `lrwr search "{search}"` finds passages.'.strip(),
    )


def _find_character_in(
    words: str, characters: Sequence[CharacterProfile]
) -> CharacterProfile | None:
    """Return the character of whom `words` have the longest whole name; None if there is
    none, or several.

    Titles are ignored, except to tell two characters apart.
    """
    target_words, all_words = _list_topic_words(words), _split_words(words.casefold())
    named: dict[str, tuple[int, int]] = {}
    for profile in characters:
        for name in (profile.name, *(form.name for form in profile.aliases)):
            name_words = _list_topic_words(name)
            if name_words and name_words <= target_words:
                titled = _split_words(name.casefold())
                length = len(name_words), len(titled) if titled <= all_words else 0
                named[profile.name] = max(named.get(profile.name, (0, 0)), length)
    most = max(named.values(), default=None)
    longest = [p for p in characters if most and named.get(p.name) == most]
    return longest[0] if len(longest) == 1 else None


def _find_fact(
    words: str, characters: Sequence[CharacterProfile]
) -> TextEvidence | None:
    """Return where the text states a fact that `words` name with its character."""
    target_words = _list_topic_words(words)
    for profile in characters:
        names = _list_name_words(profile)
        topic = target_words - names
        if not topic or not target_words & names:
            continue
        for claim in profile.attributes:
            described = _split_words(f"{claim.label} {claim.value}".casefold())
            if topic <= described and claim.evidence:
                return claim.evidence[0]
    return None


def _list_topic_words(words: str) -> frozenset[str]:
    """Return the words in lower case, without titles and function words."""
    return frozenset(
        word
        for word in _split_words(words.casefold())
        if word not in _FUNCTION_WORDS and word.capitalize() not in _TITLES
    )


def _list_name_words(profile: CharacterProfile) -> frozenset[str]:
    """Return the words of all names of a character in lower case."""
    names = (profile.name, *(form.name for form in profile.aliases))
    return _split_words(" ".join(names).casefold())


def _locate_character(profile: CharacterProfile, bible: Bible) -> TextEvidence:
    """Return where the text first names a character, else where it says something."""
    passages = (p for claim in profile.attributes for p in claim.evidence)
    spoken = (q.evidence for q in bible.quotes if q.speaker == profile.name)
    first = profile.first_seen or next(passages, None) or next(spoken, None)
    if first is None:
        raise NotFound(
            f"No line of the text names {profile.name}",
            hint=f"Run `lrwr characters {profile.name}` to see where it comes from.",
        )
    return first


def _locate_gap(gap: Gap) -> TextEvidence:
    for claim in (*gap.implied, *gap.defined):
        for passage in claim.evidence:
            return passage
    raise NotFound(
        f"The open question {gap.id} has no line in the text: it came up in a thread",
        hint="Run `lrwr gaps` to read it.",
    )


def _locate_contradiction(contradiction: Contradiction) -> TextEvidence:
    for side in (contradiction.found, contradiction.canon):
        for passage in side.evidence:
            return passage
    raise NotFound(
        f"The contradiction {contradiction.id} has no line in the text",
        hint="Run `lrwr check` to read it.",
    )


def _describe_gap(gap: Gap) -> str:
    return f"{gap.about} {gap.attribute}"


def _find_named(
    words: str, items: Sequence[IdentifiedT], describe: Callable[[IdentifiedT], str]
) -> IdentifiedT | None:
    """Return the item with the id `words`, else the only one that has all the words.

    Raises:
        NotFound: Several have them; the hint lists their ids.
    """
    key = words.casefold()
    by_id = [item for item in items if item.id == key]
    wanted = _split_words(key)
    fits = by_id or [i for i in items if wanted <= _split_words(describe(i).casefold())]
    if len(fits) > 1 and wanted:
        ids = " or ".join(fit.id for fit in fits[:_MAX_OFFERED])
        raise NotFound(f"“{words}” fits {len(fits)} entries", hint=f"Use an id: {ids}.")
    return fits[0] if fits and wanted else None


def _split_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))
