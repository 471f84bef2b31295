"""Wrong settings stop the synth in one line that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.settings import ENVIRONMENTS, Auth, WrongSettings, load
from lodestore.domain.pruning import Policy
from lodestore.domain.upkeep_rules import TenantRules, parse_rules
from lodestore.services.upkeep_steps import EMBED, MERGE, SWITCHABLE
from lodestore.settings import parse_settings
from tests.infra.synthesised import synth
from tests.structure.source_tree import ROOT

FOLDER = ROOT / "infra/environments"


def _load(tmp_path: Path, text: str) -> str:
    (tmp_path / "dev.toml").write_text(text, encoding="utf-8")
    with pytest.raises(WrongSettings) as refused:
        load(tmp_path, "dev")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_of_the_project_is_valid(name: str) -> None:
    environment = load(FOLDER, name)
    assert environment.auth is Auth.KEYS
    assert environment.retain is (name == "prod")


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("alarm = true", "alarm: unknown key"),
        ("history_days = 0", "history_days"),
        ("vector_index_threshold = -1", "vector_index_threshold"),
        ('vector_bucket = "elsewhere"', "vectors = false"),
        ('architecture = "arm"', "architecture"),
        ('auth = "open"', "auth"),
        ('auth = "oauth"', "[oauth]"),
        ('auth = "iam"', "[principals]"),
        ('[oauth]\nissuer = "https://i"\naudience = "a"', "[oauth]"),
        ('auth = "oauth"\n[oauth]\nissuer = "http://i"\naudience = "a"', "oauth.issuer"),
        ('auth = "oauth"\n[oauth]\nissuer = "https://i"', "audience"),
        (
            'auth = "oauth"\n[oauth]\nissuer = "https://i"\naudience = "a"\nclaim = "t"',
            "oauth.claim: unknown key",
        ),
        (
            'auth = "iam"\n[principals."arn:aws:iam::1:role/a"]\ntenants = ["a"]\nrole = "reader"',
            "principals",
        ),
        (
            'auth = "iam"\n[principals."arn:aws:iam::123456789012:role/a"]\ntenants = ["a"]\nrole = "root"',
            "role",
        ),
        ('alarm_email = "a@b"', "alarm_email"),
        ("receives_most = 0", "receives_most"),
        ("forget_window_hours = 0", "forget_window_hours"),
        ('sleep_off = ["embed merge"]', "sleep_off"),
        (f'[[prune]]\nname = "{"n" * 2_500}"', "2,500 characters"),
        ("visibility_seconds = 599", "visibility_seconds must be 600 or more"),
        ('name = "prod"', "name"),
        ("retain = yes", "can't be read"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, named: str) -> None:
    assert named in _load(tmp_path, text)


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_the_rules_of_maintenance_reach_the_functions(tmp_path: Path) -> None:
    text = """
        forget_window_hours = 48
        sleep_off = ["embed", "merge"]
        [[prune]]
        name = "stale"
        unused_for_days = 365
        [tenant_upkeep.acme]
        prune = []
    """
    (tmp_path / "dev.toml").write_text(text, encoding="utf-8")
    settings = parse_settings(load(tmp_path, "dev").upkeep_variables)
    rules = parse_rules(
        prune=settings.prune, off=settings.sleep_off, tenants=settings.tenant_upkeep, switchable=SWITCHABLE
    )
    assert settings.forget_window == 48 * 3600
    assert rules.common == TenantRules(
        (Policy(name="stale", unused_for_days=365.0),), frozenset({EMBED, MERGE})
    )
    assert rules.of("acme").policies == ()
    assert parse_settings(load(FOLDER, "prod").upkeep_variables).prune == ""


@pytest.mark.parametrize(
    "variables", [{"ENV": ""}, {"ENV": "staging"}, {"ENV": "dev", "LAYER_PYTHON": "3.9"}]
)
def test_a_synth_with_wrong_settings_ends_in_one_line(variables: dict[str, str]) -> None:
    answer = synth(variables)
    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1
    assert "ENV" in answer.stderr or "python" in answer.stderr
