"""Settings are understood or refused by name."""

from __future__ import annotations

import pytest

from lodestore.errors import SettingsError
from lodestore.settings import Auth, Embeddings, parse_settings


def test_the_defaults_are_those_of_the_interface() -> None:
    settings = parse_settings({})
    assert (settings.host, settings.port, settings.store_url) == ("127.0.0.1", 8765, "file://.lodestore")
    assert (settings.tenant, settings.auth, settings.embeddings) == ("default", Auth.OPEN, Embeddings.LOCAL)
    assert (settings.sleep_every, settings.index_every, settings.read_only) == (3600, 1, False)


def test_an_empty_value_is_the_default_but_an_empty_tenant_is_none() -> None:
    settings = parse_settings({"HOST": "", "PORT": " ", "TENANT": "", "STORE": "", "PATH": "/bin"})
    assert (settings.host, settings.port, settings.tenant) == ("127.0.0.1", 8765, "")


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "65536"),
        ("PORT", "80.5"),
        ("AUTH", "none"),
        ("AUTH", "oauth"),
        ("AUTH", "iam"),
        ("HOST", "192.0.2.7"),
        ("EMBEDDINGS", "magic"),
        ("EMBED_DIM", "0"),
        ("EMBED_ASK_DIM", "yes"),
        ("INDEX_EVERY", "-1"),
        ("INDEX_EVERY", "nan"),
        ("SLEEP_EVERY", "often"),
        ("READ_ONLY", "yes"),
        ("SECRETS", "keep"),
        ("STORE", "/tmp/x"),
        ("STORE", "gs://x"),
        ("TENANT", "../x"),
        ("TENANT", "a b"),
        ("ENCRYPTION", "rot13"),
        ("CONVERSATION", "a b"),
        ("CONVERSATION", "a,b"),
        ("ENCRYPTION", "aws:kms"),
        ("KMS_KEY", "k"),
        ("VECTOR_INDEX_THRESHOLD", "10"),
        ("VECTOR_TEXT", "1"),
        ("VECTOR_BUCKET", "Upper_case"),
    ],
)
def test_an_unknown_value_stops_the_start_and_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        parse_settings({name: value})


def test_any_address_is_fine_with_keys() -> None:
    assert parse_settings({"HOST": "192.0.2.7", "AUTH": "keys"}).host == "192.0.2.7"


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("threshold", ["-1", "many", "0.5", "2000000001"])
def test_a_threshold_is_a_number_of_memories(threshold: str) -> None:
    with pytest.raises(SettingsError, match="VECTOR_INDEX_THRESHOLD"):
        parse_settings({"VECTOR_BUCKET": "vectors", "VECTOR_INDEX_THRESHOLD": threshold})
    assert parse_settings({"VECTOR_BUCKET": "vectors"}).vector_index_threshold is None
    first = parse_settings({"VECTOR_BUCKET": "vectors", "VECTOR_INDEX_THRESHOLD": "0"})
    assert first.vector_index_threshold == 0
