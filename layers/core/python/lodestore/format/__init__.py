"""How things are named and written down: keys and codecs, no I/O.

Owns: every key literal and every byte layout. Guarantees: what was written by an older version is read for ever.
Gives up: storage itself.
"""
