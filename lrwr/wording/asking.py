"""What can be asked at once."""

LONGEST = 4_000
"""Characters that a question may have."""

NEARLY = 3_600
"""Characters from which on a writer is told how many there are."""


def room_left(length: int) -> str:
    """Say how long a question of so many characters is; empty while there is room."""
    if length > LONGEST:
        return (
            f"{length:,} characters, and {LONGEST:,} can be asked: shorten it. Nothing"
            " of it is lost."
        )
    return f"{length:,} of {LONGEST:,} characters" if length >= NEARLY else ""
