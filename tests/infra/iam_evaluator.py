"""What a synthesised role may do, decided as IAM decides.

Owns: the statements of a role's policies, with references made readable (`state-arn`), and the decision: an explicit
deny wins, then an allow, else a deny. Guarantees: an unknown form (a condition, NotAction, a reference that it can't
read) is an error and never an allow. Gives up: boundaries, resource policies and service control policies.

Source: "Policy evaluation logic" in the IAM user guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from tests.infra.synthesised import base, resources, template

# A logical id, by how it begins, to its name in the tests.
NAMED = {
    "ExportsOutputFnGetAttChanges": "changes",
    "ExportsOutputFnGetAttKey": "key",
    "TasksQueue": "tasks",
}
FUNCTIONS = {"mcp_server": "McpServer", "indexer": "Indexer", "maintenance": "Maintenance"}


class Policy:
    """The statements of one function's role."""

    def __init__(self, environment: str, function: str) -> None:
        self._environment = environment
        self.statements = [
            statement
            for name, policy in resources(environment, "Service", "AWS::IAM::Policy")
            if name.startswith(f"{FUNCTIONS[function]}Role")
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        ]
        assert self.statements, f"{function} has no policy"

    def allows(self, action: str, resource: str) -> bool:
        """Whether the role may. `resource`: `state/memories/a/b.json`, a bucket `state`, or another ARN."""
        effects = {
            statement["Effect"] for statement in self.statements if self._matches(statement, action, resource)
        }
        return effects == {"Allow"}

    def _matches(self, statement: Mapping[str, Any], action: str, resource: str) -> bool:
        assert set(statement) <= {"Effect", "Action", "Resource"}, f"not understood: {statement}"
        actions = _listed(statement["Action"])
        places = [self._text(place) for place in _listed(statement["Resource"])]
        return any(fnmatchcase(action.lower(), known.lower()) for known in actions) and any(
            fnmatchcase(resource, place) for place in places
        )

    def _text(self, value: Any) -> str:
        match value:
            case str():
                return value
            case {"Fn::Join": [separator, parts]}:
                return str(separator).join(self._text(part) for part in parts)
            case {"Fn::ImportValue": name}:
                place = str(name).removeprefix(f"lodestore-{base(self._environment)}-").removesuffix("-arn")
                return _known(str(name).partition(":")[2]) or place
            case {"Fn::GetAtt": [name, "Arn"]}:
                assert name in template(self._environment, "Service")["Resources"]
                return _known(str(name)) or str(name)
            case {"Ref": name}:
                return f"<{name}>"
        raise AssertionError(f"not understood: {value}")

    def wildcards(self) -> set[str]:
        """Every resource and action of the role that holds a star."""
        texts = {
            self._text(place) for statement in self.statements for place in _listed(statement["Resource"])
        }
        texts |= {action for statement in self.statements for action in _listed(statement["Action"])}
        return {text for text in texts if "*" in text}


def _known(name: str) -> str | None:
    return next((known for start, known in NAMED.items() if name.startswith(start)), None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
