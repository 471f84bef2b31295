"""One index of the emulated service, as tests call it."""

from __future__ import annotations

from typing import Any

from tests.s3vectors.clients import BUCKET


class Index:
    """One index, called as its client would be."""

    def __init__(self, client: Any, name: str, metric: str = "cosine", dimension: int = 3) -> None:
        self.client = client
        self.place = {"vectorBucketName": BUCKET, "indexName": name}
        client.create_index(
            **self.place,
            dataType="float32",
            dimension=dimension,
            distanceMetric=metric,
            metadataConfiguration={"nonFilterableMetadataKeys": ["text", "note"]},
        )

    def put(self, vectors: dict[str, list[float]], **metadata: dict[str, Any]) -> None:
        """Put vectors by key; `metadata` by key too."""
        given = [
            {"key": key, "data": {"float32": values}, "metadata": metadata.get(key, {})}
            for key, values in vectors.items()
        ]
        self.client.put_vectors(**self.place, vectors=given)

    def query(self, vector: list[float] | None = None, **arguments: Any) -> dict[str, Any]:
        """QueryVectors, topK 100 unless said."""
        if vector is not None:
            arguments["queryVector"] = {"float32": vector}
        answer: dict[str, Any] = self.client.query_vectors(**self.place, **{"topK": 100, **arguments})
        return answer

    def found(self, **arguments: Any) -> list[str]:
        """The keys that a query of (1, 0, 0) finds."""
        return [hit["key"] for hit in self.query([1.0, 0.0, 0.0], **arguments)["vectors"]]
