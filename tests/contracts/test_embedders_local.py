"""The local model: that it is the right one, that it needs nothing but itself, and that it tells meaning apart."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.adapters import onnx_embedder
from lodestore.adapters.embedders import Unavailable
from lodestore.adapters.model_files import MODEL, TOKENIZER, PinnedFile, locate, verify
from lodestore.adapters.onnx_embedder import OnnxEmbedder
from lodestore.adapters.onnx_runtime import open_tokenizer
from lodestore.domain.limits import CONTENT_BYTES
from lodestore.ports.embedder import Embedder, EmbeddingFailed
from lodestore.retrieval.spans import MOST_SPANS
from lodestore.retrieval.tokenizer import index_terms, query_terms
from lodestore.settings import Embeddings
from tests.embedders.kinds import connect, local
from tests.embedders.paraphrases import PARAPHRASES

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LEAST_DIFFERENCE = 0.4
WITHOUT_SHARED_WORDS = 10
PROGRAM = """
import json, sys
from lodestore.adapters.onnx_embedder import connect_local
embedder = connect_local()
before = set(sys.modules)
embedder.query("hello")
print(json.dumps([sorted(before), sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The local model."""
    return local()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attempt to connect fails the test."""

    def refuse(*_: object) -> None:
        raise AssertionError("the local model tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("no_network")
def test_the_model_needs_no_network(embedder: Embedder) -> None:
    fresh = local()
    assert np.abs(fresh.query("tea") - embedder.query("tea")).max() < 1e-6


@pytest.mark.parametrize(("text", "paraphrase", "other"), PARAPHRASES)
def test_a_paraphrase_is_much_nearer_than_another_text(
    embedder: Embedder, text: str, paraphrase: str, other: str
) -> None:
    vectors = embedder.passages([text, other])
    query = embedder.query(paraphrase)
    assert float(vectors[0] @ query - vectors[1] @ query) >= LEAST_DIFFERENCE


def test_half_of_the_paraphrases_share_no_word_with_their_text() -> None:
    for text, paraphrase, _ in PARAPHRASES[:WITHOUT_SHARED_WORDS]:
        forms = {form for term in query_terms(paraphrase) for form in term.forms}
        assert not forms & set(index_terms(text))


def test_every_paraphrase_finds_its_own_text_among_all(embedder: Embedder) -> None:
    texts = embedder.passages([text for text, _, _ in PARAPHRASES])
    found = [int(np.argmax(texts @ embedder.query(paraphrase))) for _, paraphrase, _ in PARAPHRASES]
    assert found == list(range(len(PARAPHRASES)))


def test_a_published_pair_has_its_published_similarity(embedder: Embedder) -> None:
    # The model card's own sentences; 0.03 apart from full precision would be another model.
    first, second = embedder.passages(["That is a happy person", "That is a happy dog"])
    assert float(first @ second) == pytest.approx(0.695, abs=0.03)


def test_no_code_of_the_models_packages_is_imported_and_nothing_before_the_first_text() -> None:
    local()
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    before, after = map(set, json.loads(done.stdout))
    assert not {"onnxruntime", "tokenizers"} & before
    assert {"onnxruntime", "tokenizers"} <= after
    assert not {MODEL.path.split("/")[0], TOKENIZER.path.split("/")[0], "torch", "huggingface_hub"} & after
    assert done.stderr == ""


def test_a_text_of_the_tokenizers_own_signs_is_ordinary_text(embedder: Embedder) -> None:
    plain, signs = embedder.passages(["tea", "tea [SEP] [CLS] [MASK] [PAD]"])
    assert float(plain @ signs) < 0.95


@cache
def tokenizer() -> Tokenizer:
    local()
    return open_tokenizer(locate(TOKENIZER))


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_has_more_pieces_than_bytes(text: str) -> None:
    pieces = tokenizer().encode(text, add_special_tokens=False)
    assert len(pieces.ids) <= len(text.encode())


DENSE = (
    "ERR_X9F-2207: getUserById() -> 0x7fe3a9!? " * 700,
    "公司年会定在十二月六日举行。" * 700,
    "Übergrößenträger, naïveté; " * 900,
    "회의는 세 시에 시작합니다. " * 800,
)


@pytest.mark.parametrize("text", DENSE, ids=lambda text: text[:12])
def test_each_span_is_within_the_models_window(embedder: Embedder, text: str) -> None:
    content = text.encode()[:CONTENT_BYTES].decode(errors="ignore")
    spans = embedder.spans(content)
    sizes = [
        len(tokenizer().encode(content[start:end], add_special_tokens=False).ids) for start, end in spans
    ]
    assert max(sizes) <= onnx_embedder.WINDOW - 2
    assert spans[-1][1] == len(content) or len(spans) == MOST_SPANS


@pytest.mark.parametrize("file", ["model", "tokenizer"])
def test_a_file_of_another_content_is_never_used(tmp_path: Path, file: str) -> None:
    local()
    places = {"model": locate(MODEL), "tokenizer": locate(TOKENIZER)}
    places[file] = tmp_path / "other"
    places[file].write_bytes(b"{}")
    embedder = OnnxEmbedder(places["model"], places["tokenizer"])
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="has sha256 44136fa355b3, not"):
            embedder.query("tea")
    assert embedder.spans("word " * 400) == ((0, 2_000),)


def test_a_file_that_went_away_after_the_start_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match="can't be read: FileNotFoundError"):
        OnnxEmbedder(tmp_path / "model.onnx", tmp_path / "tokenizer.json").passages(["tea"])


def test_a_file_of_the_right_content_is_verified(tmp_path: Path) -> None:
    file = PinnedFile("p", "f", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
    (tmp_path / "f").write_bytes(b"{}")
    verify(file, tmp_path / "f")


@pytest.mark.parametrize(
    ("package", "path", "reason"),
    [
        ("no-such-package", "model.onnx", "no-such-package is not installed"),
        ("pytest", "no/such/model.onnx", "pytest holds no no/such/model.onnx"),
    ],
)
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_model_that_is_not_installed_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, package: str, path: str, reason: str
) -> None:
    monkeypatch.setattr(onnx_embedder, "check_runtimes", lambda _: None)
    monkeypatch.setattr(onnx_embedder, "MODEL", PinnedFile(package, path, ""))
    assert connect(Embeddings.LOCAL) == Unavailable(f"the local model is not installed: {reason}")


def test_a_runtime_that_is_not_installed_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_embedder, "ONNX_RUNTIMES", ("no_such_runtime",))
    assert connect(Embeddings.LOCAL) == Unavailable(
        "the local model is not installed: no_such_runtime is not installed"
    )


def test_a_process_that_embeds_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    local()
    program = "from lodestore.adapters.onnx_embedder import connect_local; connect_local().query('a walrus')"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []
