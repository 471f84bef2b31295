"""The server as a program: it says where it is, makes its bucket, and keeps requests apart."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.client import HTTPConnection

from tests.s3vectors.clients import BUCKET, make_client, running
from tests.s3vectors.index_calls import Index
from tests.structure.source_tree import ROOT


def test_the_module_serves_a_bucket_on_a_port_of_loopback() -> None:
    command = [sys.executable, "-m", "tests.s3vectors.server", "--bucket", "made-at-start"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.startswith("S3 Vectors ready: http://127.0.0.1:")
        endpoint = line.rpartition(" ")[2]
        connection = HTTPConnection(endpoint.removeprefix("http://"))
        connection.request("GET", "/health")
        assert connection.getresponse().status == 200
        connection.close()
        buckets = make_client(endpoint).list_vector_buckets()["vectorBuckets"]
        assert [bucket["vectorBucketName"] for bucket in buckets] == ["made-at-start"]
    finally:
        process.kill()
        process.communicate()


def test_writers_at_once_lose_nothing() -> None:
    with running() as endpoint:
        index = Index(make_client(endpoint), "crowd")

        def write(number: int) -> None:
            mine = Index.__new__(Index)
            mine.client, mine.place = make_client(endpoint), index.place
            for n in range(10):
                mine.put({f"{number}-{n}": [1.0, number, n]})

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        listed = index.client.list_vectors(vectorBucketName=BUCKET, indexName="crowd")["vectors"]
        assert len(listed) == 80
