"""What the tests of the MCP endpoint share: a stand-in core and an endpoint over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_server.endpoint import Endpoint
from tests.handlers.stand_ins import StandIn, endpoint_of, stand_in


@pytest.fixture
def core(tmp_path: Path) -> StandIn:
    return stand_in(tmp_path)


@pytest.fixture
def endpoint(core: StandIn) -> Endpoint:
    return endpoint_of(core)
