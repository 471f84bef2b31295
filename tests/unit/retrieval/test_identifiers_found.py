"""Identifiers are found whole, and by their parts."""

from __future__ import annotations

import pytest

from lodestore.retrieval.tokenizer import index_terms
from tests.unit.retrieval.keyword_search import first_forms, search

WHOLE_AND_SPLIT = [
    ("ERR_X9F-2207", {"err_x9f-2207", "err", "x9f", "2207"}),
    ("getUserById", {"getuserbyid", "get", "user", "by", "id"}),
    ("HTTPServerError", {"httpservererror", "http", "server", "error"}),
    ("snake_case", {"snake_case", "snake", "case"}),
    ("SCREAMING_SNAKE", {"screaming_snake", "screaming", "snake"}),
    ("/etc/nginx/nginx.conf", {"etc/nginx/nginx.conf", "nginx.conf", "etc", "nginx", "conf"}),
    (r"C:\Users\ada\notes.txt", {r"c:\users\ada\notes.txt", "users", "ada", "notes.txt", "txt"}),
    ("v1.2.3", {"v1.2.3", "1.2.3", "v1"}),
    ("python-3.11", {"python-3.11", "3.11", "python", "11"}),
    ("2023-05-07T10:00Z", {"2023-05-07t10:00z", "2023-05-07", "2023"}),
    ("10.0.0.1:8080", {"10.0.0.1:8080", "10.0.0.1", "8080"}),
    (
        "jorg.mueller@acme-corp.com",
        {"jorg.mueller@acme-corp.com", "jorg.mueller", "acme-corp.com", "mueller"},
    ),
    (
        "https://github.com/acme/repo/issues/42?x=1",
        {"https://github.com/acme/repo/issues/42?x=1", "github.com", "repo", "42"},
    ),
    ("std::vector", {"std::vector", "std", "vector"}),
    ("C++", {"c++", "c"}),
    ("C#", {"c#", "c"}),
    ("C++/C#", {"c++", "c#"}),
    (".NET", {".net", "net"}),
    ("node.js", {"node.js", "node", "js"}),
    ("U.S.A.", {"u.s.a", "usa"}),
    ("sha256", {"sha256", "sha", "256"}),
    ("5pm", {"5pm", "5", "pm"}),
    ("10,000", {"10000"}),
    ("a3f9c2e8b1d4", {"a3f9c2e8b1d4", "a3f9c2e"}),
    ("550e8400-e29b-41d4-a716-446655440000", {"550e8400-e29b-41d4-a716-446655440000", "550e8400", "41d4"}),
    ("O'Brien", {"obrien", "brien"}),
    ("Caroline’s", {"caroline"}),
    ("l'homme", {"homme"}),
    ("п'ять", {"пять"}),
]


@pytest.mark.parametrize(("identifier", "names"), WHOLE_AND_SPLIT, ids=[row[0] for row in WHOLE_AND_SPLIT])
def test_an_identifier_is_indexed_whole_and_in_parts(identifier: str, names: set[str]) -> None:
    assert names <= set(index_terms(f"We saw {identifier} again"))


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("ERR_X9F-2207", "the job failed with err_x9f-2207 twice"),
        ("2207", "the job failed with ERR_X9F-2207 twice"),
        ("get user by id", "call getUserById first"),
        ("getuserbyid", "call getUserById first"),
        ("nginx.conf", "edit /etc/nginx/nginx.conf and reload"),
        ("etc/nginx/nginx.conf", "edit /etc/nginx/nginx.conf and reload"),
        ("1.2.3", "pinned to v1.2.3 for now"),
        ("3.11", "runs on python-3.11 only"),
        ("acme-corp.com", "write to jorg@acme-corp.com"),
        ("a3f9c2e", "fixed in a3f9c2e8b1d4f5a6b7c8d9e0f1a2b3c4d5e6f7a8"),
        ("a3f9c2e8b1d4f5a6b7c8d9e0f1a2b3c4d5e6f7a8", "fixed in a3f9c2e8b1"),
        ("c++", "they write C++ at work"),
        ("c#", "they write C# at work"),
        (".net", "they moved to .NET at work"),
        ("iphone 15", "bought an iPhone15 there"),
        ("port 8080", "listens on 127.0.0.1:8080"),
        ("obrien", "ask Pat O’Brien"),
        ("32000 bytes", "the limit is 32,000 bytes"),
    ],
)
def test_an_identifier_is_found_as_people_type_it(query: str, meant: str) -> None:
    others = [
        "they write C at work",
        "pinned to v1.2.4 for now",
        "nothing of the kind",
        "listens on 127.0.0.1:8081",
    ]
    assert search(query, [*others, meant])[0] == meant


@pytest.mark.case("B60")
def test_one_error_code_comes_before_three_hundred_near_twins() -> None:
    twins = [
        f"The nightly job failed with ERR_X9F-{number} err x9f, see ERR_X9F" for number in range(2000, 2300)
    ]
    meant = twins[207]
    assert search("ERR_X9F-2207", twins)[0] == meant
    assert search("what was ERR_X9F-2207 about?", twins)[0] == meant


@pytest.mark.case("B59")
def test_punctuation_in_a_query_is_plain_text() -> None:
    assert first_forms('C++ "v2": AND NOT (x*) ^~ ? / #') == ["c++", "c", "v2", "x"]


def test_three_dots_and_dashes_part_words() -> None:
    assert first_forms("wait...there foo--bar") == ["wait", "foo", "bar"]
