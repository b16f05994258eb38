"""Who is who, as far as one has read: a name in the text to a name to show."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.canon.model import CanonNames, normalize_canon_text, resolve_canon_person
from lrwr.core.model.cast import Alias, Cast, Character
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty, Fact
from lrwr.core.nlp.names.lookup import is_misread_place
from lrwr.core.ports.story_stores import FirstMention

_ARTICLE = re.compile(r"(?:the|a|an) ")


@dataclass(frozen=True, slots=True)
class VisibleCharacter:
    """A character as far as one has read; `character.name` is the name to show.

    `character.aliases` are those seen, most mentioned first. `first` is where, None
    for somebody who is in no text.
    """

    character: Character
    first: FirstMention | None


class HorizonCast:
    """The cast at a horizon. Keeps the whole cast's names to itself.

    A fact names people by whatever the text or a reader calls them; `shown` gives
    what to call them here, or nothing where that would give something away.
    """

    def __init__(
        self,
        cast: Cast,
        first_seen: Sequence[FirstMention],
        horizon_view: HorizonView,
        names: CanonNames,
    ) -> None:
        self._cast = cast
        self._sight = horizon_view
        self._names = names
        self._index = _index(cast)
        self._counted: dict[DocumentId, Mapping[str, int]] = {}
        self._rows: dict[str, list[FirstMention]] = {}
        for row in first_seen:
            if horizon_view.sees(row.document, (row.span,)):
                self._rows.setdefault(row.character, []).append(row)

    @cached_property
    def seen(self) -> Mapping[str, VisibleCharacter]:
        """Return visible characters by their name in the whole cast, most mentioned first."""
        visible_by_name = {c.name: self._seen(c) for c in self._cast.characters}
        visible_pairs = [
            (name, visible_character)
            for name, visible_character in visible_by_name.items()
            if visible_character is not None
        ]
        return dict(sorted(visible_pairs, key=lambda pair: -pair[1].character.mentions))

    def person(self, name: str) -> str:
        """Return the name in the whole cast of whoever is called so; empty if nobody.

        A name that several people share is nobody's.
        """
        people = self._index.get(normalize_character_name(name), ())
        return people[0] if len(people) == 1 else ""

    def shown(self, name: str) -> str:
        """Return the display name of whoever a fact calls `name`; empty if not visible."""
        person = self.person(name)
        if person:
            visible_character = self.seen.get(person)
            return visible_character.character.name if visible_character else ""
        return name if self._sight.names(name) else ""

    def misread(self, fact: Fact) -> bool:
        """Say whether a fact takes a person for a place."""
        return is_misread_place(fact, self._cast)

    def betrays(self, text: str) -> bool:
        """Say whether `text` names somebody in a form that is not in sight yet."""
        return self._unseen is not None and bool(self._unseen.search(text))

    @cached_property
    def _unseen(self) -> re.Pattern[str] | None:
        if not self._sight.bounded:
            return None
        forms = {
            name
            for character in self._cast.characters
            for name in (character.name, *(a.name for a in character.aliases))
        }
        visible_aliases = (
            a.name for s in self.seen.values() for a in s.character.aliases
        )
        return compile_forms_pattern(forms.difference(visible_aliases))

    def _seen(self, character: Character) -> VisibleCharacter | None:
        rows = self._rows.get(character.name, [])
        if self._sight.bounded and not rows:
            return None
        aliases = self._aliases(character, rows)
        called = {alias.name for alias in aliases}
        name = character.name
        if self._sight.bounded and name not in called:
            name = aliases[0].name
        story_rows = [row for row in rows if self._sight.tells(row.document)]
        place = min(story_rows or rows, key=self._place, default=None)
        certainty = character.certainty
        if self._confirmed(character):
            certainty = Certainty.CONFIRMED
        return VisibleCharacter(
            replace(character, name=name, aliases=aliases, certainty=certainty), place
        )

    def _aliases(
        self, character: Character, rows: Sequence[FirstMention]
    ) -> tuple[Alias, ...]:
        if not rows:
            return character.aliases
        counts: dict[str, int] = {}
        story_rows = [row for row in rows if self._sight.tells(row.document)]
        for row in story_rows or rows:
            counts[row.alias] = counts.get(row.alias, 0) + self._mentions(row)
        aliases_by_name = {alias.name: alias for alias in character.aliases}
        if not self._sight.bounded:
            counts = {name: counts.get(name, 0) for name in (*aliases_by_name, *counts)}
        plainly = Alias("", 0, character.certainty)
        aliases = [
            replace(aliases_by_name.get(name, plainly), name=name, mentions=count)
            for name, count in counts.items()
        ]
        return tuple(sorted(aliases, key=lambda alias: (-alias.mentions, alias.name)))

    def _mentions(self, row: FirstMention) -> int:
        """Count a name as far as one has read; the row counts in the whole document."""
        if self._sight.whole(row.document):
            return row.mentions
        return min(row.mentions, self._counts(row.document).get(row.alias, 1))

    def _counts(self, document: DocumentId) -> Mapping[str, int]:
        if document not in self._counted:
            forms = {a.name for c in self._cast.characters for a in c.aliases}
            text = self._sight.prefix(document)
            self._counted[document] = count_form_occurrences(text, forms)
        return self._counted[document]

    def _confirmed(self, character: Character) -> bool:
        names = self._names
        confirmed_names = {*names.confirmed, *names.renamed, *names.renamed.values()}
        confirmed_names.update(name for pair in names.split for name in pair)
        for canonical, others in names.merged.items():
            confirmed_names.update((canonical, *others))
        own_names = {normalize_canon_text(alias.name) for alias in character.aliases}
        own_names |= {resolve_canon_person(names, name) for name in own_names}
        return not confirmed_names.isdisjoint(
            own_names | {normalize_canon_text(character.name)}
        )

    def _place(self, row: FirstMention) -> tuple[int, str, int]:
        return self._sight.key(row.document, row.span.start)


def count_form_occurrences(text: str, forms: Collection[str]) -> dict[str, int]:
    """Count each form in `text`, the longest that fits first, as whole words."""
    pattern = compile_forms_pattern(forms)
    counts: dict[str, int] = {}
    for match in pattern.finditer(text) if pattern else ():
        counts[match[0]] = counts.get(match[0], 0) + 1
    return counts


def compile_forms_pattern(forms: Collection[str]) -> re.Pattern[str] | None:
    """Return what finds any of `forms` as whole words, the longest first."""
    longest = sorted(filter(None, forms), key=lambda form: (-len(form), form))
    if not longest:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")


def normalize_character_name(name: str) -> str:
    """Return what two spellings of one name share: no case, points or article."""
    words = re.sub(r"[^\w' ]+", " ", name.replace("’", "'")).casefold()
    return _ARTICLE.sub("", " ".join(words.split()), count=1)


def _index(cast: Cast) -> dict[str, tuple[str, ...]]:
    index: dict[str, tuple[str, ...]] = {}
    for form, people in cast.shared.items():
        index[normalize_character_name(form)] = tuple(people)
    for character in cast.characters:
        for name in (character.name, *(alias.name for alias in character.aliases)):
            others = index.get(normalize_character_name(name), ())
            if character.name not in others:
                index[normalize_character_name(name)] = (*others, character.name)
    return index
