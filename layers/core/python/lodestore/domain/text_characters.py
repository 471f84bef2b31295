"""Which characters show nothing, and what must stand beside one for it to mean something.

Owns: the code points that `text_cleaning` takes out and that `text_shortening` never cuts before.
Guarantees: fixed ranges of Unicode blocks, not properties of the running Python's Unicode version, so one text is
cleaned alike by every version of Python. Sources: Unicode 16 DerivedCoreProperties (Default_Ignorable_Code_Point),
UAX #29 (clusters), UTS #51 (emoji sequences), StandardizedVariants.
Gives up: blocks are wider than scripts and emoji, so a joiner may stay beside a digit or a dingbat of such a block.
"""

from __future__ import annotations

import re

ZWNJ = "\u200c"
ZWJ = "\u200d"
BLACK_FLAG = "\U0001f3f4"
KEYCAP = "\u20e3"
VIRAMA_CLASS = 9

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
LINE_ENDING = re.compile("\r\n?")

_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Soft hyphen, grapheme joiner, Khmer inherent vowels, zero-width space, word joiner and invisible operators,
# deprecated format characters, Hangul fillers, byte order mark, interlinear annotation.
_INVISIBLE = "\u00ad\u034f\u17b4\u17b5\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
# Selectors that no sequence in common use needs: only a carrier of hidden bits.
_IDLE_SELECTORS = "\ufe03-\ufe0d"
_INVISIBLE_BEYOND_BMP = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_IDLE_TAGS = "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(17)
)
ALWAYS_REMOVED = re.compile(
    f"[{_CONTROLS}{_BIDI}{_INVISIBLE}{_IDLE_SELECTORS}{_INVISIBLE_BEYOND_BMP}{_IDLE_TAGS}{_NONCHARACTERS}]+"
)

JAMO_FILLERS = re.compile("[\u115f\u1160]")
MONGOLIAN_SELECTORS = re.compile("[\u180b-\u180f]")
JOINERS = re.compile(f"[{ZWNJ}{ZWJ}]")
SELECTORS = re.compile("[\ufe00-\ufe02\ufe0e\ufe0f]")
EMOJI_SELECTORS = re.compile("[\ufe0e\ufe0f]")
IDEOGRAPH_SELECTORS = re.compile("[\U000e0100-\U000e01ef]")
TAGS = re.compile("[\U000e0020-\U000e007f]")
REMOVED_WHERE_ALONE = re.compile(
    f"[\u115f\u1160\u180b-\u180f{ZWNJ}{ZWJ}\ufe00-\ufe02\ufe0e\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)

# UTS #51: black flag, a CLDR subdivision (two letters of region, one to three more) in tags, cancel tag.
SUBDIVISION_FLAG = re.compile(
    f"{BLACK_FLAG}[\U000e0061-\U000e007a]{{2}}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{1,3}}\U000e007f"
)

PICTOGRAPHS = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
REGIONAL_INDICATORS = re.compile("[\U0001f1e6-\U0001f1ff]")
IDEOGRAPHS = re.compile("[\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
LEADING_JAMO = re.compile("[\u1100-\u115e]")
VOWEL_JAMO = re.compile("[\u1161-\u11a7]")
MONGOLIAN_LETTERS = re.compile("[\u1820-\u18aa]")
# Cursive and Indic scripts, where a joiner chooses the form of a letter: Arabic to Mandaic, Devanagari to
# Sinhala, Tibetan, Myanmar, Khmer, Mongolian, Balinese to Lepcha, Phags-pa to Meetei, Arabic presentation forms,
# Brahmi and its descendants, Adlam.
JOINING_SCRIPTS = re.compile(
    "[\u0600-\u061b\u061d-\u085f\u0860-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1a20-\u1aaf\u1b00-\u1c4f"
    "\ua840-\ua8ff\ua930-\ua9ff\uaa60-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010d00-\U00010d3f\U00010f30-\U00010fdf\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
CLUSTER_EXTENDERS = re.compile(
    f"[{ZWNJ}{ZWJ}{KEYCAP}\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
JAMO_AFTER_FIRST = re.compile("[\u1160-\u11ff]")
