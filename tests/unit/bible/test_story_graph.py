"""The graph of a story: neighbours, and files that other programs read."""

import json
from collections.abc import Sequence
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.story_graph import (
    EdgeLabel,
    GraphEdge,
    GraphNode,
    NodeLabel,
    StoryGraph,
    build_story_graph,
    describe_edge,
    find_neighbors,
    render_graph_json_lines,
    render_graphml,
)
from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
    CharacterRelation,
    SceneSummary,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import LineRange, Span

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def person(name: str) -> CharacterProfile:
    sure = Certainty.CONFIRMED
    return CharacterProfile(name, (), Gender.UNKNOWN, sure, sure)


def scene(number: int, *present: str) -> SceneSummary:
    span = Span(100 * number, 100 * number + 90)
    lines = LineRange(10 * number, 10 * number + 9)
    return SceneSummary(
        DocumentId("1.md"), span, lines, 1, "Fog", number, present=present
    )


BOOK = Bible(
    characters=tuple(map(person, ("Nell", "Hob", "Mags", "Ansel"))),
    relations=(
        CharacterRelation("Mags", "Ansel", "brother", "", (), Certainty.CONFIRMED),
        CharacterRelation("Mags", "Nobody", "aunt", "", (), Certainty.CONFIRMED),
    ),
    scenes=(scene(1, "Nell", "Hob"), scene(2, "Nell", "Hob"), scene(3, "Hob", "Mags")),
)


def nodes_at(graph: StoryGraph, start: str, steps: int) -> list[tuple[str, int]]:
    near = find_neighbors(graph, f"character:{start}", steps)
    return [(neighbor.node.name, neighbor.distance) for neighbor in near]


def test_people_are_near_by_shared_scenes_and_relations() -> None:
    graph = build_story_graph(BOOK)
    assert nodes_at(graph, "Nell", 1) == [("Hob", 1)]
    assert nodes_at(graph, "Nell", 3) == [("Hob", 1), ("Mags", 2), ("Ansel", 3)]
    (together,) = find_neighbors(graph, "character:Nell", 1)
    assert together.edge.label is EdgeLabel.TOGETHER_WITH
    assert together.edge.properties == {"scenes": 2}
    assert together.edge.place == "1.md:20"


def test_those_who_share_most_scenes_come_first() -> None:
    assert nodes_at(build_story_graph(BOOK), "Hob", 1) == [("Nell", 1), ("Mags", 1)]


def test_a_relation_is_told_from_its_owner_in_both_directions() -> None:
    graph = build_story_graph(BOOK)
    described = {
        name: [
            describe_edge(neighbor)
            for neighbor in find_neighbors(graph, f"character:{name}", 1)
            if neighbor.edge.label is EdgeLabel.RELATED_TO
        ]
        for name in ("Mags", "Ansel")
    }
    assert described["Mags"] == ["brother of Mags"]
    assert described["Ansel"] == ["Ansel is brother of Mags"]


def test_an_edge_to_nobody_is_left_out() -> None:
    graph = build_story_graph(BOOK)
    ids = {node.id for node in graph.nodes}
    assert all({edge.source, edge.target} <= ids for edge in graph.edges)
    assert sum(edge.label is EdgeLabel.RELATED_TO for edge in graph.edges) == 1


def test_chapters_have_one_node_each() -> None:
    graph = build_story_graph(BOOK)
    labels = [node.label for node in graph.nodes]
    assert labels.count(NodeLabel.CHAPTER) == 1
    assert labels.count(NodeLabel.SCENE) == 3


@st.composite
def graphs(draw: st.DrawFn) -> StoryGraph:
    ids = draw(st.lists(st.text(max_size=6), min_size=1, max_size=5, unique=True))
    values = st.text(max_size=8) | st.integers() | st.booleans()
    names = st.sampled_from(["kind", "mentions", "what"])
    nodes = tuple(
        GraphNode(
            f"n:{number}:{id_}",
            draw(st.sampled_from(NodeLabel)),
            draw(st.text(max_size=9)),
            draw(st.dictionaries(names, values, max_size=2)),
        )
        for number, id_ in enumerate(ids)
    )
    ends = st.sampled_from([node.id for node in nodes])
    edges: Sequence[GraphEdge] = draw(
        st.lists(
            st.builds(
                GraphEdge,
                ends,
                ends,
                st.sampled_from(EdgeLabel),
                st.dictionaries(names, values, max_size=2),
                st.text(max_size=5),
                st.none() | st.integers(0, 9),
            ),
            max_size=6,
        )
    )
    return StoryGraph(nodes, tuple(edges))


@given(graphs())
def test_any_graph_is_valid_graphml_and_json_lines(graph: StoryGraph) -> None:
    root = ElementTree.fromstring(render_graphml(graph).encode("utf-8", "replace"))
    assert len(root.findall(f".//{GRAPHML}node")) == len(graph.nodes)
    assert len(root.findall(f".//{GRAPHML}edge")) == len(graph.edges)
    declared = {key.get("id") for key in root.findall(f"{GRAPHML}key")}
    assert {data.get("key") for data in root.iter(f"{GRAPHML}data")} <= declared
    text = render_graph_json_lines(graph).encode("utf-8", "replace").decode()
    rows = [json.loads(line) for line in text.split("\n")[:-1]]
    assert [row["type"] for row in rows].count("node") == len(graph.nodes)
    assert all(
        {"start", "end", "label"} <= row.keys()
        for row in rows
        if row["type"] == "relationship"
    )
