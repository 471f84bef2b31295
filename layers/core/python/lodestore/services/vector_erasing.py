"""Erasing what the vector engine holds of a tenant.

Owns: the drops that belong to an erasure. Guarantees: the tenant's index of this process's model, and every index that
its manifest names, whatever the model; nothing of another tenant's, for an index is one tenant's (P-TENANT).
Gives up: an index of another model whose name only a lost manifest held; no name leads from it to its tenant.
"""

from __future__ import annotations

from collections.abc import Collection

from lodestore.format import keys
from lodestore.ports.object_store import StoreUnavailable
from lodestore.ports.vector_index import Done, NoIndex, Shape, VectorIndex
from lodestore.services.manifests import Manifests


class VectorErasing:
    """Erasures in the engine. `engine` None: this process has none, and can only say what is left there."""

    def __init__(self, engine: VectorIndex | None, manifests: Manifests, *, model: str | None) -> None:
        self._engine = engine
        self._manifests = manifests
        self._model = model

    def names(self, tenant: str) -> frozenset[str]:
        """The indexes that may hold vectors of the tenant. Raises StoreUnavailable."""
        names: set[str] = set()
        manifest = self._manifests.load(tenant).manifest
        if manifest is not None:
            names.update(item.name for item in manifest.engine_left)
            names.update(() if manifest.engine is None else (manifest.engine.index,))
        if self._engine is not None and self._model is not None:
            names.add(keys.vector_index(tenant, self._model))
        return frozenset(names)

    def count(self, names: Collection[str]) -> int:
        """How many of them are there. Raises StoreUnavailable."""
        return sum(self._is_there(name) for name in names)

    def drop(self, names: Collection[str]) -> int:
        """Drop those that are there, and say how many. Raises StoreUnavailable."""
        if self._engine is None:
            return 0
        there = [name for name in names if self._is_there(name)]
        for name in there:
            if not isinstance(self._engine.drop(name), Done):
                raise StoreUnavailable("the vector engine did not drop an index")
        return len(there)

    def _is_there(self, name: str) -> bool:
        if self._engine is None:
            return True
        shape = self._engine.describe(name)
        if isinstance(shape, Shape | NoIndex):
            return isinstance(shape, Shape)
        raise StoreUnavailable("the vector engine did not answer")
