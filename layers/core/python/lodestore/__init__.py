"""Lodestore: long-term memory for AI agents on nothing but S3, S3 Vectors and Lambda.

Owns the package's version. Guarantees nothing else: import the parts by their own names.
"""

__version__ = "0.1.0"
