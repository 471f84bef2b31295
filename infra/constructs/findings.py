"""cdk-nag's findings that stand, each with its reason.

Owns: how one is written down. Guarantees: a finding that is accepted nowhere fails the tests.
Gives up: judging the reason; a reader does.
"""

from __future__ import annotations

import aws_cdk as cdk
from constructs import IConstruct


def accept(construct: IConstruct, rule: str, reason: str) -> None:
    """Let the rule's finding stand at this construct and what is in it."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason))
