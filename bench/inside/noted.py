"""Compare the cast found in the chapters of a folder with its notes on characters.

Argument: a folder with chapters and notes. Names are taken from the chapters only.
Prints JSON.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.inside.roster import collect_evidence
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import Document, DocumentId, DocumentType
from lrwr.core.nlp.facts.notes import NoteSubject, find_note_subjects
from lrwr.core.nlp.names.inference import infer_cast
from lrwr.core.nlp.names.lookup import resolve_name

SUFFIXES = (".md", ".docx", ".txt")


def read_folder(folder: Path) -> list[Document]:
    """Return the parsed documents of a folder, sorted by path."""
    parse = ManuscriptParser()
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
    return [
        parse(DocumentId(path.relative_to(folder).as_posix()), path.read_bytes())
        for path in paths
    ]


def compare(documents: Sequence[Document]) -> dict[str, list[str]]:
    """Return which characters of the notes occur in the chapters and were found."""
    told = [document for document in documents if document.type is DocumentType.SCENE]
    cast = infer_cast(collect_evidence(told))
    prose = "\n".join(one.text for one in told)
    noted = [
        person
        for document in documents
        if document.type is DocumentType.CHARACTER
        for person in find_note_subjects(document)
    ]
    named = {p.name: [f for f in _forms(p) if f in prose] for p in noted}
    wanted = {name: forms for name, forms in named.items() if forms}
    whole = {name: _found(forms, cast) for name, forms in wanted.items()}
    return {
        "wanted": list(wanted),
        "missing": [name for name, who in whole.items() if not any(who)],
        "split": [
            name for name, who in whole.items() if len(set(filter(None, who))) > 1
        ],
        "forms": [form for forms in wanted.values() for form in forms],
        "unknown": [
            form
            for name, forms in wanted.items()
            for form, who in zip(forms, whole[name], strict=True)
            if not who
        ],
        "listed": [character.name for character in cast.characters],
    }


def _forms(person: NoteSubject) -> list[str]:
    return list(dict.fromkeys([person.name, *person.aliases]))


def _found(forms: Sequence[str], cast: Cast) -> list[str]:
    """Return the character of each form; empty if none or several match."""
    found = [resolve_name(form, cast) for form in forms]
    return [who[0] if len(who) == 1 else "" for who in found]


if __name__ == "__main__":
    print(json.dumps(compare(read_folder(Path(sys.argv[1])))))
