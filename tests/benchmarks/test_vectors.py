"""The benchmark of the vector engine measures what it says, on a corpus made by rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.vectors import __main__ as bench
from benchmarks.vectors.corpora import Chosen, choose, made_corpus
from benchmarks.vectors.two_engines import Both
from tests.s3vectors.clients import running
from tests.services.stand_in_embedder import WordEmbedder

COUNT = 90


def test_the_threshold_is_crossed_both_ways_and_no_answer_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = made_corpus(COUNT)
    chosen = Chosen((corpus,), "made", WordEmbedder())
    with running() as endpoint:
        for name, value in {**bench.ENVIRONMENT, "AWS_ENDPOINT_URL_S3VECTORS": endpoint}.items():
            monkeypatch.setenv(name, value)
        done = bench.run(corpus, chosen, tmp_path)
    assert 0 < done.crossing.used < done.crossing.asked, (
        "before the threshold the shards, behind it the engine"
    )
    assert done.above.used == done.above.asked == len(corpus.questions)
    assert done.above.same_set == done.above.asked
    assert (done.crossing.worse, done.above.worse, done.back.worse) == (0, 0, 0)
    assert done.back.asked > done.back.used, "it was left while questions went on"
    lines = list(bench.report(chosen, [("made", done)]))
    assert lines[-1].endswith("0 wrong answers")


def test_a_lost_answer_is_counted_and_fails_the_run() -> None:
    lost = bench.Run()
    lost.crossing.add(Both(("a", "b"), ("a", "c"), 0.1, 0.1, used=True), frozenset({"c"}))
    lost.above.add(Both(("a",), ("a",), 0.1, 0.1, used=True), frozenset({"a"}))
    assert (lost.crossing.worse, lost.crossing.same_set, lost.crossing.overlap) == (1, 0, 0.5)
    assert bench._failed(lost)
    assert bench._failed(bench.Run()), "an engine that was never used shows nothing"


def test_without_locomo_sentences_are_made_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    chosen = choose(conversations=2, made=12)
    assert chosen.said.startswith("made sentences")
    assert [len(corpus.items) for corpus in chosen.corpora] == [12]
    assert len({item.text for item in chosen.corpora[0].items}) == 12
