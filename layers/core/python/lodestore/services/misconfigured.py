"""What a function writes down when its settings are wrong.

Owns: the one line, which is log and metric (EMF) at once. Guarantees: it names the setting, and no secret, because
settings errors never do. Gives up: healing; a deployment with right settings is a new process.

Source: "Embedded metric format specification" in the CloudWatch user guide.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

NAMESPACE: Final = "Lodestore"
METRIC: Final = "misconfigured"


def misconfigured_line(service: str, reason: str, at: datetime) -> str:
    """The line for one refused call, with its line end."""
    described = {
        "Namespace": NAMESPACE,
        "Dimensions": [["service"]],
        "Metrics": [{"Name": METRIC, "Unit": "Count"}],
    }
    fields = {
        "level": "ERROR",
        "message": METRIC,
        "reason": reason,
        "service": service,
        METRIC: 1,
        "_aws": {"Timestamp": int(at.timestamp() * 1000), "CloudWatchMetrics": [described]},
    }
    return json.dumps(fields, separators=(",", ":")) + "\n"
