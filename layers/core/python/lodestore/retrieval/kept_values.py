"""Whether a text that another hand wrote keeps what carries a value.

Owns: the guard over every text of a model. Guarantees: pure; a text passes for two others only where all three have
the same numbers with their units, days, negations, quantifiers, words of time and duty, names, quotes, identifiers and
paths, in one order, in one language that is known; where the two are more than one small edit apart and no mere
reordering of each other, since that is how another value looks; and where each of its words is one of theirs. A summary
passes only where it has no value of its own. What can't be judged does not pass.
Gives up: many a good text, since word order and spelling vary; a person can still merge by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lodestore.retrieval.known_language import language_of
from lodestore.retrieval.stemming import stem
from lodestore.retrieval.stop_words import stop_words
from lodestore.retrieval.verbatim import CALENDAR, is_capitalised, is_quote, tokens

# Small words that turn a statement into another one.
_TELLING: Final = {
    "english": frozenset(
        "not no never none nothing nobody neither nor without except unless only all every each any some both few many "
        "most more less least half twice once always sometimes often rarely usually must may might can could should "
        "would before after until since one two three four five six seven eight nine ten eleven twelve hundred "
        "thousand million first second third last next yesterday today tomorrow if or".split()
    ),
    "german": frozenset(
        "nicht kein keine keinen keiner keinem nie niemals niemand nichts ohne außer nur alle jeder jede jedes einige "
        "manche beide wenige viele meisten mehr weniger halb zweimal einmal immer manchmal oft selten muss darf kann "
        "soll sollte vor nach bis seit eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend "
        "million erste zweite dritte letzte nächste gestern heute morgen wenn oder".split()
    ),
    "french": frozenset(
        "pas ne jamais rien personne aucun aucune sans sauf seulement que tous toutes chaque quelques plusieurs plus "
        "moins deux trois quatre cinq six sept huit neuf dix onze douze cent mille toujours parfois souvent rarement "
        "doit peut avant après depuis jusque premier dernier prochain hier demain si ou".split()
    ),
    "spanish": frozenset(
        "no nunca nada nadie ninguno ninguna sin salvo solo todos todas cada algunos algunas ambos pocos muchos más "
        "menos dos tres cuatro cinco seis siete ocho nueve diez once doce cien mil siempre raramente debe puede antes "
        "después desde hasta primero último próximo ayer hoy mañana si o".split()
    ),
    "portuguese": frozenset(
        "não nunca nada ninguém nenhum nenhuma sem exceto só somente todos todas cada alguns algumas ambos poucos "
        "muitos mais menos dois três quatro cinco seis sete oito nove dez onze doze cem mil sempre raramente deve pode "
        "antes depois desde até primeiro último próximo ontem hoje amanhã se ou".split()
    ),
    "italian": frozenset(
        "non mai niente nulla nessuno nessuna senza tranne solo tutti tutte ogni alcuni alcune entrambi pochi molti "
        "più meno due tre quattro cinque sei sette otto nove dieci undici dodici cento mille sempre raramente deve può "
        "prima dopo da fino primo ultimo prossimo ieri oggi domani se o".split()
    ),
    "russian": frozenset(
        "не нет никогда ничего никто без кроме только все каждый некоторые оба мало много больше меньше один два три "
        "четыре пять шесть семь восемь девять десять сто тысяча всегда иногда часто редко должен может до после с "
        "первый последний следующий вчера сегодня завтра если или".split()
    ),
}
# Numbers in words above those, fractions, ranks, and times with a name.
_NUMBERS: Final = {
    "english": frozenset(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
        "billion dozen fourth fifth sixth seventh eighth ninth tenth eleventh twelfth quarter double triple "
        "single".split()
    ),
    "german": frozenset(
        "null eins ein eine einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
        "sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert "
        "tausend million milliarde dutzend dritte vierte fünfte sechste siebte achte neunte zehnte doppelt".split()
    ),
    "french": frozenset(
        "zéro deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente "
        "quarante cinquante soixante cent mille million milliard douzaine deuxième troisième quatrième cinquième "
        "sixième".split()
    ),
    "spanish": frozenset(
        "cero dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis veinte treinta "
        "cuarenta cincuenta sesenta setenta ochenta noventa cien mil millón docena segundo tercero cuarto "
        "quinto".split()
    ),
    "portuguese": frozenset(
        "zero dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze vinte trinta quarenta "
        "cinquenta sessenta setenta oitenta noventa cem mil milhão dúzia segundo terceiro quarto quinto".split()
    ),
    "italian": frozenset(
        "zero due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici venti trenta "
        "quaranta cinquanta sessanta settanta ottanta novanta cento mille milione dozzina secondo terzo quarto".split()
    ),
    "russian": frozenset(
        "ноль один два три четыре пять шесть семь восемь девять десять двадцать тридцать сорок пятьдесят сто тысяча "
        "миллион второй третий четвёртый пятый".split()
    ),
}
_MORE_TELLING: Final = {
    "english": frozenset(
        "hardly barely nearly almost noon midnight midday hourly daily weekly monthly quarterly yearly annually "
        "up down above below under left right off".split()
    ),
    "german": frozenset(
        "kaum fast mittags mitternacht stündlich täglich wöchentlich monatlich jährlich über unter links rechts".split()
    ),
    "french": frozenset("midi minuit quotidien hebdomadaire mensuel annuel presque gauche droite".split()),
    "spanish": frozenset("mediodía medianoche diario semanal mensual anual casi izquierda derecha".split()),
}
_NEGATIONS: Final = frozenset(
    "not no never none nothing nobody nicht kein keine nie niemals pas ne jamais rien aucun aucune nunca nada ningún "
    "ninguno ninguna não nenhum nenhuma non mai nessuno nessuna не нет никогда".split()
)
# Signs that compare or reckon.
_SIGNS: Final = frozenset("<>=≠≤≥±+*/%&|^~→←")
# With so few words put in the place of so few, it is the same sentence about something else.
SMALL_EDIT: Final = 2
_SENTENCE_ENDS: Final = frozenset(".!?:\n")


@dataclass(frozen=True, slots=True)
class _Word:
    """`word` in one form; whether it carries a value by itself, and whether it is a name for all that can be told."""

    word: str
    value: bool
    initial: bool


def stands_for(text: str, one: str, other: str) -> bool:
    """Whether the text may stand for both."""
    language = language_of(text)
    if language is None or not may_be_reworded(one, other) or not same_values((text, one, other)):
        return False
    known = {stem(word, language) for said in (one, other) for word in _plain(said)}
    idle = stop_words(language) - _TELLING[language]
    return all(word in idle or stem(word, language) in known for word in _plain(text))


def may_be_reworded(one: str, other: str) -> bool:
    """Whether the two can say the same in other words, for all that their values and their form tell."""
    first, second = _plain(one), _plain(other)
    if not same_values((one, other)) or sorted(first) == sorted(second):
        return False
    return max(_edited(first, second)) > SMALL_EDIT and one.count("?") == other.count("?")


def same_values(texts: Sequence[str]) -> bool:
    """Whether all of them carry the same values in the same order."""
    read = _read_all(texts)
    if read is None:
        return False
    names = _names(read)
    orders = {tuple(one.word for one in words if one.value or one.word in names) for words in read}
    return len(orders) == 1 and not any(_lacking(words, read) for words in read)


def invented(text: str, sources: Sequence[str], also: Iterable[str] = ()) -> bool:
    """Whether the text carries a value that none of the sources has, nor is `also` known, or can't be judged."""
    read = _read_all([text])
    if read is None:
        return True
    known = {_bare(token) for source in sources for token in tokens(source)}.union(also)
    if any(one.word not in known for one in read[0] if one.value):
        return True
    language = language_of(text)
    assert language is not None
    if _turns_one_round(text, sources, language):
        return True
    stems = {stem(word, language) for word in known}
    # A first word may be a name, or any word of theirs in another form.
    return any(stem(one.word, language) not in stems for one in read[0] if one.initial)


def _turns_one_round(text: str, sources: Sequence[str], language: str) -> bool:
    """Whether it says a source's words without their negation, or all its values in an order that no source has."""
    said = set(_plain(text))
    values = [one.word for one in _words(text, language) if one.value]
    holding: list[list[str]] = []
    for source in sources:
        words = _plain(source)
        if said <= set(words) and not (_NEGATIONS & set(words)) <= said:
            return True
        if not Counter(values) - Counter(_bare(token) for token in tokens(source)):
            holding.append([_bare(token) for token in tokens(source)])
    return bool(holding) and not any(_in_order(values, words) for words in holding)


def _in_order(values: Iterable[str], words: Iterable[str]) -> bool:
    rest = iter(words)
    return all(value in rest for value in values)


def _read_all(texts: Sequence[str]) -> list[tuple[_Word, ...]] | None:
    """The words of each; None where not all are in one language that is known here."""
    languages = {language_of(text) for text in texts}
    language = languages.pop() if len(languages) == 1 else None
    if language is None or language not in _TELLING:
        return None
    return [tuple(_words(text, language)) for text in texts]


def _names(read: Iterable[Sequence[_Word]]) -> frozenset[str]:
    """Words that have their capital within a sentence in one of the texts."""
    return frozenset(one.word for words in read for one in words if one.value)


def _lacking(words: Sequence[_Word], read: Iterable[Sequence[_Word]]) -> bool:
    """Whether a capitalised first word, which may be a name, is missing in another text."""
    first = {one.word for one in words if one.initial}
    return any(first - {one.word for one in other} for other in read)


def _words(text: str, language: str) -> Iterable[_Word]:
    counted = _NUMBERS[language]
    telling = _TELLING[language] | counted | _MORE_TELLING.get(language, frozenset())
    idle = stop_words(language)
    starts = True
    after_number = False
    for position, token in enumerate(tokens(text)):
        # A unit means another one in other letters: 5 MB is not 5 Mb.
        word = token if after_number else _bare(token)
        # The first word has lost its capital to `tokens`.
        capital = is_capitalised(_bare_case(token)) or (position == 0 and token.isalpha())
        number = any(character.isdigit() for character in token) or _bare(token) in counted
        number = number or (language == "german" and _bare(token).endswith(("zig", "ßig", "zehn", "hundert")))
        name = capital and word not in idle and not starts
        yield _Word(
            word,
            value=number
            or after_number
            or _bare(token) in telling
            or word in CALENDAR
            or not _SIGNS.isdisjoint(token)
            or is_quote(token)
            or token[:1] == "`"
            or name
            or _is_identifier(token),
            initial=starts and capital and word not in idle and word not in telling,
        )
        after_number = number
        starts = token in _SENTENCE_ENDS
        if token in _SENTENCE_ENDS or not token[:1].isalnum():
            after_number = False


def _bare_case(token: str) -> str:
    return token.removesuffix("'s")


def _bare(token: str) -> str:
    verbatim = is_quote(token) or token[:1] == "`" or _is_identifier(token)
    return token if verbatim else _bare_case(token).casefold()


def _plain(text: str) -> list[str]:
    """The words without signs."""
    return [_bare(token) for token in tokens(text) if any(character.isalnum() for character in token)]


def _edited(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How many words of each are left without what both begin and end with."""
    shorter = min(len(first), len(second))
    begins = next((n for n in range(shorter) if first[n] != second[n]), shorter)
    ends = next((n for n in range(shorter - begins) if first[-1 - n] != second[-1 - n]), shorter - begins)
    return len(first) - begins - ends, len(second) - begins - ends


def _is_identifier(token: str) -> bool:
    """A word of more than letters, or with a capital within."""
    word = _bare_case(token)
    if len(word) < 2 or is_quote(token):
        return False
    return not word.replace("'", "").isalpha() or word[1:] != word[1:].lower()
