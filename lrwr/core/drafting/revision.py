"""Revision of a draft: edits that each match once, each for a finding."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.drafting.findings import DraftFinding
from lrwr.core.model.language_model import MalformedReply

MAX_FIND_CHARS = 1_000
"""Longest words that one edit replaces: a revision rewrites no scene."""


@dataclass(frozen=True, slots=True)
class DraftIssue:
    """A finding about a draft, as a sentence for the model and the writer.

    `quote` are words of the draft. `others` are places of the story that it refers to,
    each with its words. `is_remark` leaves it to the writer: no revision is asked for it.
    """

    text: str
    quote: str = ""
    others: tuple[str, ...] = ()
    is_remark: bool = False

    @classmethod
    def of(cls, finding: DraftFinding, draft: str) -> "DraftIssue":
        """Return the issue of a finding about `draft`, the file that it would become."""
        place = finding.place
        if place.startswith(f"{draft}:"):
            place = f"the draft, line {place.removeprefix(f'{draft}:')}"
        return cls(
            f"{finding.kind}: {finding.text}",
            finding.quote,
            (f"See {place}",) if place else (),
            finding.is_remark,
        )

    def describe(self) -> str:
        """Return the issue with its quotations, on several lines."""
        quoted = [f"In the draft: “{self.quote}”"] if self.quote else []
        return "\n".join([self.text, *quoted, *self.others])


@dataclass(frozen=True, slots=True)
class DraftEdit:
    """An edit for finding number `finding`, from 1: `find` becomes `replace`."""

    finding: int
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class RefusedIssue:
    """A finding, by its number from 1, that a model does not correct, and the reason."""

    finding: int
    why: str


@dataclass(frozen=True, slots=True)
class Revision:
    """A revised `text`, with the edits that led to it and what was left as it is."""

    text: str
    edits: tuple[DraftEdit, ...] = ()
    refused: tuple[RefusedIssue, ...] = ()


def apply_edits(text: str, edits: Sequence[DraftEdit]) -> str:
    """Return `text` after all `edits`, each of which must match it exactly once.

    Raises:
        MalformedReply: An edit matches not at all or several times, is too long, changes
            nothing, or overlaps another.
    """
    located = [(_locate_edit(text, edit), edit) for edit in edits]
    located.sort(key=lambda pair: pair[0])
    parts: list[str] = []
    end = 0
    for start, edit in located:
        if start < end:
            raise MalformedReply(
                f"the edit of “{_shorten(edit.find)}” overlaps another"
            )
        parts += [text[end:start], edit.replace]
        end = start + len(edit.find)
    return "".join([*parts, text[end:]])


def _locate_edit(text: str, edit: DraftEdit) -> int:
    count = text.count(edit.find) if edit.find else 0
    shown = _shorten(edit.find)
    if not edit.find.strip():
        raise MalformedReply("`find` is empty")
    if len(edit.find) > MAX_FIND_CHARS:
        raise MalformedReply(f"“{shown}” is longer than {MAX_FIND_CHARS} characters")
    if count != 1:
        times = "not" if not count else f"{count} times"
        raise MalformedReply(f"“{shown}” stands {times} in the draft, not once")
    if edit.find == edit.replace:
        raise MalformedReply(f"the edit of “{shown}” changes nothing")
    return text.index(edit.find)


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 60 else f"{plain[:60]} …"
