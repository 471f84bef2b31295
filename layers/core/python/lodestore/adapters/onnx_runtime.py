"""Opening the local model: an onnxruntime session and the model's tokenizer.

Owns: their options. Guarantees: two threads, none of which waits in a busy loop; nothing on stdout; whatever the two
libraries raise is an EmbeddingFailed that names the kind of error and nothing of the input. Both are imported here,
on the first call, and nowhere else.
Gives up: accelerators; the same numbers on every machine are worth more than speed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestore.ports.embedder import EmbeddingFailed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_THREADS = 2
_ERRORS_ONLY = 3

Session = Callable[[dict[str, np.ndarray]], np.ndarray]


def open_session(path: Path) -> Session:
    """The model as a function from its named inputs (rows, pieces) to token vectors (rows, pieces, numbers)."""
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _THREADS
        options.log_severity_level = _ERRORS_ONLY
        # Threads that wait in a busy loop would take the CPU from the rest of the process.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as failure:
        # onnxruntime's errors have no base class but this.
        raise EmbeddingFailed(f"the model does not load: {type(failure).__name__}") from failure

    def run(inputs: dict[str, np.ndarray]) -> np.ndarray:
        try:
            return np.asarray(session.run(["last_hidden_state"], inputs)[0], dtype=np.float32)
        except Exception as failure:  # noqa: BLE001 -- as above; a cause could show the input
            raise EmbeddingFailed(f"the model does not run: {type(failure).__name__}") from None

    return run


def open_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer, without truncation, padding or meaning for "[SEP]" in a text; safe to share between threads."""
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(path))
    except Exception as failure:
        # tokenizers raises bare exceptions.
        raise EmbeddingFailed(f"the tokenizer does not load: {type(failure).__name__}") from failure
    # Set once and never again: a tokenizer that is changed while another thread uses it raises "Already borrowed".
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer
