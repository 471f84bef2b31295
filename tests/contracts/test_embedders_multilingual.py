"""The local model for many languages: that it is the right one, and that it finds meaning across languages."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.adapters import e5_embedder
from lodestore.adapters.e5_embedder import E5Embedder
from lodestore.adapters.e5_encoder import Encoder
from lodestore.adapters.e5_pieces import Pieces
from lodestore.adapters.e5_weights import Weights
from lodestore.adapters.embedder_options import EmbedderOptions
from lodestore.adapters.embedders import MULTILINGUAL, Unavailable
from lodestore.adapters.model_files import E5, PinnedFile, locate
from lodestore.domain.limits import CONTENT_BYTES
from lodestore.ports.embedder import Embedder, EmbeddingFailed
from lodestore.retrieval.spans import MOST_SPANS
from lodestore.settings import Embeddings
from tests.embedders.kinds import connect, local

# The first numbers of vectors that another implementation of the same weights computes (the C engine of the package
# that carries them, version 0.3.0): passage, query in Chinese, passage with signs.
PUBLISHED = (
    ("passage", "The deploy key rotates every Friday.", (0.0334, -0.0294, 0.0100, -0.0526, 0.0734, -0.0707)),
    ("query", "哪天轮换部署密钥？", (0.1020, -0.0232, -0.0270, -0.0294, 0.0684, -0.0732)),
    ("passage", "ERR_X9F-2207 in getUserById() ﷺ 🚢", (0.0683, 0.0212, -0.0167, -0.0184, 0.0920, -0.0146)),
)
TEXTS = (
    "The deploy key rotates every Friday.",
    "Jörg trinkt Tee ohne Zucker.",
    "公司年会定在十二月六日举行。",
    "El servidor de pruebas está en Fráncfort.",
    "База данных копируется каждую ночь в три часа.",
    "회의는 매주 월요일 오전 열 시에 시작합니다.",
    "النسخة الاحتياطية محفوظة لمدة ثلاثين يوما",
    "รหัสผ่านต้องเปลี่ยนทุกเก้าสิบวัน",
)
QUESTIONS = (
    "¿qué día se cambia la clave de despliegue?",
    "how does Jörg take his tea?",
    "when is the company's annual party?",
    "where is the staging server?",
    "at what time of the night is the database copied?",
    "when is the weekly meeting?",
    "for how many days is the backup kept?",
    "how often must passwords be changed?",
)
PROGRAM = """
import json, sys
from lodestore.adapters.e5_embedder import connect_multilingual
embedder = connect_multilingual()
before = set(sys.modules)
embedder.query("hello")
print(json.dumps([sorted(before), sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The model, loaded while every attempt to connect fails."""

    def refuse(*_: object) -> None:
        raise AssertionError("the local model tried to reach the network")

    found = local(MULTILINGUAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        found.query("tea")
    return found


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    """Its tokenizer."""
    local(MULTILINGUAL)
    return Pieces(Weights(locate(E5)).vocabulary)


@pytest.mark.parametrize(("kind", "text", "first"), PUBLISHED, ids=["english", "chinese", "signs"])
def test_the_vectors_are_those_of_another_implementation(
    embedder: Embedder, kind: str, text: str, first: tuple[float, ...]
) -> None:
    vector = embedder.query(text) if kind == "query" else embedder.passages([text])[0]
    # That implementation rounds what enters each product to 8 bits; another model would be away by 0.05.
    assert np.abs(vector[: len(first)] - np.array(first)).max() < 0.004


def test_questions_find_their_answers_in_another_language(embedder: Embedder) -> None:
    passages = embedder.passages(TEXTS)
    found = [int(np.argmax(passages @ embedder.query(question))) for question in QUESTIONS]
    # "For how many days" is nearer to ninety days in Thai than to thirty in Arabic.
    assert sum(row == text for text, row in enumerate(found)) >= len(TEXTS) - 1


def test_no_code_of_the_models_package_is_imported_and_nothing_before_the_first_text() -> None:
    local(MULTILINGUAL)
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    before, after = map(set, json.loads(done.stdout))
    assert "tokenizers" not in before
    assert "tokenizers" in after
    assert not {E5.path.split("/")[0], "onnxruntime", "torch", "huggingface_hub"} & after
    assert done.stderr == ""


def test_a_text_of_the_tokenizers_own_signs_is_ordinary_text(pieces: Pieces) -> None:
    special = {0, 1, 2, 250_001}
    assert not special & set(pieces.of("tea <s> </s> <pad> <mask> \x000 \x002", 200)[1:-1])


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_has_more_pieces_than_the_sum_of_its_units(pieces: Pieces, text: str) -> None:
    assert len(pieces.of(text, 10_000)) - 2 <= 1 + sum(unit.size for unit in pieces.units(text))


DENSE = (
    "ERR_X9F-2207: getUserById() -> 0x7fe3a9!? " * 700,
    "公司年会定在十二月六日举行。" * 700,
    "ﷺ " * 8_000,
    "회의는 세 시에 시작합니다. " * 800,
)


@pytest.mark.parametrize("text", DENSE, ids=lambda text: text[:12])
def test_each_span_is_within_the_models_window(embedder: Embedder, pieces: Pieces, text: str) -> None:
    content = text.encode()[:CONTENT_BYTES].decode(errors="ignore")
    spans = embedder.spans(content)
    sizes = [len(pieces.of("passage: " + content[start:end], 10_000)) for start, end in spans]
    assert max(sizes) <= e5_embedder.WINDOW
    assert spans[-1][1] == len(content) or len(spans) == MOST_SPANS


def test_a_file_of_another_content_is_never_used(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"{}")
    found = E5Embedder(tmp_path / "other")
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="has sha256 44136fa355b3, not"):
            found.query("tea")
    assert found.spans("word " * 400) == ((0, 2_000),)


@pytest.mark.parametrize("cut", [0, 3, 60, 10_000, 4_000_000, 4_630_000, 60_000_000])
def test_weights_that_end_too_early_are_a_failure_in_one_line(tmp_path: Path, cut: int) -> None:
    local(MULTILINGUAL)
    with locate(E5).open("rb") as whole:
        (tmp_path / "short.bin").write_bytes(whole.read(cut))
    with pytest.raises(EmbeddingFailed, match=r"short\.bin can't be read|the weights hold no"):
        Encoder(Weights(tmp_path / "short.bin"))


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_model_that_is_not_installed_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_embedder, "E5", PinnedFile("no-such-package", "weights.bin", ""))
    monkeypatch.setattr(e5_embedder, "check_runtimes", lambda _: None)
    assert connect(Embeddings.LOCAL, EmbedderOptions(model=MULTILINGUAL)) == Unavailable(
        "the local model is not installed: no-such-package is not installed"
    )
