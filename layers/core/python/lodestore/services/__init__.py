"""The work itself: remember, recall, update, forget and their kin, written against the ports.

Owns: the protocols of the design's sections 3 and 5. Guarantees: no adapter, no environment, no clock of its own.
Gives up: transport; `functions/` translates.
"""
