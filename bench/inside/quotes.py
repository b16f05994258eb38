"""Accuracy of speaker attribution: `python -m bench.inside.quotes DATA [--gold-cast]`.

DATA is a folder of benchmark data with its scorer.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from bench.data import read_lines
from bench.inside.roster import collect_evidence, import_scorer, read_novel
from lrwr.core.model.cast import Alias, Cast, Character, Gender, Mention, Quotation
from lrwr.core.model.documents import Document
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import (
    attribute_quotations,
    gather_narrator_evidence,
    infer_narrators,
)
from lrwr.core.nlp.names.inference import infer_cast
from lrwr.core.nlp.names.mentions import find_mentions

TYPES = ("all", "Explicit", "Anaphoric", "Implicit")
GENDERS = {"F": Gender.FEMALE, "M": Gender.MALE}
_NARRATOR = "Narr"


@dataclass(slots=True)
class AttributedNovel:
    """The attributed quotations of a novel.

    `by_file` has them by document id, `seconds` is the CPU time that attribution took.
    """

    by_file: dict[str, list[Quotation]] = field(default_factory=dict)
    seconds: float = 0.0


def measure(
    data: Path, *, gold_cast: bool = False, novels: Sequence[str] = ()
) -> dict[str, float]:
    """Score speaker attribution on novels, and return the mean of each figure by name.

    `data` is the folder of benchmark data; `novels` are names of folders, empty for
    all. With `gold_cast` the correct characters are used, else they are inferred.
    Prints a line for each novel.
    """
    scores = import_scorer(data, "quotes_score")
    lines = []
    for path in sorted((data / "characters" / "dev").glob("*/roster.json")):
        if novels and path.parent.name not in novels:
            continue
        line = _novel(scores, data, path, gold_cast=gold_cast)
        shown = " ".join(f"{key}={value:.3f}" for key, value in line.items())
        print(f"{path.parent.name:28} {shown}", flush=True)
        lines.append(line)
    return {
        key: round(fmean(line[key] for line in lines if key in line), 4)
        for key in lines[0]
    }


def attribute_novel(documents: Sequence[Document], cast: Cast) -> AttributedNovel:
    """Attribute the quotations of a novel to characters.

    `documents` are its chapters in story order. Speakers are characters of `cast`, or
    its narrator, who is inferred if `cast` has none.
    """
    pages = [_page(document, cast) for document in documents]
    result = AttributedNovel()
    start = time.process_time()
    known = next(
        (character.name for character in cast.characters if character.narrator), ""
    )
    signs = [] if known else [gather_narrator_evidence(*page) for page in pages]
    narrators = infer_narrators(signs) or [known] * len(pages)
    for document, page, narrator in zip(documents, pages, narrators, strict=True):
        text, scenes, mentions = page
        quotations = attribute_quotations(
            text, scenes, cast, mentions, narrator=narrator
        )
        result.by_file[str(document.id)] = quotations
    result.seconds = time.process_time() - start
    return result


def _page(
    document: Document, cast: Cast
) -> tuple[str, list[tuple[Span, ...]], list[Mention]]:
    scenes = [s.parts for chapter in document.chapters for s in chapter.scenes]
    parts = [part for scene in scenes for part in scene]
    return document.text, scenes, find_mentions(document.text, parts, cast)


def build_gold_cast(gold: Mapping[str, Any]) -> Cast:
    """Return the named characters of `gold`, the object of a roster file, as a cast.

    An alias that several characters share is left out.
    """
    bearers: dict[str, list[str]] = {}
    for one in gold["characters"]:
        if not (one["n_quotes"] or one["n_addressed"] or one["n_mentioned"]):
            continue
        for form in _forms(one):
            bearers.setdefault(form, []).append(one["name"])
    characters = tuple(
        Character(
            one["name"],
            tuple(
                Alias(form, 1, Certainty.CONFIRMED)
                for form in _forms(one)
                if len(bearers[form]) == 1 or form == one["name"]
            ),
            GENDERS.get(one["gender"], Gender.UNKNOWN),
            Certainty.CONFIRMED,
            Certainty.CONFIRMED,
            narrator=_NARRATOR in one["aliases"],
        )
        for one in gold["characters"]
        if one["named"]
        and (one["n_quotes"] or one["n_addressed"] or one["n_mentioned"])
    )
    shared = {form: tuple(who) for form, who in bearers.items() if len(who) > 1}
    return Cast(characters, shared)


def _forms(one: Mapping[str, Any]) -> list[str]:
    forms = [one["name"], *one["aliases"], *one["aliases_from_mentions"]]
    return list(dict.fromkeys(form for form in forms if form != _NARRATOR))


def _novel(
    scores: ModuleType, data: Path, path: Path, *, gold_cast: bool
) -> dict[str, float]:
    gold = json.loads(path.read_text(encoding="utf-8"))
    quotes = read_lines(path.with_name("quotes.jsonl"))
    documents = read_novel(data / "novels" / "dev" / path.parent.name)
    cast = (
        build_gold_cast(gold) if gold_cast else infer_cast(collect_evidence(documents))
    )
    told = attribute_novel(documents, cast)
    every = [_row(file, one) for file, ones in told.by_file.items() for one in ones]
    judged = scores.score(gold, quotes, every)
    line = {kind: judged[kind]["accuracy_lenient"] for kind in TYPES}
    line["strict"] = judged["all"]["accuracy_strict"]
    line["detection"] = judged["all"]["detection"]
    line |= _asserted(scores, gold, quotes, every)
    line["addressee"] = _addressees(scores, gold, quotes, every)
    line |= _asserted_addressees(scores, gold, quotes, every)
    line["seconds"] = told.seconds
    return line


def _row(file: str, quotation: Quotation) -> dict[str, Any]:
    return {
        "file": file,
        "start": quotation.spans[0].start,
        "end": quotation.spans[-1].end,
        "speaker": quotation.speaker,
        "sure": quotation.certainty is Certainty.VERIFIED,
        "addressee": quotation.addressee,
        "addressee_sure": quotation.addressee_certainty is Certainty.VERIFIED,
        "cue": quotation.cue.value,
    }


def _asserted(
    scores: ModuleType, gold: Any, quotes: Any, rows: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Return what share of quotations have a verified speaker, and how many are right.

    A quotation whose gold speaker is nobody in particular counts as wrong.
    """
    names = scores.Names(gold)
    found = _matched(quotes, [row for row in rows if row["sure"]])
    right = sum(_is(names, row["speaker"], quote["speaker"]) for quote, row in found)
    return {
        "asserted": len(found) / len(quotes),
        "precision": right / max(1, len(found)),
    }


def _addressees(
    scores: ModuleType, gold: Any, quotes: Any, rows: Sequence[Mapping[str, Any]]
) -> float:
    names = scores.Names(gold)
    asked = [quote for quote in quotes if quote["addressees"]]
    right = sum(
        any(_is(names, row["addressee"], who) for who in quote["addressees"])
        for quote, row in _matched(asked, rows)
    )
    return right / max(1, len(asked))


def _asserted_addressees(
    scores: ModuleType, gold: Any, quotes: Any, rows: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Return what share of quotations with gold addressees have a verified one, and how
    many of these are right.
    """
    names = scores.Names(gold)
    asked = [quote for quote in quotes if quote["addressees"]]
    found = _matched(asked, [row for row in rows if row["addressee_sure"]])
    right = sum(
        any(_is(names, row["addressee"], who) for who in quote["addressees"])
        for quote, row in found
    )
    return {
        "asserted_addressees": len(found) / max(1, len(asked)),
        "addressee_precision": right / max(1, len(found)),
    }


def _is(names: Any, told: str, gold: str) -> bool:
    return bool(told) and (names.strict(told) == gold or names.lenient(told, gold))


def _matched(
    quotes: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Pair gold quotations with those told, as the scorer does: half must overlap."""
    by_file: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_file.setdefault(row["file"], []).append(row)
    pairs = []
    for quote in quotes:
        inside = sum(span[1] - span[0] for span in quote["spans"])
        best, chosen = 0, None
        for row in by_file.get(quote["file"], ()):
            shared = sum(
                max(0, min(span[1], row["end"]) - max(span[0], row["start"]))
                for span in quote["spans"]
            )
            half = min(inside, row["end"] - row["start"]) / 2
            if shared >= half and shared > best:
                best, chosen = shared, row
        if chosen is not None:
            pairs.append((quote, chosen))
    return pairs


def main() -> None:
    """Read the command line, print a line for each novel, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--gold-cast", action="store_true")
    parser.add_argument("--novels", default="", help="names, with commas")
    args = parser.parse_args()
    chosen = [name for name in args.novels.split(",") if name]
    print(json.dumps(measure(args.data, gold_cast=args.gold_cast, novels=chosen)))


if __name__ == "__main__":
    main()
