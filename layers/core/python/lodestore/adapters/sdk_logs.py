"""What the AWS SDK may write to a log.

Owns: the levels of its loggers. Guarantees: at no level of the process does it write keys, bodies or headers, which
its debug lines are full of (P-UNTRUSTED); its warnings and errors stay, they name operations and codes.
Gives up: its debug lines. `lodestore.store` says why a request failed.
"""

from __future__ import annotations

import logging

_LIBRARIES = ("botocore", "boto3", "s3transfer", "urllib3")


def keep_content_out() -> None:
    """Raise the libraries' levels. Called where a client is made, so that no order of imports goes around it."""
    for name in _LIBRARIES:
        library = logging.getLogger(name)
        library.setLevel(max(library.level, logging.WARNING))
