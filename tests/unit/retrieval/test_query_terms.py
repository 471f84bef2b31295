"""What a query asks for: topic without grammar, in every form that a text may hold it."""

from __future__ import annotations

import pytest

from lodestore.retrieval.tokenizer import index_terms
from tests.unit.retrieval.keyword_search import first_forms, forms, search


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What did Caroline say about the sunrise?", ["caroline", "say", "sunrise"]),
        ("When is the meeting?", ["meeting"]),
        ("¿Qué dijo Carolina sobre el amanecer?", ["dijo", "carolina", "amanecer"]),
        ("Was hat Karoline über den Sonnenaufgang gesagt?", ["karoline", "sonnenaufgang", "gesagt"]),
        ("Pourquoi Caroline n'a-t-elle rien dit de l'aube ?", ["caroline", "dit", "aube"]),
        ("Что сказала Каролина о рассвете?", ["сказала", "каролина", "рассвете"]),
        ("टीम की बैठक कब होगी?", ["टीम", "बैठक", "होगी"]),
        ("我们的年会是什么时候?", ["年", "的年", "年会"]),
    ],
)  # fmt: skip
def test_stop_words_of_the_querys_own_language_are_dropped(question: str, topic: list[str]) -> None:
    assert set(topic) <= set(first_forms(question))
    assert not {"what", "the", "el", "den", "de", "о", "की", "什么"} & set(first_forms(question))


def test_stop_words_stay_in_the_index() -> None:
    assert index_terms("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


@pytest.mark.parametrize("query", ["to be or not to be", "What is it?", "は", "他是谁", "où", "и не", "the"])
def test_a_query_of_nothing_but_stop_words_keeps_them(query: str) -> None:
    assert search(query, ["nothing to see", query])[0] == query


def test_a_word_of_another_language_is_no_stop_word() -> None:
    assert first_forms("Did the Sie logo die?") == ["sie", "logo", "die"]


def test_a_word_said_twice_counts_once() -> None:
    assert first_forms("painting Painting PAINTING") == ["painting"]


def test_a_question_with_enough_grammar_is_stemmed_in_its_own_language() -> None:
    assert forms("What are the paintings that they were selling?") == [
        ("paintings", "paint"),
        ("selling", "sell"),
    ]


def test_a_bare_word_is_looked_up_as_every_language_may_have_stemmed_it() -> None:
    [canciones] = forms("canciones")
    assert canciones[0] == "canciones"
    assert {"cancion", "cancione"} <= set(canciones)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("zapato", "Los zapatos que me gustan son rojos y están en la tienda"),
        ("¿Dónde están mis zapatos?", "zapato rojo talla 42"),
        ("Häuser", "Das Haus, das wir gesehen haben, ist nicht sehr groß"),
        ("meetings", "Ignored: le meeting et la réunion sont dans une salle"),
    ],
)
def test_a_query_meets_a_text_whose_language_was_judged_otherwise(query: str, text: str) -> None:
    assert search(query, [text]) == [text]


def test_an_exact_word_comes_before_an_inflected_one() -> None:
    texts = ["the painter has a brush", "he painted a door", "he saw a painting"]
    assert search("painting", texts)[0] == "he saw a painting"


def test_negations_and_names_of_months_reach_the_query_where_they_are_the_topic() -> None:
    assert "may" in first_forms("What happened in May 2023?")
