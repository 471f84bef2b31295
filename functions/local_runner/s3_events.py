"""Changed ids as an SQS batch of S3 event notifications, as the indexer gets them in the cloud.

Owns: the two envelopes. Guarantees: keys are URL-encoded as S3 encodes them, so that the handler's decoding
is the same here and there. Gives up: the kind of event; a change is always told as an object written, and the
handler reads the truth.

Source: "Event message structure" in the Amazon S3 user guide (event version 2.1).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote_plus

from lodestore.domain.moments import format_moment
from lodestore.format import keys
from lodestore.format.keys import MemoryName
from lodestore.services.events import EventSource


def sqs_batch(
    messages: Mapping[str, MemoryName], receives: Mapping[str, int], source: EventSource, now: datetime
) -> dict[str, object]:
    """One SQS record for each message id, one S3 record in each; `receives` counts deliveries, this one too."""
    moment = format_moment(now)
    return {
        "Records": [
            {
                "messageId": message_id,
                "receiptHandle": message_id,
                "body": json.dumps({"Records": [_s3_record(name, source, moment)]}),
                "attributes": {"ApproximateReceiveCount": str(receives[message_id])},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for message_id, name in messages.items()
        ]
    }


def _s3_record(name: MemoryName, source: EventSource, moment: str) -> dict[str, object]:
    key = source.prefix + keys.memory(name.tenant, name.id)
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "eventTime": moment,
        "eventName": "ObjectCreated:Put",
        "s3": {
            "s3SchemaVersion": "1.0",
            "bucket": {"name": source.bucket},
            "object": {"key": quote_plus(key, safe="/-_.*")},
        },
    }
