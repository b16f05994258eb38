"""A scripted writer who edits a folder: types, moves, undoes; and what other programs
do to files.

The same seed makes the same edits. No edit leaves the folder without a manuscript.
"""

import os
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from bench.edits import sentence
from lrwr.core.adapters.source.text import decode_text

TEXTS = (".md", ".txt")
BREAK = "* * *"
NOTES = "notes"
_SNAPSHOTS, _UNDO = 12, 8

_COPIES = (" (conflicted copy)", ".sync-conflict-20261122-101500-ABCDEFG", " 2", "-PC")
_ENCODINGS = ("cp1252", "utf-16", "utf-8-sig")
_HEADS = (
    "---\norder: {n}\n---\n\n",
    "---\ntype: note\n---\n\n",
    "---\ntype: chapter\npov: {who}\n---\n\n",
    "---\ntitle: The {n}th Tide\ndraft: [\n---\n\n",
    "---\norder: 1e309\ntype: scene\n---\n\n",
)

Edit = Callable[["ScriptedWriter"], bool]


class ScriptedWriter:
    """Makes random edits in the manuscript folder `folder`; `made` counts them by kind.

    `names` are the characters who speak and are described in new text. `dice` is the
    source of randomness.
    """

    def __init__(self, folder: Path, dice: Random, names: tuple[str, ...]) -> None:
        self.folder = folder
        self.dice = dice
        self.names = names
        self.made: Counter[str] = Counter()
        self.number = 0
        self.before: dict[Path, list[bytes]] = {}
        self.snapshots: list[dict[Path, bytes]] = [self.whole()]

    def edit(self, *kinds: str) -> str:
        """Make one random edit and return its kind, a key of `EDITS`.

        It is one of `kinds`, of all if none are named. If none of them is possible now,
        text is typed.
        """
        wanted = list(kinds or EDITS)
        while wanted:
            kind = self.dice.choice(wanted)
            self.number += 1
            if EDITS[kind](self):
                self.made[kind] += 1
                return kind
            wanted.remove(kind)
        return self.edit("type")

    def files(self, *endings: str) -> list[Path]:
        """Return the manuscript's files with these endings, sorted by path.

        Endings are like ".md"; without any, all text files are returned.
        """
        wanted = endings or TEXTS
        return sorted(
            path
            for path in self.folder.rglob("*")
            if path.suffix in wanted and path.is_file() and path.name[0] != "."
        )

    def pick(self) -> Path:
        """Return the path of a random text file of the manuscript."""
        return self.dice.choice(self.files())

    def blocks(self, path: Path) -> list[str]:
        """Return the parts of a file's text between blank lines, in text order."""
        return decode_text(path.read_bytes(), path.name)[0].split("\n\n")

    def save(self, path: Path, content: str | bytes) -> bool:
        """Write `content` to a file, in place or by a new file that replaces it.

        The old content is remembered for undo. Always returns true.
        """
        self.remember(path)
        raw = content if isinstance(content, bytes) else content.encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.dice.random() < 0.5:
            path.write_bytes(raw)
            return True
        fresh = path.with_name(f".{path.name}.tmp")
        fresh.write_bytes(raw)
        fresh.replace(path)
        return True

    def remember(self, path: Path) -> None:
        """Store the content of `path`, if it exists, so that an edit can be undone."""
        if path.exists():
            kept = self.before.setdefault(path, [])
            kept.append(path.read_bytes())
            del kept[:-_UNDO]

    def whole(self) -> dict[Path, bytes]:
        """Return the content of all text and Word files of the manuscript, by path."""
        return {path: path.read_bytes() for path in self.files(*TEXTS, ".docx")}

    def words(self) -> str:
        """Return a random text of one or two sentences, often with a character's name."""
        who, other = self.dice.choice(self.names), self.dice.choice(self.names)
        plain = sentence(self.number, self.dice)
        return self.dice.choice(
            (
                plain,
                f"“Not before the tide,” said {who}. {plain}",
                f"{who} looked at {other}. {other}’s eyes were"
                f" {self.dice.choice(('grey', 'brown', 'green'))}.",
                f"{who} was {self.dice.randrange(18, 80)} years old. {plain}",
                f"TODO: where does {who} keep the boat?",
                f"“{who}, is it you?” asked {other}. She shut the door.",
            )
        )

    def fresh_name(self, path: Path) -> Path:
        """Return an unused path with the ending of `path`.

        It is beside `path` or in a folder beside it, which may not exist.
        """
        folder = path.parent / self.dice.choice(("", "", "part two", "Ünter"))
        return folder / f"{self.dice.randrange(100):02}-{self.number}{path.suffix}"


def _type(writer: ScriptedWriter) -> bool:
    path = writer.pick()
    blocks = writer.blocks(path)
    at = writer.dice.randrange(len(blocks))
    parts = blocks[at].split(". ")
    parts.insert(writer.dice.randrange(len(parts) + 1), writer.words().rstrip("."))
    blocks[at] = ". ".join(parts)
    return writer.save(path, "\n\n".join(blocks))


def _paste(writer: ScriptedWriter) -> bool:
    """Copy a few paragraphs of one chapter into another."""
    source, path = writer.pick(), writer.pick()
    taken, blocks = writer.blocks(source), writer.blocks(path)
    start = writer.dice.randrange(len(taken))
    at = writer.dice.randrange(len(blocks) + 1)
    blocks[at:at] = taken[start : start + writer.dice.randrange(1, 5)]
    return writer.save(path, "\n\n".join(blocks))


def _move(writer: ScriptedWriter) -> bool:
    """Cut a few paragraphs of one chapter, and paste them into another."""
    source, path = writer.pick(), writer.pick()
    taken = writer.blocks(source)
    if source == path or len(taken) < 3:
        return False
    start = writer.dice.randrange(1, len(taken))
    cut = taken[start : start + 3]
    writer.save(source, "\n\n".join(taken[:start] + taken[start + 3 :]))
    return writer.save(path, "\n\n".join([*writer.blocks(path), *cut]))


def _cut(writer: ScriptedWriter) -> bool:
    path = writer.pick()
    blocks = writer.blocks(path)
    del blocks[writer.dice.randrange(len(blocks))]
    return writer.save(path, "\n\n".join(blocks))


def _undo(writer: ScriptedWriter) -> bool:
    undone = sorted(path for path in writer.before if path.exists())
    if not undone:
        return False
    path = writer.dice.choice(undone)
    return writer.save(path, writer.dice.choice(writer.before[path]))


def _rename(writer: ScriptedWriter) -> bool:
    path = writer.dice.choice(writer.files(*TEXTS, ".docx"))
    target = writer.fresh_name(path)
    target.parent.mkdir(exist_ok=True)
    path.replace(target)
    return True


def _swap(writer: ScriptedWriter) -> bool:
    """Let two chapters take each other's name."""
    one, other = writer.pick(), writer.pick()
    if one == other:
        return False
    between = one.with_name(f".{one.name}.tmp")
    one.replace(between)
    other.replace(one)
    between.replace(other)
    return True


def _split(writer: ScriptedWriter) -> bool:
    path = writer.pick()
    blocks = writer.blocks(path)
    if len(blocks) < 4:
        return False
    at = writer.dice.randrange(1, len(blocks))
    writer.save(writer.fresh_name(path), "\n\n".join(blocks[at:]))
    return writer.save(path, "\n\n".join(blocks[:at]))


def _merge(writer: ScriptedWriter) -> bool:
    one, other = writer.pick(), writer.pick()
    if one == other or len(writer.files()) < 6:
        return False
    writer.save(one, "\n\n".join([*writer.blocks(one), *writer.blocks(other)]))
    other.unlink()
    return True


def _heading(writer: ScriptedWriter) -> bool:
    """Make a paragraph a heading, or a heading another, or put a scene break."""
    path = writer.pick()
    blocks = writer.blocks(path)
    at = writer.dice.randrange(len(blocks))
    way = writer.dice.randrange(4)
    if way == 0:
        blocks.insert(at, BREAK)
    elif way == 1:
        blocks = [block for block in blocks if block.strip() != BREAK]
    elif blocks[at].startswith("#"):
        blocks[at] = writer.dice.choice(("#", "##", "")) + blocks[at].lstrip("#")
    else:
        marks = writer.dice.choice(("# ", "## ", "CHAPTER IX.\n\n"))
        blocks.insert(at, f"{marks}What {writer.dice.choice(writer.names)} Said")
    return writer.save(path, "\n\n".join(blocks))


def _front_matter(writer: ScriptedWriter) -> bool:
    path = writer.dice.choice(writer.files(".md"))
    text = "\n\n".join(writer.blocks(path))
    if text.startswith("---\n") and "\n---\n" in text[4:]:
        text = text[4:].split("\n---\n", 1)[1].lstrip()
    head = writer.dice.choice(("", *_HEADS))
    who, number = writer.dice.choice(writer.names), writer.dice.randrange(20)
    return writer.save(path, head.replace("{who}", who).format(n=number) + text)


def _note(writer: ScriptedWriter) -> bool:
    """Write what is so about somebody, with names that they go by besides."""
    who = writer.dice.choice(writer.names)
    path = writer.folder / NOTES / "characters" / f"{who}.md"
    if path.exists() and writer.dice.random() < 0.2:
        path.unlink()
        return True
    eyes = writer.dice.choice(("grey", "brown", "green"))
    alias = writer.dice.choice(("", "aliases: [Wren]\n", "aliases: [the Reeve]\n"))
    age = writer.dice.randrange(18, 80)
    return writer.save(
        path,
        f"---\ntype: character\nname: {who}\n{alias}---\n\n# {who}\n\n"
        f"- **Eyes:** {eyes}\n- **Age:** {age}\n\n{writer.words()}\n",
    )


def _checkout(writer: ScriptedWriter) -> bool:
    """Put an earlier state of the whole folder in place, or remember this one.

    Some files keep their length and are given the old one's time.
    """
    if writer.dice.random() < 0.4:
        writer.snapshots.append(writer.whole())
        del writer.snapshots[:-_SNAPSHOTS]
    wanted, there = writer.dice.choice(writer.snapshots), writer.whole()
    for path in there.keys() - wanted.keys():
        path.unlink()
    for path, content in wanted.items():
        if there.get(path) != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            stamp = writer.dice.randrange(10**9, 2 * 10**9)
            os.utime(path, (stamp, stamp))
    return True


def _same_size_and_time(writer: ScriptedWriter) -> bool:
    """Change letters in place, and give the file back the time that it had."""
    path = writer.pick()
    content = bytearray(path.read_bytes())
    places = [n for n, byte in enumerate(content) if byte in b"aeiou"]
    if not places:
        return False
    writer.remember(path)
    status = path.stat()
    for at in writer.dice.sample(places, min(3, len(places))):
        content[at] = writer.dice.choice(b"aeiou")
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return True


def _conflict(writer: ScriptedWriter) -> bool:
    """Let a program that syncs leave two versions of a chapter."""
    path = writer.pick()
    copy = path.with_name(f"{path.stem}{writer.dice.choice(_COPIES)}{path.suffix}")
    blocks = writer.blocks(path)
    blocks.insert(writer.dice.randrange(len(blocks) + 1), writer.words())
    return writer.save(copy, "\n\n".join(blocks))


def _resolve(writer: ScriptedWriter) -> bool:
    """Take one of two versions away, the older or the newer."""
    copies = [path for path in writer.files() if path.stem.endswith(_COPIES)]
    if not copies or len(writer.files()) < 6:
        return False
    copy = writer.dice.choice(copies)
    ending = next(ending for ending in _COPIES if copy.stem.endswith(ending))
    kept = copy.with_name(copy.stem.removesuffix(ending) + copy.suffix)
    if kept.exists() and writer.dice.random() < 0.5:
        copy.replace(kept)
    else:
        copy.unlink()
    return True


def _delete(writer: ScriptedWriter) -> bool:
    files = writer.files(*TEXTS, ".docx")
    path = writer.dice.choice(files)
    if len(writer.files()) < 6:
        return False
    writer.remember(path)
    path.unlink()
    return True


def _delete_and_write(writer: ScriptedWriter) -> bool:
    path = writer.pick()
    content = path.read_bytes()
    writer.remember(path)
    path.unlink()
    return writer.save(path, content + f"\n\n{writer.words()}\n".encode())


def _empty(writer: ScriptedWriter) -> bool:
    return writer.save(writer.pick(), writer.dice.choice(("", "\n", "\ufeff", "# \n")))


def _encoding(writer: ScriptedWriter) -> bool:
    path = writer.pick()
    text = "\n\n".join(writer.blocks(path))
    if writer.dice.random() < 0.4:  # cut through a letter
        return writer.save(
            path, text.encode() + b"\n\nThe caf\xe9 \xe2\x80 was shut.\n"
        )
    encoding = writer.dice.choice(_ENCODINGS)
    return writer.save(path, text.encode(encoding, "replace"))


def _line_ends(writer: ScriptedWriter) -> bool:
    path, end = writer.pick(), writer.dice.choice(("\n", "\r\n", "\r"))
    return writer.save(path, "\n\n".join(writer.blocks(path)).replace("\n", end))


def _normal_form(writer: ScriptedWriter) -> bool:
    path = writer.pick()
    text = "\n\n".join([*writer.blocks(path), "Café Åse waited; ﬁne."])
    form = unicodedata.normalize("NFD", text) if writer.dice.random() < 0.5 else text
    return writer.save(path, form)


def _copy_word_file(writer: ScriptedWriter) -> bool:
    """Put one Word file in another's place, or beside it."""
    files = writer.files(".docx")
    path = writer.dice.choice(files) if files else writer.folder
    target = writer.dice.choice([*files, writer.fresh_name(path)])
    if not files or target == path:
        return False
    return writer.save(target, path.read_bytes())


EDITS: dict[str, Edit] = {
    "type": _type,
    "paste": _paste,
    "move": _move,
    "cut": _cut,
    "undo": _undo,
    "rename": _rename,
    "swap": _swap,
    "split": _split,
    "merge": _merge,
    "heading": _heading,
    "front matter": _front_matter,
    "note": _note,
    "checkout": _checkout,
    "same size and time": _same_size_and_time,
    "sync conflict": _conflict,
    "resolve": _resolve,
    "delete": _delete,
    "delete and write": _delete_and_write,
    "empty": _empty,
    "encoding": _encoding,
    "line ends": _line_ends,
    "normal form": _normal_form,
    "word file": _copy_word_file,
}
"""Every way to edit, by its name."""
