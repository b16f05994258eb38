"""Options that many commands share."""

from typing import Annotated

import typer

AsOf = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="As the story stands at ch12, ch12:s2, vol3.ch6 or a file; nothing later"
        " is shown.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]", help="A name; only what concerns it."),
]
