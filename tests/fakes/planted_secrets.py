"""Planted secrets that tests search for: keys, and words that occur in one text only."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

KEYS: Mapping[str, str] = {
    "OPENAI_API_KEY": "sk-proj-4vKq9TzLw2XbN7Rf",
    "COHERE_API_KEY": "co-Hy6sWm3JpZc8QdVt51",
    "TAVILY_API_KEY": "tvly-dev-Ub2Fx9GkEr7Yo4Sn",
    "QDRANT_API_KEY": "qd-Pa5Lc1MvTi8WjXz30",
    "LANGSMITH_API_KEY": "lsv2_pt_Ge9DnKu4Bq6RyHo2",
    "MODAL_TOKEN_ID": "ak-Zs7CwOf3TxJl5Ma8Ip",
    "MODAL_TOKEN_SECRET": "as-Xd1VhQb6NkWe0Ug9Ry",
    "SUPABASE_KEY": "sb_publishable_Jm8Et2ZoPw5LsKc7",
}
"""A key for every service that wants one, by its variable."""

PASSWORD = "Fq3-Bu7wRz-Ox9Td"
TOKEN = "eyJhY2Nlc3M.Nc4Iv8GsWm1Yk6Ap.Lz2Xe5Hr"
RENEWING = "renew-Tj9Qo3DbSx7Vf1Kw"
SESSION = {"token": TOKEN, "renewing": RENEWING}

MANUSCRIPT = "quillfeather"
NOTES = "marmoleum"
QUESTION = "zymurgist"
TEXTS = {"manuscript": MANUSCRIPT, "notes": NOTES, "question": QUESTION}
"""Words that stand nowhere else."""

SECRETS: Mapping[str, str] = {**KEYS, "password": PASSWORD, **SESSION}

_HALF = 8
"""Characters of a secret that give it away, from its middle or its end."""


def leaks(content: str | bytes, planted: Mapping[str, str]) -> list[str]:
    """Return the names of what is in `content`: whole, in part, or in base 64."""
    text = content if isinstance(content, bytes) else content.encode(errors="replace")
    low = text.lower()
    return [
        name
        for name, secret in planted.items()
        if any(form.lower() in low for form in _forms(secret))
    ]


def leaking_files(
    folder: Path, planted: Mapping[str, str], but: frozenset[str] = frozenset()
) -> list[str]:
    """Return each file below `folder` that holds any of it, with what it holds."""
    files = (path for path in folder.rglob("*") if path.is_file())
    found = ((path, leaks(path.read_bytes(), planted)) for path in sorted(files))
    return [f"{path.name}: {names}" for path, names in found if {*names} - but]


def _forms(secret: str) -> Iterator[bytes]:
    plain = secret.encode()
    yield plain
    if len(plain) > 2 * _HALF:
        yield plain[-_HALF:]
        yield plain[len(plain) // 2 - _HALF // 2 :][:_HALF]
    for shift in range(3):  # where it stands decides how it is written
        coded = b64encode(b" " * shift + plain).rstrip(b"=")
        yield coded[4:-1] if shift else coded[:-1]
