"""Puts the stand-in for the package fastembed on the import path."""

import sys
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parent / "packages"


def put_fastembed_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import the stand-in from now on, and forget it after the test."""
    monkeypatch.syspath_prepend(PACKAGES)
    hide_fastembed(monkeypatch)  # so that the module is removed after the test
    del sys.modules["fastembed"]


def hide_fastembed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an import fail, whether or not the package is installed."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
