"""In any language, without a setting, a few words find the text that is meant."""

from __future__ import annotations

import pytest

from tests.unit.retrieval.keyword_search import search

# Flags of three parts each: a black flag, the tags of a region, the tag that ends them.
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
# Beside each text one of the same language that is not meant, sharing its function words.
FOUND = [
    ("English", "running shoes", "She runs every morning in her new shoe", "She swims every evening in the old pool"),
    ("English", "when did they decide", "Deciding took them a week in March", "They are in the house"),
    ("Spanish", "¿Dónde está la canción?", "Las canciones están en el disco", "Los gatos de la casa son negros"),
    ("Spanish", "cancion", "Me gusta esta canción de los años ochenta", "Me gusta este libro de los años ochenta"),
    ("German", "Häuser", "Das Haus am See wurde verkauft", "Der Hund am Fluss wurde gefunden"),
    ("German", "strasse", "Die Straße ist gesperrt", "Der Weg ist offen"),
    ("French", "développeurs", "Le développeur de l'équipe s'appelle Luc", "Le chat de la voisine s'appelle Luc"),
    ("French", "equipe", "L’équipe se réunit le lundi", "La voisine arrive le lundi"),
    ("Portuguese", "servidores", "O servidor de São Paulo foi desligado", "O almoço de domingo foi cancelado"),
    ("Italian", "le riunioni", "La riunione di domani è stata spostata", "Il pranzo di domani è stato spostato"),
    ("Dutch", "vergaderingen", "De vergadering van morgen is verplaatst", "Het eten van morgen is verplaatst"),
    ("Swedish", "möten", "Mötet är flyttat till fredag", "Maten är flyttad till fredag"),
    ("Finnish", "kokoukset", "Tämän kokouksen aika on siirretty ja se on nyt", "Ruoka on valmis ja se on hyvää"),
    ("Polish", "spotkania", "Spotkanie zostało przeniesione na piątek", "Obiad został przeniesiony na piątek"),
    ("Turkish", "kitaplar", "Bu kitap cuma gününe kadar benim ve çok iyi", "Yemek cuma gününe kaldı ve bu iyi oldu"),
    ("Hungarian", "házak", "Ez a ház nagyon régi és szép", "Ez a kutya nagyon öreg és szép"),
    ("Vietnamese", "cuộc họp", "Cuộc họp của nhóm đã được dời sang thứ sáu", "Bữa ăn của nhóm rất ngon"),
    ("Indonesian", "pertemuan", "Pertemuannya akan diadakan pada hari Jumat", "Makanannya sudah siap pada hari Jumat"),
    ("Russian", "встречи", "Встреча с командой перенесена на пятницу", "Обед с командой перенесён на субботу"),
    ("Russian", "ведёт", "Сергей ведет бэкенд", "Анна пишет тесты"),
    ("Ukrainian", "зустрічей", "Зустріч з командою і п'ять доповідей", "Обід з родиною і сніданок"),
    ("Greek", "συναντήσεις", "Η συνάντηση της ομάδας είναι την Παρασκευή", "Το φαγητό της ομάδας είναι καλό"),
    ("Arabic", "الاجتماع", "تأجل اجتماع الفريق إلى يوم الجمعة", "وصل طعام الفريق في يوم الخميس"),
    ("Arabic, vowelled", "مدرسة", "هذه مَدْرَسَةٌ كبيرة", "هذه سيارة كبيرة"),
    ("Persian", "کتاب", "این كتاب‌ها را از تهران خریدم", "این لباس‌ها را از تهران خریدم"),
    ("Hebrew", "שלום", "הוא אמר שָׁלוֹם לכולם", "הוא הלך הביתה מאוחר"),
    ("Hindi", "बैठकें", "टीम की बैठक शुक्रवार को होगी", "टीम का खाना शनिवार को होगा"),
    ("Hindi, numbers", "308", "पैंथर्स ने ३०८ अंक दिए", "पैंथर्स ने २४ अंक दिए"),
    ("Tamil", "புத்தகம்", "இந்த புத்தகங்கள் நல்லவை", "இந்த வீடு பெரியது"),
    ("Bengali", "বৈঠক", "দলের বৈঠক শুক্রবার হবে", "দলের খাবার শনিবার হবে"),
    ("Armenian", "քաղաքներ", "Այս քաղաք և իր մոտ հին են", "Այս տունը մեծ է"),
    ("Georgian", "შეხვედრა", "შეხვედრა პარასკევს გაიმართება", "სადილი შაბათს იქნება"),
    ("Amharic", "ስብሰባ", "ስብሰባ ዓርብ ይካሄዳል", "ምሳ ቅዳሜ ነው"),
    ("Thai", "ประชุม", "พรุ่งนี้มีประชุมที่กรุงเทพ", "พรุ่งนี้กินข้าวที่บ้าน"),
    ("Lao", "ປະຊຸມ", "ມື້ອື່ນມີປະຊຸມຢູ່ວຽງຈັນ", "ມື້ອື່ນກິນເຂົ້າຢູ່ເຮືອນ"),
    ("Khmer", "ប្រជុំ", "ថ្ងៃស្អែកមានប្រជុំនៅភ្នំពេញ", "ថ្ងៃស្អែកញ៉ាំបាយនៅផ្ទះ"),
    ("Burmese", "အစည်းအဝေး", "မနက်ဖြန်အစည်းအဝေးရှိတယ်", "မနက်ဖြန်ထမင်းစားမယ်"),
]  # fmt: skip


@pytest.mark.case("B56")
@pytest.mark.parametrize(
    ("query", "meant", "other"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND]
)
def test_a_few_words_find_the_text_that_is_meant(query: str, meant: str, other: str) -> None:
    assert search(query, [other, meant])[:1] == [meant]


@pytest.mark.case("B53")
@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("年会", "公司年会定在十二月六日举行"),
        ("회의", "오늘 회의는 세 시"),
        ("しりとり", "しりとりをした"),
        ("猫", "用户养了一只猫"),
        ("我的猫叫什么", "用户养了一只猫，名字是豆豆"),
        ("집", "집에서 일한다"),
        ("ガーデン", "ｶﾞｰﾃﾞﾝで会う"),
        ("東京", "来週、東京駅で会いましょう"),
    ],
)
def test_writing_without_spaces_is_found_by_any_stretch_of_it(query: str, meant: str) -> None:
    others = ["明天下雨，带伞出门", "내일은 비가 온다", "あしたは雨が降るらしい", "it will rain tomorrow"]
    assert search(query, [*others, meant])[0] == meant


@pytest.mark.case("B56")
@pytest.mark.parametrize(("query", "meant"), [("muller", 0), ("JÖRG", 0), ("Сергей", 1), ("СЕРГЕЙ", 1)])
def test_accents_and_case_do_not_matter_in_any_script(query: str, meant: int) -> None:
    texts = ["Jörg Müller leads QA", "Сергей ведёт бэкенд"]
    assert search(query, texts) == [texts[meant]]


@pytest.mark.case("B56")
@pytest.mark.parametrize("query", ["???", "", " \n\t", "…—!", "\u200b\u200d", "\ud800", "\u0301"])
def test_a_query_without_letters_numbers_or_emoji_finds_nothing(query: str) -> None:
    assert search(query, ["Jörg Müller leads QA", "???", query]) == []


@pytest.mark.case("B64")
@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("\U0001f378", "Cocktails \U0001f378 on Friday"),
        ("👨‍👩‍👧‍👦", "a trip with the 👨‍👩‍👧‍👦"),
        ("👧", "a trip with the 👨‍👩‍👧‍👦"),
        ("👍", "the release got a 👍🏽 from QA"),
        ("👍🏽", "the release got a 👍 from QA"),
        ("🇩🇪", "the server stands in 🇩🇪"),
        ("❤", "they ❤️ it"),
        (SCOTLAND, f"moved to {SCOTLAND}"),
    ],
)  # fmt: skip
def test_emoji_are_found_whole_and_by_what_they_are_joined_from(query: str, meant: str) -> None:
    others = [
        "nothing to see",
        "🇫🇷 or 🇩🇰",
        "👩 alone",
        ENGLAND,
    ]
    assert search(query, [*others, meant])[0] == meant


def test_one_flag_is_not_found_by_letters_it_shares_with_another() -> None:
    assert search("🇩🇪", ["🇩🇰", "🇪🇸"]) == []


def test_each_script_of_a_mixed_text_is_found() -> None:
    text = "iPhone手机的API는 느리다, Сергей сказал مدرسة"
    for query in ("iphone", "手机", "API", "느리다", "сергей", "مدرسة"):
        assert search(query, [text]) == [text]


def test_right_to_left_marks_and_zero_width_signs_do_not_hide_a_word() -> None:
    assert search("שלום", ["\u200fש\u200eלום\u200f"]) == ["\u200fש\u200eלום\u200f"]
    assert search("database", ["data\u00adbase"]) == ["data\u00adbase"]
