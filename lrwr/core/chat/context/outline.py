"""The outline of the story and its cast, with which the material of an answer opens."""

from collections.abc import Iterable, Iterator, Sequence

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.values import Bible, SceneSummary
from lrwr.core.chat.context.builder import BiblePartReader
from lrwr.core.chat.context.material import MATERIAL_CHARS_PER_TOKEN
from lrwr.core.chat.state import StoryOutline, TurnQuestion
from lrwr.core.model.language_model import flatten_reply_text
from lrwr.core.model.text import NUMERAL_PATTERN, LazyPattern
from lrwr.core.retrieval.story import ChapterTitle

OUTLINE_TOKENS = 600
"""Tokens of outline and cast together, estimated."""

MAX_CAST_TOKENS = 200
"""Tokens of the cast, estimated; the rest is for the chapters."""

MAX_CAST = 16
MAX_FORMS = 4
"""Characters in the cast at most, and names of one of them."""

MIN_GIST_CHARS = 30
MAX_GIST_CHARS = 160
"""Characters of the line about a chapter. If there is room for less, only titles are
listed."""

_BARE_TITLE = LazyPattern(rf"\s*(?:(?i:chapter|ch\.?)\s+)?{NUMERAL_PATTERN}\W*$")
"""A title that says only which chapter it is."""


async def read_outline(
    question: TurnQuestion,
    names: Bible,
    titles: Sequence[ChapterTitle],
    read_parts: BiblePartReader,
) -> StoryOutline:
    """Return the outline and cast up to the question's horizon.

    `names`, `titles` and what `read_parts` returns must end there. A question that is
    limited to what its character witnessed gets only the chapters in which they act or
    speak, without a cast.

    Raises:
        StoreProblem: The library cannot be read.
    """
    people = frozenset({question.character}) if question.witnessed else frozenset()
    bible = await read_parts(BibleParts(people=people, timeline=True))
    return build_outline(question, names, titles, bible.scenes)


def build_outline(
    question: TurnQuestion,
    names: Bible,
    titles: Sequence[ChapterTitle],
    scenes: Sequence[SceneSummary],
) -> StoryOutline:
    """Return the chapters `titles`, each with a line from its `scenes`, and the cast of
    `names`, most mentioned first; see `read_outline`.

    Both together have `OUTLINE_TOKENS` at most.
    """
    cast_lines = "" if question.witnessed else _format_cast(names)
    if question.witnessed:
        scenes = [scene for scene in scenes if question.character in scene.present]
        seen_chapters = {scene.chapter for scene in scenes}
        titles = [title for title in titles if title.number in seen_chapters]
    room = OUTLINE_TOKENS * MATERIAL_CHARS_PER_TOKEN - len(cast_lines)
    return StoryOutline(_format_chapters(titles, scenes, room), cast_lines)


def _format_cast(names: Bible) -> str:
    lines: list[str] = []
    remaining_chars = MAX_CAST_TOKENS * MATERIAL_CHARS_PER_TOKEN
    for profile in names.characters[:MAX_CAST]:
        forms = [form.name for form in profile.aliases if form.name != profile.name]
        line = flatten_reply_text(" = ".join((profile.name, *forms[: MAX_FORMS - 1])))
        remaining_chars -= len(line) + 1
        if remaining_chars < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _format_chapters(
    titles: Sequence[ChapterTitle], scenes: Iterable[SceneSummary], room: int
) -> str:
    """Return a line for each chapter; of longer stories the last ones.

    A title that is only a number is left out, and if there is room for nothing else,
    so is the line.
    """
    heads = [_format_head(title) for title in titles]
    used = sum(len(head) + 2 for head in heads)
    while heads and used > room:
        used -= len(heads.pop(0)) + 2
    if not heads:
        return ""
    gist_chars = min((room - used) // len(heads) - 2, MAX_GIST_CHARS)
    if gist_chars < MIN_GIST_CHARS:
        return "\n".join(filter(_has_words, heads))
    gists: dict[int, list[str]] = {}
    for scene in scenes:
        gists.setdefault(scene.chapter, []).extend(_iter_gists(scene))
    numbers = (title.number for title in titles[-len(heads) :])
    lines = (
        _join_line(head, _shorten(gists.get(number, ()), gist_chars))
        for head, number in zip(heads, numbers, strict=True)
    )
    return "\n".join(filter(_has_words, lines))


def _has_words(line: str) -> bool:
    return not line.removesuffix(".").isdecimal()


def _join_line(head: str, gist: str) -> str:
    separator = ": " if _has_words(head) else " "
    return separator.join(filter(None, (head, gist)))


def _format_head(title: ChapterTitle) -> str:
    words = "" if _BARE_TITLE.match(title.title, 0) else title.title
    return flatten_reply_text(f"{title.number}. {words.rstrip(' .')}")


def _iter_gists(scene: SceneSummary) -> Iterator[str]:
    """Yield the summaries of a scene, else its first key sentence."""
    recaps = [claim.value for claim in scene.recap]
    sentences = (sentence.text for sentence in scene.key_sentences[:1])
    yield from map(flatten_reply_text, recaps or sentences)


def _shorten(gists: Sequence[str], limit: int) -> str:
    text = " ".join(gists)
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rpartition(' ')[0].rstrip(' ,;:')}…"
