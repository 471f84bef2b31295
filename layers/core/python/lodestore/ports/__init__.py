"""What the services ask of the world, one page each: object store, clock, entropy, embedder, meter.

Owns: the words in which services and adapters speak. Guarantees: no adapter's name or type appears here.
Gives up: any behaviour; a port is only its contract, and `tests/contracts` holds every adapter to it.
"""
