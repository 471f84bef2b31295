"""Text as this system takes it in and gives it out: one door to cleaning, shortening and outlines.

Owns: nothing itself. Order of use: `clean`, then the secret scan (`domain/secrets`), then limits in bytes
(`byte_length`), then the id (`normalise_for_identity`).
Guarantees: what its parts do. Gives up: rendering; text reaches a model only as JSON data (P-UNTRUSTED).
"""

from __future__ import annotations

from lodestore.domain.text_cleaning import LoneSurrogate, byte_length, clean, normalise_for_identity
from lodestore.domain.text_outline import first_sentence, outline
from lodestore.domain.text_shortening import shorten, shorten_to_characters

__all__ = [
    "LoneSurrogate",
    "byte_length",
    "clean",
    "first_sentence",
    "normalise_for_identity",
    "outline",
    "shorten",
    "shorten_to_characters",
]
