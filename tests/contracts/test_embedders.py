"""What every embedder keeps, wherever its vectors come from."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lodestore.domain.limits import CONTENT_BYTES, QUERY_CHARACTERS
from lodestore.ports.embedder import Embedder, Vectors
from lodestore.retrieval.spans import MOST_SPANS
from tests.embedders.kinds import KINDS, embedding

TEXTS = (
    "The deploy key rotates every Friday.",
    "Jörg prefers tea: no sugar, ever.",
    "年会定在十二月六日举行",
    "เขาอยู่ที่กรุงเทพ",
    "ship it 🚢 👨‍👩‍👧",
    "ERR_X9F-2207 in getUserById()",
    "[SEP] [MASK] <s> </s>",
    "a\u0301\u0328 \U0001d54f \ufdfa",
    "x",
    " ".join(f"word{number}" for number in range(150)),
)
LONG = ("One note follows another. " * 2_000)[:CONTENT_BYTES]
LONG_WITHOUT_BLANKS = ("公司年会定在十二月六日举行。" * 2_000).encode()[: CONTENT_BYTES // 3 * 3].decode()
TOLERANCE = 1e-3


@pytest.fixture(scope="module", params=KINDS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    """An embedder of every kind in turn."""
    with embedding(request.param) as found:
        yield found


def assert_sound(rows: Vectors, count: int, dim: int) -> None:
    assert rows.shape == (count, dim)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(count), abs=1e-5)


def test_vectors_are_of_the_dimension_finite_and_of_length_one(embedder: Embedder) -> None:
    assert_sound(embedder.passages(TEXTS), len(TEXTS), embedder.dim)
    assert_sound(embedder.query(TEXTS[0])[None], 1, embedder.dim)


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert embedder.passages([]).shape == (0, embedder.dim)


def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    first, again = embedder.passages([TEXTS[0], TEXTS[0]])
    assert np.abs(first - again).max() <= TOLERANCE
    assert np.abs(first - embedder.passages([TEXTS[0]])[0]).max() <= TOLERANCE
    assert np.abs(embedder.query(TEXTS[1]) - embedder.query(TEXTS[1])).max() <= TOLERANCE


def test_a_text_has_the_same_vector_alone_as_among_others(embedder: Embedder) -> None:
    together = embedder.passages(TEXTS * 4)
    alone = np.concatenate([embedder.passages([text]) for text in TEXTS])
    assert np.abs(together - np.tile(alone, (4, 1))).max() <= TOLERANCE


def test_texts_of_another_content_have_another_vector(embedder: Embedder) -> None:
    first, second = embedder.passages(TEXTS[:2])
    assert float(first @ second) < 0.9


def test_a_passage_is_nearest_to_a_query_of_its_own_words(embedder: Embedder) -> None:
    passages = embedder.passages(TEXTS[:3])
    assert int(np.argmax(passages @ embedder.query("which day does the deploy key rotate, Friday?"))) == 0


def test_a_short_text_is_one_span(embedder: Embedder) -> None:
    for text in TEXTS[:9]:
        assert embedder.spans(text) == ((0, len(text)),)


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize("text", [LONG, LONG_WITHOUT_BLANKS], ids=["words", "no blanks"])
def test_the_longest_content_is_covered_by_spans_each_of_which_has_a_vector(
    embedder: Embedder, text: str
) -> None:
    spans = embedder.spans(text)
    assert 1 < len(spans) <= MOST_SPANS
    assert "".join(text[start:end] for start, end in spans) == text
    ends = [text[start:end] for start, end in (spans[0], spans[len(spans) // 2], spans[-1])]
    assert_sound(embedder.passages(ends), 3, embedder.dim)


def test_the_end_of_a_long_query_counts(embedder: Embedder) -> None:
    filler = "公司年会定在十二月六日举行。" * 200
    queries = [filler[: QUERY_CHARACTERS - len(end)] + end for end in ("kettle", " tomato soup with basil")]
    vectors = [embedder.query(query) for query in queries]
    assert float(vectors[0] @ vectors[1]) < 1 - 1e-4


def test_threads_get_the_vectors_of_their_own_texts(embedder: Embedder) -> None:
    alone = embedder.passages(TEXTS)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda row: embedder.passages([TEXTS[row % 9]])[0], range(36)))
    for row, vector in enumerate(found):
        assert np.abs(vector - alone[row % 9]).max() <= TOLERANCE


def test_the_models_name_is_fit_for_a_manifest(embedder: Embedder) -> None:
    assert embedder.model.isprintable()
    assert 1 <= len(embedder.model) <= 128


def test_no_two_models_share_a_name() -> None:
    names = set()
    for kind in KINDS:
        with embedding(kind) as found:
            names.add(found.model)
    assert len(names) == len(KINDS)
