"""Secrets are found in every way people write them, and what only sounds like one is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain import secrets as secret_scan
from lodestore.domain.secret_finding import Finding, merged
from lodestore.domain.secret_formats import FORMATS
from lodestore.domain.secrets import marker, redact, scan
from lodestore.domain.text import clean
from tests.unit.domain.ordinary_texts import ORDINARY
from tests.unit.domain.secret_samples import SAMPLES, Sample

_PIECES = st.sampled_from(
    [sample.text for sample in SAMPLES]
    + [sample.secret for sample in SAMPLES]
    + list(ORDINARY)
    + [
        "password=",
        "token: ",
        "secret is ",
        '"',
        "'",
        "`",
        " ",
        "\n",
        "://",
        "@",
        "eyJ",
        "sk-",
        "[redacted:x]",
        "…",
    ]
)
_cut = st.tuples(_PIECES, st.integers(0, 9)).map(lambda piece: piece[0][piece[1] :])
_glued = st.lists(_cut, max_size=8).map("".join)


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len(SAMPLES) >= 60
    assert len(ORDINARY) >= 80
    assert all(sample.secret in sample.text for sample in SAMPLES)


@pytest.mark.case("B27")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.kind}-{sample.text[:24]}")
def test_a_secret_goes_and_its_surroundings_stay(sample: Sample) -> None:
    stored, kinds = redact(sample.text)
    assert stored == sample.text.replace(sample.secret, marker(sample.kind))
    assert kinds == (sample.kind,)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.kind}-{sample.text[:24]}")
def test_a_secret_is_found_among_other_lines(sample: Sample) -> None:
    before, after = "Meeting notes of Monday:\n\n", "\n\nNora will follow up on this next week."
    stored, _ = redact(before + sample.text + after)
    assert stored == before + sample.text.replace(sample.secret, marker(sample.kind)) + after


@pytest.mark.parametrize("text", ORDINARY, ids=lambda text: text[:32])
def test_an_ordinary_text_stays_byte_for_byte(text: str) -> None:
    assert redact(text) == (text, ())
    assert scan(text) == ()


@pytest.mark.parametrize("text", ORDINARY, ids=lambda text: text[:32])
def test_cleaning_leaves_an_ordinary_text_alone(text: str) -> None:
    assert clean(text) == text


@pytest.mark.case("B27")
def test_the_key_of_the_report_goes_from_the_sentence_that_held_it() -> None:
    key = "AKIA" + "0000EXAMPLE00000"
    assert redact(f"use key {key} for staging") == (
        "use key [redacted:aws_access_key_id] for staging",
        ("aws_access_key_id",),
    )


def test_a_zero_width_character_does_not_hide_a_secret_once_the_text_is_clean() -> None:
    key = "AKIA" + "0000EXAMPLE00000"
    for (
        invisible
    ) in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u202e\u2066\ufe0f\ufe00\U000e0041\U000e0100\x00":
        hidden = key[:9] + invisible + key[9:]
        assert redact(clean(hidden)) == ("[redacted:aws_access_key_id]", ("aws_access_key_id",)), ascii(
            invisible
        )


def test_several_secrets_of_one_text_all_go() -> None:
    texts = [sample.text for sample in SAMPLES]
    stored, kinds = redact("\n\n".join(texts))
    assert not [sample.secret for sample in SAMPLES if len(sample.secret) > 6 and sample.secret in stored]
    assert set(kinds) == {sample.kind for sample in SAMPLES}


def test_findings_say_where_and_never_what() -> None:
    text = "password=" + "hunter2" + "!X9 and more"
    (finding,) = scan(text)
    assert text[finding.start : finding.end] == "hunter2" + "!X9"
    assert "hunter2" not in repr(finding)


def test_overlapping_findings_become_one_under_the_most_specific_kind() -> None:
    found = merged([Finding("github_token", 9, 49), Finding("token", 6, 40), Finding("secret", 60, 64)])
    assert found == (Finding("github_token", 6, 49), Finding("secret", 60, 64))


def test_a_name_and_a_format_together_are_named_by_the_format() -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzC5b"
    assert redact(f"api_key={token}")[1] == ("github_token",)


def test_placeholders_of_every_format_stay() -> None:
    for known in FORMATS:
        if known.kind != "aws_access_key_id":
            placeholder = known.literal + "x" * 40
            assert redact(placeholder) == (placeholder, ()), known.kind


@pytest.mark.promise("P-BOUNDED")
def test_a_text_that_keeps_yielding_secrets_is_replaced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_scan, "MAX_PASSES", 0)
    assert redact("password=" + "hunter2" + "!X9") == ("[redacted:secrets]", ("secrets",))
    assert redact("nothing to see") == ("nothing to see", ())


@settings(max_examples=300, deadline=None)
@given(_glued)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    stored, _ = redact(text)
    assert redact(stored) == (stored, ())


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_scanned_without_an_error_and_findings_are_in_order(text: str) -> None:
    findings = scan(text)
    ends = [0, *(finding.end for finding in findings)]
    assert all(ends[at] <= finding.start < finding.end for at, finding in enumerate(findings))
    assert all(finding.end <= len(text) for finding in findings)
