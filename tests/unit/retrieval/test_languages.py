"""Which language a text is taken for, and the lists behind it."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest
import Stemmer

from lodestore.retrieval import scripts
from lodestore.retrieval.folding import fold
from lodestore.retrieval.languages import LANGUAGES, LanguageGuesses
from lodestore.retrieval.stemming import stem
from lodestore.retrieval.stop_words import stop_words

EVERY_LANGUAGE = list(chain.from_iterable(LANGUAGES.values()))


def _language(text: str, script: str = scripts.LATIN) -> str:
    guess = LanguageGuesses(Counter(map(fold, text.split()))).of(script)
    assert guess is not None
    return guess.likeliest


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("we moved the build to the new runner because it was slow", "english"),
        ("el servidor no responde y los usuarios están esperando en la cola", "spanish"),
        ("le serveur ne répond pas et les utilisateurs sont dans la file", "french"),
        ("der Server antwortet nicht und die Benutzer warten auf das Ergebnis", "german"),
        ("o servidor não responde e os usuários estão na fila", "portuguese"),
        ("il server non risponde e gli utenti sono nella coda", "italian"),
        ("de server antwoordt niet en de gebruikers wachten op het resultaat", "dutch"),
        ("servern svarar inte och användarna väntar på att det ska fungera", "swedish"),
        ("serveren svarer ikke og brukerne venter på at det skal virke hvis noen ser", "norwegian"),
        ("serveren svarer ikke og brugerne venter på at det skal virke hvis nogen ser af", "danish"),
        ("palvelin ei vastaa ja käyttäjät ovat jonossa koska se on hidas", "finnish"),
        ("serverul nu răspunde și utilizatorii sunt la coadă pentru că este lent", "romanian"),
        ("sunucu yanıt vermiyor ve kullanıcılar bunun için bekliyor", "turkish"),
        ("a szerver nem válaszol és a felhasználók azért várnak hogy", "hungarian"),
        ("serwer nie odpowiada i użytkownicy czekają na to że się uruchomi", "polish"),
        ("server neodpovídá a uživatelé jsou ve frontě protože je pomalý", "czech"),
        ("el servidor no respon i els usuaris són a la cua amb els altres", "catalan"),
        ("server tidak menjawab dan para pengguna sedang menunggu di dalam antrean", "indonesian"),
        ("máy chủ không trả lời và những người dùng đang chờ ở trong hàng", "vietnamese"),
    ],
)
def test_a_sentence_is_taken_for_its_own_language(text: str, language: str) -> None:
    assert _language(text) == language


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        ("сервер не отвечает и пользователи ждут", scripts.CYRILLIC, "russian"),
        ("сервер не відповідає і користувачі чекають, що це", scripts.CYRILLIC, "ukrainian"),
        ("الخادم لا يستجيب و هذا في كل يوم", scripts.ARABIC, "arabic"),
        ("سرور پاسخ نمی دهد و این را باید درست کرد", scripts.ARABIC, "persian"),
        ("سرور جواب نہیں دے رہا ہے اور صارفین انتظار میں ہیں", scripts.ARABIC, "urdu"),
        ("सर्वर जवाब नहीं दे रहा है और लोग इंतज़ार में हैं", scripts.DEVANAGARI, "hindi"),
        ("सर्भरले जवाफ दिएको छैन र प्रयोगकर्ताहरू पनि पर्खेका छन्", scripts.DEVANAGARI, "nepali"),
        ("सर्व्हर उत्तर देत नाही आणि वापरकर्ते वाट पाहत आहेत", scripts.DEVANAGARI, "marathi"),
    ],
)
def test_languages_that_share_a_script_are_told_apart(text: str, script: str, language: str) -> None:
    assert _language(text, script) == language


def test_a_text_without_stop_words_counts_as_its_scripts_default() -> None:
    assert _language("kubernetes") == "english"
    assert _language("кубернетес", scripts.CYRILLIC) == "russian"
    assert LanguageGuesses({}).of(scripts.HAN_KANA) is None


def test_little_evidence_leaves_every_language_of_the_script_plausible() -> None:
    little, much = (
        LanguageGuesses({"the": 1}).of(scripts.LATIN),
        LanguageGuesses({"the": 9}).of(scripts.LATIN),
    )
    assert little is not None
    assert much is not None
    assert set(little.plausible) == set(LANGUAGES[scripts.LATIN])
    assert much.plausible == ("english",)


@pytest.mark.parametrize("language", EVERY_LANGUAGE)
def test_stop_words_are_terms_and_words_of_one_script(language: str) -> None:
    words = stop_words(language)
    assert len(words) >= 50
    assert all(word and word == fold(word) for word in words)
    assert len({scripts.script_of(word[0]) for word in words}) == 1


@pytest.mark.parametrize("word", "what when did who where why how the not".split())
def test_english_question_words_are_stop_words(word: str) -> None:
    assert word in stop_words("english")


def test_every_stemmer_named_exists() -> None:
    without = {"vietnamese", "hebrew", "urdu", "marathi", "ukrainian"}
    assert set(EVERY_LANGUAGE) - without <= set(Stemmer.algorithms())
    assert stem("слова", "ukrainian") == stem("слова", "russian")
    assert stem("Họp", "vietnamese") == "hop"
