"""Prompts: what a language model is told, as files with a version.

Owns: `prompts/*.toml`, which lie beside this module and go into the layer with it. Guarantees: a prompt holds our own
words alone; no word of a memory is ever part of it. Gives up: changing one without a new version of the package.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Prompt:
    """`name` and `version` stand in evidence; `most_tokens` of the answer, whose JSON schema is `schema`."""

    name: str
    version: int
    instructions: str
    schema: Mapping[str, object]
    most_tokens: int

    @property
    def label(self) -> str:
        """As `judge/1`."""
        return f"{self.name}/{self.version}"


@cache
def prompt(name: str) -> Prompt:
    """The prompt of this name."""
    text = files("lodestore.services").joinpath("prompts", f"{name}.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return Prompt(name, read["version"], read["instructions"].strip(), read["schema"], read["most_tokens"])
