"""Environments that no file of ours has, synthesised side by side: KMS, Bedrock, OAuth, IAM, both processors.

Owns: their settings. Guarantees: each is built and checked by the same code as the environments with files.
Run by `tests.infra.synthesised` as a program of its own, because the CDK has to be told of its Node before
its import.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

BASE = "dev"
VARIANTS: Mapping[str, Mapping[str, object]] = {
    "kms-bedrock": {
        "kms": True,
        "embeddings": "bedrock",
        "embed_model": "amazon.titan-embed-text-v2:0",
        "sleep_model": "bedrock",
        "sleep_model_id": "amazon.nova-lite-v1:0",
        "sleep_model_budget": 20_000,
        "sleep_model_price": [0.06, 0.24],
        "architecture": "arm64",
        "alarms": True,
        "alarm_email": "ops@example.com",
        "dashboard": True,
        "retain": True,
    },
    "oauth-x86": {
        "auth": "oauth",
        "oauth": {"issuer": "https://issuer.example", "audience": "https://memory.example/mcp"},
        "architecture": "x86_64",
        "allowed_origins": ["https://claude.ai"],
    },
    "iam-no-limit": {
        "auth": "iam",
        "principals": {
            "arn:aws:iam::123456789012:role/agent": {"tenants": ["acme"], "role": "writer"},
        },
        "architecture": "x86_64",
        "vectors": False,
        "concurrency": None,
    },
}


def main(folder: Path) -> None:
    """Write each variant's assembly into a folder of its name."""
    import aws_cdk as cdk

    import app as program  # sets what the CDK reads of the environment
    from infra.application import write
    from infra.settings import Environment

    for name, settings in VARIANTS.items():
        environment = Environment.model_validate({"name": BASE, **settings})
        write(program.ROOT, environment, cdk.App(outdir=str(folder / name), analytics_reporting=False))


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main(Path(sys.argv[1]))
