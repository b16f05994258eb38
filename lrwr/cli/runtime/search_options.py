"""The options of `lrwr search`, with their help."""

from pathlib import Path
from typing import Annotated

import typer

SearchWordsArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[WORDS]",
        help="The words or the question to search for. Without them, the scenes that"
        " pass the filters are listed.",
    ),
]
SearchPipelineNameOption = Annotated[
    str | None,
    typer.Option(
        "--pipeline", metavar="a|b", help="Search the passages of this pipeline."
    ),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Search only documents of this type: character, scene, setting or"
        " worldbuilding. Repeatable.",
    ),
]
DenseOption = Annotated[bool, typer.Option("--dense", help="Search by meaning only.")]
LexicalOption = Annotated[bool, typer.Option("--lexical", help="Search by words only.")]
RerankOption = Annotated[bool, typer.Option(help="Rerank the top results.")]
SearchCharacterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--character",
        metavar="NAME",
        help="Search only where NAME is present or mentioned. Repeatable.",
    ),
]
PresentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--present",
        metavar="NAME",
        help="Search only scenes where NAME is present. Repeatable.",
    ),
]
ChaptersOption = Annotated[
    str | None,
    typer.Option(
        "--chapters",
        metavar="chN[-chM]",
        help="Search only these chapters, such as ch7 or ch5-ch8.",
    ),
]
ContentTypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--content-type",
        metavar="KIND",
        help="Search only passages of this kind: dialogue, action_reaction, description or"
        " internal_monologue.",
    ),
]
FunctionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        metavar="KIND",
        help="Search only passages with this function: worldbuilding, character_reveal,"
        " plot_event, backstory or thematic.",
    ),
]
NamesOption = Annotated[
    bool, typer.Option(help="Boost passages with the characters named in the question.")
]
NotesOption = Annotated[
    bool, typer.Option("--notes", help="Search the author's comments too.")
]
FullOption = Annotated[bool, typer.Option("--full", help="Show full passages.")]
ExactOption = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Find the words verbatim, function words included, in story order. Case and"
        " punctuation are ignored.",
    ),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="story|relevance",
        help="Order of the passages: as in the story, or best first.",
    ),
]
ContextOption = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=0,
        max=20,
        metavar="N",
        help="Show whole lines, and N lines of the scene before and after.",
    ),
]
BatchOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl",
        help='Search for each line of a JSON Lines file: {"id", "question", "as_of"'
        " (optional)}. Prints one line of JSON for each.",
    ),
]
