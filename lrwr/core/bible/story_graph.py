"""The story bible as a graph: people, places, things, events, scenes and chapters, what
connects them, and the text that says so.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from xml.sax.saxutils import escape, quoteattr

from lrwr.core.bible.values import (
    Bible,
    SceneSummary,
    TextEvidence,
    WorldElement,
    format_evidence_location,
)
from lrwr.core.model.text import format_chapter_title

PropertyValue = str | int | bool


class NodeLabel(StrEnum):
    """Kind of a node."""

    CHARACTER = "Character"
    LOCATION = "Location"
    ITEM = "Item"
    ORGANIZATION = "Organization"
    CONCEPT = "Concept"
    """A rule of the world, or what no other label fits."""
    EVENT = "Event"
    SCENE = "Scene"
    CHAPTER = "Chapter"


class EdgeLabel(StrEnum):
    """Kind of an edge, read from its source to its target."""

    RELATED_TO = "RELATED_TO"
    """The target is the `kind` (such as "sister") of the source."""
    TOGETHER_WITH = "TOGETHER_WITH"
    """Both are present in the same scenes, `scenes` of them."""
    PRESENT_IN = "PRESENT_IN"
    SEEN_AT = "SEEN_AT"
    PART_OF = "PART_OF"
    INVOLVED_IN = "INVOLVED_IN"
    TOLD = "TOLD"


_ELEMENT_LABELS: Mapping[str, NodeLabel] = {
    "setting": NodeLabel.LOCATION,
    "technology": NodeLabel.ITEM,
    "artifact": NodeLabel.ITEM,
    "faction": NodeLabel.ORGANIZATION,
    "rule": NodeLabel.CONCEPT,
}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node: its id in the graph, its label, name and further properties."""

    id: str
    label: NodeLabel
    name: str
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge between the nodes with the ids `source` and `target`.

    `place` is the `file:line` of the text that states it, empty for a decision of the
    user or what follows from several places; `chapter` that place's, None without one.
    """

    source: str
    target: str
    label: EdgeLabel
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    place: str = ""
    chapter: int | None = None


@dataclass(frozen=True, slots=True)
class StoryGraph:
    """Nodes and edges up to a horizon, in a deterministic order.

    Both ends of each edge are among `nodes`.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A node near another one: the edge to it, seen from `through`, and its distance in
    edges, from 1.
    """

    node: GraphNode
    edge: GraphEdge
    through: GraphNode
    distance: int


def build_story_graph(bible: Bible) -> StoryGraph:
    """Return the graph of `bible`, which may end at a horizon."""
    nodes = {node.id: node for node in _iter_nodes(bible)}
    edges = [
        edge
        for edge in _iter_edges(bible)
        if edge.source in nodes and edge.target in nodes
    ]
    return StoryGraph(tuple(nodes.values()), tuple(edges))


def find_neighbors(graph: StoryGraph, start: str, steps: int) -> list[Neighbor]:
    """Return what is at most `steps` edges from the node with the id `start`, each node
    and each edge to it from one step nearer; nearest first.

    Scenes and chapters connect nearly everything, so they are left out; `TOGETHER_WITH`
    says how often people share a scene.
    """
    nodes = {node.id: node for node in graph.nodes if not _is_container(node)}
    adjacent: dict[str, list[tuple[GraphEdge, str]]] = {}
    for edge in graph.edges:
        if edge.source in nodes and edge.target in nodes:
            adjacent.setdefault(edge.source, []).append((edge, edge.target))
            adjacent.setdefault(edge.target, []).append((edge, edge.source))
    distances, frontier = {start: 0}, [start]
    neighbors: list[Neighbor] = []
    for distance in range(1, steps + 1):
        nearest = [
            Neighbor(nodes[other], edge, nodes[id_], distance)
            for id_ in frontier
            for edge, other in adjacent.get(id_, ())
            if distances.setdefault(other, distance) == distance
        ]
        neighbors += nearest
        frontier = list(dict.fromkeys(neighbor.node.id for neighbor in nearest))
    return neighbors


def describe_edge(neighbor: Neighbor) -> str:
    """Return what connects a node with the one it is reached through."""
    edge, node, through = neighbor.edge, neighbor.node, neighbor.through
    properties = edge.properties
    match edge.label:
        case EdgeLabel.RELATED_TO:
            kind = properties.get("kind") or properties.get("valence") or "related"
            if edge.target == node.id:
                return f"{kind} of {through.name}"
            return f"{through.name} is {kind} of {node.name}"
        case EdgeLabel.TOGETHER_WITH:
            count = int(properties["scenes"])
            return f"together in {count:,} scene{'' if count == 1 else 's'}"
        case EdgeLabel.TOLD:
            teller = through if edge.source == through.id else node
            return f"told by {teller.name}: {properties.get('what', '')}"
        case _:
            return edge.label.value.lower().replace("_", " ")


def render_graphml(graph: StoryGraph) -> str:
    """Return the graph as GraphML, which Gephi, yEd and NetworkX read."""
    node_keys = _list_property_names(graph.nodes)
    edge_keys = _list_property_names(graph.edges)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *_declare_keys("node", ("label", "name", *node_keys)),
        *_declare_keys("edge", ("label", "place", "chapter", *edge_keys)),
        '<graph id="story" edgedefault="directed">',
    ]
    for node in graph.nodes:
        data = {"label": node.label.value, "name": node.name, **node.properties}
        lines.append(f"<node id={quoteattr(_clean(node.id))}>")
        lines += [*_render_data("node", data), "</node>"]
    for number, edge in enumerate(graph.edges):
        ends = (
            f"source={quoteattr(_clean(edge.source))}"
            f" target={quoteattr(_clean(edge.target))}"
        )
        lines.append(f'<edge id="e{number}" {ends}>')
        lines += [*_render_data("edge", _list_edge_data(edge)), "</edge>"]
    return "\n".join((*lines, "</graph>", "</graphml>")) + "\n"


def render_graph_json_lines(graph: StoryGraph) -> str:
    """Return the graph as JSON lines in the format of Neo4j's `apoc.import.json`."""
    labels = {node.id: node.label.value for node in graph.nodes}
    rows: list[dict[str, object]] = [
        {
            "type": "node",
            "id": node.id,
            "labels": [node.label.value],
            "properties": {"name": node.name, **node.properties},
        }
        for node in graph.nodes
    ]
    rows += [
        {
            "type": "relationship",
            "id": str(number),
            "label": edge.label.value,
            "properties": {
                key: value
                for key, value in _list_edge_data(edge).items()
                if key != "label"
            },
            "start": {"id": edge.source, "labels": [labels[edge.source]]},
            "end": {"id": edge.target, "labels": [labels[edge.target]]},
        }
        for number, edge in enumerate(graph.edges)
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def character_node_id(name: str) -> str:
    """Return the id of the node of the character `name`."""
    return f"character:{name}"


def element_node_id(name: str) -> str:
    """Return the id of the node of the world element `name`."""
    return f"element:{name}"


def _is_container(node: GraphNode) -> bool:
    return node.label in (NodeLabel.SCENE, NodeLabel.CHAPTER)


def _chapter_id(chapter: int) -> str:
    return f"chapter:{chapter}"


def _scene_id(scene: SceneSummary) -> str:
    return f"scene:{scene.document}:{scene.span.start}"


def _event_ids(bible: Bible) -> list[str]:
    return [f"event:{number}" for number in range(1, len(bible.events) + 1)]


def _iter_nodes(bible: Bible) -> Iterator[GraphNode]:
    for person in bible.characters:
        properties: dict[str, PropertyValue] = {
            "gender": person.gender.value,
            "mentions": person.mentions,
            "certainty": person.certainty.value,
            "aliases": ", ".join(form.name for form in person.aliases),
        }
        id_ = character_node_id(person.name)
        yield GraphNode(id_, NodeLabel.CHARACTER, person.name, properties)
    for element in bible.world:
        properties = {"mentions": element.mentions}
        id_ = element_node_id(element.name)
        yield GraphNode(id_, _label_element(element), element.name, properties)
    for id_, event in zip(_event_ids(bible), bible.events, strict=True):
        place = format_evidence_location(event.evidence)
        properties = {"kind": event.kind, "told": event.told, "place": place}
        yield GraphNode(id_, NodeLabel.EVENT, event.description, properties)
    for scene in bible.scenes:
        title = format_chapter_title(scene.chapter, scene.chapter_title)
        name = f"Chapter {scene.chapter}{title}"
        yield GraphNode(_chapter_id(scene.chapter), NodeLabel.CHAPTER, name)
        place = f"{scene.document}:{scene.lines.first}-{scene.lines.last}"
        name = f"Chapter {scene.chapter}, scene {scene.scene}"
        yield GraphNode(_scene_id(scene), NodeLabel.SCENE, name, {"place": place})


def _label_element(element: WorldElement) -> NodeLabel:
    kinds = [claim.value for claim in element.element_types]
    return _ELEMENT_LABELS.get(kinds[0] if kinds else "", NodeLabel.CONCEPT)


def _iter_edges(bible: Bible) -> Iterator[GraphEdge]:
    for relation in bible.relations:
        yield _build_edge(
            character_node_id(relation.source),
            character_node_id(relation.target),
            EdgeLabel.RELATED_TO,
            relation.evidence,
            kind=relation.kind,
            valence=relation.valence,
            derived=relation.derived,
        )
    yield from _iter_scene_edges(bible)
    for element in bible.world:
        yield from _iter_element_edges(element)
    for id_, event in zip(_event_ids(bible), bible.events, strict=True):
        for name in dict.fromkeys(event.characters_involved):
            person = character_node_id(name)
            yield _build_edge(person, id_, EdgeLabel.INVOLVED_IN, (event.evidence,))
    for disclosure in bible.told:
        for hearer in disclosure.hearers:
            yield _build_edge(
                character_node_id(disclosure.teller),
                character_node_id(hearer),
                EdgeLabel.TOLD,
                (disclosure.evidence,),
                what=disclosure.what,
            )


def _by_count_then_names(
    pair: tuple[tuple[str, str], int],
) -> tuple[int, tuple[str, str]]:
    names, count = pair
    return -count, names


def _iter_scene_edges(bible: Bible) -> Iterator[GraphEdge]:
    pairs: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], SceneSummary] = {}
    for scene in bible.scenes:
        chapter = _chapter_id(scene.chapter)
        yield GraphEdge(_scene_id(scene), chapter, EdgeLabel.PART_OF)
        for name in scene.present:
            person = character_node_id(name)
            yield GraphEdge(person, _scene_id(scene), EdgeLabel.PRESENT_IN)
        for pair in combinations(sorted(scene.present), 2):
            pairs[pair] += 1
            last[pair] = scene
    for (name, other), count in sorted(pairs.items(), key=_by_count_then_names):
        scene = last[name, other]
        yield GraphEdge(
            character_node_id(name),
            character_node_id(other),
            EdgeLabel.TOGETHER_WITH,
            {"scenes": count},
            f"{scene.document}:{scene.lines.first}",
            scene.chapter,
        )


def _iter_element_edges(element: WorldElement) -> Iterator[GraphEdge]:
    own = element_node_id(element.name)
    for claim in element.connected_characters:
        person = character_node_id(claim.value)
        yield _build_edge(person, own, EdgeLabel.SEEN_AT, claim.evidence)
    if element.part_of:
        yield GraphEdge(own, element_node_id(element.part_of), EdgeLabel.PART_OF)


def _build_edge(
    source: str,
    target: str,
    label: EdgeLabel,
    evidence: Sequence[TextEvidence],
    **properties: PropertyValue,
) -> GraphEdge:
    first = next(iter(evidence), None)
    return GraphEdge(
        source,
        target,
        label,
        {name: value for name, value in properties.items() if value != ""},
        format_evidence_location(first) if first else "",
        first.chapter if first else None,
    )


def _list_edge_data(edge: GraphEdge) -> dict[str, PropertyValue]:
    data: dict[str, PropertyValue] = {"label": edge.label.value, **edge.properties}
    if edge.place:
        data["place"] = edge.place
    if edge.chapter is not None:
        data["chapter"] = edge.chapter
    return data


def _list_property_names(items: Iterable[GraphNode | GraphEdge]) -> list[str]:
    return sorted({name for item in items for name in item.properties})


def _declare_keys(kind: str, names: Iterable[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        yield (
            f'<key id="{kind}-{name}" for="{kind}" attr.name="{name}"'
            ' attr.type="string"/>'
        )


def _render_data(kind: str, data: Mapping[str, PropertyValue]) -> Iterator[str]:
    for name, value in data.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield f'<data key="{kind}-{name}">{escape(_clean(text))}</data>'


def _clean(text: str) -> str:
    """Return `text` without characters that XML does not allow."""
    return "".join(
        character
        for character in text
        if character in "\t\n\r"
        or "\x20" <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character >= "\U00010000"
    )
