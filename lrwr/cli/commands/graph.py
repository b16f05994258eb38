"""`lrwr graph`: what is connected with a character or place, and exports of the graph."""

from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.presenters.story import render_neighbors
from lrwr.app.presenters.text import (
    format_count,
)
from lrwr.cli.commands.bible import load_bible
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import AsOfOption, JsonOption
from lrwr.cli.runtime.output import start_session
from lrwr.core.bible.name_lookup import match_elements
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.story_graph import (
    Neighbor,
    build_story_graph,
    character_node_id,
    element_node_id,
    find_neighbors,
    render_graph_json_lines,
    render_graphml,
)
from lrwr.core.bible.values import Bible
from lrwr.core.model.errors import NotFound
from lrwr.core.settings.files import check_output_file, write_output_file

EPILOG = (
    "Examples: lrwr graph near Nell · lrwr graph near Nell --steps 2 --as-of ch4 ·"
    " lrwr graph export --to ../story.graphml"
)
NEAR_EPILOG = 'Examples: lrwr graph near Nell · lrwr graph near "Half House" --steps 2 --as-of ch4'
EXPORT_EPILOG = (
    "Examples: lrwr graph export --to ../story.graphml · lrwr graph export --to"
    " ../story.jsonl --as-of ch4. Gephi reads .graphml, Neo4j .jsonl with"
    " apoc.import.json."
)
_ENDINGS = (".graphml", ".jsonl")

app = typer.Typer(
    name="graph",
    no_args_is_help=True,
    help="Show what is connected with a character or place, or export the graph.",
    epilog=EPILOG,
)


@app.command("near", epilog=NEAR_EPILOG)
def graph_near_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A character, place or thing.")
    ],
    steps: Annotated[
        int, typer.Option("--steps", min=1, max=4, help="Follow N connections.")
    ] = 1,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,  # noqa: ARG001 - `start_session` reads it
) -> None:
    """List who and what is connected with a name, with file and line.

    These are relations, shared scenes, places, events, and what people tell each other.
    """
    settings, output = start_session(context)
    bible = run_async(load_bible(settings, output, as_of))
    graph = build_story_graph(bible)
    neighbors = find_neighbors(graph, _find_node(name, bible), steps)
    if output.as_json:
        output.json([_neighbor_as_json(neighbor) for neighbor in neighbors])
        return
    with output.paged():
        output.show(render_neighbors(neighbors))


@app.command("export", epilog=EXPORT_EPILOG)
def graph_export_command(
    context: typer.Context,
    to: Annotated[
        Path,
        typer.Option("--to", metavar="FILE.graphml|.jsonl", help="The file to write."),
    ],
    as_of: AsOfOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.")
    ] = False,
) -> None:
    """Export people, places, things, events, scenes, and what connects them."""
    settings, output = start_session(context)
    check_output_file(to, settings, _ENDINGS, force=force)
    graph = build_story_graph(run_async(load_bible(settings, output, as_of)))
    is_xml = to.suffix.lower() == ".graphml"
    text = render_graphml(graph) if is_xml else render_graph_json_lines(graph)
    write_output_file(to, text.encode("utf-8", "replace"), force=force)
    nodes = format_count(len(graph.nodes), "node")
    output.info(f"{nodes}, {format_count(len(graph.edges), 'edge')}.")
    output.answer(str(to))


def _find_node(name: str, bible: Bible) -> str:
    """Return the id of the node of the character or world element `name`.

    Raises:
        NotFound: There is none, or several characters may be meant.
    """
    try:
        return character_node_id(find_profile_by_name(name, bible).name)
    except NotFound:
        elements = match_elements(name, bible)
        if len(elements) == 1:
            return element_node_id(elements[0].name)
        raise


def _neighbor_as_json(neighbor: Neighbor) -> dict[str, object]:
    edge = neighbor.edge
    return {
        "name": neighbor.node.name,
        "label": neighbor.node.label,
        "distance": neighbor.distance,
        "through": neighbor.through.name,
        "edge": edge.label,
        "outgoing": edge.target == neighbor.node.id,
        "properties": dict(edge.properties),
        "place": edge.place or None,
        "chapter": edge.chapter,
    }
