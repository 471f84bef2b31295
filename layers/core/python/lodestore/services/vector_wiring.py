"""Which services work with the vector engine.

Owns: putting them together. Guarantees: no request is made here; without an engine or without a model there are none,
and nothing of the engine is asked. Gives up: the engine itself, which only `bootstrap` knows.
"""

from __future__ import annotations

from lodestore.services.vector_filling import EngineChoice, VectorFilling
from lodestore.services.vector_reading import VectorReading
from lodestore.services.vector_sweeping import VectorSweeping
from lodestore.services.wiring import Foundation, Shared, VectorServices


def wire_vectors(a: Foundation, s: Shared) -> VectorServices | None:
    """The services of the engine; None: there is none, or this process makes no vectors."""
    if a.vectors is None or a.embedder is None:
        return None
    engine, model = a.vectors.engine, a.embedder.model
    filling = VectorFilling(
        engine,
        EngineChoice(model, a.embedder.dim, a.vectors.threshold, a.vectors.text),
        s.manifests,
        s.segments,
        s.truth,
        s.due,
        clock=a.clock,
        entropy=a.entropy,
        meter=a.meter,
    )
    sweeping = VectorSweeping(engine, filling, s.manifests, s.segments, s.due, clock=a.clock, meter=a.meter)
    reading = VectorReading(engine, s.due, a.clock, workers=a.workers, meter=a.meter, model=model)
    return VectorServices(filling, sweeping, reading)
