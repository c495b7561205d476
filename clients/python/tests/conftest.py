"""A server for all tests, on a free port, found as users find theirs."""

import os
from collections.abc import Iterator

import pytest

# Read when gRPC is loaded. Ray forks its processes from that of the tests, and gRPC's preparations for a fork hang or abort
# some of them.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
# Tests start their servers.
os.environ.pop("TETRION_SERVER", None)

import tetrion


@pytest.fixture(scope="session")
def server() -> Iterator[tetrion.Server]:
    with tetrion.Server() as server:
        yield server


@pytest.fixture(scope="session")
def client(server: tetrion.Server) -> Iterator[tetrion.Client]:
    with tetrion.Client(server) as client:
        yield client
