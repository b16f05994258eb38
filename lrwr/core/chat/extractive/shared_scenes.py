"""Answers whether characters meet, and which scenes have them, from who is present."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from enum import StrEnum
from itertools import islice, pairwise, product

from lrwr.core.bible.name_lookup import EntityMatches
from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    SceneSummary,
    TextEvidence,
    format_chapter_name,
)
from lrwr.core.chat.context.items import (
    ContextItem,
    StoryFacet,
    is_sure,
)
from lrwr.core.chat.extractive.question_parts import (
    find_chapters_after,
    remove_chapter_references,
    strip_request_phrase,
)
from lrwr.core.chat.extractive.writer import AnswerPieces, AnswerWriter
from lrwr.core.chat.state import SharedScenes, TurnQuestion
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, SURE_CERTAINTIES, Certainty
from lrwr.core.model.text import SentenceSplitter, Span, extract_content_words
from lrwr.core.model.turns import NO_SCENE
from lrwr.core.nlp.facts.clauses import TITLE_WORDS
from lrwr.core.ports.stores import DocumentText

MAX_LISTED_SCENES = 40
"""Scenes that an answer lists."""

MAX_TITLE_CHARS = 60
"""Characters of a chapter's title that a line shows; a longer one is left out."""

_SPEECH = re.compile(r"“[^”\n]*”?|\"[^\"\n]*\"?")

MAX_WITNESS_SENTENCES = 2
"""Consecutive sentences at most that name everybody, and so show them together."""


class SceneRequest(StrEnum):
    """What a question asks of scenes: whether people meet, a list of scenes, or who is
    in none of them after a chapter.
    """

    MEETING = "meeting"
    LIST = "list"
    ABSENCE = "absence"

    @property
    def min_people(self) -> int:
        """How many people such a question names at least."""
        return {SceneRequest.MEETING: 2, SceneRequest.LIST: 1}.get(self, 0)


_MEETING_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:has|have|had|did|do|does|when|where|how|in|are|is|were"
    r"|was)\b.*\b(?:met|meets?|face\s+to\s+face|see|seen|saw|speaks?|spoke|spoken|talk"
    r"|talks|talked|encounter|encounters|encountered|together)\b",
    re.IGNORECASE,
)
_LIST_QUESTION = re.compile(
    r"^\W*(?:please\s+)?(?:list|show|find|give|which|what|in\s+(?:which|what)|all|every"
    r"|how\s+many)\b.*\bscenes?\b",
    re.IGNORECASE,
)
_SCENE_WORDS = frozenset(
    {
        "list", "show", "find", "give", "all", "every", "each", "any", "both", "scene",
        "scenes", "chapter", "chapters", "together", "appear", "appears", "share",
        "feature", "present", "meet", "meets", "met", "face", "see", "seen", "saw",
        "speak", "speaks", "spoke", "spoken", "talk", "talks", "talked", "encounter",
        "first", "time", "place", "come", "comes", "came", "end", "ever", "actually",
        "yet", "already", "alone", "contain", "person", "directly", "other", "how", "many",
    }
)  # fmt: skip
"""Words of a question about scenes that add nothing to what it asks."""


def find_scene_request(question: str, forms: Iterable[str]) -> SceneRequest | None:
    """Return whether `question` asks whether people meet or in which scenes they are,
    and nothing else; `forms` are the names of the people it names.
    """
    name_words = {word for form in forms for word in extract_content_words(form)}
    if find_absence_chapter(question) is not None:
        return SceneRequest.ABSENCE
    text = remove_chapter_references(strip_request_phrase(question))
    words = set(extract_content_words(text)) - name_words
    if not words <= _SCENE_WORDS:
        return None
    if _LIST_QUESTION.search(text):
        return SceneRequest.LIST
    return SceneRequest.MEETING if _MEETING_QUESTION.search(text) else None


_NAMES = re.compile(r"[A-Z][\w'’.-]*(?:\s+[A-Z][\w'’.-]*)*")


def describe_unnamed_person(question: TurnQuestion, unknown: Collection[str]) -> str:
    """Return a sentence that says that there is no scene with the people in question, if
    it asks whether they meet and the name of one is among the `unknown` words; "" for
    other questions.
    """
    _, _, rest = remove_chapter_references(question.text).partition(" ")
    names = [match.group().rstrip(".") for match in _NAMES.finditer(rest)]
    words = {word for name in names for word in extract_content_words(name)}
    request = find_scene_request(question.text, names)
    if request is not SceneRequest.MEETING or words.isdisjoint(unknown):
        return ""
    so_far = " up to this point" if question.horizon is not None else ""
    return f"{NO_SCENE} with {_join_names(names)}{so_far}."


_ABSENCE_QUESTION = re.compile(
    r"^\W*(?:please\s+)?(?:(?:list|show)\s+)?(?:me\s+)?(?:who|which|what|all|characters?"
    r"|people)\b.*(?:\b(?:not|never|no\s+longer|absent|gone|missing|vanish\w*"
    r"|disappear\w*|drop\w*)\b|n['’]t\b)",
    re.IGNORECASE,
)
_ABSENCE_WORDS = frozenset(
    {
        "list", "show", "all", "characters", "character", "people", "never", "been",
        "hasn't", "haven't", "doesn't", "don't", "didn't", "isn't", "wasn't", "again",
        "appear", "appears", "appeared", "seen", "see", "shown", "present", "mentioned",
        "turn", "turns", "turned", "act", "acts", "speak", "speaks", "spoken", "story",
        "book", "longer", "absent", "gone", "missing", "vanish", "vanishes", "vanished",
        "disappear", "disappears", "disappeared", "drop", "drops", "dropped", "anymore",
        "scene", "scenes", "part", "active",
    }
)  # fmt: skip
"""Words of a question about absence that add nothing to what it asks."""


def find_absence_chapter(question: str) -> int | None:
    """Return the chapter since or after which a question asks who is absent; None if it
    asks something else.
    """
    bounds = find_chapters_after(question)
    text = remove_chapter_references(question).replace("’", "'")
    words = set(extract_content_words(text))
    is_asked = _ABSENCE_QUESTION.search(question) and words <= _ABSENCE_WORDS
    return bounds[0] if is_asked and len(bounds) == 1 else None


def list_people_to_compare(question: str, bible: Bible) -> list[str]:
    """Return the names of all characters if `question` asks who is absent, else none."""
    if find_absence_chapter(question) is None:
        return []
    return [profile.name for profile in bible.characters]


def gather_shared_scenes(
    request: SceneRequest, matches: Sequence[EntityMatches], bible: Bible
) -> SharedScenes | None:
    """Return the scenes of `bible` with all characters in `matches`, the names of a
    question; None if these are too few for its `request`.
    """
    forms = {
        tuple(sorted(match.names)): match.forms for match in matches if match.people
    }
    people = sorted(forms)
    if len(people) < request.min_people:
        return None
    firsts = (
        next((scene for scene in bible.scenes if _has_any(scene, names)), None)
        for names in people
    )
    return SharedScenes(
        people=tuple((names[0], *forms[names]) for names in people),
        scenes=tuple(
            scene
            for scene in bible.scenes
            if all(_has_any(scene, names) for names in people)
        ),
        is_list=request is SceneRequest.LIST,
        apart=tuple(scene for scene in firsts if scene is not None),
        exchange=_find_exchange(people, bible.quotes),
    )


def gather_absent_people(chapter: int, bible: Bible) -> SharedScenes:
    """Return the last scene of each character who is in no scene after `chapter`.

    Those whom the text names most come first; those who are in no scene are left out.
    """
    last = {name: scene for scene in bible.scenes for name in scene.present}
    absent = [
        (profile, last[profile.name])
        for profile in bible.characters
        if profile.name in last and last[profile.name].chapter <= chapter
    ]
    return SharedScenes(
        people=tuple(
            (profile.name, *(form.name for form in profile.aliases))
            for profile, _ in absent
        ),
        scenes=tuple(scene for _, scene in absent),
        absent_since=chapter,
    )


def _has_any(scene: SceneSummary, names: Sequence[str]) -> bool:
    return not set(names).isdisjoint(scene.present)


def _find_exchange(
    people: Sequence[Sequence[str]], quotes: Sequence[AttributedQuote]
) -> AttributedQuote | None:
    """Return the first words that one of two people says to the other for certain."""
    if len(people) != 2:
        return None
    sides = [*pairwise(people), *pairwise(people[::-1])]
    return next(
        (
            quote
            for quote in quotes
            if is_sure(quote.evidence)
            and quote.addressee_certainty in SURE_CERTAINTIES
            and any(
                quote.speaker in one_side and quote.addressee in other_side
                for one_side, other_side in sides
            )
        ),
        None,
    )


class SharedScenesWriter:
    """Writes the scenes with certain people as lines of an answer.

    `texts` has the documents of the scenes; `bounded` means that the story is read up to
    a horizon only. Of somebody whom `question` calls by title and surname, a given name
    alone is no sign that they are there: a child may share it.
    """

    def __init__(
        self,
        shared: SharedScenes,
        texts: Mapping[DocumentId, DocumentText],
        sentences: SentenceSplitter,
        *,
        bounded: bool,
        question: str = "",
    ) -> None:
        self._shared = shared
        self._own_forms = [
            _drop_given_names(question, forms) for forms in shared.people
        ]
        self._may_be_others = any(
            not set(forms).issubset(own)
            for forms, own in zip(shared.people, self._own_forms, strict=True)
        )
        self._texts = texts
        self._sentences = sentences
        self._so_far = " up to this point" if bounded else ""
        self._names = _join_names([forms[0] for forms in self._own_forms])

    def write(self, writer: AnswerWriter) -> AnswerPieces:
        """Yield all scenes if they are asked for, else the first one and the first words
        between two people.

        Without a scene a line says so, and the first scene with each person follows. If
        absent people are asked for, each is listed with their last scene.
        """
        if self._shared.absent_since is not None:
            yield from self._list_absent(writer, self._shared.absent_since)
        elif not self._shared.scenes:
            yield from self._tell_apart(writer)
        elif self._shared.is_list:
            yield from self._list(writer)
        else:
            yield from self._tell_meeting(writer)

    def _tell_apart(self, writer: AnswerWriter) -> AnswerPieces:
        yield writer.say(f"{NO_SCENE} with {self._names}{self._so_far}.")
        for forms, scene in product(self._shared.people, self._shared.apart):
            if forms[0] in scene.present:
                lead = f"{forms[0]} first"
                yield from writer.facts(self._build_items(scene, (forms,), lead))

    def _list(self, writer: AnswerWriter) -> AnswerPieces:
        scenes = self._shared.scenes
        yield writer.say(f"Scenes with {self._names}{self._so_far}: {len(scenes)}")
        for scene in scenes[:MAX_LISTED_SCENES]:
            yield from writer.facts(self._build_items(scene, self._shared.people))
        if len(scenes) > MAX_LISTED_SCENES:
            more = len(scenes) - MAX_LISTED_SCENES
            yield writer.say(f"{more} more; `lrwr timeline` lists all scenes.")

    def _list_absent(self, writer: AnswerWriter, chapter: int) -> AnswerPieces:
        people = self._shared.people
        after = f"after chapter {chapter}{self._so_far}"
        if not people:
            yield writer.say(f"Everybody who is in a scene is in one {after}, too.")
            return
        number = (
            f"{len(people)} {'character is' if len(people) == 1 else 'characters are'}"
        )
        yield writer.say(f"{number} in no scene {after}; their last scenes:")
        last_scenes = zip(people, self._shared.scenes, strict=True)
        for forms, scene in islice(last_scenes, MAX_LISTED_SCENES):
            yield from writer.facts(self._build_items(scene, (forms,), forms[0]))
        if (more := len(people) - MAX_LISTED_SCENES) > 0:
            yield writer.say(
                f"{more} more; `lrwr characters --absent-since ch{chapter}` lists all."
            )

    def _tell_meeting(self, writer: AnswerWriter) -> AnswerPieces:
        """Yield the first scene that names everybody together and, if the list of scenes
        begins before it, that scene.
        """
        people = self._own_forms
        first, *_ = scenes = self._shared.scenes
        named = next((s for s in scenes if self._names_together(s, people)), None)
        if named is None:  # present in the scene, but named far apart
            yield writer.say(f"{NO_SCENE} that names {self._names} together.")
            if self._may_be_others:
                return
            lead = f"Probably the first scene with {self._names}"
            yield from writer.facts(self._build_items(first, people, lead))
        elif named is first or self._may_be_others:
            lead = f"First scene with {self._names}"
            yield from writer.facts(self._build_items(named, people, lead))
        else:
            lead = f"First scene that names {self._names} together"
            yield from writer.facts(self._build_items(named, people, lead))
            lead = "Probably in a scene together before"
            yield from writer.facts(self._build_items(first, people, lead))
        if (quote := self._shared.exchange) and not self._may_be_others:
            lead = f"First certain words of {quote.speaker} to {quote.addressee}"
            item = _build_line(quote.evidence, lead)
            yield from writer.facts((item,))

    def _build_items(
        self, scene: SceneSummary, people: Sequence[Sequence[str]], lead: str = ""
    ) -> tuple[ContextItem, ...]:
        """Return a scene as the items of a line: `lead`, chapter and scene, and where
        the narration names `people`, else its first key sentence.
        """
        places, text = self._find_places(scene, people)
        if not places and scene.key_sentences:
            key, start = scene.key_sentences[0].spans[0], scene.span.start
            places = (Span(key.start - start, key.end - start),)
        if not places:
            sentences = (s for s in self._sentences(text) if text[s.start] != "#")
            places = (next(iter(sentences), Span(0, 0)),)
        return tuple(_build_line(_build_evidence(scene, p, text), lead) for p in places)

    def _names_together(
        self, scene: SceneSummary, people: Sequence[Sequence[str]]
    ) -> bool:
        places, _ = self._find_places(scene, people)
        return len(places) == 1

    def _find_places(
        self, scene: SceneSummary, people: Sequence[Sequence[str]]
    ) -> tuple[tuple[Span, ...], str]:
        """Return where the narration of `scene` names all of `people`, and its text.

        That is one place for names in the same or in consecutive sentences. Else it is
        a sentence for each name, those that stand closest together. There is no place
        if the narration does not name somebody.
        """
        document = self._texts.get(scene.document)
        text = document.text[scene.span.start : scene.span.end] if document else ""
        narration = _mask_speech(text)
        spans = [s for s in self._sentences(text) if text[s.start] != "#"]
        patterns = [_compile_forms(forms) for forms in people]
        names = [
            {n for n, p in enumerate(patterns) if p.search(narration, s.start, s.end)}
            for s in spans
        ]
        window = _find_shortest_window(names, len(patterns))
        if window is None:
            return (), text
        if len(window) <= MAX_WITNESS_SENTENCES:
            return (Span(spans[window[0]].start, spans[window[-1]].end),), text
        shown_people: set[int] = set()
        chosen = []
        for at in window:
            if not names[at] <= shown_people:
                shown_people |= names[at]
                chosen.append(spans[at])
        return tuple(chosen), text


def _find_shortest_window(names: Sequence[Set[int]], count: int) -> range | None:
    """Return the first of the shortest ranges of `names` that have all numbers below
    `count` together; None if there is none.
    """
    last: dict[int, int] = {}
    best: range | None = None
    for at, present in enumerate(names):
        last |= dict.fromkeys(present, at)
        if len(last) == count:
            window = range(min(last.values()), at + 1)
            best = window if best is None or len(window) < len(best) else best
    return best


_TITLES = frozenset(TITLE_WORDS.split())


def _drop_given_names(question: str, forms: Sequence[str]) -> tuple[str, ...]:
    """Return those of `forms`, the names of somebody, that another person of the same
    given name does not have, if `question` calls them by title; else all of them.

    The name in the question comes first.
    """
    plain = question.replace(".", "")
    titled = [
        form
        for form in forms
        if _begins_with_title(form)
        and re.search(rf"(?<!\w){re.escape(form.replace('.', ''))}(?!\w)", plain)
    ]
    if not titled:
        return tuple(forms)
    surname = titled[0].split()[-1]
    own = (
        form for form in forms if surname in form.split() or _begins_with_title(form)
    )
    return tuple(dict.fromkeys((titled[0], *own)))


def _begins_with_title(form: str) -> bool:
    first, *rest = form.split()
    return bool(rest) and first.rstrip(".") in (*_TITLES, "the", "The")


def _mask_speech(text: str) -> str:
    """Return `text` with spaces in place of quoted speech, of the same length."""
    return _SPEECH.sub(lambda speech: " " * len(speech.group()), text)


def _compile_forms(forms: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, forms))})\b")


def _build_evidence(scene: SceneSummary, span: Span, text: str) -> TextEvidence:
    """Return the words of `text`, that of the scene, at `span` as evidence."""
    words = text[span.start : span.end]
    begin = span.start + len(words) - len(words.lstrip())
    place = Span(
        scene.span.start + begin, scene.span.start + begin + len(words.strip())
    )
    return TextEvidence(
        document=scene.document,
        spans=(place,),
        text=words.strip(),
        lines=scene.lines,
        chapter=scene.chapter,
        chapter_title=scene.chapter_title,
        scene=scene.scene,
        keeper=RULES_KEEPER,
        certainty=Certainty.PROBABLE,
    )


def _build_line(evidence: TextEvidence, lead: str = "") -> ContextItem:
    chapter = f"Chapter {evidence.chapter}"
    if len(evidence.chapter_title) <= MAX_TITLE_CHARS:
        chapter = format_chapter_name(evidence)
    number = f"scene {evidence.scene}" if (evidence.scene or 1) > 1 else ""
    if lead:
        chapter = f"{chapter[:1].lower()}{chapter[1:]}"
    about = ", ".join(filter(None, (lead, chapter, number)))
    return ContextItem(StoryFacet.HAPPENED, about, "", "", (evidence,))


def _join_names(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
