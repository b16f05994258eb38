"""The Little Red Writing Room: a writing companion that reads your manuscript."""

__version__ = "0.1.0"
