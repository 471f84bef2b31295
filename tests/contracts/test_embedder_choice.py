"""From settings to an embedder: what is chosen by default, and what is refused by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lodestore.adapters.embedder_options import EmbedderOptions
from lodestore.adapters.embedders import Unavailable
from lodestore.errors import SettingsError
from lodestore.ports.embedder import Embedder
from lodestore.settings import Embeddings
from tests.embedders.bedrock_service import COHERE_V3, COHERE_V4
from tests.embedders.kinds import connect

KEY = "sk-secret-0123456789"
HEAVY = "onnxruntime", "tokenizers", "botocore", "boto3", "urllib3"
PROGRAM = f"""
import sys
from lodestore.adapters import embedders
print(*sorted({set(HEAVY)} & set(sys.modules)))
"""


def connected(choice: Embeddings, options: EmbedderOptions) -> Embedder:
    found = connect(choice, options)
    assert not isinstance(found, Unavailable)
    return found


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    """A region, and no configuration of the machine's own."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")


def test_each_service_has_a_model_by_default() -> None:
    bedrock = connected(Embeddings.BEDROCK, EmbedderOptions())
    openai = connected(Embeddings.OPENAI, EmbedderOptions(openai_api_key=KEY))
    assert (bedrock.model, bedrock.dim) == ("bedrock/amazon.titan-embed-text-v2:0/1024", 1024)
    assert (openai.model, openai.dim) == ("openai/text-embedding-3-small/1536", 1536)


def test_none_is_a_choice() -> None:
    assert connect(Embeddings.NONE) == Unavailable("EMBEDDINGS=none")


def test_no_library_of_an_embedder_is_imported_before_it_is_chosen() -> None:
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, "")


OPENAI = EmbedderOptions(openai_api_key=KEY)
REFUSED = [
    (
        Embeddings.LOCAL,
        EmbedderOptions(model="x"),
        "EMBED_MODEL must be one of all-MiniLM-L6-v2, multilingual-e5-small with EMBEDDINGS=local, not 'x'",
    ),
    (Embeddings.NONE, EmbedderOptions(model="x"), "EMBED_MODEL has no meaning with EMBEDDINGS=none"),
    (Embeddings.LOCAL, EmbedderOptions(dim=384), "EMBED_DIM has no meaning"),
    (
        Embeddings.NONE,
        EmbedderOptions(span_bytes=2_000),
        "EMBED_SPAN_BYTES has no meaning with EMBEDDINGS=none",
    ),
    (Embeddings.BEDROCK, EmbedderOptions(query_prefix="query: "), "EMBED_QUERY_PREFIX has no meaning"),
    (Embeddings.BEDROCK, EmbedderOptions(passage_prefix=""), "EMBED_PASSAGE_PREFIX has no meaning"),
    (Embeddings.BEDROCK, EmbedderOptions(ask_dim=False), "EMBED_ASK_DIM has no meaning"),
    (Embeddings.BEDROCK, EmbedderOptions(model="amazon.nova"), "EMBED_MODEL must end in one of amazon.titan"),
    (
        Embeddings.BEDROCK,
        EmbedderOptions(dim=384),
        "EMBED_DIM must be one of 1024, 512, 256 for amazon.titan",
    ),
    (
        Embeddings.BEDROCK,
        EmbedderOptions(model=COHERE_V3, dim=512),
        "EMBED_DIM must be one of 1024 for cohere",
    ),
    (
        Embeddings.BEDROCK,
        EmbedderOptions(model=COHERE_V3, span_bytes=2_001),
        "EMBED_SPAN_BYTES is at most 2000",
    ),
    (Embeddings.BEDROCK, EmbedderOptions(span_bytes=699), "EMBED_SPAN_BYTES must be .* 700 to 8000, not 699"),
    (
        Embeddings.BEDROCK,
        EmbedderOptions(model=COHERE_V4, dim=5_000),
        "EMBED_DIM must be .* 1 to 4096, not 5000",
    ),
    (Embeddings.OPENAI, EmbedderOptions(dim=0, openai_api_key=KEY), "EMBED_DIM must be .* 1 to 4096, not 0"),
    (Embeddings.OPENAI, EmbedderOptions(), "OPENAI_API_KEY"),
    (Embeddings.OPENAI, EmbedderOptions(model="e5", openai_api_key=KEY), "EMBED_DIM is needed"),
    (
        Embeddings.OPENAI,
        EmbedderOptions(query_prefix="x" * 101, openai_api_key=KEY),
        "EMBED_QUERY_PREFIX is at most 100",
    ),
    *(
        (
            Embeddings.OPENAI,
            EmbedderOptions(openai_base_url=base, openai_api_key=KEY),
            "OPENAI_BASE_URL must be",
        )
        for base in (
            "localhost:8080/v1",
            "ftp://host/v1",
            "http://",
            "https://me:x@host/v1",
            "https://host/v1?a=1",
        )
    ),
]


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(("choice", "options", "reason"), REFUSED)
def test_what_does_not_go_together_is_refused_by_name(
    choice: Embeddings, options: EmbedderOptions, reason: str
) -> None:
    with pytest.raises(SettingsError, match=reason) as refused:
        connect(choice, options)
    assert KEY not in str(refused.value)


def test_bedrock_without_a_region_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(SettingsError, match="NoRegionError; is AWS_REGION set"):
        connect(Embeddings.BEDROCK)


def test_the_key_is_in_no_representation() -> None:
    assert KEY not in repr(OPENAI)
    assert KEY not in repr(connected(Embeddings.OPENAI, OPENAI))
