"""What the emulator does not have, beside it on loopback: S3 Vectors and the embedding model of Bedrock.

Owns: their start, and the variables by which functions find them. Guarantees: 127.0.0.1 only; the vector engine is a
process that a test can end for good, and is emptied by that; the model knows that some words mean the same.
Gives up: permissions. Both take every credential; `tests/infra` judges what the templates allow.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from boto3.session import Session

from tests.cloud.assemblies import VECTOR_BUCKET
from tests.cloud.emulator import REGION, ROOT_KEY
from tests.cloud.processes import LAST_WORDS, running
from tests.embedders.bedrock_service import invoke_model
from tests.embedders.loopback_service import Answer, Seen, serving
from tests.structure.source_tree import ROOT

READY_POLLS = 300
POLL_SECONDS = 0.1
_READY = re.compile(r"^S3 Vectors ready: (http://\S+)$", re.MULTILINE)
# Words of one meaning: the model reads the second for the first, and keywords find nothing in common.
MEANINGS = {"physician": "doctor", "cigarettes": "smoking", "automobile": "car", "purchased": "bought"}


@dataclass(frozen=True, slots=True)
class Beside:
    """Both, running."""

    vectors: str
    bedrock: str
    engine: subprocess.Popen[bytes] = field(repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """Where functions find them."""
        return {
            "AWS_ENDPOINT_URL_S3VECTORS": self.vectors,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.bedrock,
        }

    def client(self) -> Any:
        """An SDK client of the vector engine."""
        session: Any = Session(aws_access_key_id=ROOT_KEY, aws_secret_access_key=ROOT_KEY, region_name=REGION)
        return session.client("s3vectors", endpoint_url=self.vectors)

    def held(self, index: str) -> list[dict[str, Any]]:
        """The vectors of an index, each with its data and metadata, at most 500; none where there is no index."""
        client = self.client()
        try:
            asked = client.list_vectors(
                vectorBucketName=VECTOR_BUCKET, indexName=index, returnData=True, returnMetadata=True
            )
        except client.exceptions.NotFoundException:
            return []
        return list(asked["vectors"])

    def put(self, index: str, vectors: list[dict[str, Any]]) -> None:
        """Put vectors over those that are there."""
        self.client().put_vectors(vectorBucketName=VECTOR_BUCKET, indexName=index, vectors=vectors)

    def end_the_engine(self) -> None:
        """From now on nothing listens at its address, and what it held is gone."""
        self.engine.terminate()
        self.engine.wait()


@contextmanager
def beside(folder: Path) -> Iterator[Beside]:
    """Both, while the block runs; the engine's log goes below the folder. RuntimeError where it does not come up."""
    command = [sys.executable, "-m", "tests.s3vectors.server", "--port", "0", "--bucket", VECTOR_BUCKET]
    log = folder / "s3vectors.log"
    paths = {"PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in (".", "layers/core/python"))}
    with serving(_invoke) as model, running(command, paths, ROOT, log) as engine:
        yield Beside(_address(log, engine), model.endpoint, engine)


def _address(log: Path, engine: subprocess.Popen[bytes]) -> str:
    pause, said = threading.Event(), ""
    for _ in range(READY_POLLS):
        said = log.read_text(encoding="utf-8", errors="replace")
        if found := _READY.search(said):
            return found.group(1)
        if engine.poll() is not None:
            break
        pause.wait(POLL_SECONDS)
    raise RuntimeError(f"S3 Vectors did not come up:\n{said[-LAST_WORDS:]}")


def _invoke(request: Seen) -> Answer:
    body = request.json
    text = body.get("inputText")
    if isinstance(text, str):
        read = " ".join(MEANINGS.get(word, word) for word in text.casefold().split())
        request = replace(request, body=json.dumps({**body, "inputText": read}).encode())
    return invoke_model(request)
