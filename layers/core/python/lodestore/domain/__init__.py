"""What a memory is and what may happen to it: values and pure rules, standard library only.

Owns: memories, stubs, identity, visibility, time, limits, secrets. Guarantees: no I/O, no clock, no chance.
Gives up: persistence and protocol, which are `format` and `services`.
"""
