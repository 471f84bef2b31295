"""The terms of version 1, pinned: an index written by one release is searched by the next.

Where this fails for good reason (a rule changed, PyStemmer moved), raise TOKENIZER_VERSION and write the new terms.
"""

from __future__ import annotations

import pytest

from lodestore.retrieval.tokenizer import TOKENIZER_VERSION, index_terms

TERMS_OF_VERSION_1 = [
    (
        "The runners were running in /etc/hosts",
        "the runners runner were running run in etc/hosts etc hosts host",
    ),
    (
        "getUserById failed with ERR_X9F-2207",
        "getuserbyid get user by id failed fail with err_x9f-2207 err x9f 2207",
    ),
    (
        "Las canciones de la fiesta están en el disco",
        "las canciones cancion de la fiesta fiest estan en el disco disc",
    ),
    (
        "Die Häuser am See wurden verkauft und sind groß",
        "die hauser haus am see wurden verkauft und sind gross",
    ),
    (
        "Les développeurs de l'équipe ont une réunion",
        "les developpeurs developpeur de equipe equip ont une reunion",
    ),
    (
        "Встречи с командой перенесены на пятницу, ёлка",
        "встречи встреч с командой команд перенесены перенес на пятницу пятниц елка елк",
    ),
    ("टीम की बैठकें शुक्रवार को होंगी", "टीम की बैठकें बैठक शुक्रवार को होंगी होंग"),
    ("الاجتماعات في هذه المدرسة", "الاجتماعات اجتماع في هذه المدرسة مدرس"),
    (
        "Οι συναντήσεις της ομάδας είναι την Παρασκευή",
        "οι συναντησεισ συναντησ τησ ομαδασ ομαδ ειναι την παρασκευη παρασκευ",
    ),
    ("公司年会 v2", "公 司 年 会 公司 司年 年会 v2"),
    ("しりとりを", "し り と り を しり りと とり りを"),
    ("회의는 3시", "회 의 는 회의 의는 3 시"),
    ("มีประชุม", "มี ป ระ ชุ ม มีป ประ ระชุ ชุม"),
    ("👍🏽 🇩🇪", "👍🏽 👍 🇩🇪"),
]


@pytest.mark.parametrize(("text", "terms"), TERMS_OF_VERSION_1)
def test_the_terms_are_those_of_the_version(text: str, terms: str) -> None:
    assert TOKENIZER_VERSION == 1
    assert " ".join(index_terms(text)) == terms
