"""Secrets in structured data: in every string, in every key, and by the names of keys.

Owns: the walk over `metadata` and the like.
Guarantees: the answer has the same shape; a secret in a key goes too, and two keys that become one get numbers, so
no value is lost; a second walk changes nothing. Depth is bounded by MAX_DEPTH.
Gives up: a secret spread over several values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lodestore.domain.secret_assignments import number_names_secret, value_names_secret
from lodestore.domain.secret_names import Name, name_of
from lodestore.domain.secrets import marker, redact

# Deeper than any limit of the interface allows (`limits.METADATA_DEPTH`); the walk can't exhaust the stack.
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret of `kind` was at `path`: keys joined by dots, places in lists as `[0]`; a redacted key by its marker."""

    path: str
    kind: str


@dataclass(slots=True)
class _Walk:
    redactions: list[Redaction] = field(default_factory=list)

    def value(self, value: object, path: str, name: Name | None, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise ValueError(f"deeper than {MAX_DEPTH} levels")
        if isinstance(value, str):
            return self.text(value, path, name)
        if isinstance(value, Mapping):
            return self.mapping(value, path, depth)
        if isinstance(value, Sequence):
            return [self.value(item, f"{path}[{at}]", name, depth + 1) for at, item in enumerate(value)]
        if name is not None and isinstance(value, int) and number_names_secret(name, value):
            self.redactions.append(Redaction(path, name.kind))
            return marker(name.kind)
        return value

    def text(self, text: str, path: str, name: Name | None) -> str:
        shown, kinds = redact(text)
        if name is not None and value_names_secret(name, shown):
            shown, kinds = marker(name.kind), (*kinds, name.kind)
        self.redactions += (Redaction(path, kind) for kind in kinds)
        return shown

    def mapping(self, mapping: Mapping[object, object], path: str, depth: int) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in mapping.items():
            if not isinstance(key, str):
                raise TypeError(f"keys are text, not {type(key).__name__}")
            shown, kinds = redact(key)
            place = f"{path}.{shown}" if path else shown
            self.redactions += (Redaction(place, kind) for kind in kinds)
            result[_unused(shown, result, mapping)] = self.value(value, place, name_of(key), depth + 1)
        return result


def redact_json(value: object) -> tuple[object, tuple[Redaction, ...]]:
    """The value with secrets replaced by markers, and what was replaced, in the order of the walk.

    value    JSON as Python has it: dict with text keys, list, str, int, float, bool, None
    Raises ValueError deeper than MAX_DEPTH, TypeError for keys that are no text.
    """
    walk = _Walk()
    shown = walk.value(value, "", None, 0)
    return shown, tuple(walk.redactions)


def _unused(key: str, taken: Mapping[str, object], original: Mapping[object, object]) -> str:
    if key not in taken and (key in original or "[redacted:" not in key):
        return key
    candidate, number = key, 1
    while candidate in taken or (candidate in original and candidate != key):
        number += 1
        candidate = f"{key} {number}"
    return candidate
